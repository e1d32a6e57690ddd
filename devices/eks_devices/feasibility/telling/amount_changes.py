"""Comparisons of amounts and versions, written as a device has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from ...quantities import amount_of, amount_shown, bytes_meant
from ..cel.values import QUANTITY, SEMVER, is_semver, part_of, semver
from ..cel.values import compare as compared
from ..slices import NodeDevice
from .changes import ATTRIBUTE, CAPACITY, TEXT, Change, attribute, name_of, own_name

_CALL: Final = r"(?P<call>compareTo|isGreaterThan|isLessThan)"
_THAN: Final = r"(?:\s*(?P<operator>[<>]=?|==)\s*(?P<than>-?[01])\b)?"
_NOT: Final = r"(?P<not>!\s*\(?\s*)?"
# What is asked for where a value is compared with another one: more, less, or the same.
_SENSE: Final = {
    (">", "0"): 1,
    (">=", "0"): 1,
    ("==", "1"): 1,
    (">=", "1"): 1,
    (">", "-1"): 1,
    ("<", "0"): -1,
    ("<=", "0"): -1,
    ("==", "-1"): -1,
    ("<=", "-1"): -1,
    ("<", "1"): -1,
}
_ORDER: Final = {"isGreaterThan": 1, "isLessThan": -1}
_PARTS: Final = ("major", "minor", "patch")


def _patterns(read: str, function: str) -> tuple[re.Pattern[str], ...]:
    value = rf"(?P<made>{function}\s*\(\s*(?P<value>{TEXT})\s*\))"
    return (
        re.compile(rf"{_NOT}{read}\s*\.\s*{_CALL}\s*\(\s*{value}\s*\){_THAN}"),
        re.compile(rf"{_NOT}{value}\s*\.\s*{_CALL}\s*\(\s*{read}\s*\){_THAN}"),
        re.compile(rf"{read}\s*(?P<equal>==)\s*{value}"),
        re.compile(rf"{value}\s*(?P<equal>==)\s*{read}"),
    )


_AMOUNTS: Final = _patterns(CAPACITY, QUANTITY)
_VERSIONS: Final = _patterns(ATTRIBUTE, SEMVER)
_NUMBER: Final = re.compile(
    rf"{CAPACITY}\s*\.\s*(?:asInteger|asApproximateFloat)\s*\(\s*\)"
    r"\s*(?P<operator>[<>]=?|==)\s*(?P<value>[0-9]+)\b(?!\.)"
)
_PART: Final = re.compile(
    rf"{ATTRIBUTE}\s*\.\s*(?P<call>{'|'.join(_PARTS)})\s*\(\s*\)"
    r"\s*(?:[<>]=?|==)\s*(?P<value>[0-9]+)\b(?!\.)"
)


@dataclass(frozen=True, slots=True)
class FewBytes:
    """A comparison, `part`, of the memory `name` with a number of bytes that every device has.

    `meant` is the comparison with the unit that was left out, in the expression `whole`.
    """

    name: str
    part: str
    written: str
    meant: str
    whole: str


def few_bytes(text: str) -> Iterator[FewBytes]:
    """The comparisons of an expression that ask for more than a few bytes of memory."""
    for found in (one for pattern in (*_AMOUNTS, _NUMBER) for one in pattern.finditer(text)):
        written = found["value"].strip("'\"")
        meant = bytes_meant(own_name(found), written)
        is_more = _asks_for_bytes(found) if found.re is _NUMBER else _sense(found) > 0
        if meant and is_more:
            value = str(amount_of(meant)) if found.re is _NUMBER else f"'{meant}'"
            change = _with(found, "value", value)
            yield FewBytes(name_of(found), found[0], written, change.part, change.within(text))


def _asks_for_bytes(found: re.Match[str]) -> bool:
    return found["operator"] in (">", ">=")


def amount_changes(text: str, device: NodeDevice) -> Iterator[Change]:
    """What to write in an expression so that one comparison in it is true of a device."""
    for found in (one for pattern in _AMOUNTS for one in pattern.finditer(text)):
        value = device.capacity.get(name_of(found))
        if value is not None and name_of(found) not in device.at_run_time:
            yield from _of_amount(found, Fraction(value[QUANTITY]))
    for found in _NUMBER.finditer(text):
        value = device.capacity.get(name_of(found))
        if value is not None and name_of(found) not in device.at_run_time:
            yield from _of_bytes(found, Fraction(value[QUANTITY]))
    for found in (one for pattern in (*_VERSIONS, _PART) for one in pattern.finditer(text)):
        value = attribute(name_of(found), device)
        if isinstance(value, Mapping) and SEMVER in value:
            yield from _of_version(found, value)


def _of_amount(found: re.Match[str], has: Fraction) -> Iterator[Change]:
    written = found["value"][1:-1]
    wanted = amount_of(written)
    if wanted is None:
        return
    if meant := bytes_meant(own_name(found), written):
        why = f"quantity('{written}') is {written} bytes: "
        yield _with(found, "value", f"'{meant}'", why=why, times=Fraction(1))
        wanted = amount_of(meant) or wanted
    times = wanted / has if has and wanted > has else None
    yield _with(found, "value", f"'{amount_shown(has)}'", times=times)
    yield from _bounded(found, f"quantity('{amount_shown(has)}')", wanted - has, times=times)


def _of_bytes(found: re.Match[str], has: Fraction) -> Iterator[Change]:
    if has.denominator > 1:
        return
    wanted = Fraction(found["value"])
    if meant := bytes_meant(own_name(found), found["value"]):
        why, amount = f"{found['value']} is {found['value']} bytes: ", amount_of(meant)
        yield _with(found, "value", str(amount), why=why, times=Fraction(1))
        wanted = amount or wanted
    times = wanted / has if has and wanted > has else None
    yield _with(found, "value", str(has), times=times)
    operator = {">": ">=", "<": "<="}.get(found["operator"], "==")
    call = found[0][: found.start("operator") - found.start()].rstrip()
    yield Change(found.start(), found.end(), f"{call} {operator} {has}", "", times)


def _of_version(found: re.Match[str], value: Mapping[str, Any]) -> Iterator[Change]:
    if found.re is _PART:
        number = part_of(dict(value), _PARTS.index(found["call"]))
        yield Change(found.start(), found.end(), f"{found['read']}.{found['call']}() == {number}")
        return
    written = found["value"][1:-1]
    if is_semver(written):
        yield _with(found, "value", f"'{value[SEMVER]}'")
        above = Fraction(compared(semver(written), dict(value)))
        yield from _bounded(found, f"semver('{value[SEMVER]}')", above)


def _with(
    found: re.Match[str], group: str, part: str, *, why: str = "", times: Fraction | None = None
) -> Change:
    """The comparison with another value."""
    start, end = found.start(group) - found.start(), found.end(group) - found.start()
    whole = found[0][:start] + part + found[0][end:]
    return Change(found.start(), found.end(), whole, why, times)


def _bounded(
    found: re.Match[str], made: str, above: Fraction, *, times: Fraction | None = None
) -> Iterator[Change]:
    """The comparison of what a device has with itself, where more, or less, was asked for."""
    sense = _sense(found) or (above > 0) - (above < 0)
    part = f"{found['read']}.compareTo({made}) {'>=' if sense > 0 else '<='} 0"
    is_open = "(" in (found.groupdict().get("not") or "")
    if sense and not is_open:
        yield Change(found.start(), found.end(), part, "", times)


def _sense(found: re.Match[str]) -> int:
    """Whether more (1) or less (-1) than a value is asked for; 0 for the value itself."""
    groups = found.groupdict()
    if groups.get("equal"):
        return 0
    sense = _ORDER.get(groups["call"]) or _SENSE.get((groups["operator"], groups["than"]), 0)
    is_turned = (found.start("read") > found.start("made")) != bool(groups["not"])
    return -sense if is_turned else sense
