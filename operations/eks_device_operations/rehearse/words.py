"""Obstacles in the words of a plan. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from eks_devices import Mechanism, NodegroupPlan
from eks_devices.workload_check.device_names import device_type_of

from .fleet import NodesOfGroup
from .standing import Obstacle

_PODS: Final = "pods"


def by_group(
    obstacles: Iterable[Obstacle], fleet: Iterable[NodesOfGroup]
) -> Iterator[tuple[str, str]]:
    """Each group with what keeps Pods off its nodes, in the order of the fleet."""
    groups: Mapping[str, dict[tuple[int, str, str, str], list[str]]]
    groups = defaultdict(lambda: defaultdict(list))
    for one in obstacles:
        what = one.what if one.kind != "resource" else ""
        groups[one.group][one.nodes, one.kind, one.short, what].append(one.what)
    for nodes in fleet:
        parts = [
            f"{_nodes(count, nodes.count)}{_words(kind, short, whats, nodes.group)}"
            for (count, kind, short, _), whats in groups[nodes.name].items()
        ]
        if parts:
            yield nodes.name, "; ".join(parts)


def _nodes(count: int, all_of_them: int) -> str:
    if count == all_of_them:
        return ""
    return "1 node: " if count == 1 else f"{count} nodes: "


def _words(kind: str, short: str, whats: list[str], group: NodegroupPlan | None) -> str:
    if kind == "taint":
        return f"the Pod does not tolerate {whats[0]}"
    if kind == "selector":
        return "the Pod selects other nodes"
    if kind != "resource":
        return whats[0]
    names = " and ".join("room for Pods" if one == _PODS else one for one in whats)
    if short == "taken":
        left = f"other Pods leave too little {names}"
        return "a node has as many Pods as it may have" if whats == [_PODS] else left
    if short == "small":
        return f"even an empty node has too little {names}"
    by_claim = [one for one in whats if group is not None and _is_for_claims(one, group)]
    hint = ", as its devices are for claims (DRA)" if by_claim else ""
    return f"a node has no {names}{hint}"


def _is_for_claims(resource: str, group: NodegroupPlan) -> bool:
    device_type = device_type_of(resource)
    device = group.device_of(device_type) if device_type else None
    return device is not None and device.mechanism is Mechanism.DRA
