"""What ends a search for devices, in plain words."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..cel.answers import Answer, Outcome
from .endings import Cause
from .problem import Option, Problem
from .shared_values import count_instead, instead_of_all

MAX_DEVICES: Final = 32
"""Devices of one claim (AllocationResultsMaxSize)."""


def too_many(given: Problem, claim: int, wants: int) -> Cause:
    """Of a claim that wants more devices than any claim may have."""
    return Cause(
        "TooManyDevicesInClaim",
        f"the claim wants {wants} devices, and a claim has at most {MAX_DEVICES}",
        claim=claim,
        wants=wants,
        has=MAX_DEVICES,
        fix=instead_of_all(given, claim) or "split it into two claims",
    )


def all_breaks(given: Problem, option: Option, device: int) -> Cause:
    """Of a request for All that meets a device which breaks a constraint."""
    about = [given.wanted[option.claim].constraints[one] for one in option.constraints]
    names = ", ".join(one.attribute for one in about)
    named = f"the device {given.names[device]}" if given.names else "one of them"
    how = "differ in" if all(one.is_distinct for one in about) else "share"
    return Cause(
        "AllBreaksConstraint",
        f"the request {option.ask.name} is for all devices that match, and {named} does not {how} "
        f"{names}",
        claim=option.claim,
        request=option.request,
        constraint=option.constraints[0] if len(about) == 1 else None,
        fix=f"write {count_instead(given, option.claim, option)} instead of All",
    )


def no_answer(option: Option, answer: Answer) -> Cause:
    """Of an expression that fails, or whose answer only a running node knows."""
    of_class = answer.selector is None
    whose = f"DeviceClass {option.ask.device_class}" if of_class else f"request {option.ask.name}"
    what = f"an expression of the {whose} fails on a device"
    found = _unanswered(option, answer, "ExpressionFails", what)
    return replace(found, device_class=option.ask.device_class) if of_class else found


def no_amount(option: Option, answer: Answer) -> Cause:
    """Of an amount that cannot be taken, or that only a running node knows."""
    what = f"the request {option.ask.name} asks for an amount"
    return _unanswered(option, answer, "AmountFails", what)


def _unanswered(option: Option, answer: Answer, code: str, what: str) -> Cause:
    fails = answer.outcome is Outcome.FAILS
    return Cause(
        code if fails else _LATER,
        f"{what}: {answer.text}" if fails else answer.text,
        claim=option.claim,
        request=option.request,
        selector=answer.selector,
        fix=answer.fix,
        instead=answer.instead,
    )


_LATER: Final = "KnownAtRunTime"


def no_value(given: Problem, claim: int, constraint: int) -> Cause:
    """Of a constraint on what only a running node knows."""
    attribute = given.wanted[claim].constraints[constraint].attribute
    text = f"only a running node tells {attribute}"
    return Cause(_LATER, text, claim=claim, constraint=constraint)
