"""What is told of a search that something stopped, and what to write instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ..cel.advice import MEND, Advice, domain_in_quotes
from ..cel.answers import Outcome
from ..cel.expressions import evaluate
from ..search.causes import MAX_DEVICES
from ..search.endings import Cause
from ..search.problem import Classes, Problem
from ..search.shared_values import has_as_many, held_by_a_value, most_of_a_value
from ..slices import NodeDevice, NodeDevices
from .constraints_told import misspelt
from .followed import followed, no_value
from .near import drivers_behind, instead_of_never, never_published, other_class
from .reasons import class_selected, class_selector, request_reason, too_few_together
from .rewritten import rewritten
from .run_time import run_time_fix


def failure(cause: Cause, given: Problem, node: NodeDevices, classes: Classes) -> Cause:
    """What stopped the search, and what to write instead."""
    if cause.code == "TooManyDevicesInClaim":
        return _too_many(cause, given, node, classes)
    if cause.code == "AllBreaksConstraint":
        return _of_meant_attribute(cause, given)
    if cause.code != "ExpressionFails":
        return cause
    text, device_class = _expression(given, cause, node, classes)
    devices = node.devices
    if cause.selector is not None:
        devices = tuple(class_selected(classes[device_class], devices))
    if what := Advice(cause.fix, cause.instead) if cause.fix else domain_in_quotes(text):
        return replace(cause, fix=followed(what.fix, what.instead, devices))
    failing = [one for one in devices if evaluate(text, one).outcome is Outcome.FAILS]
    found = _of_what_it_reads(cause, text, device_class, failing)
    if later := run_time_fix(found.fix, devices, node.devices):
        found = replace(found, fix=f"{found.fix}, where {later}")
    if cause.selector is not None:
        return found
    return replace(found, fix=f"in the DeviceClass {device_class}, {found.fix}")


def _of_meant_attribute(cause: Cause, given: Problem) -> Cause:
    """Of All under a constraint, with the attribute that is meant by one that nobody has."""
    if cause.claim is None or cause.constraint is None:
        return cause
    near = misspelt(given, cause.claim, cause.constraint)
    return replace(cause, fix=f"{near} And {cause.fix}") if near else cause


def later_fix(cause: Cause, given: Problem, node: NodeDevices, classes: Classes) -> Cause:
    """What only a running node knows, with what to write for a value that it will not have."""
    text, device_class = _expression(given, cause, node, classes)
    if cause.selector is None or not text:
        return cause
    devices = class_selected(classes[device_class], node.devices)
    fix = run_time_fix(text, devices, node.devices)
    # An info shows no fix.
    return replace(cause, text=f"{cause.text}; {fix}", fix=fix) if fix else cause


def refused_fix(text: str, what: Advice, device_class: str, devices: Sequence[NodeDevice]) -> str:
    """What to write for an expression that API servers refuse, as devices have it.

    Args:
        text: The expression.
        what: What is known from its text alone.
        device_class: The class that is asked for.
        devices: The devices of the class.
    """
    drivers = drivers_behind(device_class, devices)
    mended = what.instead or text
    never = never_published(mended, drivers) if devices else ""
    if not never:
        return followed(what.fix, what.instead, devices)
    other = instead_of_never(mended, never, drivers, devices)
    return f"{what.fix}; no driver of the class ever publishes {never}: {other}"


def _too_many(cause: Cause, given: Problem, node: NodeDevices, classes: Classes) -> Cause:
    """Of a claim that wants too many devices, with what whoever splits it meets next."""
    other = request_reason(given, node, classes) or _beyond_a_value(cause, given)
    together = too_few_together(given)
    if other is None and together.wants is None:
        return cause
    other = other or together
    left = (cause.wants or 0) - (other.wants or 0) + (other.has or 0)
    is_still_much = other.code == "TooFewDevices" and left > MAX_DEVICES
    fix = f"{other.fix}, and {cause.fix}" if is_still_much else other.fix or cause.fix
    return replace(cause, text=f"{cause.text}; and {other.text}", fix=fix)


def _beyond_a_value(cause: Cause, given: Problem) -> Cause | None:
    """The first constraint of a claim that wants more devices than any value has."""
    claim = cause.claim or 0
    for index, constraint in enumerate(given.wanted[claim].constraints):
        ways = most_of_a_value(given, claim, index)
        if ways and not has_as_many(given, claim, index):
            held = held_by_a_value(given, claim, index)
            text = f"of {constraint.attribute}, {held}"
            return Cause(text=text, fix=f"make claims of at most {', or '.join(ways)} each")
    return None


def _of_what_it_reads(
    cause: Cause, text: str, device_class: str, failing: Sequence[NodeDevice]
) -> Cause:
    """The advice for an expression that fails on some devices."""
    drivers = drivers_behind(device_class, failing)
    if never := never_published(text, drivers):
        told = f"{cause.text}; no driver of the class ever publishes {never}"
        return replace(cause, text=told, fix=instead_of_never(text, never, drivers, failing))
    if found := rewritten(text, failing):
        return replace(cause, fix=f"{found.why}write {found.part}")
    if _NOT_THERE not in cause.text:
        return replace(cause, fix=no_value(text, failing) or MEND)
    return replace(cause, fix=other_class(text, device_class, failing) or _GUARD)


def _expression(
    given: Problem, cause: Cause, node: NodeDevices, classes: Classes
) -> tuple[str, str]:
    """The expression that a cause is about, of a request or of its class, and the class."""
    for one in given.all_options:
        if (one.claim, one.request) != (cause.claim, cause.request):
            continue
        if cause.selector is not None:
            return one.ask.selectors[cause.selector], one.ask.device_class
        found = class_selector(classes[one.ask.device_class], node.devices)
        return classes[one.ask.device_class][found], one.ask.device_class
    return "", ""


# What the engine says of an attribute that a device lacks.
_NOT_THERE: Final = "not found"
_GUARD: Final = (
    "guard the expression ('name' in device.attributes['domain'] && ...), or keep the Pod off "
    "these nodes"
)
