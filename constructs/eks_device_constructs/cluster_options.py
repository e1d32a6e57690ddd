"""What a user may say of a new EKS cluster, judged before anything of it is made."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from aws_cdk import Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from eks_devices import ClaimChecks, Finding
from eks_devices.addons import Addons, addon_faults
from eks_devices.claim_checks import claim_check_faults
from eks_devices.cluster_rules import cluster_name_faults, service_cidr_faults
from eks_devices.findings import fault
from eks_devices.typecheck import members, unknown_option, wrong_type

from .administrators import administrator_faults
from .inputs import role_faults
from .shapes import attribute, is_key


class ClusterOptions(TypedDict, total=False):
    """The options of a new cluster beside its network and version.

    Args:
        cluster_name: The cluster's name, or a token; CloudFormation makes one unless named. A
            named cluster cannot be replaced, which some changes ask for.
        endpoint_access: From where the API server is reached; from the network and from everywhere
            unless named. Narrow it with `eks.EndpointAccess.PRIVATE` or
            `.PUBLIC_AND_PRIVATE.only_from("203.0.113.0/24")`. Nodes in isolated subnets need an
            endpoint in the network.
        logging: The logs of the control plane that go to CloudWatch; none unless named.
        secrets_encryption_key: A symmetric key of the cluster's Region that encrypts what
            Kubernetes stores; a key of AWS unless named. It cannot be changed afterwards.
        service_ipv4_cidr: The address range of Services, or a token; EKS chooses one unless
            named. CloudFormation replaces a cluster that gets it later. Groups with `ami_id` on
            AL2023 need it; a `ClusterReference` of the cluster's name may tell it them instead.
        administrators: IAM roles and users, by ARN or as constructs, that get an access entry as
            administrators of the cluster, beside the principal that deploys it, which has one and
            must not be named. Their order does not matter.
        node_role: The role of nodes whose group names none, taken as it is. It needs
            AmazonEKSWorkerNodePolicy and AmazonEC2ContainerRegistryPullOnly, and
            AmazonEKS_CNI_Policy where the VPC CNI has no role of its own. A new one that has just
            those unless named.
        addons: Managed add-ons by name, or by name with a version to pin. Left out, vpc-cni,
            kube-proxy, eks-pod-identity-agent, eks-node-monitoring-agent, and coredns with the
            first system node group, each in the version that is EKS's default for the minor;
            `()` is none, which leaves the copies that EKS installs by itself. With both vpc-cni
            and eks-pod-identity-agent the VPC CNI gets a role of its own, except in networks of
            isolated subnets alone: there, as in private subnets without a NAT gateway, the agent
            needs an endpoint of the EKS Auth API. A coredns that is named comes at once and is
            degraded until a node without taints is there.
        claim_checks: How claims are told that no node of their groups can serve, and Pods in the
            app's manifests that no group can; by warnings unless named.

    Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html
    """

    cluster_name: str | None
    endpoint_access: eks.EndpointAccess | None
    logging: Collection[eks.ClusterLoggingTypes]
    secrets_encryption_key: kms.IKey | None
    service_ipv4_cidr: str | None
    administrators: Sequence[str | iam.IRole]
    node_role: iam.IRole | None
    addons: Addons | None
    claim_checks: ClaimChecks | None


def cluster_option_faults(
    scope: Construct, vpc: object, options: Mapping[str, Any]
) -> Iterator[Finding]:
    """Every fault of the options of a new cluster."""
    known = ClusterOptions.__annotations__
    for option in options:
        if option not in known:
            yield unknown_option(option, known, "", of="a cluster")
    name, services = options.get("cluster_name"), options.get("service_ipv4_cidr")
    yield from () if name is None else cluster_name_faults(name, "cluster_name")
    yield from _endpoint_faults(options.get("endpoint_access"))
    yield from _logging_faults(options.get("logging", ()))
    yield from _key_faults(options.get("secrets_encryption_key"))
    if services is not None:
        yield from service_cidr_faults(services, "service_ipv4_cidr", _known_ranges(vpc))
    yield from administrator_faults(scope, options.get("administrators", ()))
    yield from role_faults(options.get("node_role"), "node_role")
    yield from addon_faults(options.get("addons"))
    yield from claim_check_faults(options.get("claim_checks"), "claim_checks")


def logging_types(options: ClusterOptions) -> list[eks.ClusterLoggingTypes] | None:
    """The logs in the order of EKS, whatever the user's; None for none."""
    chosen = options.get("logging", ())
    return [one for one in eks.ClusterLoggingTypes if one in chosen] or None


def _endpoint_faults(access: object) -> Iterator[Finding]:
    if access is not None and not isinstance(access, eks.EndpointAccess):
        fix = "use eks.EndpointAccess.PRIVATE or .PUBLIC_AND_PRIVATE.only_from(...)"
        yield wrong_type("endpoint_access", access, "an eks.EndpointAccess, or None", fix)


def _logging_faults(logging: object) -> Iterator[Finding]:
    fix = "use eks.ClusterLoggingTypes.AUDIT and others"
    kinds = members(logging)
    if kinds is None:
        wanted = "a list of eks.ClusterLoggingTypes"
        yield wrong_type("logging", logging, wanted, f"pass a list; {fix}")
        return
    for index, kind in enumerate(kinds):
        if not isinstance(kind, eks.ClusterLoggingTypes):
            at, wanted = f"logging[{index}]", "an eks.ClusterLoggingTypes"
            yield wrong_type(at, kind, wanted, fix)
        elif kind in kinds[:index]:
            yield fault(
                "RepeatedLoggingType",
                f"logging[{index}]",
                "it stands in the list already",
                got=kind.value,
                allowed="each one once",
                fix="leave one of the two out",
            )


def _key_faults(key: object) -> Iterator[Finding]:
    if key is not None and not is_key(key):
        fix = "pass a kms.Key, or kms.Key.from_key_arn(...)"
        yield wrong_type("secrets_encryption_key", key, "a kms.IKey, or None", fix)


def _known_ranges(vpc: object) -> list[str]:
    """The address range of a network, as far as it is known before the deployment."""
    resource = vpc.node.default_child if isinstance(vpc, ec2.Vpc) else vpc
    name = "cidr_block" if isinstance(resource, ec2.CfnVPC) else "vpc_cidr_block"
    cidr = attribute(resource, name)
    return [cidr] if isinstance(cidr, str) and not Token.is_unresolved(cidr) else []
