"""What is told of a search that something stopped, and what to write instead."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from .cel_advice import MEND, domain_in_quotes
from .endings import Cause
from .near import meant_instead, never_published
from .problem import Classes, Problem
from .reasons import request_reason
from .slices import NodeDevices


def failure(cause: Cause, given: Problem, node: NodeDevices, classes: Classes) -> Cause:
    """What stopped the search, and what to write instead."""
    if cause.code == "TooManyDevicesInClaim":
        other = request_reason(given, node, classes)
        if other is None or other.code == "TooFewDevices":
            return cause
        # Whoever splits the claim meets this next.
        return replace(cause, text=f"{cause.text}; and {other.text}", fix=other.fix)
    if cause.code != "ExpressionFails":
        return cause
    text, device_class = _expression(given, cause)
    if fix := cause.fix or domain_in_quotes(text):
        return replace(cause, fix=fix)
    if never := never_published(text, device_class):
        told = f"{cause.text}; no driver of the class ever publishes {never}"
        fix = meant_instead(never, device_class) or "select by an attribute that is published"
        return replace(cause, text=told, fix=fix)
    return replace(cause, fix=_GUARD if _NOT_THERE in cause.text else MEND)


def _expression(given: Problem, cause: Cause) -> tuple[str, str]:
    """The expression of a request that a cause is about, and the class; empty for a class's own."""
    for one in given.all_options:
        if (one.claim, one.request) == (cause.claim, cause.request) and cause.selector is not None:
            return one.ask.selectors[cause.selector], one.ask.device_class
    return "", ""


# What the engine says of an attribute that a device lacks.
_NOT_THERE: Final = "not found"
_GUARD: Final = (
    "guard the expression ('name' in device.attributes['domain'] && ...), or keep the Pod off "
    "these nodes"
)
