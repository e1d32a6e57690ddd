"""What a cluster gives the node groups that join it, and what it knows of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

from eks_devices import ClusterPlan, Finding, NodegroupPlan
from eks_devices.cluster_planner import (
    Keep,
    drivers_of,
    join_faults,
    join_plans,
    unserved,
)
from eks_devices.fleet_findings import fleet_findings
from eks_devices.kubernetes import minors
from eks_devices.user_data import ClusterAccess

from .annotations import inform, warn
from .inputs import is_public, node_subnets, subnet_cidr
from .node_role import node_role
from .security_group import efa_security_group
from .stable_names import identity
from .tree import is_in_tree, reference_of, stack_of

if TYPE_CHECKING:
    from .drivers import DeviceDrivers
    from .nodegroup import AcceleratedNodegroup
    from .system_nodegroup import SystemNodegroup

# What a node needs to join, and the attribute of the cluster that holds it.
_JOIN_VALUES = {
    "endpoint": "cluster_endpoint",
    "certificate_authority": "cluster_certificate_authority_data",
    "service_cidr": "",
}

# What takes node groups; the CDK's own Cluster is no ICluster for type checkers.
AnyCluster: TypeAlias = eks.ICluster | eks.Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Who sent objects, and what takes them to the cluster; nothing does with GitOps."""

    by: IConstruct
    manifests: Sequence[IConstruct]


class Network(NamedTuple):
    """A subnet as node groups see it; the range is empty where it is unknown."""

    subnet: ec2.ISubnet
    id: str
    cidr: str
    is_public: bool


class NodegroupHost:
    """A cluster as its node groups see it.

    Attributes:
        cluster: The cluster.
        home: The scope of what all groups of the cluster share.
        vpc: The cluster's network; None where it is not known.
        cluster_name: The name, or a token for it.
        kubernetes_version: The minor, "1.34".
        subnets: Where groups without a subnet of their own put their nodes.
        cluster_security_group_id: The group that EKS gives the control plane and the nodes.
        has_kubectl: Whether the cluster can apply objects at deployment.
        is_foreign: Whether something else than `AcceleratedCluster` made the cluster, so that
            another app may hold its default installation.
        service_cidr: The address range of Services; None where it is not known.
        others: Node groups without accelerators.
        before_nodes: What must be there before the first node.
        scoped: The scoped installations by their names.
        claims: The claims of the groups, by kind, namespace and name.
    """

    def __init__(
        self,
        *,
        cluster: AnyCluster,
        home: Construct,
        kubernetes_version: str,
        cluster_security_group_id: str,
        vpc: ec2.IVpc | None = None,
        node_role: iam.IRole | None = None,
        service_cidr: str | None = None,
        has_kubectl: bool = False,
        is_foreign: bool = False,
    ) -> None:
        self.cluster = cluster
        self.home = home
        self.cluster_name = cluster.cluster_name
        self.cluster_security_group_id = cluster_security_group_id
        self.kubernetes_version = kubernetes_version
        self.subnets = [] if vpc is None else node_subnets(vpc)
        self.has_kubectl = has_kubectl
        self.is_foreign = is_foreign
        self.service_cidr = service_cidr
        self.scoped: dict[str, DeviceDrivers] = {}
        self.claims: dict[tuple[str, str, str], Sent] = {}
        self.vpc = vpc
        self._node_role = node_role
        self._sent: dict[tuple[str, str], Sent] = {}
        self._drivers: DeviceDrivers | None = None
        self._groups: list[AcceleratedNodegroup] = []
        self._keep: Keep = {}
        self._told: set[Finding] = set()
        self._networks: dict[object, Network] = {}
        self._identities: dict[tuple[Stack, str], Any] = {}
        self.before_nodes: list[IConstruct] = []
        self.others: list[SystemNodegroup] = []

    @cached_property
    def node_role(self) -> iam.IRole:
        """The role of nodes whose group names none, made for the first of them."""
        return self._node_role or node_role(self.home, "EksDevicesNodeRole")

    def access(self, *, service_cidr: bool) -> ClusterAccess | None:
        """What a node needs to join by itself; None where something of it is not known."""
        if self.unknown_access(service_cidr=service_cidr):
            return None
        values = {name: self._join_value(name) for name in _JOIN_VALUES}
        return ClusterAccess(
            name=self.cluster_name,
            endpoint=values["endpoint"] or "",
            certificate_authority=values["certificate_authority"] or "",
            service_cidr=values["service_cidr"],
        )

    def unknown_access(self, *, service_cidr: bool) -> list[str]:
        """What of that is not known."""
        needed = [name for name in _JOIN_VALUES if service_cidr or name != "service_cidr"]
        return [name for name in needed if self._join_value(name) is None]

    def _join_value(self, name: str) -> str | None:
        attribute = _JOIN_VALUES[name]
        if not attribute:
            return self.service_cidr
        try:
            return str(getattr(self.cluster, attribute))
        except Exception:  # noqa: BLE001  (the CDK raises where an import was not given it)
            return None

    def kubectl_cluster(self, provider: eks.IKubectlProvider | None) -> eks.ICluster:
        """The cluster with a kubectl handler: its own, or one that a user names."""
        if provider is None:
            return cast(eks.ICluster, self.cluster)
        id_ = f"Kubectl{provider.node.addr[-8:]}"
        made = self.home.node.try_find_child(id_)
        if made is not None:
            return cast(eks.ICluster, made)
        return eks.Cluster.from_cluster_attributes(
            self.home, id_, cluster_name=self.cluster_name, kubectl_provider=provider
        )

    def network_of(self, subnet: ec2.ISubnet) -> Network:
        """What a group asks of a subnet, asked for once."""
        key = reference_of(subnet)
        known = self._networks.get(key)
        if known is None:
            id_ = subnet.subnet_id
            known = self._networks[key] = Network(
                subnet, id_, subnet_cidr(subnet), is_public(self.vpc, subnet)
            )
        return known

    def identity_of(self, scope: Construct, value: str) -> Any:
        """What a text stands for in a stack; see `stable_names.identity`."""
        key = (stack_of(scope), value)
        if key not in self._identities:
            self._identities[key] = identity(scope, value)
        return self._identities[key]

    @property
    def groups(self) -> list[AcceleratedNodegroup]:
        """The groups that joined and are still there."""
        return [group for group in self._groups if is_in_tree(group, beside=self.home)]

    @property
    def drivers(self) -> DeviceDrivers | None:
        """The default installation, which serves groups that name none."""
        found = self._drivers
        return found if found and is_in_tree(found, beside=self.home) else None

    @property
    def has_default_elsewhere(self) -> bool:
        """Whether a group says that another app holds the default installation."""
        return any(group.is_served_elsewhere for group in self.groups)

    @property
    def plan(self) -> ClusterPlan:
        """The plan of the groups, with a warning for each that nothing serves."""
        groups = self.groups
        plan = self._join(group.plan for group in groups)
        waiting = [one for group in self._waiting(groups) for one in unserved(group.plan)]
        return replace(plan, findings=(*plan.findings, *waiting))

    def _waiting(self, groups: Iterable[AcceleratedNodegroup]) -> list[AcceleratedNodegroup]:
        """The groups with devices that nothing serves; an installation is looked for once."""
        there: dict[DeviceDrivers | None, bool] = {
            one: one is not None and is_in_tree(one, beside=self.home)
            for one in {group.installation for group in groups}
        }
        return [
            group
            for group in groups
            if not group.is_served_elsewhere
            and not there[group.installation]
            and drivers_of(group.plan)
        ]

    @cached_property
    def node_role_arn(self) -> str:
        """The ARN of that role, or a token for it."""
        return self.node_role.role_arn

    @cached_property
    def efa_group_id(self) -> str:
        """The id of EFA's security group, or a token for it."""
        return self.efa_group.security_group_id

    @cached_property
    def efa_group(self) -> ec2.SecurityGroup:
        """The security group of all groups with EFA, made for the first of them."""
        return efa_security_group(self.home, cast(ec2.IVpc, self.vpc))

    def faults_beside(self, plan: NodegroupPlan) -> list[Finding]:
        """The faults that a group has beside the groups that are there."""
        if not self._join_faults(plan):
            return []
        # Only now does it matter whether a user removed one of the groups again.
        self._groups = self.groups
        return self._join_faults(plan)

    def _join_faults(self, plan: NodegroupPlan) -> list[Finding]:
        plans = (*(group.plan for group in self._groups), plan)
        return join_faults(plans, keep=self._keep, default_elsewhere=self._default_elsewhere)

    @property
    def _default_elsewhere(self) -> bool:
        return self.is_foreign and self._drivers is None

    def finish(self) -> None:
        """At synth: give groups the tags of their scopes, and tell what is worth knowing."""
        groups = self.groups
        for group in groups:
            group.inherit_tags()
        for other in self.others:
            other.inherit_tags()
        fleet = [*fleet_findings(tuple(group.plan for group in groups))]
        infos = [one for group in groups for one in group.plan.findings]
        warn(self.home, [one for one in fleet if one not in self._told])
        inform(self.home, [one for one in infos if one not in self._told])
        self._told.update(fleet, infos)

    def set_default(self, drivers: DeviceDrivers, keep: Keep) -> None:
        """Take the cluster's default installation."""
        self._drivers = drivers
        self._keep = keep

    def sent(self, bundle: str, way: str) -> list[IConstruct] | None:
        """What takes a bundle to the cluster in a way, None where nothing does that is there."""
        found = self._sent.get((bundle, way))
        return [*found.manifests] if found and is_in_tree(found.by, beside=self.home) else None

    def note_sent(self, bundle: str, way: str, by: IConstruct, sent: Sequence[IConstruct]) -> None:
        """Remember who sent a bundle."""
        self._sent[bundle, way] = Sent(by=by, manifests=sent)

    def register(self, group: AcceleratedNodegroup) -> None:
        """Take a group into the plan."""
        self._groups.append(group)

    def _join(self, plans: Iterable[NodegroupPlan]) -> ClusterPlan:
        return join_plans(
            minors()[self.kubernetes_version],
            tuple(plans),
            keep=self._keep,
            default_elsewhere=self._default_elsewhere,
        )
