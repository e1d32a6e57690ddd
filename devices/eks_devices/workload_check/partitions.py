"""Resources of MIG partitions that a node does not offer, and how Pods get partitions there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..feasibility.verdicts import Verdict
from ..findings import meant
from ..names import (
    GPU_CLASS,
    GPU_DRIVER,
    MIG_CLASS,
    NVIDIA_RESOURCES,
    PASSTHROUGH_GATE,
    VFIO_CLASS,
    mig_resource,
    offered_resources,
)
from ..plans import DevicePlan
from ..published import mig_profiles
from ..vocabulary import DeviceType, Mechanism
from .nodes import GroupNode, Obstacle

_BEGIN: Final = f"{NVIDIA_RESOURCES}mig-"
_NO_PROFILE: Final = _BEGIN.rstrip("-")
_NEVER, _UNCUT, _OTHER_WAY, _MISSPELT = 8, 5, 4, 2
_CUT: Final = "cut them: the group's mig="


def is_partition(resource: str) -> bool:
    """Whether a resource is one of MIG partitions."""
    return resource.startswith(_BEGIN) or resource == _NO_PROFILE


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
    if resource == _NO_PROFILE:
        return _unnamed(node, device, known or ())
    by_name = {mig_resource(one): one for one in known or ()}
    profile = by_name.get(resource, resource.removeprefix(_BEGIN))
    if known and resource not in by_name:
        near = meant(resource.removeprefix(_BEGIN), known)
        text = f"no GPU of {node.instance.name} is cut into partitions {profile}"
        return Obstacle("NotCut", text, _MISSPELT, near or f"ask for one of {', '.join(known)}")
    return _of_profile(node, device, resource, profile)


def _of_profile(
    node: GroupNode, device: DevicePlan, resource: str, profile: str
) -> Obstacle | None:
    """The same of a profile that the GPUs can be cut into."""
    by_dra = device.mechanism is Mechanism.DRA
    if node.group.mig is None:
        text = "their GPUs are not cut into partitions"
        return Obstacle("NotCut", text, _UNCUT, _CUT, claim=_claim(profile) if by_dra else "")
    if told := _cut_otherwise(node, device, profile):
        return told
    if by_dra:
        text = f"their GPUs are handed out by DRA, and no DeviceClass stands for {resource}"
        return Obstacle("ClaimedDevices", text, _OTHER_WAY, claim=_claim(profile))
    return None


def _unnamed(node: GroupNode, device: DevicePlan, known: Sequence[str]) -> Obstacle:
    """Of a resource of partitions without a profile."""
    such = f", such as {_BEGIN}{known[0]}" if known else ""
    text = f"{_NO_PROFILE} names no profile of partitions{such}"
    if node.group.mig is None:
        return Obstacle("NotCut", f"{text}, and their GPUs are not cut", _UNCUT, _CUT)
    return Obstacle("OtherResource", text, _MISSPELT, _ask_for(node, device))


def _cut_otherwise(node: GroupNode, device: DevicePlan, profile: str) -> Obstacle | None:
    """Of a node whose GPUs are cut into other partitions."""
    mig = node.group.mig
    if mig is None or mig.is_dynamic or profile in mig.profiles:
        return None
    text = f"their GPUs are cut into {', '.join(dict.fromkeys(mig.profiles))}, and not {profile}"
    fix = f"cut them otherwise, the group's mig=, or {_ask_for(node, device)}"
    return Obstacle("NotCut", text, _UNCUT, fix)


def _ask_for(node: GroupNode, device: DevicePlan) -> str:
    """How Pods get the partitions that a node has."""
    if device.mechanism is Mechanism.DRA:
        return f"claim those that there are, deviceClassName: {MIG_CLASS}"
    offered = offered_resources(DeviceType.GPU, node.group.extended_resources)
    return f"ask for {' or '.join(offered)}, which is one of those that there are"


def other_gpus(verdict: Verdict, node: GroupNode) -> Obstacle | None:
    """What is told of GPUs of a class of which the driver publishes none, but others.

    Args:
        verdict: What is said of the claims.
        node: The node.
    """
    gpus = node.group.device_of(DeviceType.GPU)
    if gpus is None or gpus.mechanism is not Mechanism.DRA:
        return None
    if verdict.device_class == GPU_CLASS and node.group.mig is not None:
        text = f"{verdict.reason}, whose GPUs are cut into partitions"
        fix = f"claim a partition, deviceClassName: {MIG_CLASS}, or leave the group's mig= out"
        return Obstacle(verdict.code, text, _UNCUT, fix, verdict=verdict)
    if verdict.device_class == VFIO_CLASS:
        fix = (
            f"claim a whole GPU, deviceClassName: {GPU_CLASS}, or let the driver publish GPUs for "
            f"virtual machines: its feature gate {PASSTHROUGH_GATE}"
        )
        return Obstacle(verdict.code, verdict.reason, _UNCUT, fix, verdict=verdict)
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
