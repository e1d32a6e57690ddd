"""What the devices of a claim have agreed on so far, constraint by constraint.

Where devices must share an attribute it is the value of the first one. Where they must differ it
is all values, or the last one of each request for schedulers that forget the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..minors import Distinct, Scheduler
from ..wanted import Constraint

Agreed = int | tuple[tuple[int, int], ...]
"""The value that is shared; or the values that are taken, each with its request if it matters."""

UNSET: Final = -3


def nothing_agreed(constraints: Sequence[Constraint]) -> tuple[Agreed, ...]:
    """Before the first device."""
    return tuple(() if one.is_distinct else UNSET for one in constraints)


def with_value(agreed: Agreed, request: int, value: int, scheduler: Scheduler) -> Agreed | None:
    """What is agreed on with the value of one device more; None where that breaks it."""
    if isinstance(agreed, int):
        return value if agreed in (UNSET, value) else None
    if scheduler.distinct is Distinct.PRESENT:
        return agreed
    if any(taken == value for _, taken in agreed):
        return None
    if scheduler.distinct is Distinct.LAST:
        return tuple(sorted((*without(agreed, request), (request, value))))
    # Which request has it does not matter, so that equal values make equal places.
    return tuple(sorted((*agreed, (0, value))))


def without(agreed: tuple[tuple[int, int], ...], request: int) -> tuple[tuple[int, int], ...]:
    """The values that are taken by other requests."""
    return tuple(one for one in agreed if one[0] != request)
