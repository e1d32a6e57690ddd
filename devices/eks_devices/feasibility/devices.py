"""The devices of one node of a group, and what of them only a running node knows."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .._data import read_toml
from .._frozen import FrozenDict
from ..instance_types import AcceleratedInstanceType
from ..mig import possible_partitions
from ..names import (
    DRIVERS,
    EFA_DRIVER,
    GPU_DRIVER,
    NEURON_DRIVER,
)
from ..plans import DevicePlan, NodegroupPlan
from ..published import is_read
from ..resource_slices import resource_slices
from ..vocabulary import DeviceType, Mechanism
from .minors import scheduler_of
from .slices import NodeDevices, read_slices

_NODE: Final = "node"
_READ_FROM_NODES: Final = (DeviceType.GPU, DeviceType.EFA)
_PARTITION: Final = "mig"


@dataclass(frozen=True, slots=True)
class _Node:
    """A group, equal to every other one whose nodes have the same devices and scheduler."""

    key: tuple[Any, ...]
    group: NodegroupPlan = field(compare=False)


def node_devices(group: NodegroupPlan) -> NodeDevices:
    """The devices that the DRA drivers of a group publish for one of its nodes.

    Groups whose nodes have the same devices get the same object.
    """
    devices = ((one.device_type, one.count, one.settings) for one in _by_dra(group))
    about = (group.kubernetes_version, group.instance_type, repr(group.mig))
    return _node_devices(_Node((*about, *devices), group))


def _by_dra(group: NodegroupPlan) -> tuple[DevicePlan, ...]:
    return tuple(one for one in group.devices if one.mechanism is Mechanism.DRA)


@functools.lru_cache(maxsize=512)
def _node_devices(node: _Node) -> NodeDevices:
    group, planned = node.group, _by_dra(node.group)
    reasons = {
        DRIVERS[one.device_type]: why for one in planned if (why := _unpublished(group, one))
    }
    return read_slices(
        [item for one in planned for item in resource_slices(group, one, node=_NODE)],
        scheduler_of(group.kubernetes_version),
        at_run_time=functools.partial(_unknown, group.instance_type),
        unpublished=reasons,
    )


def _unknown(instance_type: str, driver: str, device: Mapping[str, Any]) -> frozenset[str]:
    """The qualified names of which only a running node knows, on one device."""
    device_type = next(one for one, name in DRIVERS.items() if name == driver)
    rows = read_toml("run_time_attributes.toml").get(driver, {})
    kind = device.get("attributes", {}).get("type", {}).get("string", "")
    names = {*rows.get("names", ()), *rows.get(kind, ())}
    if device_type in _READ_FROM_NODES and not is_read(instance_type, device_type):
        names |= {*rows.get("unread_type", ())}
    if kind == _PARTITION or device.get("consumesCounters"):
        names |= {*rows.get("cut", ())} - {f"{driver}/{one}" for one in device.get("capacity", {})}
    return frozenset(names)


@functools.cache
def published_names() -> FrozenDict[str, frozenset[str]]:
    """All attributes that a driver may give to a device, by driver."""
    drivers = {"gpu": GPU_DRIVER, "neuron": NEURON_DRIVER, "efa": EFA_DRIVER}
    rows = read_toml("published_attributes.toml")
    return FrozenDict((drivers[key], frozenset(row["names"])) for key, row in rows.items())


def _unpublished(group: NodegroupPlan, device: DevicePlan) -> str:
    """Why a driver may publish more devices than are listed here, or others; empty if it cannot."""
    if device.device_type is DeviceType.GPU:
        is_cut = group.mig is not None and group.mig.is_dynamic
        if is_cut and possible_partitions(group.instance_type) is None:
            return "nobody told which partitions the driver cuts from these GPUs on request"
        if _is_shared_by_unknown_memory(group, device):
            return "GPUs are shared by their memory, and nobody told how much of it there is"
    instance = AcceleratedInstanceType.of(group.instance_type)
    if device.device_type is DeviceType.NEURON and instance.ultraserver_sizes:
        return "how the driver publishes whole nodes of an UltraServer is not documented"
    return ""


def _is_shared_by_unknown_memory(group: NodegroupPlan, device: DevicePlan) -> bool:
    if device.settings.get("consumable-shares") != "memory":
        return False
    slices = resource_slices(group, device, node=_NODE)
    found = (one for item in slices for one in item["spec"].get("devices", ()))
    return any("memory" not in one.get("capacity", {}) for one in found)
