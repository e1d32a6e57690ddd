"""The AWS permissions of what recovers nodes with faulty Neuron devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from eks_device_charts.manifests.neuron_health import ACCOUNT, NAMESPACE
from eks_devices import Finding, NeuronHealth
from eks_devices.findings import info, warning

_METRICS: Final = "NeuronHealthCheck"
# EKS gives the Auto Scaling group of each managed node group this tag, and a name that begins so.
_TAG, _NAMES = "eks:cluster-name", "eks-*"
_AGENT: Final = "https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html"


class NeuronRecovery(Construct):
    """A role by EKS Pod Identity for the Pods that watch the Neuron devices of a cluster.

    They may mark instances of the cluster's managed node groups unhealthy, where recovery is on,
    and count errors in one namespace of CloudWatch. The vendor's policy names a group for
    DescribeAutoScalingInstances too, for which IAM knows none, so that the call would be denied.

    The Pods that are made before the association never get the role: apply the manifests after
    it. In subnets without a way out they need endpoints of EKS Auth, EC2, EC2 Auto Scaling and
    CloudWatch.

    Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2autoscaling.html

    Attributes:
        role: The role.
        association: What gives it to the account of the Pods; it needs no account yet.
    """

    role: iam.Role
    association: eks.CfnPodIdentityAssociation

    def __init__(
        self,
        scope: Construct,
        id: str = "NeuronRecovery",  # noqa: A002  (the CDK's own name for it)
        *,
        cluster_name: str,
        health: NeuronHealth,
    ) -> None:
        """Make the role for a cluster of this app or of another one.

        Args:
            scope: Where the construct stands.
            id: The construct's id.
            cluster_name: The name of the cluster, or a token for it.
            health: What the Pods do; they need a role only where `calls_aws` is true.
        """
        super().__init__(scope, id)
        document = iam.PolicyDocument(statements=_statements(self, cluster_name, health))
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.SessionTagsPrincipal(iam.ServicePrincipal("pods.eks.amazonaws.com")),
            # In the role itself, so that whatever waits for the role has the permissions.
            inline_policies={"NeuronHealth": document},
        )
        self.association = eks.CfnPodIdentityAssociation(
            self,
            "Association",
            cluster_name=cluster_name,
            namespace=NAMESPACE,
            service_account=ACCOUNT,
            role_arn=self.role.role_arn,
        )


def recovery_findings(
    health: NeuronHealth | None, *, serves_identity: bool | None, waits: bool
) -> Iterator[Finding]:
    """What is worth knowing of Pods that get no role, or none if they come too early.

    Args:
        health: How devices are watched; None for not at all.
        serves_identity: Whether the cluster has the add-on that hands roles out; None for a
            cluster of which that is not known.
        waits: Whether the Pods are made after the role; nothing waits with GitOps.
    """
    if health is None or not health.calls_aws:
        return
    if serves_identity is False:
        yield warning(
            "RoleNotServed",
            "neuron.health",
            "Pods get their role from EKS's Pod Identity agent, which is not among the add-ons",
            fix="add eks-pod-identity-agent to addons, or install it yourself",
            source=_AGENT,
        )
    if not waits:
        yield info(
            "RoleBeforePods",
            "neuron.health",
            "Pods that start before they have their role never get it, and GitOps waits for no "
            "role",
            fix="deploy the stack before the tool applies the folder; restart the Pods otherwise",
            source=_AGENT,
        )


def _statements(
    scope: Construct, cluster_name: str, health: NeuronHealth
) -> list[iam.PolicyStatement]:
    counting = iam.PolicyStatement(
        actions=["cloudwatch:PutMetricData"],
        resources=["*"],
        conditions={"StringEquals": {"cloudwatch:namespace": _METRICS}},
    )
    # Neither takes the ARN of a group or a tag of one.
    reading = iam.PolicyStatement(
        actions=["autoscaling:DescribeAutoScalingInstances", "ec2:DescribeInstances"],
        resources=["*"],
    )
    return [*([_replacing(scope, cluster_name)] if health.recovery else []), reading, counting]


def _replacing(scope: Construct, cluster_name: str) -> iam.PolicyStatement:
    groups = Stack.of(scope).format_arn(
        service="autoscaling",
        resource="autoScalingGroup",
        resource_name=f"*:autoScalingGroupName/{_NAMES}",
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
    return iam.PolicyStatement(
        actions=["autoscaling:SetInstanceHealth"],
        resources=[groups],
        conditions={"StringEquals": {f"autoscaling:ResourceTag/{_TAG}": cluster_name}},
    )
