"""Comparisons of texts, numbers, and true or false, written as a device has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Final

from ...findings import alike
from ..slices import NodeDevice
from .changes import ATTRIBUTE, TEXT, Change, attribute, name_of, own_name

Site = Callable[["re.Match[str]", Any], Iterator[Change]]

_SLIP: Final = Fraction(1)
_READ: Final = rf"(?:{ATTRIBUTE}|(?P<driver>device\s*\.\s*driver\b))"
_CHAIN: Final = r"(?P<chain>(?:\s*\.\s*(?:lowerAscii|upperAscii|trim)\s*\(\s*\))?)"
_VALUE: Final = rf"(?P<value>{TEXT}|-?[0-9]+\b(?!\.)|(?:true|false|null)\b)"
_CALL: Final = r"(?P<call>contains|startsWith|endsWith|matches)"
_NO_MORE: Final = r"(?!\s*[.\[])"
_ELEMENT: Final = re.compile(TEXT)
# What of a pattern says where it is looked for; the rest may be a text as it is.
_EDGES: Final = re.compile(r"^(?:\(\?i\))?\^?(?:\.[*+])*|(?:\.[*+])*\$?$")
_GAPS: Final = re.compile(r"[-_ ]+")
_IN_WORDS: Final = {int: "a number", bool: "true or false"}
_AT_LEAST: Final = {">": ">=", ">=": ">=", "<": "<=", "<=": "<="}
# Whoever compares more than these has written no slip of the pen.
_MOST_PLACES: Final = 16


def places(text: str) -> list[tuple[re.Match[str], Site]]:
    """The comparisons in an expression, each with what tells of another value for it."""
    found = [(one, site) for pattern, site in _SITES for one in pattern.finditer(text)]
    return found[:_MOST_PLACES]


def text_changes(text: str, device: NodeDevice) -> Iterator[Change]:
    """What to write in an expression so that one comparison in it is true of a device."""
    for found, site in places(text):
        value = device.driver if found["driver"] else attribute(name_of(found), device)
        if isinstance(value, str) and not {"\\", "\n", "'", '"'} & {*value} and value:
            yield from site(found, value)
            yield _change(found, f"{_read(found)} == '{value}'")
        elif isinstance(value, int):
            yield from _of_number(found, value)


def _read(found: re.Match[str]) -> str:
    return str(found["driver"] or found["read"])


def _change(
    found: re.Match[str], part: str, *, why: str = "", times: Fraction | None = None
) -> Change:
    return Change(found.start(), found.end(), part, why, times)


def _with_value(found: re.Match[str], literal: str) -> str:
    """The comparison with another value."""
    start, end = found.start("value") - found.start(), found.end("value") - found.start()
    return found[0][:start] + literal + found[0][end:]


def _cased(found: re.Match[str], value: str) -> str:
    """A value as functions in the expression leave it."""
    if "lowerAscii" in found["chain"]:
        return value.lower()
    if "upperAscii" in found["chain"]:
        return value.upper()
    return value.strip() if "trim" in found["chain"] else value


def _equal(found: re.Match[str], value: str) -> Iterator[Change]:
    written, cased = found["value"], _cased(found, value)
    if written[0] not in "'\"":
        why = f"{_own(found)} is a text: " if written != "null" else ""
        yield _change(found, _with_value(found, f"'{cased}'"), why=why, times=_SLIP)
    elif _is_like(written[1:-1], cased):
        quoted = f"{written[0]}{cased}{written[0]}"
        yield _change(found, _with_value(found, quoted), times=_SLIP)


def _partly(found: re.Match[str], value: str) -> Iterator[Change]:
    """Of a part of a text: the same with its capitals, or where it stands elsewhere."""
    quote, inner = found["value"][0], found["value"][1:-1]
    inner = _EDGES.sub("", inner) if found["call"] == "matches" else inner
    if part := _part(inner, _cased(found, value)):
        literal = f"{quote}{part}{quote}"
        if found["call"] != "matches":
            yield _change(found, _with_value(found, literal), times=_SLIP)
        contained = f"{_read(found)}{found['chain']}.contains({literal})"
        yield _change(found, contained, times=_SLIP)


def _within(found: re.Match[str], value: str) -> Iterator[Change]:
    """Of `in` between two texts."""
    if part := _part(found["value"][1:-1], _cased(found, value)):
        contained = f"{_read(found)}{found['chain']}.contains('{part}')"
        yield _change(found, contained, times=_SLIP)


def _listed(found: re.Match[str], value: str) -> Iterator[Change]:
    cased = _cased(found, value)
    for one in _ELEMENT.finditer(found["value"]):
        if _is_like(one[0][1:-1], cased):
            listed = f"{found['value'][: one.start()]}'{cased}'{found['value'][one.end() :]}"
            yield _change(found, _with_value(found, listed), times=_SLIP)


def _part(written: str, value: str) -> str:
    """What of a value is written, whatever its capitals and gaps; empty where nothing is."""
    words = [re.escape(one) for one in _GAPS.split(written) if one]
    found = re.search(r"[-_ ]+".join(words), value, re.IGNORECASE) if words else None
    return found[0] if found else ""


def _of_number(found: re.Match[str], value: int) -> Iterator[Change]:
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    written = found["value"]
    if written[:1] in ("'", '"') and written[1:-1]:
        why = f"{written} is a text, and {_own(found)} is {_IN_WORDS[type(value)]}: "
        if shown == written[1:-1].strip().lower():
            yield _change(found, _with_value(found, shown), why=why, times=_SLIP)
    operator = _AT_LEAST.get(found.groupdict().get("operator") or "", "==")
    far = abs(value - int(written)) if written.lstrip("-").isdecimal() else 0
    part = f"{_read(found)} {operator} {shown}"
    yield Change(found.start(), found.end(), part, far=far)


def _own(found: re.Match[str]) -> str:
    return "driver" if found["driver"] else own_name(found)


def _is_like(written: str, value: str) -> bool:
    """Whether texts are spelled alike, or one of them is in the other, whatever its capitals."""
    one, other = written.casefold(), value.casefold()
    is_part = len(one) > 1 and (one in other or other in one)
    return is_part or bool(one and alike(written, [value]))


_SITES: Final[tuple[tuple[re.Pattern[str], Site], ...]] = tuple(
    (re.compile(pattern), site)
    for pattern, site in (
        (rf"{_READ}{_CHAIN}\s*(?P<operator>==|[<>]=?)\s*{_VALUE}", _equal),
        (rf"{_VALUE}\s*(?P<operator>==)\s*{_READ}{_CHAIN}{_NO_MORE}", _equal),
        (rf"{_READ}{_CHAIN}\s*\.\s*{_CALL}\s*\(\s*(?P<value>{TEXT})\s*\)", _partly),
        (rf"{_READ}{_CHAIN}\s+in\s*\[(?P<value>[^\[\]]*)\]", _listed),
        (rf"(?P<value>{TEXT})\s+in\s+{_READ}{_CHAIN}{_NO_MORE}", _within),
    )
)
