"""What can be said of claims and the devices of a node, in the order in which it is certain."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from .._frozen import FrozenDict
from ..names import GPU_DRIVER
from .cel.advice import Advice, domain_in_quotes
from .cel.expressions import mended, refusal
from .classes import driver_of
from .minors import Distinct, Scheduler
from .search.allocation import allocate, held_after
from .search.endings import NO_CAUSE, Cause, Ending, Pick, Result
from .search.flow import decided
from .search.holdings import NOTHING_HELD, Holdings
from .search.problem import Problem, problem
from .search.stack_room import with_room
from .slices import NodeDevices
from .telling.failures import failure, later_fix, refused_fix
from .telling.reasons import class_meant, class_selected, reason
from .verdicts import Status
from .wanted import Ask, Wanted

# More Pods than these cannot name a claim (status.reservedFor), and no node takes as many.
_MOST_PODS: Final = 256


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict without the names of group and claims."""

    status: Status
    cause: Cause = NO_CAUSE
    picks: tuple[Pick, ...] = ()
    fits: int | None = None


@functools.lru_cache(maxsize=65536)
@with_room
def judged(
    wanted: tuple[Wanted, ...], node: NodeDevices, classes: FrozenDict[str, tuple[str, ...]]
) -> Judgement:
    """Whether a node with nothing on it can serve the claims of a Pod.

    Raises:
        EksDevicesError: The CEL engine is not installed.
    """
    asks = [ask for _, _, ask in _named_asks(wanted)]
    if refused := _distinct_refused(wanted, node.scheduler) or _refused(wanted, node, classes):
        return refused
    given = problem(wanted, node, classes)
    found = _searched(given)
    if found.ending is not Ending.FAILS and _may_crash(given):
        text = (
            "it asks for all of devices that are cut from common counters, which crashes "
            f"schedulers before {node.scheduler.crashes_before}"
        )
        fix = "write a count instead of All"
        return Judgement(Status.UNKNOWN, Cause("AllOfPartitions", text, fix=fix))
    if found.ending is Ending.ALLOCATED:
        # All takes what is published beside the devices that are known as well.
        if why := _unpublished([one for one in asks if one.count is None], node):
            return Judgement(Status.UNKNOWN, Cause("NoPublishedData", why))
        return _allocated(given, node, classes, found)
    return _not_allocated(given, node, found, classes)


def _not_allocated(
    given: Problem,
    node: NodeDevices,
    found: Result,
    classes: FrozenDict[str, tuple[str, ...]],
) -> Judgement:
    asks = [one.ask for one in given.all_options]
    if found.ending is Ending.FAILS:
        return Judgement(Status.ERROR, failure(found.cause, given, node, classes))
    if found.ending is Ending.UNCLEAR and not _is_hopeless(given):
        return Judgement(Status.UNKNOWN, later_fix(found.cause, given, node, classes))
    if found.ending is Ending.LIMIT:
        text = "the search for devices was ended, for it is too long"
        return Judgement(Status.UNKNOWN, Cause("SearchLimit", text))
    if why := _unpublished(asks, node):
        return Judgement(Status.UNKNOWN, Cause("NoPublishedData", why))
    return Judgement(Status.INFEASIBLE, reason(given, node, classes))


def _refused(
    wanted: tuple[Wanted, ...], node: NodeDevices, classes: FrozenDict[str, tuple[str, ...]]
) -> Judgement | None:
    """What the API server refuses, and what no cluster of the plan has."""
    for claim, name, ask in _named_asks(wanted):
        place = Cause(claim=claim, request=name, device_class=ask.device_class)
        if ask.device_class not in classes:
            text = f"request {ask.name}: there is no DeviceClass {ask.device_class}"
            fix = class_meant(ask.device_class, node, classes)
            cause = replace(place, code="ClassNotInstalled", text=text, fix=fix)
            return Judgement(Status.INFEASIBLE, cause)
        for number, text in enumerate(ask.selectors):
            if found := refusal(text, node.scheduler.version):
                why, fix = found
                told = f"request {ask.name}: the API server refuses selector {number}: {why}"
                what = domain_in_quotes(text) or Advice(fix, mended(text, node.scheduler.version))
                devices = class_selected(classes[ask.device_class], node.devices)
                advised = refused_fix(text, what, ask.device_class, devices)
                where = replace(place, selector=number, fix=advised)
                cause = replace(where, code="ExpressionInvalid", text=told)
                return Judgement(Status.ERROR, cause)
    return None


def _named_asks(wanted: tuple[Wanted, ...]) -> Iterator[tuple[int, str, Ask]]:
    """What is asked for, with the index of the claim and the name of the request."""
    for index, claim in enumerate(wanted):
        for request in claim.requests:
            for name, ask in zip(request.names, request.options, strict=True):
                yield index, name, ask


def _distinct_refused(wanted: tuple[Wanted, ...], scheduler: Scheduler) -> Judgement | None:
    """What becomes of attributes that must differ where the API server drops the field."""
    if scheduler.distinct is not Distinct.REFUSED:
        return None
    for claim, one in enumerate(wanted):
        for index, constraint in enumerate(one.constraints):
            if constraint.is_distinct:
                text = (
                    f"a constraint wants {constraint.attribute} to differ: Kubernetes "
                    f"{scheduler.version} drops distinctAttribute, and refuses a constraint "
                    "without an attribute"
                )
                place = Cause("DistinctNotServed", text, claim=claim, constraint=index)
                return Judgement(Status.ERROR, replace(place, fix="leave the constraint out"))
    return None


def _may_crash(given: Problem) -> bool:
    """Whether a request for All matches devices that consume counters, on a minor with the bug."""
    if not given.scheduler.crashes_before or given.stock is None:
        return False
    return any(
        given.stock.parts[device]
        for one in given.all_options
        if one.ask.count is None
        for device in one.candidates
    )


def _searched(given: Problem, *, held: Holdings = NOTHING_HELD) -> Result:
    found = allocate(given, held=held)
    return decided(given, held=held) if found.ending is Ending.LIMIT else found


def _is_hopeless(given: Problem) -> bool:
    """Whether claims cannot be served even if all that is unclear turns out well."""
    if any(one.ask.count is None for one in given.all_options):
        # All takes whatever matches: fewer matches may be better.
        return False
    if given.forgets:
        # What is compared depends on what was tried before.
        return False
    return allocate(given, hopeful=True).ending is Ending.NONE


def _allocated(
    given: Problem, node: NodeDevices, classes: FrozenDict[str, tuple[str, ...]], found: Result
) -> Judgement:
    kinds = {node.devices[one.device].attributes.get(_KIND) for one in found.picks}
    if kinds.issuperset(_TWINS):
        return Judgement(Status.UNKNOWN, Cause("SameGpuTwice", _TWICE))
    fits = None if node.unpublished else _fits(given, node, classes, found)
    return Judgement(Status.FEASIBLE, picks=found.picks, fits=fits)


_KIND: Final = f"{GPU_DRIVER}/type"
# Each GPU that a machine may have as well is published once more, and the scheduler takes both.
_TWINS: Final = ("gpu", "vfio")
_TWICE: Final = (
    "it takes a GPU, and one for virtual machines: they may be the same, which the scheduler does "
    "not know and the driver refuses"
)


def _fits(
    given: Problem, node: NodeDevices, classes: FrozenDict[str, tuple[str, ...]], first: Result
) -> int | None:
    """How many such Pods a node serves one after another; None where that cannot be told.

    Claims that are named are there once for all of them.
    """
    held, found, pods = held_after(given, NOTHING_HELD, first.picks), first, 1
    own = tuple(one for one in given.wanted if not one.is_named)
    if not own:
        return _MOST_PODS
    again = problem(own, node, classes)
    while pods < _MOST_PODS:
        found = _searched(again, held=held)
        if found.ending is not Ending.ALLOCATED:
            return pods if found.ending is Ending.NONE else None
        before, pods = held, pods + 1
        held = held_after(again, held, found.picks)
        if held == before:
            return None
    return pods


def _unpublished(asks: list[Ask], node: NodeDevices) -> str:
    """Why the drivers of the classes may publish devices that are not known here."""
    drivers = {driver_of(ask.device_class) for ask in asks}
    reasons = (
        why for driver, why in node.unpublished.items() if driver in drivers or None in drivers
    )
    return next(reasons, "")
