"""What a cluster gives the node groups that join it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, cast

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

from eks_devices import ClaimChecks
from eks_devices.user_data import ClusterAccess

from .fleet import Fleet
from .known_cluster import ClusterFacts, KnownCluster
from .node_role import node_role
from .security_group import efa_security_group
from .sent import SentObjects
from .subnets import KnownSubnet, node_subnets
from .tree import address_of, once, stack_of

if TYPE_CHECKING:
    pass

# What takes node groups; the CDK's own Cluster is no ICluster for type checkers.
AnyCluster: TypeAlias = eks.ICluster | eks.Cluster


class NodegroupHost:
    """A cluster as its node groups see it.

    A cluster that this app makes is the same for all of them. One that it only refers to is
    another for each group: what groups share of it, they share within their stack, so that no
    name of a group depends on another stack.

    Attributes:
        facts: What is known of the cluster for this group.
        known: What the groups of all stacks share.
        place: Where the cluster is, or is imported or referred to.
        cluster: The cluster; None where this app does not make it.
        vpc: The cluster's network; None where it is not known.
        cluster_name: The name, or a token for it.
        kubernetes_version: The minor, "1.34".
        subnets: Where groups without a subnet of their own put their nodes.
        known_subnets: What groups asked of subnets before.
        cluster_security_group_id: The group that EKS gives the control plane and the nodes.
        kubectl_provider: What applies objects at deployment; None for nothing.
        is_foreign: Whether something else than `AcceleratedCluster` made the cluster, so that
            another app may hold its default installation.
        is_ipv6: Whether Pods and Services have IPv6 addresses, as far as it is known.
        before_nodes: What must be there before the first node.
        fleet: The groups that joined, and the installations that serve them.
        sent: What takes objects to the cluster.
    """

    def __init__(
        self,
        known: KnownCluster,
        *,
        facts: ClusterFacts,
        place: Construct,
        home: Callable[[], Construct],
        cluster: eks.Cluster | None = None,
        node_role: iam.IRole | None = None,
        before_nodes: Sequence[IConstruct] = (),
        on_join: Callable[[NodegroupHost], None] | None = None,
    ) -> None:
        """Make nothing yet: a group whose options are at fault leaves nothing behind.

        Args:
            known: What the groups of all stacks share.
            facts: What is known of the cluster for this group.
            place: Where the cluster is, or is referred to.
            home: Makes or finds the scope of what groups share.
            cluster: The cluster, where this app makes it.
            node_role: The role of nodes whose group names none; made unless named.
            before_nodes: What must be there before the first node.
            on_join: What is due when a group or an installation was found to be right.
        """
        self.known = known
        self.cluster = cluster
        self.place = place
        self.cluster_name = facts.name
        self.cluster_security_group_id = cast(str, facts.security_group_id)
        self.vpc = facts.vpc
        self.subnets = [] if facts.vpc is None else node_subnets(facts.vpc)
        self.known_subnets: dict[object, KnownSubnet] = {}
        self.kubectl_provider = facts.kubectl_provider
        self.is_ipv6 = bool(facts.is_ipv6)
        self.before_nodes = before_nodes
        self.facts = facts
        self._make_home = home
        self._node_role = node_role
        self._on_join = on_join

    @property
    def kubernetes_version(self) -> str:
        """The minor of the cluster."""
        return self.known.kubernetes_version

    @property
    def is_foreign(self) -> bool:
        """Whether another app may hold the default installation."""
        return self.known.is_foreign

    @property
    def fleet(self) -> Fleet:
        """The groups and installations of all stacks."""
        return self.known.fleet

    @property
    def sent(self) -> SentObjects:
        """What was sent to the cluster from all stacks."""
        return self.known.sent

    def join(self) -> None:
        """Take a group or an installation, of which no fault is known."""
        due, self._on_join = self._on_join, None
        if due is not None:
            due(self)

    @cached_property
    def home(self) -> Construct:
        """The scope of what the groups share, made for the first of them."""
        return self._make_home()

    @property
    def plan_home(self) -> IConstruct:
        """Where the plan and the files of the cluster stand, or will."""
        return self.known.home or self.place

    @cached_property
    def node_role(self) -> iam.IRole:
        """The role of nodes whose group names none, made for the first of them."""
        return self._node_role or once(self.home, "EksDevicesNodeRole", node_role)

    @cached_property
    def node_role_arn(self) -> str:
        """The ARN of `node_role`, or a token for it."""
        return self.node_role.role_arn

    @cached_property
    def efa_group(self) -> ec2.SecurityGroup:
        """The security group of all groups with EFA, made for the first of them."""
        vpc = cast(ec2.IVpc, self.vpc)
        return once(self.home, "Efa", lambda at, id_: efa_security_group(at, id_, vpc))

    def learn(self, facts: ClusterFacts) -> None:
        """Take what a reference says of the cluster beside what is known."""
        self.facts = self.facts.completed(facts)

    def choosing(self, checks: ClaimChecks | None) -> NodegroupHost:
        """This host, whose cluster knows how claims are told if anything says so."""
        self.known.choose(checks)
        return self

    @property
    def access(self) -> ClusterAccess:
        """What nodes need to join by themselves; None for what of it is not known."""
        facts = self.facts
        return ClusterAccess(
            name=self.cluster_name,
            endpoint=facts.endpoint,
            certificate_authority=facts.certificate_authority,
            service_cidr=facts.service_ipv4_cidr,
        )

    def home_beside(self, scope: Construct) -> Construct:
        """What groups of one stack share there, when it cannot stand with the cluster."""
        stack = stack_of(scope)
        if address_of(stack) == address_of(stack_of(self.home)):
            return self.home
        return once(stack, f"EksDevices-{address_of(self.place)[-8:]}", Construct)

    def kubectl_cluster(self, provider: eks.IKubectlProvider | None) -> eks.ICluster:
        """The cluster with a kubectl handler: its own, or one that a user names."""
        if provider is None and self.cluster is not None:
            return cast(eks.ICluster, self.cluster)
        handler = cast(eks.IKubectlProvider, provider or self.kubectl_provider)

        def make(home: Construct, id_: str) -> eks.ICluster:
            return eks.Cluster.from_cluster_attributes(
                home, id_, cluster_name=self.cluster_name, kubectl_provider=handler
            )

        return once(self.home, f"Kubectl{handler.node.addr[-8:]}", make)
