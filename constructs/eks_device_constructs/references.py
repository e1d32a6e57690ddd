"""Clusters that this app did not make with `aws_eks_v2`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks

from eks_devices import Finding
from eks_devices.findings import fault, raise_faults
from eks_devices.kubernetes import find_minor
from eks_devices.typecheck import is_token, member, wrong_type

_NAME = re.compile(r"[0-9A-Za-z][A-Za-z0-9_-]{0,99}", re.ASCII)
_CIDR = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}/[0-9]{1,2}", re.ASCII)
_NAME_FORM = "1 to 100 letters, digits, '-' or '_', or a token"
_GROUP_FORM = "an ec2.ISecurityGroup, or its id"
_GROUP_FIX = "pass the group that EKS made for the cluster, 'ClusterSecurityGroupId' of its stack"


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

    References of one name in a stage of an app are one cluster.

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
        service_cidr: The address range of Services.

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
    service_cidr: str | None = None

    def __post_init__(self) -> None:
        """Judge the values, where a user wrote them."""
        raise_faults(_faults(self))

    @property
    def security_group_id(self) -> str:
        """The id of the security group, or a token for it."""
        group = self.security_group
        return group if isinstance(group, str) else group.security_group_id


def _faults(given: ClusterReference) -> Iterator[Finding]:
    yield from _name_faults(given.name)
    minor = find_minor(given.version, "cluster.version")
    yield from (minor,) if isinstance(minor, Finding) else ()
    yield from _group_faults(given.security_group)
    if given.kubectl_provider is not None and not hasattr(given.kubectl_provider, "service_token"):
        fix = "use eks.KubectlProvider.from_kubectl_provider_attributes(...)"
        wanted = "an eks.IKubectlProvider of aws_eks_v2, or None"
        yield wrong_type("cluster.kubectl_provider", given.kubectl_provider, wanted, fix)
    if given.vpc is not None and not hasattr(given.vpc, "private_subnets"):
        fix = "use ec2.Vpc.from_lookup(...) or .from_vpc_attributes(...)"
        yield wrong_type("cluster.vpc", given.vpc, "an ec2.IVpc, or None", fix)
    if given.authentication_mode is not None:
        yield from member(
            given.authentication_mode, AuthenticationMode, "cluster.authentication_mode"
        )
    yield from _join_faults(given)


def _name_faults(name: object) -> Iterator[Finding]:
    fix = "copy the name from the EKS console"
    if is_token(name):
        return
    if not isinstance(name, str):
        yield wrong_type("cluster.name", name, _NAME_FORM, fix)
    elif not _NAME.fullmatch(name):
        source = "https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html"
        message = "EKS has no cluster of such a name"
        yield fault(
            "MalformedClusterName",
            "cluster.name",
            message,
            got=name,
            allowed=_NAME_FORM,
            fix=fix,
            source=source,
        )


def _group_faults(group: Any) -> Iterator[Finding]:
    is_id = isinstance(group, str) and (is_token(group) or group.startswith("sg-"))
    if not is_id and not hasattr(group, "security_group_id"):
        yield wrong_type("cluster.security_group", group, _GROUP_FORM, _GROUP_FIX)


def _join_faults(given: ClusterReference) -> Iterator[Finding]:
    for name in ("endpoint", "certificate_authority", "service_cidr"):
        value = getattr(given, name)
        if value is not None and not isinstance(value, str):
            fix = "copy it from `aws eks describe-cluster`"
            yield wrong_type(f"cluster.{name}", value, "a text, or None", fix)
    cidr = given.service_cidr
    if isinstance(cidr, str) and not is_token(cidr) and not _CIDR.fullmatch(cidr):
        yield fault(
            "MalformedCidr",
            "cluster.service_cidr",
            "this is no range of IPv4 addresses",
            got=cidr,
            allowed="a range such as 10.100.0.0/16",
            fix="copy it from `aws eks describe-cluster`",
            source="https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/README.md",
        )
