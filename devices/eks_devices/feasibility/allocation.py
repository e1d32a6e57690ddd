"""The allocator of Kubernetes: claim by claim and request by request, the first devices that fit.

It tries devices in the order in which drivers publish them and goes back where it gets stuck. Of
devices that no claim can tell apart only the first is tried, and of choices in another order only
one, so that the first solution, and the first failing expression, are the same as there.

Source: https://github.com/kubernetes/kubernetes
(staging/src/k8s.io/dynamic-resource-allocation/structured)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from .agreement import Agreed, nothing_agreed, with_value, without
from .expressions import Outcome
from .problem import NOTHING, UNKNOWN, Option, Problem

MAX_DEVICES: Final = 32
"""Devices of one claim (AllocationResultsMaxSize)."""
MAX_STEPS: Final = 20_000
"""Devices that are tried before the search gives up."""
_DEEPEST: Final = 400


class Ending(StrEnum):
    """How a search ends."""

    ALLOCATED = "allocated"
    NONE = "none"
    FAILS = "fails"
    UNCLEAR = "unclear"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class Pick:
    """A device, by its index, that a request of a claim gets by one of its options."""

    claim: int
    request: int
    option: int
    device: int


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a search: the devices that are allocated, or what stopped it.

    `code` and `text` say what failed or is unclear.
    """

    ending: Ending
    picks: tuple[Pick, ...] = ()
    code: str = ""
    text: str = ""


class _Stopped(Exception):  # noqa: N818  (no error: it carries the end of a search)
    def __init__(self, result: Result) -> None:
        super().__init__()
        self.result = result


def allocate(given: Problem, *, used: int = 0, hopeful: bool = False) -> Result:
    """Search devices for all claims of a problem.

    Args:
        given: Claims and devices.
        used: The devices that other Pods have, as bits.
        hopeful: Takes what is unclear for true, and unknown values for equal; otherwise the search
            ends where it meets one.
    """
    try:
        _check_sizes(given, hopeful=hopeful)
        search = _Search(given, hopeful=hopeful)
        found = search.claim(0, used)
    except _Stopped as stopped:
        return stopped.result
    return Result(Ending.ALLOCATED, tuple(search.picks)) if found else Result(Ending.NONE)


def _check_sizes(given: Problem, *, hopeful: bool) -> None:
    """What the allocator looks at before it searches: All, and the least number of devices."""
    for claim in given.options:
        least = 0
        for request in claim:
            for option in request:
                if option.ask.count is None:
                    _stop_at_unclear(option, hopeful=hopeful)
            least += min(_count(option) for option in request)
        if least > MAX_DEVICES:
            text = f"the claim wants {least} devices, and a claim has at most {MAX_DEVICES}"
            raise _Stopped(Result(Ending.FAILS, code="TooManyDevicesInClaim", text=text))


def _stop_at_unclear(option: Option, *, hopeful: bool) -> None:
    for answer in option.answers:
        if answer.outcome is Outcome.FAILS:
            raise _failing(option, answer.text)
        if answer.outcome is Outcome.UNCLEAR and not hopeful:
            raise _Stopped(Result(Ending.UNCLEAR, code="KnownAtRunTime", text=answer.text))


def _failing(option: Option, text: str) -> _Stopped:
    return _Stopped(
        Result(
            Ending.FAILS,
            code="ExpressionFails",
            text=f"an expression of the request {option.ask.name} fails on a device: {text}",
        )
    )


def _count(option: Option) -> int:
    return len(option.taken) if option.ask.count is None else option.ask.count


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a search is: what is used, in all and in the claim, and what constraints agreed on."""

    claim: int
    request: int
    used: int
    own: int
    agreed: tuple[Agreed, ...]
    size: int


@dataclass(slots=True)
class _Search:
    given: Problem
    hopeful: bool
    picks: list[Pick] = field(default_factory=list)
    steps: int = 0
    failed: set[tuple[object, ...]] = field(default_factory=set)
    forgets: bool = field(init=False)

    def __post_init__(self) -> None:
        """Look once."""
        self.forgets = self.given.forgets

    def claim(self, index: int, used: int) -> bool:
        """Allocate a claim and those after it."""
        if index == len(self.given.wanted):
            return True
        agreed = nothing_agreed(self.given.wanted[index].constraints)
        return self.request(_Place(index, 0, used, 0, agreed, 0))

    def request(self, at: _Place) -> bool:
        """Allocate a request and those after it."""
        requests = self.given.options[at.claim]
        if at.request == len(requests):
            return self.claim(at.claim + 1, at.used)
        key = self._key(at)
        if key in self.failed:
            return False
        for number, option in enumerate(requests[at.request]):
            take = self._all if option.ask.count is None else self._some
            if take(at, number, option):
                return True
        self.failed.add(key)
        return False

    def _key(self, at: _Place) -> tuple[object, ...]:
        """What the rest of a search depends on; which of equal devices are used does not count."""
        counts: dict[tuple[int, bool, bool], int] = {}
        for device, kind in enumerate(self.given.kinds):
            if at.used >> device & 1:
                mine = bool(at.own >> device & 1)
                counts[kind, True, mine] = counts.get((kind, True, mine), 0) + 1
        return (at.claim, at.request, at.size, at.agreed, frozenset(counts.items()))

    def _all(self, at: _Place, number: int, option: Option) -> bool:
        devices = sorted((*option.taken, *option.unclear))
        if not devices or at.size + len(devices) > MAX_DEVICES:
            return False
        before = len(self.picks)
        for device in devices:
            self._step(at)
            if not self._is_free(at, option, device):
                break
            next_place = self._added(at, option, device)
            if next_place is None:
                raise self._broken(at, option, device)
            self.picks.append(Pick(at.claim, at.request, number, device))
            at = next_place
        else:
            if self.request(_next_request(at)):
                return True
        del self.picks[before:]
        return False

    def _broken(self, at: _Place, option: Option, device: int) -> _Stopped:
        claim = self.given.wanted[at.claim]
        about = [claim.constraints[one] for one in option.constraints]
        names = ", ".join(one.attribute for one in about)
        how = "differ in" if all(one.is_distinct for one in about) else "share"
        text = (
            f"the request {option.ask.name} is for all devices that match, and device number "
            f"{device} does not {how} {names}; write a count instead of All"
        )
        return _Stopped(Result(Ending.FAILS, code="AllBreaksConstraint", text=text))

    def _some(self, at: _Place, number: int, option: Option) -> bool:
        return self._pick(at, number, option, int(option.ask.count or 0), 0)

    def _pick(self, at: _Place, number: int, option: Option, left: int, first: int) -> bool:
        """Take the devices that a request still wants, from an index on."""
        if not left:
            return self.request(_next_request(at))
        if at.size + left > MAX_DEVICES:
            return False
        tried: set[int] = set()
        for device in option.candidates:
            kind = self.given.kinds[device]
            if device < first or kind in tried or not self._is_free(at, option, device):
                continue
            tried.add(kind)
            self._step(at)
            self._check_match(option, device)
            next_place = self._added(at, option, device)
            if next_place is not None:
                self.picks.append(Pick(at.claim, at.request, number, device))
                if self._pick(next_place, number, option, left - 1, device + 1):
                    return True
                self.picks.pop()
            at = self._undone(at, option, device, was_added=next_place is not None)
        return False

    def _undone(self, at: _Place, option: Option, device: int, *, was_added: bool) -> _Place:
        """Where a search is once a device was tried in vain.

        Schedulers that compare the last device of a request alone forget the one before it here;
        a device that was refused takes back what constraints before the refusing one had noted.
        """
        if not self.forgets:
            return at
        agreed = list(at.agreed)
        for constraint in option.constraints:
            if not was_added and self._agreed(at, constraint, device) is None:
                break
            if isinstance(one := agreed[constraint], tuple):
                agreed[constraint] = without(one, at.request)
        return replace(at, agreed=tuple(agreed))

    def _is_free(self, at: _Place, option: Option, device: int) -> bool:
        """Whether nobody has a device; for access of an administrator, nobody in the claim."""
        return not (at.own if option.ask.admin else at.used) >> device & 1

    def _check_match(self, option: Option, device: int) -> None:
        answer = option.answers[device]
        if answer.outcome is Outcome.FAILS:
            raise _failing(option, answer.text)
        if answer.outcome is Outcome.UNCLEAR and not self.hopeful:
            raise _Stopped(Result(Ending.UNCLEAR, code="KnownAtRunTime", text=answer.text))

    def _added(self, at: _Place, option: Option, device: int) -> _Place | None:
        """Where the search is with a device more; None where that breaks a constraint."""
        agreed = list(at.agreed)
        for constraint in option.constraints:
            found = self._agreed(at, constraint, device)
            if found is None:
                return None
            agreed[constraint] = found
        bit = 1 << device
        return _Place(at.claim, at.request, at.used | bit, at.own | bit, tuple(agreed), at.size + 1)

    def _agreed(self, at: _Place, constraint: int, device: int) -> Agreed | None:
        """What a constraint agrees on with a device more; None where the device breaks it."""
        value = self.given.values[at.claim][constraint][device]
        if value == UNKNOWN and self.hopeful:
            return at.agreed[constraint]
        if value == UNKNOWN:
            attribute = self.given.wanted[at.claim].constraints[constraint].attribute
            text = f"only a running node tells {attribute}"
            raise _Stopped(Result(Ending.UNCLEAR, code="KnownAtRunTime", text=text))
        if value == NOTHING:
            return None
        return with_value(at.agreed[constraint], at.request, value, self.given.scheduler)

    def _step(self, at: _Place) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS or len(self.picks) + at.claim > _DEEPEST:
            raise _Stopped(Result(Ending.LIMIT, code="SearchLimit", text="the search is too long"))


def _next_request(at: _Place) -> _Place:
    return _Place(at.claim, at.request + 1, at.used, at.own, at.agreed, at.size)
