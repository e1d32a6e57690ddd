"""The nodes of a rehearsal: how many there are of each group, and what they offer. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from eks_devices import ClusterPlan, Mechanism, NodegroupPlan
from eks_devices.resource_slices import resource_slices
from eks_devices.workload_check.huge_pages import PAGE_MIB, usual_pages

from .._outcome import OperationError
from ..control_plane.nodes import group_node, plain_node

Object = dict[str, Any]

ORDINARY: Final = "ordinary"
"""The name of the nodes without devices, of which a plan does not tell."""
_ORDINARY_NODES: Final = 2
_MOST_UNASKED: Final = 100
_MOST: Final = 5000
_PAGES: Final = "hugepages-2Mi"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesOfGroup:
    """How many nodes a group has in a rehearsal; `group` is None for those without devices.

    `name` is that of the plan, `name_in_eks` the one in EKS where it is known.
    """

    name: str
    group: NodegroupPlan | None
    count: int
    why: str
    name_in_eks: str | None = None

    def names(self) -> Iterator[str]:
        """The names of its nodes."""
        prefix = "".join(one if one.isalnum() else "-" for one in self.name.lower())
        return (f"{prefix}-{index}" for index in range(self.count))


def nodes_of(
    plan: ClusterPlan, asked: Mapping[str, int], nodegroup_names: Mapping[str, str] | None = None
) -> tuple[NodesOfGroup, ...]:
    """How many nodes each group has: as asked, else as it starts, else as many as it may have.

    Args:
        plan: The node groups.
        asked: Numbers of nodes by the names of groups.
        nodegroup_names: The names of groups in EKS, as far as they are known.

    Raises:
        OperationError: A number is for a group that the plan does not have.
    """
    names = [group.name for group in plan.nodegroups]
    ordinary = ORDINARY if ORDINARY not in names else f"{ORDINARY}-nodes"
    if unknown := sorted(asked.keys() - {*names, ordinary}):
        raise OperationError(
            f"--nodes names {', '.join(unknown)}; allowed: {', '.join([*names, ordinary])}"
        )
    known = nodegroup_names or {}
    found = [_of_group(one, asked.get(one.name), known.get(one.name)) for one in plan.nodegroups]
    count, why = asked.get(ordinary, _ORDINARY_NODES), "as asked for"
    if ordinary not in asked:
        why = "the plan does not tell of nodes without devices"
    return (*found, NodesOfGroup(name=ordinary, group=None, count=count, why=why))


def _of_group(group: NodegroupPlan, asked: int | None, name_in_eks: str | None) -> NodesOfGroup:
    count, why = _count(group) if asked is None else (asked, "as asked for")
    return NodesOfGroup(name=group.name, group=group, count=count, why=why, name_in_eks=name_in_eks)


def _count(group: NodegroupPlan) -> tuple[int, str]:
    if group.desired_size:
        return group.desired_size, "its desired size"
    if group.scheduled_size is not None and group.scheduled_size.desired_size:
        return group.scheduled_size.desired_size, f"its size from {group.scheduled_size.at} UTC"
    most = group.max_size
    if most > _MOST_UNASKED:
        return _MOST_UNASKED, f"of at most {most}; --nodes {group.name}=N for more"
    if group.desired_size is None:
        return most, "its maximum, since its size is left open"
    return most, "its maximum, since it starts with none"


def sizes_asked(words: list[str]) -> dict[str, int]:
    """The numbers of nodes that `--nodes GROUP=N` asks for.

    Raises:
        OperationError: A word is not of that form, or names a group again.
    """
    found: dict[str, int] = {}
    for word in words:
        name, equals, number = word.partition("=")
        is_number = number.isascii() and number.isdigit() and len(number) <= len(str(_MOST))
        if not (name and equals and is_number) or int(number) > _MOST:
            raise OperationError(f"--nodes {word!r}: expected GROUP=N, N from 0 to {_MOST}")
        if name in found:
            raise OperationError(f"--nodes names {name!r} twice")
        found[name] = int(number)
    return found


def node_objects(nodes: NodesOfGroup, *, kubelet_version: str) -> Iterator[tuple[Object, ...]]:
    """Each node of a group with its ResourceSlices, offering all that its managers would."""
    for name in nodes.names():
        if nodes.group is None:
            yield (_ordinary_node(name, kubelet_version),)
        else:
            yield _node_of(nodes.group, nodes.name_in_eks, name, kubelet_version)


def _ordinary_node(name: str, kubelet_version: str) -> Object:
    return plain_node(name, instance_type="ordinary", kubelet_version=kubelet_version)


def _node_of(
    group: NodegroupPlan, name_in_eks: str | None, name: str, kubelet_version: str
) -> tuple[Object, ...]:
    node = group_node(group, name, kubelet_version=kubelet_version, nodegroup_name=name_in_eks)
    offered = {key: str(count) for key, count in group.extended_resources.items()}
    pages = usual_pages(group) or 0
    capacity = (
        node["status"]["capacity"] | offered | ({_PAGES: f"{PAGE_MIB * pages}Mi"} if pages else {})
    )
    memory = int(capacity["memory"].removesuffix("Mi")) - PAGE_MIB * pages
    # Memory in huge pages is none that Pods can ask for as such.
    node["status"] |= {
        "capacity": capacity,
        "allocatable": capacity | {"memory": f"{max(memory, 0)}Mi"},
    }
    by_dra = (one for one in group.devices if one.mechanism is Mechanism.DRA)
    return node, *(item for one in by_dra for item in resource_slices(group, one, node=name))
