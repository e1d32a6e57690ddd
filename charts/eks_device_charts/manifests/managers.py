"""What each device manager is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eks_devices import DeviceType, DriverPlan, Mechanism, NvidiaInstallation

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
from .installation import Installation
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
        classes: DeviceClasses, which a driver of the operating system needs too.
        own_classes: DeviceClasses that only some owners need.
        controller: What runs once beside the Pods of the nodes.
        network_policies: What its Pods may talk to, where a user asks for such policies.
        claim_webhook: What checks its configurations in claims, likewise.
    """

    draw: Callable[[DriverPlan, str], list[Object]]
    shared: Callable[[], list[Object]] = _none
    classes: Callable[[Installation], list[Object]] = _none
    own_classes: Callable[[DriverPlan], list[Object]] = _none
    controller: Callable[[DriverPlan, str], list[Object]] = _none
    network_policies: Callable[[], list[Object]] = _none
    claim_webhook: Callable[[str, NvidiaInstallation], list[Object]] = _none


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
        own_classes=nvidia_gpu_driver.passthrough_classes,
        claim_webhook=nvidia_gpu_driver.claim_webhook,
        network_policies=nvidia_gpu_driver.network_policies,
    ),
    (DeviceType.GPU, Mechanism.DEVICE_PLUGIN): Manager(
        draw=nvidia_device_plugin.driver_objects,
        shared=nvidia_device_plugin.shared_objects,
        network_policies=nvidia_device_plugin.network_policies,
    ),
    (DeviceType.COMPUTE_DOMAIN, Mechanism.DRA): Manager(
        draw=compute_domain_driver.driver_objects,
        shared=compute_domain_driver.shared_objects,
        controller=compute_domain_controller.controller_objects,
        network_policies=compute_domain_driver.network_policies,
    ),
    (DeviceType.EFA, Mechanism.DRA): Manager(
        draw=efa_dra_driver.driver_objects, shared=efa_dra_driver.shared_objects
    ),
    (DeviceType.EFA, Mechanism.DEVICE_PLUGIN): Manager(draw=efa_device_plugin.driver_objects),
}
