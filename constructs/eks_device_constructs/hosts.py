"""What a cluster gives the node groups that join it, and what it knows of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from eks_devices import ClusterPlan, DeviceType, NodegroupPlan
from eks_devices.cluster_planner import Keep, join_plans
from eks_devices.kubernetes import minors

from .delivery import Delivery
from .tree import is_in_tree


class Planned(Protocol):
    """A node group as its cluster sees it."""

    plan: NodegroupPlan

    @property
    def node(self) -> object:
        """The group's place in the construct tree."""


class Drivers(Protocol):
    """What serves the devices of a node group."""

    @property
    def scope_name(self) -> str | None:
        """The name of a scoped installation."""

    @property
    def foreign(self) -> Sequence[DeviceType]:
        """The device types that another maker's manager serves."""

    @property
    def delivery(self) -> Delivery | None:
        """How claims reach the cluster."""

    def serve(self, plan: NodegroupPlan) -> list[IDependable]:
        """Install what a group needs; returns what the group waits for."""


class NodegroupHost:
    """A cluster as its node groups see it.

    Attributes:
        cluster_name: The name, or a token for it.
        kubernetes_version: The minor, "1.34".
        node_role: The role of the nodes.
        subnets: Where groups without a subnet of their own put their nodes.
        cluster_security_group_id: The group that EKS gives the control plane and the nodes.
    """

    def __init__(
        self,
        *,
        cluster: eks.Cluster,
        kubernetes_version: str,
        node_role: iam.IRole,
        subnets: Sequence[ec2.ISubnet],
        make_efa_group: Callable[[], ec2.SecurityGroup],
    ) -> None:
        self.cluster = cluster
        self.cluster_name = cluster.cluster_name
        self.cluster_security_group_id = cluster.cluster_security_group_id
        self.kubernetes_version = kubernetes_version
        self.node_role = node_role
        self.subnets = list(subnets)
        self._make_efa_group = make_efa_group
        self._efa_group: ec2.SecurityGroup | None = None
        self._groups: list[Planned] = []
        self._scopes: set[str] = set()
        self._keep: Keep = {}
        self.drivers: Drivers | None = None
        self.namespaces: dict[str, list[IDependable]] = {}
        self.claims: dict[tuple[str, str, str], Construct] = {}

    @property
    def plan(self) -> ClusterPlan:
        """The plan of the groups that joined and are still there."""
        return self._join(group.plan for group in self._groups if is_in_tree(group))

    def check(self, plan: NodegroupPlan) -> None:
        """Raise the faults that a group has beside the groups that are there."""
        self._join([*self.plan.nodegroups, plan])

    def set_default(self, drivers: Drivers, keep: Keep) -> None:
        """Take the cluster's default installation, which serves groups that name none."""
        self.drivers = drivers
        self._keep = keep

    def is_new_scope(self, name: object) -> bool:
        """Whether no scoped installation of the cluster has a name; remembers it."""
        is_new = isinstance(name, str) and name not in self._scopes
        self._scopes.add(str(name))
        return is_new

    def adopt(self, group: Planned) -> None:
        """Take a group into the plan."""
        self._groups.append(group)

    def efa_group(self) -> ec2.SecurityGroup:
        """The security group of all groups with EFA, made for the first of them."""
        if self._efa_group is None:
            self._efa_group = self._make_efa_group()
        return self._efa_group

    def _join(self, plans: Iterable[NodegroupPlan]) -> ClusterPlan:
        return join_plans(minors()[self.kubernetes_version], tuple(plans), keep=self._keep)


_hosts: WeakKeyDictionary[object, NodegroupHost] = WeakKeyDictionary()


def register_host(cluster: object, host: NodegroupHost) -> None:
    """Have node groups find the host of a cluster."""
    _hosts[cluster] = host


def host_of(cluster: object) -> NodegroupHost | None:
    """The host of a cluster, None for what is no cluster of this library."""
    try:
        return _hosts.get(cluster)
    except TypeError:  # nothing that has no weak reference is a cluster
        return None
