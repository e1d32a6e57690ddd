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
from ..published import neuron_map, published
from ..resource_slices import resource_slice
from ..vocabulary import DeviceType, Mechanism
from .cel_values import quantity, semver

_NODE: Final = "node"
_MORE_DEVICES: Final = {
    CONSUMABLE_SHARES_GATE: "GPUs are shared between claims, and shares are not looked at",
    DYNAMIC_MIG_GATE: "GPUs are cut on request, and what is free then is not looked at",
    PASSTHROUGH_GATE: "what is published for virtual machines is not looked at",
}


@dataclass(frozen=True, slots=True, eq=False)
class NodeDevice:
    """A device as selectors and constraints look at it.

    `attributes` and `capacity` go by qualified name; `at_run_time` has the qualified names of
    attributes whose value, or presence, only a running node knows; `versions` the names without a
    domain of attributes that are versions.
    """

    driver: str
    name: str
    attributes: FrozenDict[str, Any]
    capacity: FrozenDict[str, Any]
    at_run_time: frozenset[str]
    versions: frozenset[str]

    def by_domain(self, values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Values by domain and name; names without a domain are of the driver's."""
        found: dict[str, dict[str, Any]] = {}
        for qualified, value in values.items():
            domain, _, name = qualified.rpartition("/")
            found.setdefault(domain, {})[name] = value
        return found

    def matched(self, attribute: str) -> tuple[bool, Any]:
        """Whether it is known what a constraint compares, and that; None where there is nothing.

        What is equal on all devices of a node is known to be equal, whatever it is.
        """
        value = self.attributes.get(attribute)
        if value is None:
            return attribute not in self.at_run_time, None
        return True, (type(value).__name__, str(value))


@dataclass(frozen=True, slots=True, eq=False)
class NodeDevices:
    """The devices of a node in the order in which drivers publish them.

    `unpublished` says per driver why it may publish more, or other devices.
    """

    devices: tuple[NodeDevice, ...]
    unpublished: FrozenDict[str, str]


@dataclass(frozen=True, slots=True)
class _Node:
    """A group, equal to every other one whose nodes have the same devices."""

    key: tuple[Any, ...]
    group: NodegroupPlan = field(compare=False)


def node_devices(group: NodegroupPlan) -> NodeDevices:
    """The devices that the DRA drivers of a group publish for one of its nodes.

    Groups whose nodes have the same devices get the same object.
    """
    devices = ((one.device_type, one.count, one.settings) for one in _by_dra(group))
    return _node_devices(_Node((group.instance_type, *devices, repr(group.mig)), group))


def _by_dra(group: NodegroupPlan) -> tuple[DevicePlan, ...]:
    return tuple(one for one in group.devices if one.mechanism is Mechanism.DRA)


@functools.lru_cache(maxsize=512)
def _node_devices(node: _Node) -> NodeDevices:
    group, planned = node.group, _by_dra(node.group)
    reasons = {
        DRIVERS[one.device_type]: why for one in planned if (why := _unpublished(group, one))
    }
    found = [device for one in planned for device in _of(group, one)]
    return NodeDevices(tuple(found), FrozenDict(reasons))


def _of(group: NodegroupPlan, device: DevicePlan) -> list[NodeDevice]:
    content = resource_slice(group, device, node=_NODE)["spec"]
    at_run_time = _at_run_time(group.instance_type, device.device_type)
    return [_node_device(content["driver"], one, at_run_time) for one in content["devices"]]


def _node_device(driver: str, device: Mapping[str, Any], at_run_time: frozenset[str]) -> NodeDevice:
    given = {_qualified(driver, name): one for name, one in device["attributes"].items()}
    sizes = {
        _qualified(driver, name): quantity(one["value"])
        for name, one in device.get("capacity", {}).items()
    }
    versions = {name.rpartition("/")[2] for name, one in given.items() if "version" in one}
    return NodeDevice(
        driver,
        device["name"],
        FrozenDict((name, _value(one)) for name, one in given.items()),
        FrozenDict(sizes),
        at_run_time,
        frozenset(versions),
    )


def _qualified(driver: str, name: str) -> str:
    return name if "/" in name else f"{driver}/{name}"


def _value(typed: Mapping[str, Any]) -> Any:
    ((kind, value),) = typed.items()
    return semver(value) if kind == "version" else value


def _at_run_time(instance_type: str, device_type: DeviceType) -> frozenset[str]:
    driver = DRIVERS[device_type]
    rows = read_toml("run_time_attributes.toml").get(driver, {})
    names = {*rows.get("names", ())}
    if not _is_known(instance_type, device_type):
        names |= {*rows.get("unread_type", ())}
    return frozenset(names)


def _is_known(instance_type: str, device_type: DeviceType) -> bool:
    """Whether somebody told what the devices of a type publish."""
    if device_type is DeviceType.GPU:
        return instance_type in published()["gpus"]
    if device_type is DeviceType.EFA:
        return instance_type in published()["efas"] or neuron_map(instance_type) is not None
    return True


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
