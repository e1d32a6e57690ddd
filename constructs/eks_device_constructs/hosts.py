"""What a cluster gives the node groups that join it, and what it knows of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import IConstruct

from eks_devices import ClusterPlan, Finding, NodegroupPlan
from eks_devices.cluster_planner import Keep, join_plans, unserved
from eks_devices.kubernetes import minors

from .inputs import node_subnets
from .security_group import efa_security_group
from .tree import is_in_tree

if TYPE_CHECKING:
    from .cluster import AcceleratedCluster
    from .delivery import Delivery
    from .drivers import DeviceDrivers
    from .nodegroup import AcceleratedNodegroup


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Who sent objects, and what takes them to the cluster; nothing does with GitOps."""

    by: IConstruct
    manifests: Sequence[IConstruct]


class NodegroupHost:
    """A cluster as its node groups see it.

    Attributes:
        vpc: The cluster's network.
        cluster_name: The name, or a token for it.
        kubernetes_version: The minor, "1.34".
        node_role: The role of the nodes.
        subnets: Where groups without a subnet of their own put their nodes.
        cluster_security_group_id: The group that EKS gives the control plane and the nodes.
        has_kubectl: Whether the cluster can apply objects at deployment.
        scoped: The scoped installations by their names.
        claims: The claims of the groups, by kind, namespace and name.
    """

    def __init__(
        self,
        *,
        cluster: eks.Cluster,
        vpc: ec2.IVpc,
        kubernetes_version: str,
        node_role: iam.IRole,
        subnets: Sequence[ec2.ISubnet],
        has_kubectl: bool,
    ) -> None:
        self.cluster = cluster
        self.cluster_name = cluster.cluster_name
        self.cluster_security_group_id = cluster.cluster_security_group_id
        self.kubernetes_version = kubernetes_version
        self.node_role = node_role
        self.subnets = list(subnets)
        self.has_kubectl = has_kubectl
        self.scoped: dict[str, DeviceDrivers] = {}
        self.claims: dict[tuple[str, str, str], Sent] = {}
        self.vpc = vpc
        self._sent: dict[tuple[str, str], Sent] = {}
        self._drivers: DeviceDrivers | None = None
        self._groups: list[AcceleratedNodegroup] = []
        self._keep: Keep = {}

    @property
    def groups(self) -> list[AcceleratedNodegroup]:
        """The groups that joined and are still there."""
        return [group for group in self._groups if is_in_tree(group)]

    @property
    def drivers(self) -> DeviceDrivers | None:
        """The default installation, which serves groups that name none."""
        return self._drivers if self._drivers and is_in_tree(self._drivers) else None

    @property
    def has_default_elsewhere(self) -> bool:
        """Whether a group says that another app holds the default installation."""
        return any(group.is_served_elsewhere for group in self.groups)

    @property
    def plan(self) -> ClusterPlan:
        """The plan of the groups, with a warning for each that nothing serves."""
        plan = self._join(group.plan for group in self.groups)
        waiting = [
            one for group in self.groups if group.awaits_drivers for one in unserved(group.plan)
        ]
        return replace(plan, findings=(*plan.findings, *waiting))

    @cached_property
    def efa_group(self) -> ec2.SecurityGroup:
        """The security group of all groups with EFA, made for the first of them."""
        return efa_security_group(self.cluster, self.vpc)

    def findings_beside(self, plan: NodegroupPlan) -> list[Finding]:
        """What is worth knowing of a group beside the groups that are there.

        Raises:
            EksDevicesError: The faults that the group has beside them.
        """
        before = self.plan
        after = self._join([*before.nodegroups, plan])
        known = {*before.findings, *plan.findings}
        return [one for one in after.findings if one not in known]

    def set_default(self, drivers: DeviceDrivers, keep: Keep) -> None:
        """Take the cluster's default installation."""
        self._drivers = drivers
        self._keep = keep

    def sent(self, bundle: str, way: str) -> list[IConstruct] | None:
        """What takes a bundle to the cluster in a way, None where nothing does that is there."""
        found = self._sent.get((bundle, way))
        return [*found.manifests] if found and is_in_tree(found.by) else None

    def note_sent(self, bundle: str, way: str, by: IConstruct, sent: Sequence[IConstruct]) -> None:
        """Remember who sent a bundle."""
        self._sent[bundle, way] = Sent(by=by, manifests=sent)

    def register(self, group: AcceleratedNodegroup) -> None:
        """Take a group into the plan."""
        self._groups.append(group)

    def _join(self, plans: Iterable[NodegroupPlan]) -> ClusterPlan:
        return join_plans(minors()[self.kubernetes_version], tuple(plans), keep=self._keep)


_hosts: WeakKeyDictionary[object, NodegroupHost] = WeakKeyDictionary()


def register_host(
    cluster: AcceleratedCluster, vpc: ec2.IVpc, version: str, delivery: Delivery | None
) -> NodegroupHost:
    """Make the host of a cluster, which node groups then find."""
    host = NodegroupHost(
        cluster=cluster.cluster,
        vpc=vpc,
        kubernetes_version=version,
        node_role=cluster.node_role,
        subnets=node_subnets(vpc),
        has_kubectl=delivery is not None and delivery.kubectl_provider_options is not None,
    )
    _hosts[cluster] = host
    return host


def host_of(cluster: object) -> NodegroupHost | None:
    """The host of a cluster, None for what is no cluster of this library."""
    try:
        return _hosts.get(cluster)
    except TypeError:  # nothing that has no weak reference is a cluster
        return None
