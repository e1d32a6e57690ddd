"""Why claims cannot be allocated, in plain words: the first reason that stands alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from ...findings import alike, question
from ..cel.answers import Outcome
from ..cel.expressions import evaluate
from ..class_names import class_called
from ..classes import installed_classes
from ..search.allocation import allocate
from ..search.endings import Cause, Ending
from ..search.flow import decided
from ..search.problem import Classes, Option, Problem, problem
from ..slices import NodeDevice, NodeDevices
from ..wanted import Ask, Request, Wanted
from .amounts_told import amount_cause
from .constraints_told import constraint_cause
from .near import drivers_behind, instead_of_never, never_published, other_class
from .near_values import instead
from .values_told import values_told


def reason(given: Problem, node: NodeDevices, classes: Classes) -> Cause:
    """The first reason why a problem has no solution."""
    return next(_reasons(given, node, classes))


def request_reason(given: Problem, node: NodeDevices, classes: Classes) -> Cause | None:
    """The first reason that a request has by itself; None where each could be served alone."""
    return next(_of_requests(given, node, classes), None)


def _reasons(given: Problem, node: NodeDevices, classes: Classes) -> Iterator[Cause]:
    yield from _of_requests(given, node, classes)
    if given.stock is not None and any(given.stock.parts):
        yield from _cut(given, node, classes)
    for claim, wanted in enumerate(given.wanted):
        for index in range(len(wanted.constraints)):
            alone = replace(wanted, constraints=(wanted.constraints[index],))
            if not _is_possible((alone,), node, classes):
                yield constraint_cause(
                    given, claim, index, node, lambda one: _is_possible((one,), node, classes)
                )
    if not _is_possible(tuple(replace(one, constraints=()) for one in given.wanted), node, classes):
        yield too_few_together(given)
    if any(not _is_possible((one,), node, classes) for one in given.wanted):
        text = "each constraint could hold alone, and no choice of devices meets them all"
        fix = "leave a constraint out, or ask for fewer devices"
        yield Cause("ConstraintsNeverHold", text, fix=fix)
    text = "each claim could be served alone, and a node cannot serve all of them"
    yield Cause("NoAllocation", text, fix="ask for fewer devices in all, or by fewer claims")


def too_few_together(given: Problem) -> Cause:
    """That a node has too few devices for all requests, with numbers where these alone tell it."""
    text = "each request could be served alone, and a node has too few devices for all of them"
    fix = "ask for fewer devices in all"
    cause = Cause("TooFewDevicesTogether", text, fix=fix)
    asks = [one.ask for one in given.all_options]
    counted = [one.count for one in asks if one.count is not None and not one.admin]
    is_choice = any(one.is_prioritised for claim in given.wanted for one in claim.requests)
    has = len({device for one in given.all_options for device in one.candidates})
    wants = sum(counted)
    if is_choice or given.stock is not None or len(counted) < len(asks) or wants <= has:
        return cause
    text = (
        f"its requests want {wants} devices together of a node that has at most {has} such devices"
    )
    return replace(cause, text=text, wants=wants, has=has, fix=f"{fix}: at most {has}")


def _of_requests(given: Problem, node: NodeDevices, classes: Classes) -> Iterator[Cause]:
    for wanted, claim in zip(given.wanted, given.options, strict=True):
        for request, options in zip(wanted.requests, claim, strict=True):
            yield from _of_request(request, options, node, classes)


def _cut(given: Problem, node: NodeDevices, classes: Classes) -> Iterator[Cause]:
    """The reason of a request whose partitions do not lie beside each other."""
    for claim, wanted in enumerate(given.wanted):
        for request in wanted.requests:
            alone = replace(wanted, requests=(request,), constraints=())
            if not _is_possible((alone,), node, classes):
                text = f"request {request.name}: a node cannot be cut into as many partitions"
                yield Cause("PartitionsDoNotFit", text, claim, request.name)


def _is_possible(wanted: tuple[Wanted, ...], node: NodeDevices, classes: Classes) -> bool:
    """Whether a part of what is asked for may be served; what takes too long to say may be."""
    given = problem(wanted, node, classes)
    ending = allocate(given, hopeful=True).ending
    if ending is Ending.LIMIT:
        ending = decided(given).ending
    return ending is not Ending.NONE


def _of_request(
    request: Request, options: tuple[Option, ...], node: NodeDevices, classes: Classes
) -> Iterator[Cause]:
    """The reason that a request has by itself, which is that of its last alternative."""
    found = [_of_option(option, node, classes) for option in options]
    if all(found) and (last := found[-1]) is not None:
        more = f"none of its {len(found)} alternatives can be had, the last because " * (
            len(found) > 1
        )
        yield replace(
            last,
            text=f"request {request.name}: {more}{last.text}",
            claim=options[-1].claim,
            request=options[-1].request,
            device_class=options[-1].ask.device_class,
        )


def _of_option(option: Option, node: NodeDevices, classes: Classes) -> Cause | None:
    """The reason of a way to satisfy a request, without its place."""
    ask = option.ask
    if not option.candidates:
        return replace(_nothing_matches(ask, node, classes), wants=ask.count, has=0)
    if amounts := _amounts_not_there(option, node):
        return amounts
    if all(at in option.barred for at in option.candidates):
        text = "each device that matches has a taint which it does not tolerate"
        return Cause("DeviceTainted", text)
    has = len([one for one in option.candidates if _can_be_had(option, one)])
    if ask.count is None or ask.count <= has:
        return None
    text = f"it wants {ask.count} devices of a node that has at most {has} such devices"
    fix = f"ask for at most {has} devices"
    return Cause("TooFewDevices", text, wants=ask.count, has=has, fix=fix)


def _can_be_had(option: Option, device: int) -> bool:
    return device not in option.barred and (
        not option.amounts or option.amounts[device] is not None
    )


def _amounts_not_there(option: Option, node: NodeDevices) -> Cause | None:
    if not option.amounts or any(option.amounts[at] is not None for at in option.candidates):
        return None
    return amount_cause(option.ask, [node.devices[at] for at in option.candidates])


def _nothing_matches(ask: Ask, node: NodeDevices, classes: Classes) -> Cause:
    left = list(node.devices)
    for text in classes[ask.device_class]:
        kept = [one for one in left if evaluate(text, one).outcome is not Outcome.FALSE]
        if not kept:
            return _not_in_class(text, ask.device_class, left, classes)
        left = kept
    for number, text in enumerate(ask.selectors):
        kept = [one for one in left if evaluate(text, one).outcome is not Outcome.FALSE]
        if not kept:
            return replace(_selector(number, text, ask, left), selector=number)
        left = kept
    if not left:
        return _not_in_class("", ask.device_class, left, classes)
    return Cause("NoDeviceMatches", "no device matches all its selectors")


def _no_device_of(device_class: str, classes: Classes) -> str:
    """That no device is of a class, of which only those of the drivers tell of drivers."""
    if classes[device_class] != installed_classes().get(device_class):
        return f"no device of this group's nodes is one that the class {device_class} selects"
    return f"no driver publishes devices of the class {device_class} on this group's nodes"


def class_meant(name: str, node: NodeDevices, classes: Classes) -> str:
    """What to write for a class that there is not: one spelled alike, or of the devices it names.

    Of several spelled alike those of devices of the node come first.
    """

    def is_elsewhere(one: str) -> bool:
        return class_selected(classes[one], node.devices) == []

    called = class_called(name)
    near = alike(name, classes, least=_SAME) or [called] * bool(called) or alike(name, classes)
    if near:
        return question(sorted(near, key=is_elsewhere))
    here = ", ".join(one for one in classes if not is_elsewhere(one))
    return "name a DeviceClass of the cluster" + f", such as {here}" * bool(here)


# Names of classes share their domains.
_SAME: Final = 0.9


def class_selected(texts: Sequence[str], devices: Iterable[NodeDevice]) -> list[NodeDevice]:
    """The devices that a class may hold."""
    return [
        one
        for one in devices
        if all(evaluate(text, one).outcome is not Outcome.FALSE for text in texts)
    ]


def class_selector(texts: Sequence[str], devices: Iterable[NodeDevice]) -> int:
    """Which expression of a class fails on a device, or leaves none of them; 0 without any."""
    left = list(devices)
    for number, text in enumerate(texts):
        found = [(one, evaluate(text, one).outcome) for one in left]
        left = [one for one, outcome in found if outcome is not Outcome.FALSE]
        if not left or any(outcome is Outcome.FAILS for _, outcome in found):
            return number
    return 0


def _not_in_class(text: str, name: str, among: list[NodeDevice], classes: Classes) -> Cause:
    """Of a class none of whose devices is there, by the expression that leaves them out."""
    if not among or classes[name] == installed_classes().get(name):
        return Cause("ClassNotOnGroup", _no_device_of(name, classes))
    has = values_told(text, among)
    told = f"the DeviceClass {name} matches none of the {len(among)} devices"
    told += f", which have {has}" * bool(has)
    fix = instead(text, among)
    return Cause("ClassNotOnGroup", told, fix=f"in the DeviceClass {name}, {fix}")


def _selector(number: int, text: str, ask: Ask, among: list[NodeDevice]) -> Cause:
    drivers = drivers_behind(ask.device_class, among)
    if never := never_published(text, drivers):
        whose = f"the driver {' or '.join(sorted(drivers))} never publishes"
        read = text
        text = f"selector {number} reads {never}, which {whose}"
        fix = instead_of_never(read, never, drivers, among)
        return Cause("AttributeNeverPublished", text, fix=fix)
    many = "does not match the one device"
    if len(among) > 1:
        many = f"matches none of the {len(among)} devices"
    has = values_told(text, among)
    more = f", which {'have' if len(among) > 1 else 'has'} {has}" if has else ""
    fix = other_class(text, ask.device_class, among) or instead(text, among)
    return Cause(
        "NoDeviceMatches",
        f"selector {number} {many} of the class {ask.device_class}{more}",
        fix=fix,
    )
