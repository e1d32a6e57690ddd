"""Draws the launch template of a node group from its plan."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import Fn
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from eks_devices import Capacity, CapacityKind, NetworkInterface, NodegroupPlan
from eks_devices.template_overrides import merged
from eks_devices.typecheck import is_token
from eks_devices.user_data import ClusterAccess, user_data

from .instance_tags import instance_tags

_Data = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What of a launch template is not in the group's plan.

    Attributes:
        security_group_ids: The groups of every interface.
        placement_group: The name of the placement group; None for none.
        access: What nodes with an image of the user's own need to join.
    """

    security_group_ids: Sequence[str]
    placement_group: str | None = None
    access: ClusterAccess | None = None


def launch_template(
    scope: Construct, plan: NodegroupPlan, around: Surroundings
) -> ec2.CfnLaunchTemplate:
    """The launch template of a group.

    It is an L1: the L2 knows neither network cards nor capacity blocks. Its data is one override
    in CloudFormation's own words: what a user overrides merges with it, and no key can vanish.
    """
    template = ec2.CfnLaunchTemplate(scope, "LaunchTemplate", launch_template_data={})
    data = merged(template_data(plan, around), plan.launch_template_overrides)
    template.add_property_override("LaunchTemplateData", data)
    return template


def template_data(plan: NodegroupPlan, around: Surroundings) -> _Data:
    """LaunchTemplateData in CloudFormation's words, without what a user overrides.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    """
    groups = list(around.security_group_ids)
    values = {
        # A Capacity Block wants the type here; several types stand in the node group.
        "InstanceType": plan.instance_type if len(plan.instance_types) == 1 else None,
        "ImageId": plan.ami_id,
        "NetworkInterfaces": [_interface(one, groups) for one in plan.network_interfaces],
        # With interfaces, EC2 refuses groups at the top.
        "SecurityGroupIds": None if plan.network_interfaces else groups,
        "InstanceMarketOptions": _market(plan.capacity),
        "CapacityReservationSpecification": _reservation(plan.capacity),
        "Placement": around.placement_group and {"GroupName": around.placement_group},
        "BlockDeviceMappings": [_disk(plan)],
        "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 1},
        **instance_tags(plan.name, plan.tags),
        "UserData": _encoded(user_data(plan, access=around.access)),
    }
    return {name: value for name, value in values.items() if value}


def _interface(interface: NetworkInterface, groups: list[str]) -> _Data:
    """An interface without its subnet: managed node groups name theirs themselves."""
    return {
        **interface.to_dict(),
        "Groups": groups,
        "DeleteOnTermination": True,
    }


def _disk(plan: NodegroupPlan) -> _Data:
    return {
        "DeviceName": plan.disk_device,
        "Ebs": {
            "VolumeSize": plan.disk_gib,
            "VolumeType": "gp3",
            "Encrypted": True,
            "DeleteOnTermination": True,
        },
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


def _encoded(text: str | None) -> Any:
    """User data in base64; where it holds tokens, CloudFormation encodes it."""
    if text is None:
        return None
    if is_token(text):
        return Fn.base64(text)
    return base64.b64encode(text.encode()).decode()
