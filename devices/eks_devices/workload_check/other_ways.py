"""Groups as they could hand out devices, where they do not do it by claims as they are."""

from __future__ import annotations

from dataclasses import replace

from ..mig import mig_gpu
from ..names import EXTERNAL_OWNER
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
