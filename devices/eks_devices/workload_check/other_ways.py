"""Groups as they could hand out devices, where they do not do it by claims as they are."""

from __future__ import annotations

from dataclasses import replace

from ..mig import mig_gpu
from ..names import DEVICE_CLASSES, EXTENDED_RESOURCES, EXTERNAL_OWNER, offered_resources
from ..plans import NodegroupPlan
from ..vocabulary import DeviceType, Mechanism


def may_be_cut(group: NodegroupPlan) -> bool:
    """Whether a group has whole GPUs that can be cut into partitions."""
    has_gpus = group.device_of(DeviceType.GPU) is not None
    return has_gpus and group.mig is None and mig_gpu(group.instance_type) is not None


def as_claimed(group: NodegroupPlan) -> NodegroupPlan:
    """The group as if DRA handed out the devices that its device plugins do."""
    return replace(
        group,
        devices=tuple(
            one if one.owner == EXTERNAL_OWNER else replace(one, mechanism=Mechanism.DRA)
            for one in group.devices
        ),
    )


def accelerators_of(group: NodegroupPlan) -> str:
    """How Pods ask for the accelerators of a group's nodes; empty where these have none of ours."""
    for kind, names in EXTENDED_RESOURCES.items():
        device = group.device_of(kind)
        if kind is DeviceType.EFA or device is None or device.owner == EXTERNAL_OWNER:
            continue
        if device.mechanism is Mechanism.DRA:
            return f"deviceClassName: {DEVICE_CLASSES[kind][0]}"
        offered = offered_resources(kind, group.extended_resources)
        return f"{next(iter(offered), names[0])} in limits"
    return ""
