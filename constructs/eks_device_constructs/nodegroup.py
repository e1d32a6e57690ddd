"""An accelerated managed node group, drawn from its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from eks_devices import (
    NodegroupOptions,
    NodegroupPlan,
)
from eks_devices.claims.objects import Claim

from .annotations import warn
from .claim_owner import ClaimOwner
from .drivers import DeviceDrivers, ExternalDrivers
from .hosts import AnyCluster
from .membership import Membership
from .nodegroup_drawing import draw_nodegroup
from .nodegroup_inputs import Given, Judged, judge
from .references import ClusterReference
from .tree import note_place

if TYPE_CHECKING:
    from .cluster import AcceleratedCluster


class AcceleratedNodegroup(ClaimOwner, Construct):
    """A managed node group whose nodes come up with the devices of its plan.

    Attributes:
        plan: What the rules decided, and why.
        launch_template: The launch template, for what this construct has no option for.
        nodegroup: The node group, likewise.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    """

    plan: NodegroupPlan
    launch_template: ec2.CfnLaunchTemplate
    nodegroup: eks.CfnNodegroup

    def __init__(
        self,
        scope: Construct,
        id: str,  # noqa: A002  (the CDK's own name for it)
        *,
        cluster: AcceleratedCluster | AnyCluster | ClusterReference,
        subnet: ec2.ISubnet | None = None,
        drivers: DeviceDrivers | ExternalDrivers | None = None,
        kubernetes_version: str | None = None,
        security_group: ec2.ISecurityGroup | None = None,
        node_role: iam.IRole | None = None,
        pool: str | None = None,
        **options: Unpack[NodegroupOptions],
    ) -> None:
        """Plan the group, then draw its launch template and node group.

        Args:
            scope: Where the construct stands.
            id: Names the group in plans, labels and in EKS, where a hash follows it.
            cluster: The cluster that the nodes join; one of `aws_eks_v2` may be imported.
            subnet: The one subnet of the nodes; every subnet for nodes of the cluster unless
                named. Groups with EFA or a reservation need one: neither leaves its zone.
            drivers: The installation that serves the group; the cluster's default unless named.
            kubernetes_version: The minor of a cluster that was imported, "1.34".
            security_group: A group of your own beside the cluster's, instead of the one that
                groups with EFA share. What EFA needs is added, or demanded if it is imported.
            node_role: The role of the nodes; the cluster's unless named.
            pool: The pool that the group belongs to, whose label its nodes get.
            options: The options of `NodegroupOptions`.

        Raises:
            EksDevicesError: Every fault of the options at once.
        """
        given = Given(
            cluster=cluster,
            kubernetes_version=kubernetes_version,
            subnet=subnet,
            drivers=drivers,
            security_group=security_group,
            node_role=node_role,
            pool=pool,
        )
        judged = judge(scope, id, given, options)
        super().__init__(scope, id)
        self._draw(judged)

    def _draw(self, judged: Judged) -> None:
        """Draw what was judged, and join the cluster."""
        note_place(self, judged.scope, judged.plan.name)
        judged.host.join()
        self.plan = judged.plan
        self.launch_template, self.nodegroup, managers = draw_nodegroup(self, judged)
        self._membership = Membership(
            group=self,
            judged=judged,
            launch_template=self.launch_template,
            nodegroup=self.nodegroup,
            managers=managers,
        )
        self._claims = self._membership.claim_sender(self)
        warn(self, judged.findings)
        judged.host.fleet.register(self._membership)

    def _claimed_plan(self, path: str) -> NodegroupPlan:
        del path
        return self.plan

    def _send(self, claim: Claim, *, create_namespace: bool) -> None:
        self._claims.send(claim, [self.plan], create_namespace=create_namespace)
