"""What to write for functions and operators that are not there for the types they are given."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Final

from ...quantities import amount_shown, amounts_meant, bytes_meant
from . import operands
from .form import elements, quoted_out
from .signatures import ways_to_call
from .slips import Step

_TEXT: Final = r"""(?:'[^'\\]*'|"[^"\\]*")"""
_LITERAL: Final = re.compile(rf"{_TEXT}|-?[0-9][\w.]*")
_VALUE: Final = re.compile(
    rf"(?:quantity\s*\(\s*)?(?:(?P<text>{_TEXT})|(?P<number>[0-9][\w.]*(?:\s*\*\s*[0-9]+)*))\s*\)?"
)
_OWN_NAME: Final = re.compile(r"""(\w+)(?:['"]\s*\])?\s*$""")
_FLIPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPERATOR: Final = re.compile(r"[=!<>]=|[<>]|&&|\|\||\bin\b")
_GIVEN: Final = re.compile(rf"\s*\.\s*(\w+)\s*\(\s*({_TEXT}|[0-9][\w.]*)\s*\)")
_QUALIFIED: Final = re.compile(r"""device\s*\.\s*(\w+)\s*\[\s*['"]([^'"]+)/(\w+)['"]\s*\]""")
_PART: Final = re.compile(
    rf"(.*\.\s*(?:contains|startsWith|endsWith|matches)\s*\(\s*)({_TEXT})(\s*\))", re.DOTALL
)
_EITHER: Final = re.compile(rf"==\s*\(\s*({_TEXT}(?:\s*\|\|\s*{_TEXT})+)\s*\)")
_COMPARING: Final = re.compile(r"\s*\.\s*(?:compareTo|isGreaterThan|isLessThan)\s*\(\s*$")
_LAST_CALL: Final = re.compile(r"\.\s*(\w+)\s*\([^()]*\)$")
_CHOICE: Final = re.compile(rf"([^?]+)\?\s*{_TEXT}\s*:\s*{_TEXT}", re.DOTALL)
_MOST_WAYS: Final = 3
_OR_THE_LIKE: Final = "compare amounts by .compareTo(quantity('1Gi')) >= 0, or the like"


def ordered(found: re.Match[str], text: str) -> Step:
    """Amounts are ordered by a function."""
    sides = _sides(found.string, text)
    if sides is None:
        return _OR_THE_LIKE, ""
    start, left, operator, right, end = sides
    value = _VALUE.fullmatch(right)
    if value is None and _VALUE.fullmatch(left):
        left, right, operator = right, left, _FLIPPED.get(operator, operator)
        value = _VALUE.fullmatch(right)
    made = _amount(left, value) if value else right if "device" in right else ""
    if not made or operator not in ("==", "!=", *_FLIPPED):
        return _OR_THE_LIKE, ""
    part = f"{left}.compareTo({made}) {operator} 0"
    return f"write {part}", text[:start] + part + text[end:]


def listed(found: re.Match[str], text: str) -> Step:
    """An amount is compared with each of several."""
    sides = _sides(found.string, text)
    if sides is None or not sides[3].startswith("["):
        return _OR_THE_LIKE, ""
    start, left, _, right, end = sides
    values = (one.strip() for one in elements(quoted_out(right), right, 1))
    made = [_amount(left, value) for one in values if (value := _VALUE.fullmatch(one))]
    if not all(made) or not made:
        return _OR_THE_LIKE, ""
    part = " || ".join(f"{left}.compareTo({one}) == 0" for one in made)
    part = f"({part})" if len(made) > 1 else part
    return f"write {part}", text[:start] + part + text[end:]


def _amount(read: str, value: re.Match[str]) -> str:
    """An amount as it is written, of what a value is meant for; empty for another text."""
    written = value["text"][1:-1] if value["text"] else value["number"]
    if "*" in written:
        product = math.prod(int(one) for one in written.split("*") if one.strip().isdecimal())
        written = amount_shown(Fraction(product))
    return f"quantity('{_meant(read, written)}')" if amounts_meant(written) else ""


def _meant(read: str, written: str) -> str:
    own = _OWN_NAME.search(read)
    in_bytes = bytes_meant(own[1], written) if own else ""
    return in_bytes or next(iter(amounts_meant(written)), "1Gi")


def _sides(told: str, text: str) -> tuple[int, str, str, str, int] | None:
    """Where a refused operator's sides begin and end, with these and the operator."""
    at = operands.place(told, text)
    operator = _OPERATOR.match(text, at)
    if operator is None:
        return None
    start, end = operands.before(text, at), operands.after(text, operator.end())
    while text.startswith("!", start) and not text.startswith("!=", start):
        start += 1
    left, right = text[start:at].strip(), text[operator.end() : end].strip()
    return (start, left, operator[0], right, end) if left and right else None


def argument(found: re.Match[str], text: str) -> Step:
    """The functions of amounts and versions take an amount or a version."""
    at = operands.place(found.string, text)
    calls = (one for one in _GIVEN.finditer(text) if one[1] == found[1])
    one = next((call for call in calls if call.start() <= at < call.end()), None)
    value = one[2].strip("'\"") if one else ""
    read = text[operands.value_before(text, one.start()) : one.start()] if one else ""
    amount = f"quantity('{_meant(read, value)}')"
    is_version = re.fullmatch(r"[0-9]+(\.[0-9]+){0,2}", value) is not None
    version = ".".join([*value.split("."), "0", "0"][:3]) if is_version else "1.2.3"
    is_amount = found[2] == "kubernetes.Quantity"
    if found[2] == "kubernetes.Semver" or (not is_amount and (is_version or one is None)):
        made, otherwise = f"semver('{version}')", " for a version, or quantity('...')"
    else:
        made, otherwise = amount, ""
    whole = text[: one.start(2)] + made + text[one.end(2) :] if one and value else ""
    return f"write {found[1]}({made}){otherwise}", whole


def converted(found: re.Match[str], text: str) -> Step | None:
    """An amount is not made another type, nor a number an amount."""
    opening = operands.place(found.string, text)
    end = operands.closing(text, opening)
    inner = text[opening + 1 : end - 1].strip()
    start = opening - len(found[1])
    if found[2] == "kubernetes.Quantity":
        hint = f"leave {found[1]} out" if found[1] == "quantity" else _OR_THE_LIKE
        return hint, text[:start] + inner + text[end:]
    if found[1] == "quantity" and found[2] in ("int", "double"):
        read = _COMPARING.sub("", text[:start])
        made = f"quantity('{_meant(read, inner)}')"
        return f"write {made}", text[:start] + made + text[end:]
    return None


def joined(found: re.Match[str], text: str) -> Step | None:
    """Both sides of && and || are true or false."""
    if either := _EITHER.search(text):
        part = f"in [{', '.join(re.findall(_TEXT, either[1]))}]"
        whole = text[: either.start()] + part + text[either.end() :]
        return "write in [...] for one of several", whole
    sides = _sides(found.string, text)
    if sides is None:
        return None
    start, left, operator, right, end = sides
    is_left = found[2].endswith(", bool)")
    side, other = (left, right) if is_left else (right, left)
    made = _again(other, side)
    if not made and "Quantity" in found[2]:
        made = f"{side}.compareTo(quantity('1Gi')) >= 0"
    if not made:
        return f"compare {side} with something, by == or the like", ""
    part = f"{made} {operator} {right}" if is_left else f"{left} {operator} {made}"
    return f"write {part}", text[:start] + part + text[end:]


def _again(truth: str, value: str) -> str:
    """The comparison that one side has, of a value that is the other one; empty for others."""
    if not _LITERAL.fullmatch(value):
        return ""
    if part := _PART.fullmatch(truth):
        return f"{part[1]}{value}{part[3]}"
    found = operands.compared(truth, 0, len(truth))
    if found is None or found[1] == "in":
        return ""
    left, operator, right = found
    return f"{right if _LITERAL.fullmatch(left) else left} {operator} {value}"


def inside(found: re.Match[str], text: str) -> Step:
    """Of `in` before a text."""
    hint = "write .contains('...') for a part of a text, or in ['...'] for one of several"
    sides = _sides(found.string, text)
    if sides is None:
        return hint, ""
    start, left, _, right, end = sides
    whole, part = (right, left) if _LITERAL.fullmatch(left) else (left, right)
    return hint, f"{text[:start]}{whole}.contains({part}){text[end:]}"


def whole_name(_: re.Match[str], text: str) -> Step | None:
    """Of a name with its domain in one pair of brackets."""
    one = _QUALIFIED.search(text)
    if one is None:
        return None
    part = f"device.{one[1]}['{one[2]}'].{one[3]}"
    return f"write {part}", text[: one.start()] + part + text[one.end() :]


def other_types(found: re.Match[str], _: str) -> Step | None:
    """How a function is called that is there for other types."""
    ways = ways_to_call(found[1])
    return (f"it is there as {' and '.join(ways[:_MOST_WAYS])}", "") if ways else None


def mixed(found: re.Match[str], text: str) -> Step:
    """Of values of several types that are compared."""
    sides = _sides(found.string, text)
    called = _LAST_CALL.search(sides[1]) if sides else None
    ways = ways_to_call(called[1]) if called else ()
    if called and ways and all(one.startswith("list") for one in ways):
        return f"{called[1]} is there for lists alone, as {' and '.join(ways)}", ""
    return f"compare values of one type, and not {found[1]} with {found[2]}", ""


def no_field(found: re.Match[str], text: str) -> Step:
    """Amounts have no fields."""
    at = operands.place(found.string, text)
    field = re.match(r"\s*\.\s*(\w+)", text[at:])
    if field is None:
        return f"an amount has no fields: {_OR_THE_LIKE}", ""
    hint = f"an amount has no fields: leave .{field[1]} out"
    return hint, text[:at] + text[at + field.end() :]


def no_truth(found: re.Match[str], text: str) -> Step:
    """Of an expression that is neither true nor false."""
    stripped = text.strip()
    is_quoted = re.fullmatch(r"""(['"])(?:(?!\1).)*\1""", stripped, re.DOTALL)
    if is_quoted and "device." in text:
        return "leave the outer quotes out", stripped[1:-1]
    if choice := _CHOICE.fullmatch(stripped):
        return "write the condition alone", choice[1].strip()
    if found[1] == "INT" and "compareTo" in text:
        return f"write {stripped} >= 0", f"{stripped} >= 0"
    if found[1] == "kubernetes.Quantity":
        part = f"{stripped}.compareTo(quantity('1Gi')) >= 0"
        return f"write {part}, or the like", part
    return "compare it with something, by == or the like", ""
