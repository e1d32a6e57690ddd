"""Node groups that are alike but for their reservation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from eks_devices import (
    Capacity,
    EksDevicesError,
    NodegroupOptions,
    NodegroupPlan,
)
from eks_devices.capacity import capacity_faults
from eks_devices.claims.objects import Claim
from eks_devices.findings import Finding, fault, raise_faults
from eks_devices.labels import pool_faults
from eks_devices.nodegroup_rules import nodegroup_name_faults
from eks_devices.typecheck import path_step, unknown_option, wrong_type

from .claim_owner import ClaimOwner
from .claims import ClaimSender
from .drivers import DeviceDrivers, ExternalDrivers
from .hosts import AnyCluster
from .inputs import id_faults, scope_faults
from .nodegroup import AcceleratedNodegroup
from .references import ClusterReference
from .tree import child_of, is_in_tree

if TYPE_CHECKING:
    from .cluster import AcceleratedCluster


class NodegroupSizes(TypedDict, total=False):
    """What may differ between the groups of a pool, beside reservation and subnet."""

    min_size: int
    max_size: int
    desired_size: int | None
    autoscaled: bool


class PoolOptions(NodegroupOptions, total=False):
    """What the groups of a pool have in common."""

    drivers: DeviceDrivers | ExternalDrivers | None
    security_group: ec2.ISecurityGroup | None
    node_role: iam.IRole | None


class AcceleratedNodegroupPool(ClaimOwner, Construct):
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
        kubernetes_version: str | None = None,
        **shared: Unpack[PoolOptions],
    ) -> None:
        """Hold what the groups have in common; nothing is made before the first one is added.

        Args:
            scope: Where the construct stands.
            id: Names the pool, and begins the name of each group.
            cluster: The cluster that the nodes join.
            subnet: The subnet of groups whose reservation names none.
            kubernetes_version: The minor of a cluster that was imported, "1.34".
            shared: The options of `PoolOptions`, `capacity` aside.

        Raises:
            EksDevicesError: `capacity` is among them, or the id is no value of a label.
        """
        raise_faults(scope_faults(scope, f"nodegroups.{path_step(id)}"))
        raise_faults(_pool_faults(scope, id, shared))
        super().__init__(scope, id)
        self._cluster = cluster
        self._subnet = subnet
        self._version = kubernetes_version
        self._shared: dict[str, Any] = {**shared}
        self._groups: dict[str, AcceleratedNodegroup] = {}
        self._sender: ClaimSender | None = None

    @property
    def nodegroups(self) -> tuple[AcceleratedNodegroup, ...]:
        """The groups of the pool, in the order in which they were added."""
        return tuple(group for group in self._groups.values() if is_in_tree(group))

    def add(
        self,
        capacity: Capacity,
        *,
        subnet: ec2.ISubnet | None = None,
        **own: Unpack[NodegroupSizes],
    ) -> AcceleratedNodegroup:
        """Add a group for a reservation.

        Args:
            capacity: A reservation or Capacity Block; its key, or else its id, names the group.
            subnet: A subnet of the reservation's Availability Zone; the pool's unless named.
            own: Sizes that differ from the pool's.

        Raises:
            EksDevicesError: Every fault of the group.
        """
        name = _name(self, capacity, own)
        options: dict[str, Any] = self._shared | own
        group = AcceleratedNodegroup(
            self,
            name,
            cluster=self._cluster,
            subnet=self._subnet if subnet is None else subnet,
            kubernetes_version=self._version,
            capacity=capacity,
            pool=self.node.id,
            **options,
        )
        self._groups[name] = group
        return group

    def _claimed_plan(self, path: str) -> NodegroupPlan:
        groups = self.nodegroups
        if not groups:
            raise EksDevicesError([_empty(path, self)])
        return groups[0].plan

    def _send(self, claim: Claim, *, create_namespace: bool) -> None:
        self._claimed_plan(claim.path)
        groups = self.nodegroups
        if self._sender is None:
            # What a group is to its cluster and its pool is nothing that users see.
            self._sender = groups[0]._membership.claim_sender(self)  # noqa: SLF001
        plans = [one.plan for one in groups]
        self._sender.send(claim, plans, create_namespace=create_namespace)


def _pool_faults(scope: Construct, id: str, shared: Mapping[str, Any]) -> Iterator[Finding]:  # noqa: A002
    path = f"nodegroups.{path_step(id)}"
    if "capacity" in shared:
        yield fault(
            "CapacityOfPool",
            f"{path}.capacity",
            "each group of a pool has a reservation of its own",
            got=shared["capacity"],
            allowed="no capacity for the pool",
            fix="leave capacity out here, and pass it to add(...)",
        )
    if "pool" in shared:
        yield unknown_option("pool", PoolOptions.__annotations__, path, of="a pool")
    as_label = [*pool_faults(id, f"{path}.pool")]
    # The shortest name that a group may have.
    yield from as_label or nodegroup_name_faults(f"{id}-x", f"{path}.name")
    yield from id_faults(scope, id, path)


def _name(pool: Construct, capacity: object, own: Mapping[str, Any]) -> str:
    """The name of the group of a reservation, which is new in its pool."""
    path = f"nodegroups.{pool.node.id}.capacity"
    reserved = isinstance(capacity, Capacity) and capacity.is_reserved
    faults = [] if reserved else [_unreserved(path, capacity)]
    if isinstance(capacity, Capacity):
        faults += capacity_faults(capacity, path)
    faults += [
        _not_own(pool, name, value)
        for name, value in own.items()
        if name not in NodegroupSizes.__annotations__
    ]
    raise_faults(faults)
    assert isinstance(capacity, Capacity)  # noqa: S101  (judged above)
    # An ARN cannot stand in a name: its last part is the name of the resource group.
    key = capacity.name.rpartition("/")[2]
    name = f"{pool.node.id}-{key}"
    raise_faults([_unfit_key(key, path)] if [*nodegroup_name_faults(name, path)] else [])
    raise_faults([_repeated(pool, name)] if child_of(pool, name) is not None else [])
    return name


def _unfit_key(key: str, path: str) -> Finding:
    return fault(
        "MalformedKey",
        f"{path}.key",
        "the name of a group is that of its pool and what stands for its reservation, and EKS "
        "takes no such name",
        got=key,
        allowed="letters, digits, '-' and '_', few enough beside the name of the pool",
        fix="pass key= to the capacity, a short word that ends with a letter or digit",
    )


def _repeated(pool: Construct, name: str) -> Finding:
    return fault(
        "RepeatedId",
        f"nodegroups.{name}",
        f"{pool.node.path} has a group for this reservation, or for one whose name ends alike",
        got=name,
        allowed="each reservation once, and each by another name",
        fix="pass key= to the capacity, or leave it out where it is the same reservation",
    )


def _not_own(pool: Construct, name: str, value: object) -> Finding:
    return fault(
        "OptionOfPool",
        f"nodegroups.{pool.node.id}.{path_step(name)}",
        "groups of a pool differ in their sizes, subnet and reservation, in nothing else",
        got=value,
        allowed=", ".join((*NodegroupSizes.__annotations__, "subnet")),
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


def _empty(path: str, pool: Construct) -> Finding:
    return fault(
        "EmptyPool",
        path,
        f"{pool.node.path} has no node group, whose devices a claim is judged on",
        got="a pool without groups",
        allowed="a pool with one group or more",
        fix="add a reservation before the claim",
    )
