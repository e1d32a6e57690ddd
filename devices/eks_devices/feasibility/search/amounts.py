"""What a request takes of the capacities of a device, as the policies of the device have it.

Source: https://github.com/kubernetes/kubernetes
(staging/src/k8s.io/dynamic-resource-allocation/structured, consumable_capacity.go)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from ..cel.answers import Answer, Outcome
from ..minors import Scheduler
from ..slices import Amount, NodeDevice, Policy, Size

Amounts = tuple[Amount, ...]
"""Amounts of the capacities of a device, in their order."""

_MOST: Final = 2**63 - 1
_MILLI: Final = 1000


class _UnsaidError(Exception):
    """An amount that the scheduler cannot express: it fails, or nobody can say what it does."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


def taken_amounts(
    asked: Mapping[str, Amount], device: NodeDevice, scheduler: Scheduler
) -> Amounts | Answer | None:
    """What a request takes of each capacity of a device.

    Returns:
        None where the device does not have it or its policies refuse it; an answer where the
        attempt fails, or where only a running node knows.
    """
    if not scheduler.shares:
        # The API server drops what is asked for.
        return ()
    for name in asked:
        if name not in device.sizes:
            known = f"{device.driver}/{name}" not in device.at_run_time
            text = f"only a running node tells its {name}"
            return None if known else Answer(Outcome.UNCLEAR, text)
    try:
        found = {
            name: _taken(asked.get(name), size, scheduler) for name, size in device.sizes.items()
        }
    except _UnsaidError as unsaid:
        return unsaid.answer
    if any(one < 0 for one in found.values()):
        return _unsaid("less than nothing is asked for", scheduler)
    for name, size in device.sizes.items():
        if found[name] > size.amount or _is_refused(found[name], size.policy, scheduler):
            return None
    return tuple(found.values()) if device.is_shared else ()


def _taken(asked: Amount | None, size: Size, scheduler: Scheduler) -> Amount:
    policy = size.policy
    if asked is None:
        return size.amount if policy is None or policy.default is None else policy.default
    if policy is None:
        return asked
    if policy.least is not None:
        return _stepped(asked, policy.least, policy, scheduler)
    return next((one for one in policy.values if asked <= one), asked)


def _stepped(asked: Amount, least: Amount, policy: Policy, scheduler: Scheduler) -> Amount:
    """An amount from the least one on, in whole steps."""
    if asked < least:
        return least
    if policy.step is None:
        return asked
    unit = _unit(policy, scheduler)
    if unit > 1 and asked * unit % 1:
        raise _UnsaidError(Answer(Outcome.FAILS, "it is asked for in parts of a thousandth"))
    first, step, wanted = (math.ceil(one * unit) for one in (least, policy.step, asked))
    found = first + step * -((first - wanted) // step)
    if max(wanted, found) > _MOST:
        raise _UnsaidError(_unsaid("more is asked for than the scheduler can count", scheduler))
    return found if unit == 1 else _whole(Fraction(found, unit))


def _unsaid(text: str, scheduler: Scheduler) -> Answer:
    """What older schedulers do with such an amount nobody can say."""
    return Answer(Outcome.FAILS if scheduler.fails_at_huge else Outcome.UNCLEAR, text)


def _is_refused(taken: Amount, policy: Policy | None, scheduler: Scheduler) -> bool:
    """Whether a policy does not let a request take an amount."""
    if policy is None or taken == policy.default:
        return False
    if policy.has_range:
        if policy.most is not None and taken > policy.most:
            return True
        if policy.step is None or policy.least is None:
            return False
        unit = _unit(policy, scheduler)
        first, step, wanted = (math.ceil(one * unit) for one in (policy.least, policy.step, taken))
        return bool((wanted - first) % step)
    return bool(policy.values) and taken not in policy.values


def _unit(policy: Policy, scheduler: Scheduler) -> int:
    """Into how many parts steps cut one: thousandths where bounds and steps can be told so."""
    bounds = [one for one in (policy.least, policy.most, policy.step) if one is not None]
    fine = all(one * _MILLI % 1 == 0 and one * _MILLI <= _MOST for one in bounds)
    return _MILLI if scheduler.thousandths and fine else 1


def _whole(value: Fraction) -> Amount:
    return int(value) if value.denominator == 1 else value
