"""What to write in place of an expression that is refused, by what the engine says of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from ...findings import alike, meant, question
from ...quantities import amounts_meant
from .signatures import ways_to_call

MEND: Final = "mend the expression"
"""Where nothing better is known."""

_FIELDS: Final = ("attributes", "capacity", "driver")
# With one argument, and with none.
_OF_ONE: Final = (
    *("compareTo", "isGreaterThan", "isLessThan"),
    *("startsWith", "endsWith", "contains", "matches"),
)
_METHODS: Final = (*_OF_ONE, "major", "minor", "patch", "lowerAscii", "upperAscii", "size")
_FUNCTIONS: Final = ("quantity", "semver", "isQuantity", "isSemver", "has", "size")
_OWN_WORDS: Final = {"True": "true", "False": "false", "None": "null", "nil": "null"}
_OPERATORS: Final = {"and": "&&", "or": "||", "AND": "&&", "OR": "||"}
_OF_OTHERS: Final = {"LIKE": "contains", "like": "contains"}
_NOT: Final = "write ! for not"
_VALUE: Final = r"""(?:quantity\s*\(\s*)?(?:'([^'\\]*)'|"([^"\\]*)"|([0-9]\w*))\s*\)?"""
_READ: Final = r"""(device\s*\.\s*\w+\s*\[[^\[\]]*\]\s*(?:\.\s*\w+|\[\s*['"]\w+['"]\s*\]))"""
_ORDERED: Final = re.compile(rf"{_READ}\s*([<>]=?|[=!]=)\s*{_VALUE}")
_GIVEN: Final = re.compile(rf"\.\s*(\w+)\s*\(\s*{_VALUE}")
_QUALIFIED: Final = re.compile(r"""device\s*\.\s*(\w+)\s*\[\s*['"]([^'"]+)/(\w+)['"]\s*\]""")
_BARE_DOMAIN: Final = re.compile(r"device\s*\.\s*(\w+)\s*\[\s*(\w[\w.-]*)\s*\]")
_DOTTED: Final = re.compile(
    r"device\s*\.\s*(attributes|capacity)\.(\w+(?:\.\w+)+)\.(\w+)\b(?!\s*\()", re.ASCII
)
_CALLED: Final = re.compile(r"(?<![\w.])(\w+)\s*\(\s*([^,()]+),\s*([^()]+)\)")
_VALUE_BEFORE: Final = (
    r"""(\w+\([^()]*\)|device\s*\.\s*\w+\s*\[[^\[\]]*\]\s*\.\s*\w+|'[^'\\]*'|"[^"\\]*")"""
)
_MOST_WAYS: Final = 3
_AT: Final = re.compile(r":([0-9]+):([0-9]+): ")
_AFTER: Final = re.compile(r"""\s*('[^']*'|"[^"]*")?""")

Advice = Callable[["re.Match[str]", str], str]


def advice(text: str, told: str) -> str:
    """What to write instead.

    Args:
        text: The expression.
        told: What the engine says of it.
    """
    for pattern, advise in _KNOWN:
        if (found := pattern.search(told)) and (what := advise(found, text)):
            return what
    return MEND


def is_function(name: str) -> bool:
    """Whether API servers have a function of a name, however it is called."""
    return name in _METHODS or name in _FUNCTIONS or bool(ways_to_call(name))


def domain_in_quotes(text: str) -> str:
    """What to write where a domain is written without quotes; empty where none is."""
    found = _DOTTED.search(text)
    return f"write device.{found[1]}['{found[2]}'].{found[3]}" if found else ""


def _compared(found: re.Match[str], text: str) -> str:
    """Amounts are ordered by a function."""
    at = _place(found.string, text)
    one = next((one for one in _ORDERED.finditer(text) if one.start() <= at < one.end()), None)
    if one is None:
        return "compare amounts by .compareTo(quantity('1Gi')) >= 0, or the like"
    value = next(iter(amounts_meant(_given(one, 3))), "1Gi")
    return f"write {one[1]}.compareTo(quantity('{value}')) {one[2]} 0"


def _place(told: str, text: str) -> int:
    """Where in an expression something is that the engine says; the first place by default."""
    found = _AT.search(told)
    if found is None:
        return 0
    before = text.splitlines(keepends=True)[: int(found[1]) - 1]
    return sum(map(len, before)) + int(found[2]) - 1


def _given(found: re.Match[str], first: int) -> str:
    """The text, or the number, that one of three groups holds."""
    return next((one for one in found.groups()[first - 1 :] if one is not None), "")


def _argument(found: re.Match[str], text: str) -> str:
    """The functions of amounts and versions take an amount or a version."""
    one = next((one for one in _GIVEN.finditer(text) if one[1] == found[1]), None)
    value = (_given(one, 2) if one else "") or "1Gi"
    amount = next(iter(amounts_meant(value)), "1Gi")
    if found[2] == "kubernetes.Quantity":
        return f"write {found[1]}(quantity('{amount}'))"
    is_version = re.fullmatch(r"[0-9]+(\.[0-9]+){0,2}", value) is not None
    version = ".".join([*value.split("."), "0", "0"][:3]) if is_version else "1.2.3"
    if found[2] == "kubernetes.Semver" or one is None or is_version:
        return f"write {found[1]}(semver('{version}')) for a version, or quantity('...')"
    return f"write {found[1]}(quantity('{amount}'))"


def _unknown_name(found: re.Match[str], text: str) -> str:
    name, (root, _, field) = found[1], found[1].partition(".")
    if name in _OWN_WORDS:
        return f"write {_OWN_WORDS[name]}"
    if domain := next((one for one in _BARE_DOMAIN.finditer(text) if one[2] == name), None):
        return f"write device.{domain[1]}['{domain[2]}']"
    if root == "device":
        names = [f"device.{one}" for one in alike(field, _FIELDS)]
        return question(names) or "a device has attributes, capacity and driver"
    if name == "not":
        return _NOT
    if root in _FIELDS:
        return f"write device.{root}"
    return (
        (meant(root, ["device"]) if field else "")
        or _unknown_namespace(name, text)
        or _unknown_function(name, text)
    )


def _unknown_namespace(name: str, text: str) -> str:
    """What to do about functions under a name that API servers do not have."""
    call = re.search(rf"(?<![\w.])({re.escape(name)}\.(\w+))\s*\(", text)
    if call is None or call[2] in _METHODS or ways_to_call(call[2]):
        return ""
    return f"do without {call[1]}, which the API server does not have"


def _unknown_function(name: str, text: str) -> str:
    call = next((one for one in _CALLED.finditer(text) if one[1] == name), None)
    if call and name in _OF_ONE:
        return f"write {call[2].strip()}.{name}({call[3].strip()})"
    if told := _in_front(name, text):
        return told
    if name in _METHODS:
        return f"call it as value.{name}({'...' if name in _OF_ONE else ''})"
    is_called = re.search(rf"\b{re.escape(name)}\s*\(", text)
    known = [one for one in (*_METHODS, *_FUNCTIONS) if one != name]
    return meant(name, known) or ("" if is_called else "write texts in quotes")


def _in_front(name: str, text: str) -> str:
    """What to write for a function that takes its value in brackets, and has it in front."""
    if not any(one.startswith(f"{name}(") for one in ways_to_call(name)):
        return ""
    found = re.search(rf"{_VALUE_BEFORE}\s*\.\s*{name}\s*\(\s*\)", text)
    return f"write {name}({found[1] if found else '...'}), with the value in the brackets"


def _other_types(found: re.Match[str], _: str) -> str:
    """How a function is called that is there for other types."""
    ways = ways_to_call(found[1])
    return f"it is there as {' and '.join(ways[:_MOST_WAYS])}" if ways else ""


def _no_field(found: re.Match[str], text: str) -> str:
    """Amounts have no fields."""
    field = re.match(r"\s*\.\s*(\w+)", text[_place(found.string, text) :])
    without = f": leave .{field[1]} out" if field else ""
    return f"an amount has no fields{without}, and compare it by .compareTo(quantity('1Gi')) >= 0"


def _mismatched(found: re.Match[str], text: str) -> str:
    word = found[1]
    if word in _OPERATORS:
        return f"write {_OPERATORS[word]} for {word}"
    if word == "<EOF>":
        return "the expression ends too soon"
    if text.lstrip().startswith("not "):
        return _NOT
    name = _OF_OTHERS.get(word, word)
    if name in _METHODS:
        after = _AFTER.match(text[_place(found.string, text) + len(word) :])
        return f"write .{name}({(after and after[1]) or '...'})"
    if word == ":":
        return "write the expression alone"
    return ""


def _unreadable(found: re.Match[str], text: str) -> str:
    token = found[1].strip()
    if token.startswith("=~"):
        return "write .matches('...')"
    known = {"=": "write == for =", "&": "write && for &", "|": "write || for |"}
    if token[:1] in known:
        return known[token[:1]]
    if token[:1] in "\u201c\u201d\u2018\u2019":
        return "write plain quotes"
    if token[:1] in "'\"":
        return f"end the text that begins with {token[:1]} by the same quote, on its line"
    if "$" in text or "{{" in text:
        return "write what the expression is once the template is filled in"
    return ""


def _no_truth(found: re.Match[str], text: str) -> str:
    if found[1] == "STRING" and "device." in text:
        return "leave the outer quotes out"
    if found[1] == "INT" and "compareTo" in text:
        return f"write {text.strip()} >= 0"
    return "compare it with something, by == or the like"


def _whole_name(_: re.Match[str], text: str) -> str:
    one = _QUALIFIED.search(text)
    return f"write device.{one[1]}['{one[2]}'].{one[3]}" if one else ""


_ESCAPE: Final = (
    "write .contains('...') for a text as it is, or two backslashes in front of what has a meaning "
    "in patterns, such as \\\\("
)
_ORDER: Final = r"'_[<>=!]=?_' applied to '\(.*"
_KNOWN: Final[tuple[tuple[re.Pattern[str], Advice], ...]] = (
    (re.compile(rf"{_ORDER}kubernetes\.Quantity"), _compared),
    (re.compile(r"'(compareTo|isGreaterThan|isLessThan)' applied to '\(([\w.]+), "), _argument),
    (re.compile(r"applied to '\(map\(string"), _whole_name),
    (
        re.compile(r"'@in' applied to '\([^,]*, string\)"),
        lambda *_: "write .contains('...') for a part of a text, or in ['...'] for one of several",
    ),
    (re.compile(r"undeclared reference to '([^']+)'"), _unknown_name),
    (
        re.compile(r"'orValue' applied to '\(map"),
        lambda *_: "write .?name.orValue('') for an attribute that may not be there",
    ),
    (
        re.compile(r"'string' applied to '\(kubernetes\.Quantity\)"),
        lambda *_: "compare amounts by .compareTo(quantity('1Gi')) >= 0, or the like",
    ),
    (
        re.compile(r"'_[=!]=_' applied to '\((\w+), (\w+)\)'"),
        lambda found, _: f"compare values of one type, and not {found[1]} with {found[2]}",
    ),
    (
        re.compile(r"expression of type 'kubernetes\.Quantity' cannot be the operand"),
        _no_field,
    ),
    (re.compile(r"recursion"), lambda *_: "write it with fewer brackets within brackets"),
    (re.compile(r"missing '(.)' at"), lambda found, _: f"write the {found[1]} that is missing"),
    (re.compile(r"no matching overload for '([\w.]+)' applied"), _other_types),
    (re.compile(r"Syntax error: (?:mismatched|extraneous) input '(.+?)' "), _mismatched),
    (re.compile(r"token recognition error at: '(.*)'"), _unreadable),
    (re.compile(r"of type ([A-Z]+)"), _no_truth),
    (re.compile(r"no regular expression"), lambda *_: _ESCAPE),
    (
        re.compile(r"has\(\) argument"),
        lambda *_: "write has(device.attributes['domain'].name), or 'domain' in device.attributes",
    ),
)
