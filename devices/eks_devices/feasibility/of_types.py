"""Groups of several instance types: nodes of each type by itself, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..plans import NodegroupPlan
from .verdicts import Status, Verdict


def single_types(group: NodegroupPlan) -> tuple[NodegroupPlan, ...]:
    """A group as if it had one of its instance types alone, for each of them."""
    if len(group.instance_types) == 1:
        return (group,)
    return tuple(
        replace(group, instance_type=one, instance_types=(one,)) for one in group.instance_types
    )


def verdict_of_types(found: Sequence[tuple[str, Verdict]]) -> Verdict:
    """The verdict of a group from those of its instance types: what holds for all, else UNKNOWN.

    A type on which the scheduler's attempt fails makes it fail for the others too. Where reasons
    differ each type is told, and the first one's parts and fix are those of the group.

    Args:
        found: The name of each type, the one that is nearest to serving first, and its verdict.
    """
    verdicts = [one for _, one in found]
    first = verdicts[0]
    if len(verdicts) == 1:
        return first
    if len({(one.status, one.reason) for one in verdicts}) == 1:
        fits = [one.fits for one in verdicts if one.fits is not None]
        return replace(first, fits=min(fits) if len(fits) == len(verdicts) else None)
    told = "; ".join(f"{name}: {one.reason or 'can serve'}" for name, one in found)
    if len({one.status for one in verdicts}) == 1:
        return replace(first, reason=told)
    for one in verdicts:
        if one.status is Status.ERROR:
            return replace(one, reason=told)
    return Verdict(
        nodegroup=first.nodegroup,
        status=Status.UNKNOWN,
        code="DependsOnInstanceType",
        reason=told,
    )
