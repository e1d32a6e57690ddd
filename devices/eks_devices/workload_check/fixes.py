"""What to write where no node group can serve Pods, or a claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ..names import NODEGROUP_LABEL, device_type_of_class
from ..vocabulary import DeviceType
from .serving import Judged

_MOST_NAMED: Final = 4
_NO_DEVICES: Final = ("ClassNotOnGroup", "NoSuchDevices")
_OTHERWISE: Final = "change the claim or the Pod, or add a node group that fits"


def named(groups: Sequence[str]) -> str:
    """Names of node groups, the first few of many."""
    shown, left = groups[:_MOST_NAMED], len(groups) - _MOST_NAMED
    return ", ".join(shown) + (f" and {left} more" if left > 0 else "")


def first_of(near: Sequence[Judged]) -> Judged | None:
    """The nearest group that says what would help.

    Of groups that the Pod's own selectors leave out only where they leave out all of them: the
    one that is meant by them, or those that nothing else is wrong with.

    Args:
        near: The verdicts of the groups, the nearest to serving first.
    """
    reached = [one for one in near if one.is_reached]
    meant = [one for one in near if one.is_meant]
    unselected = [one for one in near if one.is_left_alone]
    some = reached or meant or unselected or near
    # Of groups that the Pod's tolerations alone leave out, where nothing helps on the others.
    more = [one for one in near if not one.is_unselected] if reached else []
    return next((one for one in (*some, *more) if one.fix), None)


def fix_of(near: Sequence[Judged]) -> str:
    """What to write, by the verdicts of the groups, the nearest to serving first."""
    first = first_of(near)
    if first is not None and first.verdict.code == "ClassNotInstalled":
        return first.fix
    told = [f"for {first.verdict.nodegroup}, {first.fix}"] if first else [*_apart(near)]
    if first is None or first.is_reached:
        told += _selecting(near, is_told=bool(told))
    return "; or ".join(told) or _OTHERWISE


def _selecting(near: Sequence[Judged], *, is_told: bool) -> Iterator[str]:
    """What is selected, or asked for, instead where a Pod selects nodes without its devices."""
    away = [one for one in near if one.is_unselected]
    able = [one.verdict.nodegroup for one in away if one.is_left_alone]
    others = [one for one in away if one.fix]
    if not able and (is_told or not others):
        return
    names = able or [others[0].verdict.nodegroup]
    more = "" if able else f", and {others[0].fix}"
    select = f"nodeSelector: {{{NODEGROUP_LABEL}: {names[0]}}}"
    yield f"select the nodes of {named(names)} instead: {select}{more}"
    reached = [one for one in near if one.is_reached and one.verdict.code in _NO_DEVICES]
    for one in reached[:1] if not is_told else ():
        if one.has:
            yield f"for {one.verdict.nodegroup}, ask for what its nodes have: {one.has}"


def _apart(near: Sequence[Judged]) -> Iterator[str]:
    """That devices are asked for of which no node has all kinds."""
    lacking = {one.verdict.device_class for one in near if one.verdict.code == _NO_DEVICES[0]}
    if len(lacking) > 1 and all(one.is_reached for one in near):
        kinds = " and ".join(sorted(lacking))
        if DeviceType.EFA in map(device_type_of_class, lacking):
            yield f"add a node group whose nodes have both, devices of {kinds}"
        else:
            yield f"claim devices of {kinds} in Pods of their own, as no node has both"
