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


@dataclass(frozen=True, slots=True)
class Manager:
    """What one manager is made of.

    `shared` gives the objects that a cluster has once, `draw` those of each owner, and
    `controller` what runs once beside the nodes' Pods; `sharing` is what `draw` can set up.
    """

    shared: Callable[[str], list[Object]]
    draw: Callable[[DriverPlan, str], list[Object]]
    controller: Callable[[str], list[Object]] | None = None
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
        neuron_dra_driver.shared_objects, neuron_dra_driver.driver_objects
    ),
    (DeviceType.NEURON, Mechanism.DEVICE_PLUGIN): Manager(
        neuron_device_plugin.shared_objects, neuron_device_plugin.driver_objects
    ),
    (DeviceType.GPU, Mechanism.DRA): Manager(
        nvidia_gpu_driver.shared_objects,
        nvidia_gpu_driver.driver_objects,
        sharing=(Feature.TIME_SLICING,),
    ),
    (DeviceType.GPU, Mechanism.DEVICE_PLUGIN): Manager(
        nvidia_device_plugin.shared_objects,
        nvidia_device_plugin.driver_objects,
        sharing=(Feature.TIME_SLICING,),
    ),
    (DeviceType.COMPUTE_DOMAIN, Mechanism.DRA): Manager(
        compute_domain_driver.shared_objects,
        compute_domain_driver.driver_objects,
        compute_domain_controller.controller_objects,
    ),
    (DeviceType.EFA, Mechanism.DRA): Manager(
        efa_dra_driver.shared_objects, efa_dra_driver.driver_objects
    ),
    (DeviceType.EFA, Mechanism.DEVICE_PLUGIN): Manager(
        efa_device_plugin.shared_objects, efa_device_plugin.driver_objects
    ),
}
