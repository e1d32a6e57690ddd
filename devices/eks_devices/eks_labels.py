"""Labels that EKS itself writes on the nodes of a managed group, as far as a synth knows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .findings import Finding, shown
from .names import CAPACITY_TYPE_LABEL, EKS_NODEGROUP_LABEL
from .plans import NodegroupPlan
from .typecheck import wrong_type


def eks_labels(group: NodegroupPlan, name_in_eks: str | None) -> dict[str, str]:
    """The labels of EKS on the nodes of a group that are known before they run.

    Args:
        group: The group.
        name_in_eks: The name that its template gives it, which is not the plan's; None where that
            is not known.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html
    """
    named = {} if name_in_eks is None else {EKS_NODEGROUP_LABEL: name_in_eks}
    return {CAPACITY_TYPE_LABEL: group.capacity.capacity_type} | named


def eks_name_faults(names: object) -> Iterator[Finding]:
    """Faults of the names of groups in EKS, a mapping by their names in the plan, or None."""
    if names is None:
        return
    if not isinstance(names, Mapping):
        yield wrong_type("nodegroup_names", names, "a dict", "pass name in the plan: name in EKS")
        return
    for key, value in names.items():
        if not (isinstance(key, str) and isinstance(value, str)):
            got = value if isinstance(key, str) else key
            yield wrong_type(f"nodegroup_names[{shown(key)}]", got, "a text", "pass its name")
