"""An accelerated managed node group, drawn from its plan."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Unpack

from aws_cdk import CfnDeletionPolicy, Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IConstruct

from eks_devices import (
    NodegroupOptions,
    NodegroupPlan,
    NodegroupSpec,
    plan_nodegroup,
)

from .annotations import annotate
from .launch_template import launch_template

if TYPE_CHECKING:
    from .cluster import AcceleratedCluster

_LONGEST_ID = 54


class AcceleratedNodegroup(Construct):
    """A managed node group whose nodes come up with the devices of its plan.

    Attributes:
        plan: What the rules decided, and why.
        launch_template: The launch template, for what this construct has no option for.
        nodegroup: The node group, likewise.
    """

    plan: NodegroupPlan
    launch_template: ec2.CfnLaunchTemplate
    nodegroup: eks.CfnNodegroup

    def __init__(
        self,
        scope: Construct,
        id: str,  # noqa: A002  (the CDK's own name for it)
        *,
        cluster: AcceleratedCluster,
        subnet: ec2.ISubnet | None = None,
        **options: Unpack[NodegroupOptions],
    ) -> None:
        """Plan the group, then draw its launch template and node group.

        Args:
            scope: Where the construct stands.
            id: Names the group in plans, labels and in EKS, where a hash follows it.
            cluster: The cluster that the nodes join.
            subnet: The one subnet of the nodes; every private subnet of the VPC unless named.
                Groups with EFA need one, since EFA does not leave an Availability Zone.
            options: The options of `NodegroupOptions`.

        Raises:
            EksDevicesError: Every fault of the options at once.

        Source: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
        """
        subnets = [subnet] if subnet else cluster.private_subnets
        spec = NodegroupSpec.from_options(id, options, subnet_count=len(subnets))
        plan = plan_nodegroup(spec, kubernetes_version=cluster.kubernetes_version)
        super().__init__(scope, id)
        self.plan = plan
        self.launch_template = launch_template(
            self, plan, security_group_ids=cluster.security_group_ids(plan)
        )
        self.nodegroup = self._draw(cluster, subnets)
        cluster.register(self)
        annotate(self, plan.findings)

    def _draw(self, cluster: AcceleratedCluster, subnets: list[ec2.ISubnet]) -> eks.CfnNodegroup:
        plan = self.plan
        template = eks.CfnNodegroup.LaunchTemplateSpecificationProperty(
            id=self.launch_template.ref,
            version=self.launch_template.attr_latest_version_number,
        )
        nodegroup = eks.CfnNodegroup(
            self,
            "Resource",
            cluster_name=cluster.cluster.cluster_name,
            nodegroup_name=self._name(cluster, subnets),
            node_role=cluster.node_role.role_arn,
            subnets=[subnet.subnet_id for subnet in subnets],
            ami_type=plan.ami_type,
            release_version=plan.release_version,
            capacity_type=plan.capacity.capacity_type,
            launch_template=template,
            scaling_config=_scaling(plan),
            labels=dict(plan.labels),
            taints=_taints(plan),
        )
        if plan.capacity.is_reserved:
            # The replacement cannot have nodes while the old group holds the reservation, so the
            # old group stays until it was drained and deleted by hand.
            nodegroup.cfn_options.update_replace_policy = CfnDeletionPolicy.RETAIN
            nodegroup.cfn_options.deletion_policy = CfnDeletionPolicy.DELETE
        return nodegroup

    def _name(self, cluster: AcceleratedCluster, subnets: list[ec2.ISubnet]) -> str:
        """A name that changes exactly when EKS has to make a new group."""
        identity = [
            self.node.addr,
            self.plan.replace_key,
            self.plan.ami_type,
            self.plan.capacity.capacity_type,
            _identity(cluster.node_role, cluster.node_role.role_arn),
            [_identity(subnet, subnet.subnet_id) for subnet in subnets],
        ]
        digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:8]
        return f"{self.node.id[:_LONGEST_ID]}-{digest}"


def _identity(construct: IConstruct, value: str) -> str:
    """A literal id, or the construct's address: the text of a token is a running counter."""
    return construct.node.addr if Token.is_unresolved(value) else value


def _scaling(plan: NodegroupPlan) -> eks.CfnNodegroup.ScalingConfigProperty:
    return eks.CfnNodegroup.ScalingConfigProperty(
        min_size=plan.min_size, desired_size=plan.desired_size, max_size=plan.max_size
    )


def _taints(plan: NodegroupPlan) -> list[eks.CfnNodegroup.TaintProperty]:
    return [
        eks.CfnNodegroup.TaintProperty(
            key=taint.key, value=taint.value or None, effect=taint.eks_effect
        )
        for taint in plan.taints
    ]
