"""A managed node group for Pods that need no accelerator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Unpack, cast

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from eks_devices import EksDevicesError, Finding
from eks_devices.amis import disk_device
from eks_devices.findings import fault, raise_faults
from eks_devices.launch_template import node_data
from eks_devices.system_nodes import (
    SYSTEM,
    SystemNodegroupOptions,
    SystemNodegroupPlan,
    system_nodegroup_faults,
    system_nodegroup_plan,
)
from eks_devices.typecheck import members, path_step, wrong_type

from .addons import addons_of
from .host_registry import host_of
from .hosts import NodegroupHost
from .inputs import id_faults, role_faults, scope_faults, stage_faults, subnet_faults
from .instance_tags import inherit_tags
from .launch_template import launch_template
from .references import ClusterReference
from .shapes import is_cluster, is_cluster_of_aws_eks
from .stable_names import nodegroup_name
from .tree import address_of, identity_of, is_in_tree

if TYPE_CHECKING:
    from .cluster import AcceleratedCluster


class SystemNodegroup(Construct):
    """Ordinary nodes without taints, for CoreDNS and controllers.

    Accelerated nodes repel such Pods by their taints. A cluster needs this group unless other
    nodes of yours take them. With the first one comes the managed add-on coredns, unless add-ons
    were named without it.

    Attributes:
        plan: What comes of the options.
        launch_template: The launch template, for what this construct has no option for.
        nodegroup: The node group, likewise.
    """

    plan: SystemNodegroupPlan
    launch_template: ec2.CfnLaunchTemplate
    nodegroup: eks.CfnNodegroup

    def __init__(
        self,
        scope: Construct,
        id: str,  # noqa: A002  (the CDK's own name for it)
        *,
        cluster: AcceleratedCluster,
        subnets: Sequence[ec2.ISubnet] | None = None,
        node_role: iam.IRole | None = None,
        **options: Unpack[SystemNodegroupOptions],
    ) -> None:
        """Draw the launch template and the node group.

        Args:
            scope: Where the construct stands.
            id: Names the group in labels and in EKS, where a hash follows it.
            cluster: The cluster that the nodes join.
            subnets: Where the nodes go; every subnet for nodes of the cluster unless named.
            node_role: The role of the nodes; the cluster's unless named.
            options: The options of `SystemNodegroupOptions`; see `SystemNodegroupPlan`.

        Raises:
            EksDevicesError: Every fault of the values at once.

        Source: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html
        """
        path = f"nodegroups.{path_step(id)}"
        faults = [
            *_subnets_faults(subnets, f"{path}.subnets"),
            *role_faults(node_role, f"{path}.node_role"),
            *(scope_faults(scope, path) or id_faults(scope, id, path)),
        ]
        host = _joined(scope, id, cluster, options, faults)
        super().__init__(scope, id)
        self.plan = system_nodegroup_plan(id, options)
        self.launch_template = launch_template(self, _template_data(self.plan))
        role_arn = host.node_role_arn if node_role is None else node_role.role_arn
        nodes_in = host.subnets if subnets is None else subnets
        self.nodegroup = _nodegroup(self, host, role_arn, [one.subnet_id for one in nodes_in])
        if host.before_nodes:
            self.nodegroup.node.add_dependency(*host.before_nodes)
        self._addons = addons_of(cast(eks.Cluster, host.cluster))
        self._addons.take_nodes(self, self.nodegroup)
        host.fleet.others.append(self)

    def inherit_tags(self) -> list[Finding]:
        """Give instances the tags of the group's scopes, when all are known; returns faults."""
        plan = self.plan
        if not is_in_tree(self, beside=self._addons):
            self._addons.lose_nodes(self.nodegroup)
            return []
        return inherit_tags(self.launch_template, self.nodegroup, plan.name, plan.tags, {})


def _joined(
    scope: Construct,
    id: str,  # noqa: A002  (the CDK's own name for it)
    cluster: object,
    options: SystemNodegroupOptions,
    faults: list[Finding],
) -> NodegroupHost:
    """What the group joins, or every fault of its options and arguments."""
    host, path = host_of(cluster), f"nodegroups.{path_step(id)}"
    own = None if host is None or host.is_foreign else host
    version = None if own is None else own.kubernetes_version
    found = [*system_nodegroup_faults(id, options, kubernetes_version=version), *faults]
    if own is None:
        raise EksDevicesError([_no_cluster(cluster, f"{path}.cluster"), *found])
    raise_faults(found or stage_faults(scope, own.home, path))
    return own


def _no_cluster(cluster: object, path: str) -> Finding:
    """The fault of what is no cluster of this library's, whether groups joined it or not."""
    of_others = isinstance(cluster, ClusterReference) or is_cluster_of_aws_eks(cluster)
    wanted, fix = "an AcceleratedCluster", "pass the cluster construct"
    if not of_others and not is_cluster(cluster):
        return wrong_type(path, cluster, wanted, fix)
    return fault(
        "ClusterOfOthers",
        path,
        "a system node group goes with the add-ons of an AcceleratedCluster, and this cluster was "
        "made by something else",
        got=cluster,
        allowed=wanted,
        fix="add ordinary nodes for CoreDNS and controllers where that cluster is made",
        source="https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html",
    )


def _subnets_faults(subnets: object, path: str) -> Iterator[Finding]:
    if subnets is None:
        return
    fix = "pass a list, for example vpc.private_subnets, or leave it out"
    given = members(subnets, ordered=True)
    if not given:
        yield wrong_type(path, subnets, "a list of one or more ec2.ISubnet, or None", fix)
        return
    for index, subnet in enumerate(given):
        at = f"{path}[{index}]"
        if subnet is None:
            yield wrong_type(at, subnet, "an ec2.ISubnet", fix)
        yield from subnet_faults(subnet, at)


def _template_data(plan: SystemNodegroupPlan) -> dict[str, Any]:
    """Neither types, which the group names, nor security groups, for which EKS takes its own."""
    device = disk_device(SYSTEM)
    return node_data(plan.name, plan.tags, disk_device=device, disk_gib=plan.disk_gib)


def _nodegroup(
    group: SystemNodegroup, host: NodegroupHost, role_arn: str, subnet_ids: list[str]
) -> eks.CfnNodegroup:
    plan, template = group.plan, group.launch_template
    return eks.CfnNodegroup(
        group,
        "Resource",
        cluster_name=host.cluster_name,
        nodegroup_name=_name(group, role_arn, subnet_ids),
        node_role=role_arn,
        subnets=subnet_ids,
        ami_type=plan.ami_type,
        instance_types=list(plan.instance_types),
        # Without it an upgrade of the cluster would leave the nodes behind.
        version=host.kubernetes_version,
        release_version=plan.release_version,
        launch_template=eks.CfnNodegroup.LaunchTemplateSpecificationProperty(
            id=template.ref, version=template.attr_latest_version_number
        ),
        scaling_config=eks.CfnNodegroup.ScalingConfigProperty(
            min_size=plan.min_size, desired_size=plan.desired_size, max_size=plan.max_size
        ),
        node_repair_config=eks.CfnNodegroup.NodeRepairConfigProperty(enabled=True),
        labels=dict(plan.labels),
    )


def _name(group: SystemNodegroup, role_arn: str, subnet_ids: Sequence[str]) -> str:
    """A name that changes exactly when EKS has to make a new group."""
    plan = group.plan
    parts = [
        address_of(group),
        plan.ami_type,
        plan.instance_types,
        identity_of(group, role_arn),
        [identity_of(group, subnet_id) for subnet_id in subnet_ids],
    ]
    return nodegroup_name(plan.name, parts)
