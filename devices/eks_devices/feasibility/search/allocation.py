"""The allocator of Kubernetes: claim by claim and request by request, the first devices that fit.

It tries devices in the order in which drivers publish them and goes back where it gets stuck. Of
devices that no claim can tell apart only the first is tried, and of choices in another order only
one, so that the first solution, and the first failing expression, are the same as there.

Source: https://github.com/kubernetes/kubernetes
(staging/src/k8s.io/dynamic-resource-allocation/structured)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from ..cel.answers import Answer, Outcome
from .agreement import Agreed, nothing_agreed, with_value, without
from .amounts import Amounts
from .causes import MAX_DEVICES, all_breaks, no_amount, no_answer, no_value, too_many
from .endings import NO_CAUSE, Cause, Ending, Pick, Result, StoppedError
from .holdings import NOTHING_HELD, Holdings, has_room, with_device
from .places import Likeness, Place, counts_of, weight
from .problem import NOTHING, UNKNOWN, Option, Problem

# A device that is looked at in vain is less work than one that is tried with all that follows.
_LOOK, _TAKE = 1, 7
_MOST_EFFORT: Final = 160_000
_DEEPEST: Final = 400


def allocate(given: Problem, *, held: Holdings = NOTHING_HELD, hopeful: bool = False) -> Result:
    """Search devices for all claims of a problem.

    Args:
        given: Claims and devices.
        held: What other Pods have.
        hopeful: Takes what is unclear for true, and unknown values for fitting ones; otherwise the
            search ends where it meets one.
    """
    search = _Search(given, held, hopeful=hopeful)
    try:
        search.check_sizes()
        found = search.claim(0, held)
    except StoppedError as stopped:
        return stopped.result
    return Result(Ending.ALLOCATED, tuple(search.picks)) if found else Result(Ending.NONE)


def held_after(given: Problem, held: Holdings, picks: tuple[Pick, ...]) -> Holdings:
    """What is held with the devices of a Pod more; administrators take nothing away."""
    for pick in picks:
        option = given.options[pick.claim][pick.request][pick.option]
        if not option.ask.admin:
            more = with_device(given.stock, held, pick.device, _amounts(option, pick.device))
            held = more or held
    return held


def _amounts(option: Option, device: int) -> Amounts:
    found = option.amounts[device] if option.amounts else ()
    return found if isinstance(found, tuple) else ()


@dataclass(slots=True)
class _Search:
    given: Problem
    before: Holdings
    hopeful: bool
    picks: list[Pick] = field(default_factory=list)
    effort: int = 0
    failed: set[tuple[object, ...]] = field(default_factory=set)
    forgets: bool = field(init=False)
    alike: Likeness = field(init=False)

    def __post_init__(self) -> None:
        """Look once."""
        self.forgets = self.given.forgets
        self.alike = Likeness(self.given)

    def check_sizes(self) -> None:
        """What the allocator looks at first: All, and the least number of devices."""
        for index, claim in enumerate(self.given.options):
            least = 0
            for request in claim:
                least += min(self._count(option) for option in request)
            if least > MAX_DEVICES:
                raise StoppedError(Ending.FAILS, too_many(self.given, index, least))

    def _count(self, option: Option) -> int:
        if option.ask.count is not None:
            return option.ask.count
        for device in option.candidates:
            self._check_match(option, device)
        return len(self._all_of(option))

    def _all_of(self, option: Option) -> list[int]:
        """The devices of a request for All: those that match and have what it takes."""
        found = []
        for device in option.candidates:
            is_had = not option.amounts or option.amounts[device] is not None
            if self.given.scheduler.all_leaves_out_full:
                is_had = is_had and self._has_room(self.before, option, device)
            if is_had:
                found.append(device)
        return found

    def claim(self, index: int, held: Holdings) -> bool:
        """Allocate a claim and those after it."""
        if index == len(self.given.wanted):
            return True
        agreed = nothing_agreed(self.given.wanted[index].constraints)
        counts = counts_of(self.given, held)
        return self.request(Place(index, 0, held, 0, agreed, 0, counts))

    def request(self, at: Place) -> bool:
        """Allocate a request and those after it."""
        requests = self.given.options[at.claim]
        if at.request == len(requests):
            return self.claim(at.claim + 1, at.held)
        key = self.alike.key(at)
        if key in self.failed:
            return False
        for number, option in enumerate(requests[at.request]):
            take = self._all if option.ask.count is None else self._some
            if take(at, number, option):
                return True
        self.failed.add(key)
        return False

    def _all(self, at: Place, number: int, option: Option) -> bool:
        devices = self._all_of(option)
        if not devices or at.size + len(devices) > MAX_DEVICES:
            return False
        before = len(self.picks)
        for device in devices:
            self._step(at, _TAKE)
            held = self._held(at, option, device)
            if held is None:
                break
            agreed = self._all_agreed(at, option, device)
            if agreed is None:
                raise StoppedError(Ending.FAILS, all_breaks(self.given, option, device))
            if not self._has_room(at.held, option, device):
                break
            self.picks.append(Pick(at.claim, at.request, number, device))
            at = self._moved(at, device, held, agreed)
        else:
            if self.request(at.next_request):
                return True
        del self.picks[before:]
        return False

    def _some(self, at: Place, number: int, option: Option) -> bool:
        return self._pick(at, number, option, int(option.ask.count or 0), 0)

    def _pick(self, at: Place, number: int, option: Option, left: int, first: int) -> bool:
        """Take the devices that a request still wants, from an index on."""
        if not left:
            return self.request(at.next_request)
        if at.size + left > MAX_DEVICES:
            return False
        tried: set[object] = set()
        used = at.own if option.ask.admin else at.held.used
        free = [one for one in option.candidates if one >= first and not used >> one & 1]
        is_clear = self._is_clear(at, option)
        for before, device in enumerate(free):
            if is_clear and len(free) - before < left:
                break
            kind = self.alike.kind(at, device)
            if kind in tried:
                continue
            tried.add(kind)
            self._step(at, _LOOK)
            self._check_match(option, device)
            if not self._has_room(at.held, option, device):
                continue
            held = self._held(at, option, device)
            if held is None:
                continue
            agreed = self._all_agreed(at, option, device)
            if agreed is not None:
                self._step(at, _TAKE)
                self.picks.append(Pick(at.claim, at.request, number, device))
                place = self._moved(at, device, held, agreed)
                if self._pick(place, number, option, left - 1, device + 1):
                    return True
                self.picks.pop()
            at = self._undone(at, option, device, was_added=agreed is not None)
        return False

    def _is_clear(self, at: Place, option: Option) -> bool:
        """Whether nothing fails, is unclear or is forgotten where a search goes on in vain."""
        if self.forgets or not option.is_clear:
            return False
        values = self.given.values[at.claim]
        return not any(UNKNOWN in values[constraint] for constraint in option.constraints)

    def _undone(self, at: Place, option: Option, device: int, *, was_added: bool) -> Place:
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

    def _is_free(self, at: Place, option: Option, device: int) -> bool:
        """Whether nobody has a device; for access of an administrator, nobody in the claim."""
        return not (at.own if option.ask.admin else at.held.used) >> device & 1

    def _check_match(self, option: Option, device: int) -> None:
        self._check(option, option.answers[device], no_answer)
        amounts = option.amounts[device] if option.amounts else ()
        if isinstance(amounts, Answer):
            self._check(option, amounts, no_amount)

    def _check(
        self, option: Option, answer: Answer, cause: Callable[[Option, Answer], Cause]
    ) -> None:
        if answer.outcome is Outcome.FAILS:
            raise StoppedError(Ending.FAILS, cause(option, answer))
        if answer.outcome is Outcome.UNCLEAR and not self.hopeful:
            raise StoppedError(Ending.UNCLEAR, cause(option, answer))

    def _has_room(self, held: Holdings, option: Option, device: int) -> bool:
        """Whether a device has, and has left, what a request takes of its capacities."""
        if not option.amounts:
            return True
        amounts = option.amounts[device]
        if amounts is None or self.given.stock is None or not isinstance(amounts, tuple):
            return amounts is not None
        return has_room(self.given.stock, held, device, amounts)

    def _held(self, at: Place, option: Option, device: int) -> Holdings | None:
        """What is held with a device more; None where it cannot be had."""
        if device in option.barred or not self._is_free(at, option, device):
            return None
        return with_device(self.given.stock, at.held, device, _amounts(option, device))

    def _moved(self, at: Place, device: int, held: Holdings, agreed: tuple[Agreed, ...]) -> Place:
        # The bit of a shared device is never set, so that it stays free.
        own = at.own | (held.used & 1 << device)
        more = weight(self.given.kinds[device])
        # Administrators may look at what somebody has already.
        counts = at.counts if at.held.used >> device & 1 else at.counts + more
        own_counts = at.own_counts + more
        return Place(at.claim, at.request, held, own, agreed, at.size + 1, counts, own_counts)

    def _all_agreed(self, at: Place, option: Option, device: int) -> tuple[Agreed, ...] | None:
        """What all constraints agree on with a device more; None where that breaks one."""
        agreed = list(at.agreed)
        for constraint in option.constraints:
            found = self._agreed(at, constraint, device)
            if found is None:
                return None
            agreed[constraint] = found
        return tuple(agreed)

    def _agreed(self, at: Place, constraint: int, device: int) -> Agreed | None:
        """What a constraint agrees on with a device more; None where the device breaks it."""
        value = self.given.values[at.claim][constraint][device]
        if value == UNKNOWN and self.hopeful:
            return at.agreed[constraint]
        if value == UNKNOWN:
            raise StoppedError(Ending.UNCLEAR, no_value(self.given, at.claim, constraint))
        if value == NOTHING:
            return None
        return with_value(at.agreed[constraint], at.request, value, self.given.scheduler)

    def _step(self, at: Place, effort: int) -> None:
        self.effort += effort
        if self.effort > _MOST_EFFORT or len(self.picks) + at.claim > _DEEPEST:
            raise StoppedError(Ending.LIMIT, NO_CAUSE)
