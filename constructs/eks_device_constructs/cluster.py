"""An EKS cluster made for accelerated node groups."""

from __future__ import annotations

from typing import Unpack

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from eks_devices import ClusterPlan, NodegroupOptions, NodegroupPlan

from .annotations import annotate
from .nodegroup import AcceleratedNodegroup
from .plan_file import write_at_synth
from .security_group import efa_security_group
from .versions import cluster_minor, cluster_plan, version_findings

_NODE_POLICIES = (
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryPullOnly",
)


class AcceleratedCluster(Construct):
    """An EKS cluster and its accelerated node groups.

    Attributes:
        cluster: The EKS cluster, for what this construct has no option for.
        kubernetes_version: The minor, "1.34".
        node_role: The role of every node of the groups.
        private_subnets: Where groups without a subnet of their own put their nodes.
    """

    cluster: eks.Cluster
    kubernetes_version: str
    node_role: iam.Role
    private_subnets: list[ec2.ISubnet]

    def __init__(
        self,
        scope: Construct,
        id: str,  # noqa: A002  (the CDK's own name for it)
        *,
        vpc: ec2.IVpc,
        version: eks.KubernetesVersion,
    ) -> None:
        """Make the cluster, without nodes of its own.

        Args:
            scope: Where the construct stands.
            id: The construct's id.
            vpc: The network; nodes go to its private subnets.
            version: Kubernetes 1.34 or later.

        Raises:
            EksDevicesError: The version is not one that this library makes clusters of.

        Source: https://docs.aws.amazon.com/eks/latest/userguide/device-management.html
        """
        minor = cluster_minor(version.version)
        super().__init__(scope, id)
        self._minor = minor
        self._vpc = vpc
        self._groups: list[AcceleratedNodegroup] = []
        self._efa_group: ec2.SecurityGroup | None = None
        self.kubernetes_version = minor.version
        self.private_subnets = list(vpc.private_subnets)
        self.cluster = eks.Cluster(
            self,
            "Cluster",
            vpc=vpc,
            version=version,
            default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
            default_capacity=0,
        )
        self.node_role = _node_role(self)
        annotate(self, version_findings(minor))
        write_at_synth(self, lambda: self.plan)

    @property
    def plan(self) -> ClusterPlan:
        """The plan of the groups added so far."""
        return cluster_plan(self._minor, [group.plan for group in self._groups])

    def add_nodegroup(
        self,
        id: str,  # noqa: A002  (the CDK's own name for it)
        *,
        subnet: ec2.ISubnet | None = None,
        **options: Unpack[NodegroupOptions],
    ) -> AcceleratedNodegroup:
        """Add an accelerated node group; see `AcceleratedNodegroup` and `NodegroupSpec`.

        Args:
            id: Names the group.
            subnet: The one subnet of the nodes; groups with EFA must name it.
            options: The options of `NodegroupOptions`.

        Raises:
            EksDevicesError: Every fault of the options at once.
        """
        return AcceleratedNodegroup(self, id, cluster=self, subnet=subnet, **options)

    def register(self, group: AcceleratedNodegroup) -> None:
        """Take a group into the cluster's plan; groups call it themselves."""
        self._groups.append(group)

    def security_group_ids(self, plan: NodegroupPlan) -> list[str]:
        """The security groups of a group's interfaces: the cluster's, and EFA's where it is on."""
        ids = [self.cluster.cluster_security_group_id]
        if not plan.network_interfaces:
            return ids
        if self._efa_group is None:
            self._efa_group = efa_security_group(self, self._vpc)
        return [*ids, self._efa_group.security_group_id]


def _node_role(scope: Construct) -> iam.Role:
    return iam.Role(
        scope,
        "NodeRole",
        assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
        managed_policies=[
            iam.ManagedPolicy.from_aws_managed_policy_name(name) for name in _NODE_POLICIES
        ],
    )
