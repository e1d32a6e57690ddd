"""What each device manager is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from eks_devices import DeviceType, DriverPlan, Feature, Mechanism
from eks_devices.findings import Finding, fault, raise_faults

from . import (
    compute_domain_controller,
    compute_domain_driver,
    efa_device_plugin,
    efa_dra_driver,
    neuron_device_plugin,
    neuron_dra_driver,
    nvidia_device_plugin,
    nvidia_gpu_driver,
)
from .objects import Object

ManagerKey = tuple[DeviceType, Mechanism]


def _none(*_: object) -> list[Object]:
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    """What one manager is made of.

    Attributes:
        draw: The objects of each owner.
        shared: The objects that a cluster has once.
        classes: Those of them that differ by Kubernetes version.
        controller: What runs once beside the Pods of the nodes.
        sharing: The ways to share GPUs that `draw` can set up.
    """

    draw: Callable[[DriverPlan, str], list[Object]]
    shared: Callable[[], list[Object]] = _none
    classes: Callable[[str], list[Object]] = _none
    controller: Callable[[str], list[Object]] = _none
    sharing: tuple[Feature, ...] = ()

    def own(self, driver: DriverPlan, image: str) -> list[Object]:
        """The objects of an owner.

        Raises:
            EksDevicesError: `SharingNotEmitted`: the owner shares GPUs in a way that has no
                manifests yet.
        """
        raise_faults(self.sharing_faults(driver))
        return self.draw(driver, image)

    def sharing_faults(self, driver: DriverPlan) -> Iterator[Finding]:
        """The faults of the groups that share GPUs in a way that has no manifests yet."""
        sharing = driver.settings.get("sharing")
        if sharing is None or sharing in self.sharing:
            return
        groups = [f"nodegroups.{name}" for name in driver.nodegroups]
        for path in groups or [f"drivers.{driver.device_type}"]:
            yield fault(
                "SharingNotEmitted",
                f"{path}.gpu_sharing",
                f"{driver.device_type} by {driver.mechanism} has no manifests with {sharing} yet",
                got=sharing,
                allowed=", ".join(["None", *self.sharing]),
                fix="share by time-slicing, or leave gpu_sharing out",
            )


MANAGERS = {
    (DeviceType.NEURON, Mechanism.DRA): Manager(
        draw=neuron_dra_driver.driver_objects, shared=neuron_dra_driver.shared_objects
    ),
    (DeviceType.NEURON, Mechanism.DEVICE_PLUGIN): Manager(
        draw=neuron_device_plugin.driver_objects, shared=neuron_device_plugin.shared_objects
    ),
    (DeviceType.GPU, Mechanism.DRA): Manager(
        draw=nvidia_gpu_driver.driver_objects,
        shared=nvidia_gpu_driver.shared_objects,
        classes=nvidia_gpu_driver.device_classes,
        sharing=(Feature.TIME_SLICING,),
    ),
    (DeviceType.GPU, Mechanism.DEVICE_PLUGIN): Manager(
        draw=nvidia_device_plugin.driver_objects,
        shared=nvidia_device_plugin.shared_objects,
        sharing=(Feature.TIME_SLICING,),
    ),
    (DeviceType.COMPUTE_DOMAIN, Mechanism.DRA): Manager(
        draw=compute_domain_driver.driver_objects,
        shared=compute_domain_driver.shared_objects,
        controller=compute_domain_controller.controller_objects,
    ),
    (DeviceType.EFA, Mechanism.DRA): Manager(
        draw=efa_dra_driver.driver_objects, shared=efa_dra_driver.shared_objects
    ),
    (DeviceType.EFA, Mechanism.DEVICE_PLUGIN): Manager(draw=efa_device_plugin.driver_objects),
}
