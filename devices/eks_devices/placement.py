"""Where a node group's instances are placed."""

from __future__ import annotations

from collections.abc import Iterator

from .capacity import CapacityKind
from .findings import Finding, fault, warning
from .instance_types import AcceleratedInstanceType
from .interfaces import group_interfaces
from .spec import NodegroupSpec
from .typecheck import is_token, wrong_type

_CLUSTER = "cluster"
_FORM = "True, False, the name of a placement group, or None"
_LONGEST_NAME = 255
_BLOCKS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html"
_GROUPS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-groups.html"


def placement_group(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> bool | str:
    """The cluster placement group of a group: a name, one of its own, or none.

    Nodes with EFA get one, unless a reservation already says where they are: EC2 would look for
    room in the placement group and not find what is reserved elsewhere.
    """
    if spec.placement_group is not None:
        return spec.placement_group
    wanted = bool(group_interfaces(spec, instance)) and not spec.capacity.is_reserved
    return wanted and _CLUSTER in instance.placement_strategies


def placement_form_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """The fault of what names no placement group, whatever the instance type is."""
    value = spec.placement_group
    if value is None or value is True or value is False or is_token(value):
        return
    path = f"{spec.path}.placement_group"
    fix = "use True for a group of its own, or name one that exists"
    if not isinstance(value, str):
        yield wrong_type(path, value, _FORM, fix)
    elif not value.strip() or not value.isascii() or len(value) > _LONGEST_NAME:
        yield fault(
            "MalformedPlacementGroup",
            path,
            "EC2 has no placement group of such a name",
            got=value,
            allowed=f"1 to {_LONGEST_NAME} ASCII characters",
            fix=fix,
            source="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreatePlacementGroup.html",
        )


def placement_faults(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Faults of a placement group on an instance type."""
    path = f"{spec.path}.placement_group"
    if spec.placement_group and spec.capacity.kind is CapacityKind.CAPACITY_BLOCK:
        yield fault(
            "PlacementGroupWithBlock",
            path,
            "Capacity Blocks do not support placement groups: their instances would not start",
            got=spec.placement_group,
            allowed="False or None with a Capacity Block",
            fix="leave placement_group out: a block's instances are close to each other anyway",
            source=_BLOCKS,
        )
    strategies = instance.placement_strategies
    if spec.placement_group and strategies and _CLUSTER not in strategies:
        yield fault(
            "PlacementGroupNotSupported",
            path,
            f"EC2 starts no {instance.name} in a cluster placement group",
            got=spec.placement_group,
            allowed="False or None",
            fix="leave placement_group out",
            source=_GROUPS,
        )


def placement_findings(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Warnings of a placement group that a user asked for."""
    path = f"{spec.path}.placement_group"
    if spec.placement_group and not instance.placement_strategies:
        yield warning(
            "PlacementGroupUnverified",
            path,
            f"whether EC2 starts {instance.name} in a placement group is not known",
            fix="ask DescribeInstanceTypes for its placement strategies",
            source=_GROUPS,
        )
    if spec.placement_group is True and spec.capacity.kind is CapacityKind.RESERVATION:
        yield warning(
            "PlacementGroupWithReservation",
            path,
            "instances reserved outside a new placement group may not be near it: EC2 then "
            "reports too little capacity although they are free",
            fix="name the placement group that the reservation was made in, or leave it out",
            source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html",
        )
