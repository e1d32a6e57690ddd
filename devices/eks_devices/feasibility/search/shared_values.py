"""How many devices of each request share a value of an attribute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .problem import NOTHING, UNKNOWN, Option, Problem


def shared_by(given: Problem, claim: int, constraint: int) -> dict[str, tuple[int, ...]] | None:
    """How many devices of each request have one value, for each value that all of them have.

    By the name of the request, each with one number per value; of values that have no more of
    any request than others nothing is said, nor of requests that the constraint is not about.
    None where that is not all known, or depends on alternatives.
    """
    requests = zip(given.wanted[claim].requests, given.options[claim], strict=True)
    about = {
        request.name: options
        for request, options in requests
        if any(constraint in one.constraints for one in options)
    }
    values = given.values[claim][constraint]
    is_sure = all(len(many) == 1 and _is_known(many[0], values) for many in about.values())
    if not is_sure or given.wanted[claim].constraints[constraint].is_distinct:
        return None
    counts = [Counter(values[at] for at in _had(many[0])) for many in about.values()]
    rows = {tuple(one[value] for one in counts) for value in values if value != NOTHING}
    best = sorted(row for row in rows if all(row) and not _is_less(row, rows))
    return {name: tuple(row[at] for row in best) for at, name in enumerate(about)}


def _is_known(option: Option, values: Sequence[int]) -> bool:
    return option.is_clear and UNKNOWN not in values


def _had(option: Option) -> list[int]:
    return [at for at in option.taken if at not in option.barred]


def _is_less(row: tuple[int, ...], rows: set[tuple[int, ...]]) -> bool:
    """Whether another value has at least as many devices of each request, and more of one."""
    return any(
        other != row and all(a <= b for a, b in zip(row, other, strict=True)) for other in rows
    )


def held_by_a_value(given: Problem, claim: int, constraint: int) -> str:
    """What one value has at most, in words; empty where that is not known."""
    if ways := most_of_a_value(given, claim, constraint):
        return f"devices with one value are at most {', or '.join(ways)}"
    found = shared_by(given, claim, constraint)
    return f"no value is shared by devices of {' and '.join(found)}" if found else ""


def most_of_a_value(given: Problem, claim: int, constraint: int) -> list[str]:
    """How many devices of each request have one value at most, in words: "1 of gpu and 4 of efa".

    Empty where that is not known, or no value is one of all requests.
    """
    found = shared_by(given, claim, constraint) or {}
    return [
        " and ".join(f"{count} of {name}" for name, count in zip(found, row, strict=True))
        for row in zip(*found.values(), strict=True)
    ]


def has_as_many(given: Problem, claim: int, constraint: int) -> bool:
    """Whether a value has as many devices of each request as are wanted, as far as is known."""
    found = shared_by(given, claim, constraint)
    if found is None:
        return True
    requests = zip(given.wanted[claim].requests, given.options[claim], strict=True)
    wants = {one.name: many[0].ask.count or 1 for one, many in requests}
    rows = zip(*found.values(), strict=True)
    return any(
        all(has >= wants[name] for name, has in zip(found, row, strict=True)) for row in rows
    )


def count_instead(given: Problem, claim: int, option: Option) -> str:
    """What to write in place of All under constraints: "count: 4", or "a count" without telling."""
    most = [_most(given, claim, one, option.ask.name) for one in option.constraints]
    return f"count: {min(most)}" if all(most) and most else "a count"


def _most(given: Problem, claim: int, constraint: int, name: str) -> int:
    """The most devices of a request that a value has beside what others want; 0 if unknown."""
    found = shared_by(given, claim, constraint)
    if not found or name not in found:
        return 0
    requests = zip(given.wanted[claim].requests, given.options[claim], strict=True)
    asks = {one.name: many[0].ask for one, many in requests if one.name in found}
    rows = (dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True))
    enough = (row[name] for row in rows if all(row[one] >= (asks[one].count or 1) for one in row))
    return max(enough, default=0)


def instead_of_all(given: Problem, claim: int) -> str:
    """The advice for a claim that has too many devices by All; empty without any."""
    options = [options[0] for options in given.options[claim] if len(options) == 1]
    for one in options:
        if one.ask.count is None and one.constraints:
            count = count_instead(given, claim, one)
            return f"write {count} instead of All in the request {one.ask.name}"
    return ""
