"""The data of launch templates in CloudFormation's words, a pure function of a group's plan.

Source: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ._data import read_toml
from .capacity import Capacity, CapacityKind
from .network import NetworkInterface
from .plans import NodegroupPlan
from .tags import NAME
from .template_overlay import overlaid

TAG_FIELD: Final = "TagSpecifications"
# EKS gives none of a group's tags to what its instances are made of.
TAGGED: Final = ("instance", "volume")
_Data = dict[str, Any]


def template_data(
    plan: NodegroupPlan,
    *,
    security_group_ids: Sequence[str],
    placement_group: str | None = None,
    user_data: str | None = None,
) -> dict[str, Any]:
    """LaunchTemplateData of an accelerated group, with what a user overrides laid over it.

    Args:
        plan: The plan of the group.
        security_group_ids: The groups of every interface; they may be tokens, as what follows.
        placement_group: The name of the placement group; None for none.
        user_data: The user data in base64; None for none.
    """
    groups = list(security_group_ids)
    values = {
        # A Capacity Block wants the type here; several types stand in the node group.
        "InstanceType": plan.instance_type if len(plan.instance_types) == 1 else None,
        "ImageId": plan.ami_id,
        "NetworkInterfaces": [_interface(one, groups) for one in plan.network_interfaces],
        # With interfaces, EC2 refuses groups at the top.
        "SecurityGroupIds": None if plan.network_interfaces else groups,
        "InstanceMarketOptions": _market(plan.capacity),
        "CapacityReservationSpecification": _reservation(plan.capacity),
        "Placement": placement_group and {"GroupName": placement_group},
        **node_data(plan.name, plan.tags, disk_device=plan.disk_device, disk_gib=plan.disk_gib),
        "UserData": user_data,
    }
    drawn = {name: value for name, value in values.items() if value}
    return overlaid(drawn, plan.launch_template_overrides)


def node_data(
    name: str, tags: Mapping[str, str], *, disk_device: str, disk_gib: int
) -> dict[str, Any]:
    """What the launch templates of all groups have: their disk, their metadata and their tags.

    Args:
        name: The name of the instances.
        tags: Tags of instances and volumes beside it.
        disk_device: The volume for images and Pods' files.
        disk_gib: Its size in GiB.
    """
    return {
        "BlockDeviceMappings": [{"DeviceName": disk_device, "Ebs": plan_volume(disk_gib)}],
        # Pods have credentials of their own; one hop keeps them from those of the node role.
        "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 1},
        TAG_FIELD: tag_specifications(name, tags, {}),
    }


def plan_volume(gib: int) -> dict[str, Any]:
    """The EBS volume for images and Pods' files, of a size in GiB."""
    return {
        "VolumeSize": gib,
        "VolumeType": read_toml("launch_template.toml")["volumes"]["plan_type"],
        "Encrypted": True,
        "DeleteOnTermination": True,
    }


def tag_specifications(
    name: str, tags: Mapping[str, str], overrides: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """What tags the instances of a group and their volumes.

    Args:
        name: The name of the instances.
        tags: Tags beside it.
        overrides: What a user overrides of the launch template, which wins.
    """
    named = {NAME: name, **tags}
    drawn = [{"Key": key, "Value": value} for key, value in sorted(named.items())]
    data = {TAG_FIELD: [{"ResourceType": kind, "Tags": drawn} for kind in TAGGED]}
    own = {TAG_FIELD: overrides[TAG_FIELD]} if TAG_FIELD in overrides else {}
    result: list[dict[str, Any]] = overlaid(data, own)[TAG_FIELD]
    return result


def _interface(interface: NetworkInterface, groups: list[str]) -> _Data:
    """An interface without its subnet: managed node groups name theirs themselves."""
    return {
        **interface.to_dict(),
        "Groups": groups,
        "DeleteOnTermination": True,
    }


def _market(capacity: Capacity) -> _Data | None:
    if capacity.kind is not CapacityKind.CAPACITY_BLOCK:
        return None
    return {"MarketType": "capacity-block"}


def _reservation(capacity: Capacity) -> _Data | None:
    if not capacity.is_reserved:
        return None
    if capacity.reservation_id:
        target = {"CapacityReservationId": capacity.reservation_id}
        return {"CapacityReservationTarget": target}
    target = {"CapacityReservationResourceGroupArn": capacity.resource_group_arn}
    # A full group would otherwise start instances beside it, at the on-demand price.
    preference = "capacity-reservations-only"
    return {"CapacityReservationPreference": preference, "CapacityReservationTarget": target}
