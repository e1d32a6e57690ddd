"""The IAM role of nodes, with no more permissions than its nodes need."""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from constructs import Construct

# Joining the cluster, Pod Identity (eks-auth:AssumeRoleForPodIdentity) and pulling images.
# Source: https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html
_NODE_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
_VPC_CNI_POLICY = "AmazonEKS_CNI_Policy"


def node_role(
    scope: Construct,
    id: str = "NodeRole",  # noqa: A002  (the CDK's own name for it)
    *,
    for_vpc_cni: bool = True,
) -> iam.Role:
    """Make a role for nodes of any EKS cluster.

    Args:
        scope: Where the construct stands.
        id: The construct's id.
        for_vpc_cni: Whether the VPC CNI uses the credentials of its node, as it does until its
            ServiceAccount has a role of its own. Every Pod on the host network then may attach
            network interfaces.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html
    """
    names = [*_NODE_POLICIES, _VPC_CNI_POLICY] if for_vpc_cni else _NODE_POLICIES
    return iam.Role(
        scope,
        id,
        assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
        managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(name) for name in names],
    )
