"""What each device manager is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from eks_devices import DeviceType, DriverPlan, Mechanism
from eks_devices.vocabulary import ManagerKey

from . import (
    compute_domain_controller,
    compute_domain_driver,
    efa_device_plugin,
    efa_dra_driver,
    neuron_device_plugin,
    neuron_dra_driver,
    neuron_scheduler,
    neuron_ultraserver_operator,
    nvidia_device_plugin,
    nvidia_gpu_driver,
)
from .installation import Installation
from .objects import Object

Asked = Callable[[Installation, str], list[Object]]


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
        asked_for: What a cluster has of it once where a user asks for that, by the name of the
            part: drawn from the installation and the image, and nothing where nobody asks.
    """

    draw: Callable[[DriverPlan, str], list[Object]]
    shared: Callable[[], list[Object]] = _none
    classes: Callable[[Installation], list[Object]] = _none
    own_classes: Callable[[DriverPlan], list[Object]] = _none
    controller: Callable[[DriverPlan, str], list[Object]] = _none
    asked_for: Mapping[str, Asked] = field(default_factory=dict)


def _policies(draw: Callable[[], list[Object]]) -> dict[str, Asked]:
    """What the Pods of a manager of NVIDIA's may talk to."""

    def drawn(installation: Installation, _: str) -> list[Object]:
        return draw() if installation.options.nvidia.network_policies else []

    return {"network-policies": drawn}


MANAGERS: Mapping[ManagerKey, Manager] = {
    (DeviceType.NEURON, Mechanism.DRA): Manager(
        draw=neuron_dra_driver.driver_objects,
        shared=neuron_dra_driver.shared_objects,
        asked_for={"ultraserver-operator": neuron_ultraserver_operator.operator_objects},
    ),
    (DeviceType.NEURON, Mechanism.DEVICE_PLUGIN): Manager(
        draw=neuron_device_plugin.driver_objects,
        shared=neuron_device_plugin.shared_objects,
        asked_for={"scheduler": neuron_scheduler.scheduler_objects},
    ),
    (DeviceType.GPU, Mechanism.DRA): Manager(
        draw=nvidia_gpu_driver.driver_objects,
        shared=nvidia_gpu_driver.shared_objects,
        classes=nvidia_gpu_driver.device_classes,
        own_classes=nvidia_gpu_driver.passthrough_classes,
        asked_for=_policies(nvidia_gpu_driver.network_policies)
        | {"webhook": nvidia_gpu_driver.claim_webhook},
    ),
    (DeviceType.GPU, Mechanism.DEVICE_PLUGIN): Manager(
        draw=nvidia_device_plugin.driver_objects,
        shared=nvidia_device_plugin.shared_objects,
        asked_for=_policies(nvidia_device_plugin.network_policies),
    ),
    (DeviceType.COMPUTE_DOMAIN, Mechanism.DRA): Manager(
        draw=compute_domain_driver.driver_objects,
        shared=compute_domain_driver.shared_objects,
        controller=compute_domain_controller.controller_objects,
        asked_for=_policies(compute_domain_driver.network_policies),
    ),
    (DeviceType.EFA, Mechanism.DRA): Manager(
        draw=efa_dra_driver.driver_objects,
        shared=efa_dra_driver.shared_objects,
        asked_for={"events": efa_dra_driver.event_objects},
    ),
    (DeviceType.EFA, Mechanism.DEVICE_PLUGIN): Manager(draw=efa_device_plugin.driver_objects),
}
