"""The nodes of a plan as the scheduler sees them: one for each group and instance type."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from .._data import read_toml
from ..eks_labels import eks_labels
from ..feasibility.of_types import single_types
from ..feasibility.verdicts import Verdict
from ..instance_types import AcceleratedInstanceType, CpuArchitecture
from ..names import EXTERNAL_OWNER, INSTANCE_TYPE_LABEL
from ..plans import ClusterPlan, NodegroupPlan
from ..vocabulary import DeviceType

_ARCHITECTURES: Final = {CpuArchitecture.X86_64: "amd64", CpuArchitecture.ARM64: "arm64"}
_SYSTEM: Final = "linux"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupNode:
    """A node of a group, of one of its instance types.

    `group` is the plan of the group as if it had this type alone; `labels` are those that are
    known before the node runs, and `later` has names, and beginnings of names, of those that are
    not, each with who writes it.
    """

    index: int
    group: NodegroupPlan
    instance: AcceleratedInstanceType
    labels: Mapping[str, str]
    later: tuple[tuple[str, str], ...]

    def written_later(self, key: str) -> str:
        """Why the value of a label is not known; empty where it is known, or known to lack."""
        if key in self.labels:
            return ""
        return next((why for name, why in self.later if _is_of(key, name)), "")


def _is_of(key: str, name: str) -> bool:
    """Whether a label is the one of a name, or in a domain that ends with a slash, or below it."""
    return key == name or (name[-1] == "/" and (key.startswith(name) or f".{name}" in key))


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Something that keeps Pods off a node, or may.

    `distance` is how far the Pod is from being served: a toleration is soon written, devices that
    the node does not have are another group's. `fix` is what to write, empty where that is not
    known; `claim` is what a request has to say where devices are to be claimed instead. `is_meant`
    says that the Pod selects the node but for a slip. Where it is not certain, only a running node
    tells. `verdict` is what was said of claims, where it is about
    these.
    """

    code: str
    reason: str
    distance: int = 0
    fix: str = ""
    is_certain: bool = True
    verdict: Verdict | None = None
    claim: str = ""
    is_meant: bool = False


def nodes_of(
    plan: ClusterPlan, nodegroup_names: Mapping[str, str] | None = None
) -> tuple[GroupNode, ...]:
    """A node for each group and instance type, in the order of the plan.

    Args:
        plan: The node groups.
        nodegroup_names: Their names in EKS by those in the plan, as far as they are known.
    """
    names = nodegroup_names or {}
    return tuple(
        _node(index, one, names.get(group.name))
        for index, group in enumerate(plan.nodegroups)
        for one in single_types(group)
    )


def _node(index: int, group: NodegroupPlan, name_in_eks: str | None) -> GroupNode:
    name = group.instance_type
    instance = AcceleratedInstanceType.of(name)
    architecture = _ARCHITECTURES[instance.architecture]
    # Nodes with an image of the user's own join by what their user data says.
    by_eks = {} if group.ami_id is not None else eks_labels(group, name_in_eks)
    return GroupNode(
        index=index,
        group=group,
        instance=instance,
        labels={
            "kubernetes.io/arch": architecture,
            "kubernetes.io/os": _SYSTEM,
            INSTANCE_TYPE_LABEL: name,
            "beta.kubernetes.io/arch": architecture,
            "beta.kubernetes.io/os": _SYSTEM,
            "beta.kubernetes.io/instance-type": name,
            **by_eks,
            **group.labels,
        },
        later=tuple(_later(group)),
    )


def _later(group: NodegroupPlan) -> Iterator[tuple[str, str]]:
    yield from _rows("everywhere")
    yield from _rows("other_clouds")
    if (gpus := group.device_of(DeviceType.GPU)) is not None and (
        gpus.owner == EXTERNAL_OWNER or gpus.settings.get("feature-discovery")
    ):
        yield from _rows("gpu")
    if group.device_of(DeviceType.COMPUTE_DOMAIN) is not None:
        yield from _rows("compute_domain")
    if group.device_of(DeviceType.NEURON) is not None:
        yield from _rows("neuron")


@functools.cache
def _rows(table: str) -> tuple[tuple[str, str], ...]:
    row = read_toml("node_labels.toml")[table]
    return tuple((name, row["why"]) for name in row["names"])
