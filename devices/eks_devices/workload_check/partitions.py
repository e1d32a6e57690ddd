"""Resources of MIG partitions that a node does not offer, and how Pods get partitions there."""

from __future__ import annotations

from typing import Final

from ..findings import meant
from ..names import GPU_CLASS, GPU_DRIVER, MIG_CLASS, NVIDIA_RESOURCES, mig_resource
from ..plans import DevicePlan
from ..published import mig_profiles
from ..vocabulary import Mechanism
from .nodes import GroupNode, Obstacle

_BEGIN: Final = f"{NVIDIA_RESOURCES}mig-"
_NEVER, _UNCUT, _OTHER_WAY, _MISSPELT = 8, 5, 4, 2
_CUT: Final = "cut them: the group's mig="


def is_partition(resource: str) -> bool:
    """Whether a resource is one of MIG partitions."""
    return resource.startswith(_BEGIN)


def no_partition(node: GroupNode, device: DevicePlan, resource: str) -> Obstacle | None:
    """Why a node with GPUs offers nothing of a resource of partitions.

    Args:
        node: The node.
        device: Its GPUs.
        resource: The resource, `nvidia.com/mig-1g.10gb`.

    Returns:
        None where its device plugin offers other partitions.
    """
    known = mig_profiles(node.instance.name)
    if known == ():
        return _never(device)
    by_name = {mig_resource(one): one for one in known or ()}
    profile = by_name.get(resource, resource.removeprefix(_BEGIN))
    if known and resource not in by_name:
        near = meant(resource.removeprefix(_BEGIN), known)
        text = f"no GPU of {node.instance.name} is cut into partitions {profile}"
        return Obstacle("NotCut", text, _MISSPELT, near or f"ask for one of {', '.join(known)}")
    by_dra = device.mechanism is Mechanism.DRA
    if node.group.mig is None:
        text = "their GPUs are not cut into partitions"
        return Obstacle("NotCut", text, _UNCUT, _CUT, claim=_claim(profile) if by_dra else "")
    if by_dra:
        text = f"their GPUs are handed out by DRA, and no DeviceClass stands for {resource}"
        return Obstacle("ClaimedDevices", text, _OTHER_WAY, claim=_claim(profile))
    return None


def _never(device: DevicePlan) -> Obstacle:
    by_dra = device.mechanism is Mechanism.DRA
    whole = f"claim a whole GPU, deviceClassName: {GPU_CLASS}" if by_dra else "ask for a whole GPU"
    fix = f"{whole}, or choose nodes whose GPUs can be cut"
    return Obstacle("NotCut", "their GPUs cannot be cut into partitions", _NEVER, fix)


def _claim(profile: str) -> str:
    return (
        f"deviceClassName: {MIG_CLASS} and the selector "
        f"device.attributes['{GPU_DRIVER}'].profile == '{profile}'"
    )
