"""Which manager a Pod is, and what a node has of its devices while the Pod runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from eks_device_charts.manifests.managers import MANAGERS
from eks_devices import DevicePlan, DeviceType, DriverPlan, Mechanism, NodegroupPlan
from eks_devices._frozen import FrozenDict
from eks_devices.bottlerocket import runs_built_in_driver, runs_built_in_plugin
from eks_devices.names import DEFAULT_OWNER, offered_resources
from eks_devices.vocabulary import ManagerKey

from .client import Object

_NAME_LABEL: Final = "app.kubernetes.io/name"


@cache
def manager_names() -> Mapping[str, ManagerKey]:
    """The device type and mechanism of each manager, by the name in the labels of its Pods."""
    found = {}
    for (device, mechanism), manager in MANAGERS.items():
        driver = DriverPlan(
            device_type=device,
            mechanism=mechanism,
            owner=DEFAULT_OWNER,
            settings=FrozenDict(),
            nodegroups=(),
        )
        for item in manager.draw(driver, ""):
            if item["kind"] == "DaemonSet":
                found[item["metadata"]["labels"][_NAME_LABEL]] = (device, mechanism)
    return found


def manager_of(pod: Object) -> ManagerKey | None:
    """The manager that a Pod is; None for every other Pod."""
    labels = pod["metadata"].get("labels", {})
    return manager_names().get(labels.get(_NAME_LABEL, ""))


def served_device(group: NodegroupPlan | None, key: ManagerKey) -> DevicePlan | None:
    """The device of a group that a manager hands out; None where it has no business."""
    devices = () if group is None else group.devices
    return next((one for one in devices if one.manager == key), None)


def registered_resources(group: NodegroupPlan, device_type: DeviceType) -> dict[str, int]:
    """The extended resources that a device plugin registers with the kubelet of a group's node."""
    return offered_resources(device_type, group.extended_resources)


def built_in_manager(group: NodegroupPlan) -> ManagerKey | None:
    """The manager that the operating system of a group's nodes starts by itself."""
    if runs_built_in_plugin(group):
        return DeviceType.GPU, Mechanism.DEVICE_PLUGIN
    return (DeviceType.GPU, Mechanism.DRA) if runs_built_in_driver(group) else None
