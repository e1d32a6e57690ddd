"""Clusters that this app did not make with `aws_eks_v2`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks

from eks_devices import ClaimChecks, Finding
from eks_devices.claim_checks import claim_check_faults
from eks_devices.cluster_rules import cluster_name_faults, service_cidr_faults
from eks_devices.findings import raise_faults
from eks_devices.kubernetes import find_minor
from eks_devices.typecheck import is_token, member, wrong_type

from .kubectl_inputs import provider_faults
from .shapes import is_security_group, is_vpc

_GROUP_FORM = "an ec2.ISecurityGroup, or its id"
_DESCRIBED = "copy it from `aws eks describe-cluster`"


class AuthenticationMode(StrEnum):
    """How a cluster learns who may use it.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/grant-k8s-access.html
    """

    API = "API"
    API_AND_CONFIG_MAP = "API_AND_CONFIG_MAP"
    CONFIG_MAP = "CONFIG_MAP"


@dataclass(frozen=True, kw_only=True)
class ClusterReference:
    """A cluster made by `aws_eks`, eksctl, Terraform or by hand, which node groups can join.

    References of one name in a stage, account and Region are one cluster, also one that this app
    makes: what one of them leaves out, another one knows, and none says otherwise. Stacks whose
    account or Region only the deployment knows count as one place.

    Each stack has its own node role, and its own security group for EFA: groups in two stacks
    whose nodes talk over EFA need one `security_group=`.

    Args:
        name: The cluster's name; it may be a token.
        version: Its Kubernetes minor, "1.34": rules read it.
        security_group: The security group that EKS made for the cluster, or its id.
        kubectl_provider: What applies objects at deployment, for `Delivery.kubectl()`; without
            it use GitOps.
        vpc: The cluster's network. Without it each group names its subnet, and those with EFA
            their security group.
        authentication_mode: How the cluster learns who may use it; not judged unless named.
        endpoint: URL of the API server; only groups with an image of your own need this and the
            next two.
        certificate_authority: The cluster's certificate authority, in base64.
        service_ipv4_cidr: The address range of Services, of IPv4.
        claim_checks: How claims are told that no node can serve; by warnings unless named.

    Raises:
        EksDevicesError: Every fault of the values at once.
    """

    name: str
    version: str
    security_group: ec2.ISecurityGroup | str
    kubectl_provider: eks.IKubectlProvider | None = None
    vpc: ec2.IVpc | None = None
    authentication_mode: AuthenticationMode | None = None
    endpoint: str | None = None
    certificate_authority: str | None = None
    service_ipv4_cidr: str | None = None
    claim_checks: ClaimChecks | None = None

    def __post_init__(self) -> None:
        """Judge the values, where a user wrote them."""
        raise_faults(_faults(self))

    @property
    def security_group_id(self) -> str:
        """The id of the security group, or a token for it."""
        group = self.security_group
        return group if isinstance(group, str) else group.security_group_id


def _faults(given: ClusterReference) -> Iterator[Finding]:
    yield from cluster_name_faults(given.name, "cluster.name", fix="copy it from the EKS console")
    minor = find_minor(given.version, "cluster.version")
    yield from (minor,) if isinstance(minor, Finding) else ()
    yield from _group_faults(given.security_group)
    yield from provider_faults(given.kubectl_provider, "cluster.kubectl_provider")
    if given.vpc is not None and not is_vpc(given.vpc):
        fix = "use ec2.Vpc.from_lookup(...) or .from_vpc_attributes(...)"
        yield wrong_type("cluster.vpc", given.vpc, "an ec2.IVpc, or None", fix)
    mode = given.authentication_mode
    if mode is not None:
        yield from member(mode, AuthenticationMode, "cluster.authentication_mode")
    yield from claim_check_faults(given.claim_checks, "cluster.claim_checks")
    yield from _join_faults(given)


def _group_faults(group: object) -> Iterator[Finding]:
    is_id = isinstance(group, str) and (is_token(group) or group.startswith("sg-"))
    if not is_id and not is_security_group(group):
        fix = "pass the group that EKS made for the cluster, 'ClusterSecurityGroupId' of its stack"
        yield wrong_type("cluster.security_group", group, _GROUP_FORM, fix)


def _join_faults(given: ClusterReference) -> Iterator[Finding]:
    for name in ("endpoint", "certificate_authority"):
        value = getattr(given, name)
        if value is not None and not isinstance(value, str):
            yield wrong_type(f"cluster.{name}", value, "a text, or None", _DESCRIBED)
    services = given.service_ipv4_cidr
    if services is not None:
        # EKS itself kept them apart from the addresses of the network.
        yield from service_cidr_faults(services, "cluster.service_ipv4_cidr", fix=_DESCRIBED)
