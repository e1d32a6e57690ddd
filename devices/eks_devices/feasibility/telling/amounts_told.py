"""Why devices cannot give what is asked for of their capacities, with the number that they have."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...findings import meant
from ...quantities import amount_shown
from ..search.endings import Cause
from ..slices import Amount, NodeDevice, Policy, Size
from ..wanted import Ask

AMOUNT_NOT_THERE = "AmountNotThere"


def amount_cause(ask: Ask, devices: Sequence[NodeDevice]) -> Cause:
    """The reason of a request that no device which matches can give what it asks for.

    Args:
        ask: The request.
        devices: The devices that match but for that.
    """
    for name, wanted in ask.amounts.items():
        sizes = [one.sizes[name] for one in devices if name in one.sizes]
        if not sizes:
            return _no_capacity(name, devices)
        if all(wanted > _most(one) for one in sizes):
            most = max(map(_most, sizes))
            text = (
                f"it wants {_shown(wanted)} of {name} of devices that give at most {_shown(most)}"
            )
            return _cause(text, f"ask for at most {_shown(most)} of {name}")
    names = ", ".join(ask.amounts) or "what is taken by default"
    text = f"no device that matches gives just that much of {names} to a claim"
    return _cause(text, _steps([one.policy for device in devices for one in device.sizes.values()]))


def _no_capacity(name: str, devices: Sequence[NodeDevice]) -> Cause:
    known = list(dict.fromkeys(one for device in devices for one in device.sizes))
    near = meant(name.rpartition("/")[2], known)
    otherwise = f"ask for {' or '.join(known)}" if known else "leave capacity out"
    return _cause(f"no device that matches has a capacity {name}", near or otherwise)


def _cause(text: str, fix: str) -> Cause:
    return Cause(AMOUNT_NOT_THERE, text, fix=fix)


def _most(size: Size) -> Amount:
    """The most that a claim may have of a capacity."""
    policy = size.policy
    if policy is None:
        return size.amount
    bounds = [policy.most] if policy.most is not None else [*policy.values[-1:]]
    return min([size.amount, *bounds])


def _steps(policies: Sequence[Policy | None]) -> str:
    """What may be asked for by the first policy that says it."""
    for one in policies:
        if one is not None and one.values:
            return f"ask for one of {', '.join(map(_shown, one.values))}"
        if one is not None and one.step is not None:
            return f"ask for a multiple of {_shown(one.step)}"
    return "ask for another amount"


def _shown(amount: Amount) -> str:
    return amount_shown(Fraction(amount))
