"""What an app knows of a cluster, and what all node groups of the cluster share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IConstruct

from eks_devices import ClaimChecks, Finding
from eks_devices.findings import fault
from eks_devices.typecheck import is_token

from .fleet import Fleet
from .references import AuthenticationMode, ClusterReference
from .sent import SentObjects
from .shapes import attribute

if TYPE_CHECKING:
    from .hosts import NodegroupHost


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """What is known of a cluster; None for what is not."""

    name: str
    security_group_id: str | None = None
    vpc: ec2.IVpc | None = None
    endpoint: str | None = None
    certificate_authority: str | None = None
    service_ipv4_cidr: str | None = None
    authentication_mode: AuthenticationMode | None = None
    kubectl_provider: eks.IKubectlProvider | None = None
    is_ipv6: bool | None = None
    claim_checks: ClaimChecks | None = None

    @classmethod
    def of_reference(cls, given: ClusterReference) -> ClusterFacts:
        """What a reference says."""
        return cls(
            name=given.name,
            security_group_id=given.security_group_id,
            vpc=given.vpc,
            endpoint=given.endpoint,
            certificate_authority=given.certificate_authority,
            service_ipv4_cidr=given.service_ipv4_cidr,
            authentication_mode=given.authentication_mode,
            kubectl_provider=given.kubectl_provider,
            claim_checks=given.claim_checks,
        )

    @classmethod
    def of_cluster(cls, cluster: Any) -> ClusterFacts:
        """What a cluster of `aws_eks_v2` says, imported or not."""
        family = attribute(cluster, "ip_family")
        return cls(
            name=cluster.cluster_name,
            security_group_id=attribute(cluster, "cluster_security_group_id"),
            vpc=attribute(cluster, "vpc"),
            endpoint=attribute(cluster, "cluster_endpoint"),
            certificate_authority=attribute(cluster, "cluster_certificate_authority_data"),
            kubectl_provider=attribute(cluster, "kubectl_provider"),
            is_ipv6=None if family is None else family == eks.IpFamily.IP_V6,
        )

    def completed(self, known: ClusterFacts) -> ClusterFacts:
        """These facts, with what another source knows beside them."""
        missing = {
            one.name: getattr(known, one.name)
            for one in fields(self)
            if getattr(self, one.name) is None
        }
        return replace(self, **missing)


class KnownCluster:
    """What node groups and installations of a cluster share, in whichever stack they stand.

    Attributes:
        kubernetes_version: The minor, "1.34".
        is_foreign: Whether something else than `AcceleratedCluster` made the cluster, so that
            another app may hold its default installation.
        facts: What is known of it.
        fleet: The groups that joined, and the installations that serve them.
        sent: What takes objects to the cluster.
        homes: What groups share, in each of their stacks; the plan stands with the first.
        host: What stands for the cluster in every stack, where this app makes it.
    """

    def __init__(
        self, facts: ClusterFacts, kubernetes_version: str, beside: IConstruct, *, is_foreign: bool
    ) -> None:
        """Begin without groups.

        Args:
            facts: What is known of the cluster.
            kubernetes_version: The minor, "1.34".
            beside: What groups are taken to stand beside, so that it was not removed.
            is_foreign: Whether another app may hold the default installation.
        """
        self.facts = facts
        self.kubernetes_version = kubernetes_version
        self.is_foreign = is_foreign
        self.fleet = Fleet(beside, kubernetes_version, is_foreign=is_foreign)
        self.sent = SentObjects(beside)
        self.homes: list[Construct] = []
        self.host: NodegroupHost | None = None

    @property
    def home(self) -> Construct | None:
        """Where the plan of the cluster stands; None before the first group."""
        return next(iter(self.homes), None)

    @property
    def claim_checks(self) -> ClaimChecks:
        """How claims are told that no node of their groups can serve."""
        return self.chosen_checks or ClaimChecks.WARN

    @property
    def chosen_checks(self) -> ClaimChecks | None:
        """The same as far as somebody chose it."""
        return self.facts.claim_checks or (self.host.facts.claim_checks if self.host else None)

    def choose(self, checks: ClaimChecks | None) -> None:
        """Take what says how claims are told, if anything does."""
        if checks is not None:
            self.facts = replace(self.facts, claim_checks=checks)

    @property
    def is_forgotten(self) -> bool:
        """Whether all groups and installations of a cluster that is not made here were removed."""
        if self.host is not None or self.fleet.groups or self.fleet.drivers is not None:
            return False
        return not self.fleet.scopes


# What two references to one cluster may not say differently.
_COMPARED = (
    "security_group_id",
    "endpoint",
    "certificate_authority",
    "service_ipv4_cidr",
    "authentication_mode",
    "claim_checks",
)


def facts_faults(given: ClusterFacts, known: ClusterFacts, path: str) -> Iterator[Finding]:
    """The faults of what is said of a cluster in two ways; what is a token is not judged."""
    pairs = {name: (getattr(given, name), getattr(known, name)) for name in _COMPARED}
    pairs["vpc"] = (attribute(given.vpc, "vpc_id"), attribute(known.vpc, "vpc_id"))
    for name, (mine, theirs) in pairs.items():
        if not _is_literal(mine) or not _is_literal(theirs) or mine == theirs:
            continue
        yield fault(
            "ReferencesDiffer",
            f"{path}.cluster.{name.removesuffix('_id')}",
            "the cluster of this name is known with another value",
            got=mine,
            allowed=str(theirs),
            fix="use one ClusterReference, or say the same in each, or leave it out in the later",
        )


def _is_literal(value: object) -> bool:
    return isinstance(value, str) and not is_token(value)
