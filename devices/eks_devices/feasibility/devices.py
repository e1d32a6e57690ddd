"""The devices of one node of a group, and what of them only a running node knows."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .._data import read_toml
from .._frozen import FrozenDict
from ..instance_types import AcceleratedInstanceType
from ..names import (
    CONSUMABLE_SHARES_GATE,
    DRIVERS,
    DYNAMIC_MIG_GATE,
    EFA_DRIVER,
    GPU_DRIVER,
    NEURON_DRIVER,
    PASSTHROUGH_GATE,
)
from ..plans import DevicePlan, NodegroupPlan
from ..published import is_published
from ..resource_slices import resource_slice
from ..vocabulary import DeviceType, Mechanism
from .minors import scheduler_of
from .slices import NodeDevices, read_slices

_NODE: Final = "node"
_MORE_DEVICES: Final = {
    CONSUMABLE_SHARES_GATE: "GPUs are shared between claims, and shares are not looked at",
    DYNAMIC_MIG_GATE: "GPUs are cut on request, and what is free then is not looked at",
    PASSTHROUGH_GATE: "what is published for virtual machines is not looked at",
}


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
        [resource_slice(group, one, node=_NODE) for one in planned],
        scheduler_of(group.kubernetes_version),
        at_run_time=functools.partial(_unknown, group.instance_type),
        unpublished=reasons,
    )


def _unknown(instance_type: str, driver: str, _: Mapping[str, Any]) -> frozenset[str]:
    device_type = next(one for one, name in DRIVERS.items() if name == driver)
    return _at_run_time(instance_type, device_type)


def _at_run_time(instance_type: str, device_type: DeviceType) -> frozenset[str]:
    driver = DRIVERS[device_type]
    rows = read_toml("run_time_attributes.toml").get(driver, {})
    names = {*rows.get("names", ())}
    if not is_published(instance_type, device_type):
        names |= {*rows.get("unread_type", ())}
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
        if group.mig is not None and group.mig.is_dynamic:
            return "GPUs are cut on request, and what is free then is not looked at"
        gates = str(device.settings.get("feature-gates", ""))
        for gate, why in _MORE_DEVICES.items():
            if f"{gate}=true" in gates:
                return why
    instance = AcceleratedInstanceType.of(group.instance_type)
    if device.device_type is DeviceType.NEURON and instance.ultraserver_sizes:
        return "how the driver publishes whole nodes of an UltraServer is not documented"
    return ""
