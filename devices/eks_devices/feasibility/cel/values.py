"""Quantities and semantic versions as CEL sees them: maps whose one key tells what they are."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, Final

from ...quantities import amount_of

QUANTITY: Final = "quantity"
SEMVER: Final = "semver"

_NUMBER = r"(0|[1-9][0-9]{0,18})"
_IDENTIFIERS = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_FORM: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_IDENTIFIERS}))?(?:\+{_IDENTIFIERS})?", re.ASCII
)
_LEADING_ZERO: Final = re.compile(r"0[0-9]+", re.ASCII)


def quantity(text: str) -> dict[str, str]:
    """A quantity; equal amounts make equal maps.

    Raises:
        ValueError: The text is no quantity.
    """
    amount = amount_of(text)
    if amount is None:
        raise ValueError(f"no quantity: {text[:64]}")
    return {QUANTITY: str(amount)}


def semver(text: str) -> dict[str, str]:
    """A semantic version without its build, which does not count; equal ones make equal maps.

    Raises:
        ValueError: The text is no version of the form 1.2.3.
    """
    found = _FORM.fullmatch(text)
    if found is None or any(_LEADING_ZERO.fullmatch(one) for one in (found[4] or "").split(".")):
        raise ValueError(f"no semantic version: {text[:64]}")
    return {SEMVER: text.partition("+")[0]}


def is_quantity(text: str) -> bool:
    """Whether a text is a quantity."""
    return amount_of(text) is not None


def is_semver(text: str) -> bool:
    """Whether a text is a version of the form 1.2.3."""
    try:
        semver(text)
    except ValueError:
        return False
    return True


def amount(value: dict[str, Any]) -> Fraction:
    """What a quantity amounts to.

    Raises:
        ValueError: The map stands for something else.
    """
    return Fraction(_text(value, QUANTITY))


def compare(one: dict[str, Any], other: dict[str, Any]) -> int:
    """-1, 0 or 1 for a value that is less than, equal to or greater than another of its kind.

    Raises:
        ValueError: The maps are not of one kind.
    """
    if QUANTITY in one:
        left, right = amount(one), amount(other)
        return (left > right) - (left < right)
    mine, theirs = _order(_text(one, SEMVER)), _order(_text(other, SEMVER))
    return (mine > theirs) - (mine < theirs)


def part_of(value: dict[str, Any], index: int) -> int:
    """Major, minor or patch number of a version, by its index.

    Raises:
        ValueError: The map stands for something else.
    """
    return int(_text(value, SEMVER).partition("-")[0].split(".")[index])


def _text(value: dict[str, Any], kind: str) -> str:
    if len(value) != 1 or not isinstance(value.get(kind), str):
        raise ValueError(f"not a {kind}")
    return str(value[kind])


def _order(version: str) -> tuple[Any, ...]:
    """How versions are ordered: one before a release is less than the release.

    Source: https://semver.org/#spec-item-11
    """
    numbers, _, before = version.partition("-")
    steps = tuple(
        (0, int(one), "") if one.isdigit() else (1, 0, one) for one in before.split(".") if one
    )
    return (tuple(int(one) for one in numbers.split(".")), not before, steps)
