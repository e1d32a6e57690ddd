"""Which manager a Pod is, and what a node has of its devices while the Pod runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from eks_device_charts.manifests.managers import MANAGERS, ManagerKey
from eks_devices import (
    DevicePlan,
    DeviceType,
    DriverPlan,
    Mechanism,
    NodegroupPlan,
    OperatingSystem,
)
from eks_devices._frozen import FrozenDict
from eks_devices.names import (
    BOTTLEROCKET_NVIDIA_PLUGIN,
    DEFAULT_OWNER,
    EFA_RESOURCE,
    GPU_RESOURCE,
    NEURON_CORE_RESOURCE,
    NEURON_RESOURCE,
)

from .client import Object

_NAME_LABEL: Final = "app.kubernetes.io/name"
_RESOURCES: Final = {
    DeviceType.NEURON: (NEURON_RESOURCE, NEURON_CORE_RESOURCE),
    DeviceType.GPU: (GPU_RESOURCE,),
    DeviceType.EFA: (EFA_RESOURCE,),
}


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
    return next((one for one in devices if (one.device_type, one.mechanism) == key), None)


def registered_resources(group: NodegroupPlan, device_type: DeviceType) -> dict[str, int]:
    """The extended resources that a device plugin registers with the kubelet of a group's node."""
    names = _RESOURCES[device_type]
    return {name: group.extended_resources[name] for name in names}


def built_in_manager(group: NodegroupPlan) -> ManagerKey | None:
    """The manager that the image of a group's nodes starts by itself, by what the image is told.

    Bottlerocket's variant with NVIDIA's driver runs a device plugin unless it is switched off.

    Source: https://bottlerocket.dev/en/os/latest/api/settings/kubelet-device-plugins/
    """
    bottlerocket = group.operating_system is OperatingSystem.BOTTLEROCKET
    is_on = group.bottlerocket_settings.get(BOTTLEROCKET_NVIDIA_PLUGIN, True) is not False
    has_gpu = any(device.device_type is DeviceType.GPU for device in group.devices)
    plugin = (DeviceType.GPU, Mechanism.DEVICE_PLUGIN)
    return plugin if bottlerocket and is_on and has_gpu else None
