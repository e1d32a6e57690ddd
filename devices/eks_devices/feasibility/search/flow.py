"""Whether claims can be allocated at all, decided by flows where the allocator's search is long.

With one option of each request chosen, and one value for each constraint, what is left is who
gets which of the devices that fit: a flow from requests to devices.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..cel.answers import Answer
from .causes import MAX_DEVICES
from .endings import Ending, Pick, Result
from .holdings import NOTHING_HELD, Holdings
from .problem import NOTHING, UNKNOWN, Option, Problem

_MOST_CASES: Final = 500
_MOST_CHOICES: Final = 5_000
# A request: its claim, its place there, the number of the option, and the option.
_Chosen = tuple[int, int, int, Option]


@dataclass(frozen=True, slots=True)
class _Demand:
    """How many devices a request wants of those that fit it."""

    chosen: _Chosen
    count: int
    fitting: tuple[int, ...]


def decided(given: Problem, *, held: Holdings = NOTHING_HELD) -> Result:
    """Whether claims for counts of whole devices, with clear answers, can be allocated.

    The devices of the answer need not be those that the allocator would find first.
    """
    if not _is_plain(given):
        return Result(Ending.LIMIT)
    left = _MOST_CASES
    if math.prod(len(request) for claim in given.options for request in claim) > _MOST_CHOICES:
        return Result(Ending.LIMIT)
    for choice in _choices(given):
        for agreed in _agreements(given, choice):
            left -= 1
            if left < 0:
                return Result(Ending.LIMIT)
            picks = _assigned(_demands(given, choice, agreed, held.used), len(given.kinds))
            if picks is not None:
                return Result(Ending.ALLOCATED, tuple(sorted(picks, key=_place)))
    return Result(Ending.NONE)


def _place(pick: Pick) -> tuple[int, int, int]:
    return pick.claim, pick.request, pick.device


def _is_plain(given: Problem) -> bool:
    options = given.all_options
    if given.has_distinct or given.stock is not None:
        return False
    if any(one.ask.count is None or one.ask.admin for one in options):
        return False
    if any(one.failing or one.unclear for one in options):
        return False
    if any(isinstance(amounts, Answer) for one in options for amounts in one.amounts):
        return False
    return not any(UNKNOWN in column for claim in given.values for column in claim)


def _choices(given: Problem) -> Iterator[list[_Chosen]]:
    """Every way to choose an option of each request with no claim above its limit."""
    requests = [
        [(claim, at, number, option) for number, option in enumerate(options)]
        for claim, many in enumerate(given.options)
        for at, options in enumerate(many)
    ]
    for choice in itertools.product(*requests):
        sizes: Counter[int] = Counter()
        for claim, _, _, option in choice:
            sizes[claim] += int(option.ask.count or 0)
        if all(size <= MAX_DEVICES for size in sizes.values()):
            yield list(choice)


def _agreements(given: Problem, choice: Sequence[_Chosen]) -> Iterator[dict[tuple[int, int], int]]:
    """Every value on which each constraint of the chosen options may agree."""
    about = sorted({(claim, one) for claim, _, _, option in choice for one in option.constraints})
    values = [sorted({*given.values[claim][constraint]} - {NOTHING}) for claim, constraint in about]
    for chosen in itertools.product(*values):
        yield dict(zip(about, chosen, strict=True))


def _demands(
    given: Problem, choice: Sequence[_Chosen], agreed: dict[tuple[int, int], int], used: int
) -> list[_Demand]:
    found = []
    for one in choice:
        claim, _, _, option = one
        fitting = tuple(
            device
            for device in option.taken
            if not used >> device & 1
            and device not in option.barred
            and (not option.amounts or option.amounts[device] is not None)
            and all(
                given.values[claim][at][device] == agreed[claim, at] for at in option.constraints
            )
        )
        found.append(_Demand(one, int(option.ask.count or 0), fitting))
    return found


def _assigned(demands: list[_Demand], devices: int) -> list[Pick] | None:
    """Who gets which device; None where not everybody gets what is wanted."""
    if any(len(one.fitting) < one.count for one in demands):
        return None
    owner: list[int | None] = [None] * devices
    for number, demand in enumerate(demands):
        for _ in range(demand.count):
            if not _take(number, demands, owner):
                return None
    return [
        Pick(*demands[who].chosen[:3], device)
        for device, who in enumerate(owner)
        if who is not None
    ]


def _take(number: int, demands: list[_Demand], owner: list[int | None]) -> bool:
    """Give a demand one device more, where need be by giving others other devices."""
    came_from: dict[int, int | None] = {}
    waiting: list[tuple[int, int | None]] = [(number, None)]
    asked = {number}
    for who, by_device in waiting:
        for device in demands[who].fitting:
            if device in came_from or owner[device] == who:
                continue
            came_from[device] = by_device
            holder = owner[device]
            if holder is None:
                _shift(device, came_from, owner, number)
                return True
            if holder not in asked:
                asked.add(holder)
                waiting.append((holder, device))
    return False


def _shift(
    device: int, came_from: dict[int, int | None], owner: list[int | None], number: int
) -> None:
    """Hand devices on along the way that was found, up to the one who asked."""
    while (before := came_from[device]) is not None:
        owner[device] = owner[before]
        device = before
    owner[device] = number
