"""Draws the launch template of a node group from its plan."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from aws_cdk import CfnTag
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from eks_devices import Capacity, CapacityKind, NetworkInterface, NodegroupPlan
from eks_devices.user_data import user_data

_Template = ec2.CfnLaunchTemplate


def launch_template(
    scope: Construct, plan: NodegroupPlan, *, security_group_ids: Sequence[str]
) -> ec2.CfnLaunchTemplate:
    """The launch template of a group.

    It is an L1: the L2 knows neither network cards nor capacity blocks. The instance type stands
    in it, because capacity blocks ask for that.
    """
    return _Template(
        scope,
        "LaunchTemplate",
        launch_template_data=_Template.LaunchTemplateDataProperty(
            instance_type=plan.instance_type,
            network_interfaces=_interfaces(plan.network_interfaces, security_group_ids),
            # With interfaces, EC2 refuses groups at the top.
            security_group_ids=None if plan.network_interfaces else list(security_group_ids),
            instance_market_options=_market(plan.capacity),
            capacity_reservation_specification=_reservation(plan.capacity),
            block_device_mappings=[_disk(plan)],
            metadata_options=_Template.MetadataOptionsProperty(
                http_tokens="required", http_put_response_hop_limit=1
            ),
            tag_specifications=_tags(plan.name),
            user_data=_encoded(user_data(plan)),
        ),
    )


def _interfaces(
    interfaces: tuple[NetworkInterface, ...], groups: Sequence[str]
) -> list[ec2.CfnLaunchTemplate.NetworkInterfaceProperty] | None:
    """The interfaces, without subnets: managed node groups name theirs themselves."""
    drawn = [
        _Template.NetworkInterfaceProperty(
            network_card_index=interface.network_card_index,
            device_index=interface.device_index,
            interface_type=interface.interface_type,
            groups=list(groups),
            delete_on_termination=True,
        )
        for interface in interfaces
    ]
    return drawn or None


def _disk(plan: NodegroupPlan) -> ec2.CfnLaunchTemplate.BlockDeviceMappingProperty:
    return _Template.BlockDeviceMappingProperty(
        device_name=plan.disk_device,
        ebs=_Template.EbsProperty(
            volume_size=plan.disk_gib,
            volume_type="gp3",
            encrypted=True,
            delete_on_termination=True,
        ),
    )


def _market(capacity: Capacity) -> ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty | None:
    if capacity.kind is not CapacityKind.CAPACITY_BLOCK:
        return None
    return _Template.InstanceMarketOptionsProperty(market_type="capacity-block")


def _reservation(
    capacity: Capacity,
) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty | None:
    if not capacity.is_reserved:
        return None
    target = _Template.CapacityReservationTargetProperty(
        capacity_reservation_id=capacity.reservation_id or None,
        capacity_reservation_resource_group_arn=capacity.resource_group_arn or None,
    )
    return _Template.CapacityReservationSpecificationProperty(
        capacity_reservation_target=target,
        # A full group would otherwise start instances beside it, at the on-demand price.
        capacity_reservation_preference=(
            "capacity-reservations-only" if capacity.resource_group_arn else None
        ),
    )


def _tags(name: str) -> list[ec2.CfnLaunchTemplate.TagSpecificationProperty]:
    return [
        _Template.TagSpecificationProperty(
            resource_type=kind, tags=[CfnTag(key="Name", value=name)]
        )
        for kind in ("instance", "volume")
    ]


def _encoded(text: str | None) -> str | None:
    return None if text is None else base64.b64encode(text.encode()).decode()
