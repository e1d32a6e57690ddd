"""What a cluster, a pool and an installation see of a node group; users see the construct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IConstruct

from eks_devices import Finding, NodegroupPlan

from .claims import ClaimSender
from .instance_tags import inherit_tags
from .nodegroup_inputs import Judged
from .serving import Serving


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Membership:
    """A node group in its cluster.

    Attributes:
        group: The construct.
        judged: What it was drawn from.
        launch_template: Its launch template.
        nodegroup: Its node group.
        managers: What installs the managers of its devices.
    """

    group: Construct
    judged: Judged
    launch_template: ec2.CfnLaunchTemplate
    nodegroup: eks.CfnNodegroup
    managers: Sequence[IConstruct]

    @property
    def plan(self) -> NodegroupPlan:
        """The plan of the group."""
        return self.judged.plan

    @property
    def serving(self) -> Serving:
        """Who serves the group's devices."""
        return self.judged.serving

    def claim_sender(self, owner: Construct) -> ClaimSender:
        """What sends claims on the group's devices, for as long as their owner is there."""
        serving = self.serving
        return ClaimSender(
            owner, self.judged.host, serving.delivery, self.managers, serving.efa_build
        )

    def inherit_tags(self) -> list[Finding]:
        """Give instances the tags of the group's scopes, when all are known; returns faults."""
        plan = self.plan
        own = plan.launch_template_overrides
        return inherit_tags(self.launch_template, self.nodegroup, plan.name, plan.tags, own)
