"""What to write for names that an expression has and nobody knows."""

from __future__ import annotations

import functools
import re
from typing import Final

from ..._frozen import FrozenDict
from ...claims.published_names import rows
from ...findings import alike, meant, question
from . import operands
from .form import elements, quoted_out
from .other_words import EQUALS, IGNORING_CASE, METHODS, NEGATED
from .signatures import ways_to_call
from .slips import Step

_MOST_WAYS: Final = 3
_FIELDS: Final = ("attributes", "capacity", "driver")
# With one argument, and with none.
_OF_ONE: Final = (
    *("compareTo", "isGreaterThan", "isLessThan"),
    *("startsWith", "endsWith", "contains", "matches"),
)
MEMBERS: Final = (*_OF_ONE, "major", "minor", "patch", "lowerAscii", "upperAscii", "size")
FUNCTIONS: Final = ("quantity", "semver", "isQuantity", "isSemver", "has", "size")
_BARE_DOMAIN: Final = re.compile(r"device\s*\.\s*(\w+)\s*\[\s*(\w[\w.-]*)\s*\]")
_NO_DOMAIN: Final = re.compile(
    r"""device\s*\.\s*(?:attributes|capacity)(?:\s*\.\s*|\s*\[\s*['"])(\w+)\b(?:['"]\s*\])?(?!\s*[\[(])"""
)
_CALLED: Final = re.compile(r"(?<![\w.])(\w+)\s*\(\s*([^,()]+),\s*([^()]+)\)")
_VALUE_BEFORE: Final = (
    r"""(\w+\([^()]*\)|device\s*\.\s*\w+\s*\[[^\[\]]*\]\s*\.\s*\w+|'[^'\\]*'|"[^"\\]*")"""
)


def is_function(name: str) -> bool:
    """Whether API servers have a function of a name, however it is called."""
    return name in MEMBERS or name in FUNCTIONS or bool(ways_to_call(name))


def unknown(found: re.Match[str], text: str) -> Step | None:
    """What to write for a name."""
    name, (root, _, field) = found[1], found[1].partition(".")
    at = operands.place(found.string, text)
    if domain := next((one for one in _BARE_DOMAIN.finditer(text) if one[2] == name), None):
        part = f"device.{domain[1]}['{domain[2]}']"
        return f"write {part}", text[: domain.start()] + part + text[domain.end() :]
    if step := _published(name, text):
        return step
    if root == "device":
        return _field(field, text)
    if root in _FIELDS:
        return f"write device.{root}", f"{text[:at]}device.{text[at:]}"
    if field and (near := meant(root, ["device"])):
        return near, re.sub(rf"(?<![\w.]){root}(?=\s*\.)", "device", text)
    return _namespace(name, text) or _called(name, text, at) or _word(name, text, at)


def without_domain(_: re.Match[str], text: str) -> Step | None:
    """Of an attribute, or a capacity, that is written right after the map of domains."""
    for one in _NO_DOMAIN.finditer(text):
        if read := _reads().get(one[1], ""):
            return f"write {read}", f"{text[: one.start()]}{read}{text[one.end() :]}"
    return None


def _published(name: str, text: str) -> Step | None:
    """What to write for an attribute, or a capacity, that is written without its domain."""
    own = name.rpartition(".")[2]
    read = _reads().get(own, "")
    written = rf"(?<![\w.'\"]){re.escape(name)}\b(?!\s*[('\"])"
    if not read or not re.search(written, text):
        return None
    return f"write {read}", re.sub(written, read, text)


@functools.cache
def _reads() -> FrozenDict[str, str]:
    """How attributes and capacities are read, by their names without a domain."""
    found: dict[str, str] = {}
    for row in rows():
        amounts = [one for many in row["capacities"].values() for one in many]
        for field, names in (("attributes", row["names"]), ("capacity", amounts)):
            for domain, _, own in (one.rpartition("/") for one in names):
                found.setdefault(own, f"device.{field}['{domain}'].{own}")
    return FrozenDict(found)


def _field(field: str, text: str) -> Step:
    near = alike(field, _FIELDS)
    names = [f"device.{one}" for one in near]
    whole = re.sub(rf"\bdevice\s*\.\s*{re.escape(field)}\b", names[0], text) if names else ""
    return question(names) or "a device has attributes, capacity and driver", whole


def _word(name: str, text: str, at: int) -> Step | None:
    is_called = re.search(rf"\b{re.escape(name)}\s*\(", text)
    known = [one for one in (*MEMBERS, *FUNCTIONS) if one != name]
    if near := alike(name, known):
        return question(near), _renamed(text, name, near[0]) if is_called else ""
    if is_called:
        return None
    return "write texts in quotes", f"{text[:at]}'{name}'{text[at + len(name) :]}"


def _renamed(text: str, name: str, right: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(name)}(?=\s*\()", right, text)


def _called(name: str, text: str, at: int) -> Step | None:
    """Of a function whose brackets begin at a place."""
    if not text.startswith("(", at):
        return None
    start = at - len(name.rpartition(".")[2])
    dot = text[:start].rstrip().endswith(".")
    end = operands.closing(text, at)
    given = [one.strip() for one in elements(quoted_out(text[at:end]), text[at:end], 1)]
    given = [one.removesuffix(")").strip() for one in given] if given else []
    if not dot:
        return _in_front(name, text) or _function(name, text, (start, end), given)
    receiver_end = text[:start].rstrip().rindex(".")
    receiver = operands.value_before(text, receiver_end)
    value = text[receiver:receiver_end].rstrip()
    if part := _member(name, value, [one for one in given if one]):
        right = METHODS.get(name)
        hint = f"write {right}() for {name}()" if right else f"write {part}"
        return hint, text[:receiver] + part + text[end:]
    return _otherwise(name, text)


def _member(name: str, value: str, given: list[str]) -> str:
    """What to write for a function that is called of a value."""
    inner = ", ".join(given)
    if name == "get" and len(given) == 1:
        return f"{value}[{inner}]"
    if name in EQUALS and len(given) == 1:
        return f"{value} == {inner}"
    if name in IGNORING_CASE and len(given) == 1:
        return f"{value}.lowerAscii() == {inner.lower()}"
    if name in NEGATED:
        return f"!{value}.{NEGATED[name]}({inner})"
    right = METHODS.get(name, "")
    return f"{value}.{right}({inner})" if right else ""


def _function(name: str, text: str, span: tuple[int, int], given: list[str]) -> Step | None:
    """What to write for a function that is called with its value in the brackets."""
    right = METHODS.get(name, name)
    start, end = span
    if right == "size" and len(given) == 1 and name != right:
        part = f"size({given[0]})"
    elif right in MEMBERS and right != "size" and given and given[0]:
        if len(given) != 1 + (right in _OF_ONE):
            return _as_member(name)
        part = f"{given[0]}.{right}({', '.join(given[1:])})"
    else:
        return _as_member(name)
    hint = f"write {part}" if right == name else f"write {right}() for {name}()"
    return hint, text[:start] + part + text[end:]


def _as_member(name: str) -> Step | None:
    right = METHODS.get(name, name)
    if right not in MEMBERS:
        ways = ways_to_call(name)[:_MOST_WAYS]
        return (f"it is there as {' and '.join(ways)}", "") if ways else None
    return f"call it as value.{right}({'...' if right in _OF_ONE else ''})", ""


def _otherwise(name: str, text: str) -> Step | None:
    """Of a function of values that nobody has under any such name."""
    if step := _in_front(name, text):
        return step
    if name in MEMBERS:
        return _as_member(name)
    if near := alike(name, MEMBERS):
        return question(near), _renamed(text, name, near[0])
    return f"do without {name}: texts have {', '.join(_OF_ONE[3:])}, lowerAscii and size", ""


def _namespace(name: str, text: str) -> Step | None:
    """What to do about functions under a name that API servers do not have."""
    call = re.search(rf"(?<![\w.])({re.escape(name)}\.(\w+))\s*\(", text)
    if call is None or call[2] in MEMBERS or ways_to_call(call[2]):
        return None
    return f"do without {call[1]}, which the API server does not have", ""


def _in_front(name: str, text: str) -> Step | None:
    """What to write for a function that takes its value in brackets, and has it in front."""
    if not any(one.startswith(f"{name}(") for one in ways_to_call(name)):
        return None
    found = re.search(rf"{_VALUE_BEFORE}\s*\.\s*{name}\s*\(\s*\)", text)
    hint = f"write {name}({found[1] if found else '...'}), with the value in the brackets"
    part = f"{name}({found[1]})" if found else ""
    return hint, text[: found.start()] + part + text[found.end() :] if found else ""
