"""What fails for every value that an attribute may have, for its type is known without a node."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._data import read_toml
from ..._frozen import FrozenDict
from ...quantities import amounts_meant
from ..slices import NodeDevice
from .engine import checker
from .form import bare, quoted_out
from .values import SEMVER, is_quantity, is_semver

# Something of each type, as an expression.
_EXAMPLES: Final = {"version": "semver('1.0.0')", "string": "''", "int": "1", "bool": "true"}
_IN_WORDS: Final = {"string": "a text", "int": "a number", "bool": "true or false"}
_HOW: Final = {
    "string": "as a text, by ==, startsWith or contains",
    "int": "as a number, by ==, < and >",
    "bool": "with true or false",
    "version": "by compareTo(semver('1.2.3'))",
}
Known = tuple[str, str, str]
"""Why something fails, what to do, and the whole as it should be; empty where not known."""
# What may leave a part of an expression alone, or take what fails for an answer.
_BRANCHES: Final = re.compile(
    r"&&|\|\||[?{]|\b(?:has|size)\s*\(|\bin\b|\bcel\b|\boptional\b|\borValue\b"
    r"|\.\s*(?:all|exists|exists_one|existsOne|map|filter|transform\w+)\s*\("
)
_READ: Final = re.compile(
    r"""\bdevice\s*\.\s*attributes\s*\[\s*['"]([^'"\\]+)['"]\s*\]"""
    r"""\s*(?:\.\s*(\w+)|\[\s*['"](\w+)['"]\s*\])(?!\s*\()"""
)
_NO_OVERLOAD: Final = re.compile(r"no matching overload for '([^']+)' applied to '([^']*)'")
_ORDER: Final = ("_<_", "_<=_", "_>_", "_>=_")
# Functions that Kubernetes has for no other types than the engine.
_SURE: Final = (
    *_ORDER,
    *("compareTo", "isGreaterThan", "isLessThan", "major", "minor", "patch", "semver", "quantity"),
    *("startsWith", "endsWith", "contains", "matches", "lowerAscii", "upperAscii"),
)
_NUMBERS: Final = re.compile(r"\((?:int|uint|double), (?:int|uint|double)\)")
_NOT_EQUAL: Final = re.compile(r"\(kubernetes\.Semver, (?:string|int|uint|double|bool)\)")
_WRITTEN: Final = re.compile(r"\b(semver|quantity)\s*\(\s*(['\"])([^'\"\\]*)\2\s*\)")
_LIKE_VERSION: Final = re.compile(r"v?([0-9]+(?:\.[0-9]+){0,2})", re.ASCII)
# What our functions say of what is none.
_NOT_ONE: Final = ("no quantity: ", "no semantic version: ")
_COMPARED: Final = re.compile(r"(<=?|>=?|[=!]=)\s*(['\"]?)v?([0-9]+(?:\.[0-9]+){0,2})\2", re.ASCII)


def failing(part: str, device: NodeDevice) -> Known | None:
    """Why an expression fails on a device whatever a running node knows, and what to write.

    Where an attribute is not there at all it fails as well.

    Args:
        part: An expression that Kubernetes takes.
        device: The device.

    Returns:
        None where it may not fail.
    """
    kinds = {name: kind for name in _names(part) if (kind := _kind(name, device))}
    if not kinds or _BRANCHES.search(bare(part)) or _is_quoted(part):
        return None
    return next(_reasons(part, kinds), None)


def _is_quoted(part: str) -> bool:
    """Whether a string, or a comment, holds what looks like a part of the expression."""
    left = quoted_out(part)
    found = (*_READ.finditer(part), *_WRITTEN.finditer(part))
    return any(left[one.start()] == "\0" for one in found)


def _names(part: str) -> list[str]:
    return [_name(one) for one in _READ.finditer(part)]


def _name(read: re.Match[str]) -> str:
    return f"{read[1]}/{read[2] or read[3]}"


def _reasons(part: str, kinds: Mapping[str, str]) -> Iterator[Known]:
    yield from _wrongly_written(part)
    refused = _refused(_READ.sub(lambda one: _example(one, kinds), part))
    if refused and (version := next((one for one in kinds if kinds[one] == "version"), "")):
        read = next(one[0] for one in _READ.finditer(part) if _name(one) == version)
        yield f"{version} is a version", f"write {read}{_comparison(part)}", _ordered(read, part)
    elif refused:
        told = ", ".join(f"{name} is {_IN_WORDS[kind]}" for name, kind in kinds.items())
        names = {name.rpartition("/")[2]: _HOW[kind] for name, kind in kinds.items()}
        fix = ", and ".join(f"compare {name} {how}" for name, how in names.items())
        yield f"{told}, for which there is no such comparison or function", fix, ""


def wrongly_written(text: str, told: str) -> Known | None:
    """What an error of the engine says of an amount or a version in an expression, or None.

    Args:
        text: The expression.
        told: The error.
    """
    if not told.startswith(_NOT_ONE):
        return None
    return next(_wrongly_written(text, quoted_out(text)), None)


def _wrongly_written(part: str, quoted: str = "") -> Iterator[Known]:
    for one in _WRITTEN.finditer(part):
        is_right = is_semver if one[1] == SEMVER else is_quantity
        if not is_right(one[3]) and not quoted.startswith("\0", one.start()):
            why, fix, right = _form(one[1], one[3])
            whole = part[: one.start(3)] + right + part[one.end(3) :] if right else ""
            yield why, fix, whole


def _form(function: str, text: str) -> Known:
    """Why a text is no amount or version, what to do, and the text to write."""
    fails = f"{function}('{text}') fails, for"
    if function != SEMVER:
        right = next(iter(amounts_meant(text)), "")
        return f"{fails} that is no quantity", _quantity(text), right
    found = _LIKE_VERSION.fullmatch(text)
    right = _whole(found[1]) if found else ""
    fix = f"write semver('{right}')" if found else ""
    return f"{fails} a version has the form 1.2.3", fix, right


def _quantity(text: str) -> str:
    """What to write for an amount with a unit that Kubernetes does not know."""
    many = amounts_meant(text) or ("40Gi",)
    written = ", or ".join(f"quantity('{one}')" for one in many)
    return f"write {written}" + " for powers of 1000" * (len(many) > 1)


def _whole(version: str) -> str:
    """A version of three numbers."""
    return ".".join([*version.split("."), "0", "0"][:3])


def _ordered(read: str, part: str) -> str:
    """A comparison of a version with a text or a number, as it should be; empty for others."""
    found = _COMPARED.search(part)
    start = part.find(read)
    is_beside = found is not None and not part[start + len(read) : found.start()].strip()
    if found is None or not is_beside:
        return ""
    return f"{part[:start]}{read}{_comparison(part)}{part[found.end() :]}"


def _comparison(part: str) -> str:
    found = _COMPARED.search(part)
    if found is None:
        return ".compareTo(semver('1.2.3')) >= 0, or the like"
    return f".compareTo(semver('{_whole(found[3])}')) {found[1]} 0"


def _example(one: re.Match[str], kinds: Mapping[str, str]) -> str:
    kind = kinds.get(_name(one))
    return one[0] if kind is None else _EXAMPLES[kind]


@functools.lru_cache(maxsize=4096)
def _refused(typed: str) -> bool:
    """Whether an expression uses a value in a way that its type has not."""
    try:
        checker().compile(typed)
    except RuntimeError as error:
        return any(_is_sure(one[1], one[2]) for one in _NO_OVERLOAD.finditer(str(error)))
    return False


def _is_sure(function: str, types: str) -> bool:
    """Whether Kubernetes has no such function either; what differs in type is mostly not equal."""
    if function == "_==_":
        return _NOT_EQUAL.fullmatch(types) is not None
    return function in _SURE and not _NUMBERS.fullmatch(types)


def _kind(name: str, device: NodeDevice) -> str:
    value = device.attributes.get(name)
    if value is None:
        return types_at_run_time().get(name, "") if name in device.at_run_time else ""
    return _kind_of(value)


def _kind_of(value: Any) -> str:
    if isinstance(value, dict):
        return "version"
    kinds = ((bool, "bool"), (int, "int"), (str, "string"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "")


@functools.cache
def types_at_run_time() -> FrozenDict[str, str]:
    """The type of each attribute whose value only a running node knows, where it is known."""
    rows = read_toml("run_time_attributes.toml").values()
    return FrozenDict(
        (name, kind)
        for row in rows
        for kind, names in row.get("types", {}).items()
        for name in names
    )
