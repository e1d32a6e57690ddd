"""Why claims cannot be allocated, in plain words: the first reason that stands alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .allocation import allocate
from .classes import driver_of
from .endings import Ending
from .expressions import Outcome, evaluate
from .flow import decided
from .near import meant_instead, nearest_of_all, never_published
from .problem import NOTHING, Classes, Option, Problem, problem
from .shared_values import held_by_a_value
from .slices import NodeDevice, NodeDevices
from .values_told import values_told
from .wanted import Ask, Request, Wanted

Reason = tuple[str, str]
"""A stable code and a sentence."""


def reason(given: Problem, node: NodeDevices, classes: Classes) -> Reason:
    """The first reason why a problem has no solution."""
    return next(_reasons(given, node, classes))


def _reasons(given: Problem, node: NodeDevices, classes: Classes) -> Iterator[Reason]:
    for wanted, claim in zip(given.wanted, given.options, strict=True):
        for request, options in zip(wanted.requests, claim, strict=True):
            yield from _of_request(request, options, node, classes)
    if given.stock is not None and any(given.stock.parts):
        yield from _cut(given, node, classes)
    for wanted, options_of in zip(given.wanted, given.options, strict=True):
        for index in range(len(wanted.constraints)):
            alone = replace(wanted, constraints=(wanted.constraints[index],))
            if not _is_possible((alone,), node, classes):
                yield _constraint(given, wanted, index, options_of)
    if not _is_possible(tuple(replace(one, constraints=()) for one in given.wanted), node, classes):
        yield (
            "TooFewDevicesTogether",
            "each request could be served alone, and a node has too few devices for all of them",
        )
    if any(not _is_possible((one,), node, classes) for one in given.wanted):
        text = "each constraint could hold alone, and no choice of devices meets them all"
        yield "ConstraintsNeverHold", text
    yield "NoAllocation", "each claim could be served alone, and a node cannot serve all of them"


def _cut(given: Problem, node: NodeDevices, classes: Classes) -> Iterator[Reason]:
    """The reason of a request whose partitions do not lie beside each other."""
    for wanted in given.wanted:
        for request in wanted.requests:
            alone = replace(wanted, requests=(request,), constraints=())
            if not _is_possible((alone,), node, classes):
                text = f"request {request.name}: a node cannot be cut into as many partitions"
                yield "PartitionsDoNotFit", text


def _is_possible(wanted: tuple[Wanted, ...], node: NodeDevices, classes: Classes) -> bool:
    """Whether a part of what is asked for may be served; what takes too long to say may be."""
    given = problem(wanted, node, classes)
    ending = allocate(given, hopeful=True).ending
    if ending is Ending.LIMIT:
        ending = decided(given).ending
    return ending is not Ending.NONE


def _of_request(
    request: Request, options: tuple[Option, ...], node: NodeDevices, classes: Classes
) -> Iterator[Reason]:
    """The reason that a request has by itself, which is that of its last alternative."""
    found = [_of_option(option, node, classes) for option in options]
    if all(found) and (last := found[-1]) is not None:
        code, text = last
        more = f"none of its {len(found)} alternatives can be had, the last because " * (
            len(found) > 1
        )
        yield code, f"request {request.name}: {more}{text}"


def _of_option(option: Option, node: NodeDevices, classes: Classes) -> Reason | None:
    ask = option.ask
    if not option.candidates:
        return _nothing_matches(ask, node, classes)
    if amounts := _amounts_not_there(option):
        return amounts
    if all(at in option.barred for at in option.candidates):
        return "DeviceTainted", "each device that matches has a taint which it does not tolerate"
    fitting = len([one for one in option.candidates if _can_be_had(option, one)])
    if ask.count is not None and ask.count > fitting:
        return (
            "TooFewDevices",
            f"it wants {ask.count} devices of a node that has at most {fitting} such devices",
        )
    return None


def _can_be_had(option: Option, device: int) -> bool:
    return device not in option.barred and (
        not option.amounts or option.amounts[device] is not None
    )


def _amounts_not_there(option: Option) -> Reason | None:
    if not option.amounts or any(option.amounts[at] is not None for at in option.candidates):
        return None
    wanted = ", ".join(option.ask.amounts) or "what is taken by default"
    return "AmountNotThere", f"no device that matches lets a claim have that much of {wanted}"


def _nothing_matches(ask: Ask, node: NodeDevices, classes: Classes) -> Reason:
    left = list(node.devices)
    for text in classes[ask.device_class]:
        left = [one for one in left if evaluate(text, one).outcome is not Outcome.FALSE]
    if not left:
        return (
            "ClassNotOnGroup",
            f"no driver publishes devices of the class {ask.device_class} on this group's nodes",
        )
    for number, text in enumerate(ask.selectors):
        kept = [one for one in left if evaluate(text, one).outcome is not Outcome.FALSE]
        if not kept:
            return _selector(number, text, ask, left)
        left = kept
    return "NoDeviceMatches", "no device matches all its selectors"


def _selector(number: int, text: str, ask: Ask, among: list[NodeDevice]) -> Reason:
    never = never_published(text, ask.device_class)
    if never:
        text = f"selector {number} reads {never}, which the driver {driver_of(ask.device_class)}"
        instead = meant_instead(never, ask.device_class)
        return "AttributeNeverPublished", f"{text} never publishes{instead}"
    many = "does not match the one device"
    if len(among) > 1:
        many = f"matches none of the {len(among)} devices"
    has = values_told(text, among)
    more = f", which {'have' if len(among) > 1 else 'has'} {has}" if has else ""
    return "NoDeviceMatches", f"selector {number} {many} of the class {ask.device_class}{more}"


def _meant(wanted: Wanted, index: int, options: tuple[tuple[Option, ...], ...]) -> str:
    """The attribute that may be meant in a constraint, after a semicolon; or nothing."""
    about = (one for many in options for one in many if index in one.constraints)
    classes = [one.ask.device_class for one in about]
    found = nearest_of_all(wanted.constraints[index].attribute, classes)
    return f"; {found}" if found else ""


def _constraint(
    given: Problem, wanted: Wanted, index: int, options: tuple[tuple[Option, ...], ...]
) -> Reason:
    never = f"the constraint on {wanted.constraints[index].attribute} can never hold"
    values = given.values[given.wanted.index(wanted)][index]
    for request, many in zip(wanted.requests, options, strict=True):
        about = [one for one in many if index in one.constraints]
        devices = [device for one in about for device in (*one.taken, *one.unclear)]
        if about and all(values[device] == NOTHING for device in devices):
            text = f"{never}: devices of the request {request.name} do not have the attribute"
            return "ConstraintNeverHolds", f"{text}{_meant(wanted, index, options)}"
    if wanted.constraints[index].is_distinct:
        why = "too few devices have a value that no other has"
    else:
        why = "no value is shared by as many devices of each request as are wanted"
        held = held_by_a_value(given, given.wanted.index(wanted), index)
        why += f": {held}" * bool(held)
    return ("ConstraintNeverHolds", f"{never}: {why}")
