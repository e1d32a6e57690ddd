"""Node groups that are alike but for their reservation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from eks_devices import (
    Capacity,
    ComputeDomain,
    DeviceRequest,
    EksDevicesError,
    MatchAttribute,
    NodegroupOptions,
    ResourceClaimTemplate,
)
from eks_devices.capacity import capacity_faults
from eks_devices.claims.on_nodegroup import Claim
from eks_devices.findings import Finding, fault, raise_faults
from eks_devices.typecheck import path_step, wrong_type

from .claims import ClaimSender
from .drivers import DeviceDrivers, ExternalDrivers
from .hosts import AnyCluster
from .nodegroup import AcceleratedNodegroup
from .references import ClusterReference
from .tree import is_in_tree

if TYPE_CHECKING:
    from .cluster import AcceleratedCluster

_LONGEST_LABEL = 63


class Sizes(TypedDict, total=False):
    """What may differ between the groups of a pool, beside reservation and subnet."""

    min_size: int
    max_size: int
    desired_size: int | None
    autoscaled: bool


class PoolOptions(NodegroupOptions, total=False):
    """What the groups of a pool have in common."""

    drivers: DeviceDrivers | ExternalDrivers | None
    kubernetes_version: str | None
    security_group: ec2.ISecurityGroup | None
    node_role: iam.IRole | None


class AcceleratedNodegroupPool(Construct):
    """One node group for each of several reservations, with the same options and claims.

    When a Capacity Block is renewed, add the new one; when the old one has ended, remove its
    line. Nodes of every group have the label `eks-devices/nodegroup-pool=<id>`, and claims belong
    to the pool, so Pods notice nothing.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,  # noqa: A002  (the CDK's own name for it)
        *,
        cluster: AcceleratedCluster | AnyCluster | ClusterReference,
        subnet: ec2.ISubnet | None = None,
        **shared: Unpack[PoolOptions],
    ) -> None:
        """Hold what the groups have in common; nothing is made before the first one is added.

        Args:
            scope: Where the construct stands.
            id: Names the pool, and begins the name of each group.
            cluster: The cluster that the nodes join.
            subnet: The subnet of groups whose reservation names none.
            shared: The other arguments of `AcceleratedNodegroup`, `capacity` aside.

        Raises:
            EksDevicesError: `capacity` is among them, or the id is no value of a label.
        """
        raise_faults(_pool_faults(scope, id, shared))
        super().__init__(scope, id)
        self._cluster = cluster
        self._subnet = subnet
        self._shared: dict[str, Any] = {**shared}
        self._groups: dict[str, AcceleratedNodegroup] = {}
        self._sender: ClaimSender | None = None

    @property
    def nodegroups(self) -> tuple[AcceleratedNodegroup, ...]:
        """The groups of the pool, in the order of their reservations."""
        return tuple(group for group in self._groups.values() if is_in_tree(group))

    def add(
        self, capacity: Capacity, *, subnet: ec2.ISubnet | None = None, **own: Unpack[Sizes]
    ) -> AcceleratedNodegroup:
        """Add a group for a reservation.

        Args:
            capacity: A reservation or Capacity Block; its key, or else its id, names the group.
            subnet: A subnet of the reservation's Availability Zone; the pool's unless named.
            own: Sizes that differ from the pool's.

        Raises:
            EksDevicesError: Every fault of the group.
        """
        name = f"{self.node.id}-{_key(self, capacity, own)}"
        options: dict[str, Any] = self._shared | own
        group = AcceleratedNodegroup(
            self,
            name,
            cluster=self._cluster,
            subnet=self._subnet if subnet is None else subnet,
            capacity=capacity,
            pool=self.node.id,
            **options,
        )
        self._groups[name] = group
        return group

    def add_resource_claim_template(
        self,
        name: str,
        *,
        namespace: str,
        requests: Sequence[DeviceRequest],
        match: MatchAttribute | None = None,
        create_namespace: bool = False,
    ) -> ResourceClaimTemplate:
        """Add a template for Pods on the nodes of every group; see `AcceleratedNodegroup`.

        Raises:
            EksDevicesError: Every fault of the claim, or `EmptyPool` before the first group.
        """
        claim = ResourceClaimTemplate(
            name=name, namespace=namespace, requests=requests, match=match
        )
        self._send(claim, create_namespace=create_namespace)
        return claim

    def add_compute_domain(
        self, name: str, *, namespace: str, nodes: int = 0, create_namespace: bool = False
    ) -> ComputeDomain:
        """Add a ComputeDomain for one job on the nodes of one group; see `AcceleratedNodegroup`.

        Raises:
            EksDevicesError: Every fault of the domain, or `EmptyPool` before the first group.
        """
        domain = ComputeDomain(name=name, namespace=namespace, nodes=nodes)
        self._send(domain, create_namespace=create_namespace)
        return domain

    def _send(self, claim: Claim, *, create_namespace: bool) -> None:
        groups = self.nodegroups
        if not groups:
            raise EksDevicesError([_empty(claim, self)])
        if self._sender is None:
            self._sender = groups[0].claim_sender(self)
        self._sender.send(claim, groups[0].plan, create_namespace=create_namespace)


def _pool_faults(scope: Construct, id: str, shared: Mapping[str, Any]) -> list[Finding]:  # noqa: A002
    faults = []
    if "capacity" in shared:
        faults.append(
            fault(
                "CapacityOfPool",
                f"nodegroups.{path_step(id)}.capacity",
                "each group of a pool has a reservation of its own",
                got=shared["capacity"],
                allowed="no capacity for the pool",
                fix="leave capacity out here, and pass it to add(...)",
            )
        )
    if not isinstance(id, str) or not 1 <= len(id) <= _LONGEST_LABEL:
        allowed = f"1 to {_LONGEST_LABEL} characters"
        faults.append(wrong_type("nodegroups.pool.id", id, allowed, "shorten the id"))
    elif scope.node.try_find_child(id) is not None:
        faults.append(
            fault(
                "RepeatedId",
                f"nodegroups.{path_step(id)}",
                f"{scope.node.path} has a construct of this id already",
                got=id,
                allowed="each id once in a scope",
                fix="choose another id",
            )
        )
    return faults


def _key(pool: Construct, capacity: object, own: Mapping[str, Any]) -> str:
    path = f"nodegroups.{pool.node.id}.capacity"
    reserved = isinstance(capacity, Capacity) and capacity.is_reserved
    faults = [] if reserved else [_unreserved(path, capacity)]
    if isinstance(capacity, Capacity):
        faults += capacity_faults(capacity, path)
    faults += [
        _not_own(pool, name, value)
        for name, value in own.items()
        if name not in Sizes.__annotations__
    ]
    raise_faults(faults)
    assert isinstance(capacity, Capacity)  # noqa: S101  (judged above)
    # An ARN cannot stand in a name: its last part is the name of the resource group.
    return capacity.name.rpartition("/")[2]


def _not_own(pool: Construct, name: str, value: object) -> Finding:
    return fault(
        "OptionOfPool",
        f"nodegroups.{pool.node.id}.{path_step(name)}",
        "groups of a pool differ in their sizes, subnet and reservation, in nothing else",
        got=value,
        allowed=", ".join((*Sizes.__annotations__, "subnet")),
        fix="pass the option to the pool, or make a node group beside it",
    )


def _unreserved(path: str, capacity: object) -> Finding:
    wanted = "a reservation or Capacity Block"
    if not isinstance(capacity, Capacity):
        return wrong_type(path, capacity, wanted, "use Capacity.block(...) for instance")
    return fault(
        "PoolWithoutReservation",
        path,
        "a pool has a group for each reservation",
        got=str(capacity.kind),
        allowed=wanted,
        fix="use add_nodegroup for other capacity",
    )


def _empty(claim: Claim, pool: Construct) -> Finding:
    return fault(
        "EmptyPool",
        claim.path,
        f"{pool.node.path} has no node group, whose devices a claim is judged on",
        got="a pool without groups",
        allowed="a pool with one group or more",
        fix="add a reservation before the claim",
    )
