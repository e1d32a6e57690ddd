"""Managers of somebody else that come to nodes of this library's groups unasked."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ._data import read_toml
from .findings import Finding, fault
from .instance_types import AcceleratedInstanceType
from .plans import NodegroupPlan


def cdk_plugin_construct() -> str:
    """The id of the AWS CDK's own Neuron device plugin below a cluster of `aws_eks_v2`."""
    return str(read_toml("cluster.toml")["cdk_neuron_plugin"]["construct"])


def cdk_plugin_faults(plans: Collection[NodegroupPlan]) -> Iterator[Finding]:
    """The faults of groups in a cluster where the AWS CDK installed its Neuron device plugin.

    It takes the devices of nodes by their instance types, whoever made them and whatever else
    hands them out there.

    Args:
        plans: The groups of the cluster.
    """
    row = read_toml("cluster.toml")["cdk_neuron_plugin"]
    for plan in plans:
        types = [AcceleratedInstanceType.of(one) for one in plan.instance_types]
        if any(one.family in row["families"] for one in types):
            yield fault(
                "SecondNeuronPlugin",
                f"nodegroups.{plan.name}.instance_type",
                "the AWS CDK brings an old Neuron device plugin with node groups of its own that "
                "have Neuron devices, and it serves the nodes of this group too",
                got=plan.instance_type,
                allowed="one manager of Neuron devices on a node",
                fix="make the other group with add_nodegroup of this library, or as an "
                "eks.Nodegroup, instead of add_nodegroup_capacity or "
                "add_auto_scaling_group_capacity",
                source=row["source"],
            )
