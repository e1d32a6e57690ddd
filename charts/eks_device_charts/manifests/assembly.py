"""Puts the objects of every manager of a plan together, each once, in apply order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from eks_devices import ClusterPlan, DeviceType, DriverPlan, Feature, Mechanism
from eks_devices.cluster_planner import is_default
from eks_devices.findings import Finding, fault, raise_faults
from eks_devices.typecheck import wrong_type

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
from .images import ImageSource
from .objects import Object

ManagerKey = tuple[DeviceType, Mechanism]

_ORDER = (
    "Namespace",
    "CustomResourceDefinition",
    "ServiceAccount",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "DeviceClass",
    "ConfigMap",
    "DaemonSet",
    "Deployment",
)


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


def device_manifests(plan: ClusterPlan, *, images: ImageSource) -> list[dict[str, Any]]:
    """The objects that install the managers of a plan, in the order to apply them.

    What a cluster has once (namespaces, CRDs, permissions, DeviceClasses, controllers) comes
    with the default installation; a scope has DaemonSets only. An object's text depends on the
    Kubernetes version, the images and the settings, never on which groups there are.

    Args:
        plan: The plan of a cluster.
        images: Where the nodes pull images from.

    Raises:
        EksDevicesError: Every image that cannot be named (see `ImageSource.image`) and every
            `SharingNotEmitted`: a way to share GPUs that has no manifests yet.
    """
    return in_apply_order(
        item for items in manager_manifests(plan, images).values() for item in items
    )


def manager_manifests(plan: ClusterPlan, images: ImageSource) -> dict[ManagerKey, list[Object]]:
    """The objects of a plan by manager, those of all its owners together.

    A namespace that two managers use is with both; no other object is.
    """
    raise_faults(dict.fromkeys(_faults(plan, images)))
    found: dict[ManagerKey, dict[tuple[str, str, str], Object]] = {}
    for driver in plan.drivers:
        items = found.setdefault((driver.device_type, driver.mechanism), {})
        items |= {identity(one): one for one in _objects(driver, plan.kubernetes_version, images)}
    return {key: in_apply_order(items.values()) for key, items in found.items()}


def _objects(driver: DriverPlan, version: str, images: ImageSource) -> list[Object]:
    manager = MANAGERS[driver.device_type, driver.mechanism]
    image = images.image(device_type=driver.device_type, mechanism=driver.mechanism)
    items = manager.own(driver, image)
    if is_default(driver.owner):
        controller = manager.controller(image) if manager.controller else []
        items = [*manager.shared(version), *items, *controller]
    # Plain values of their own, so that no object shares a part with another.
    return [json.loads(json.dumps(item)) for item in items]


def identity(item: Object) -> tuple[str, str, str]:
    """What makes an object the same object: kind, namespace and name."""
    meta = item["metadata"]
    return item["kind"], meta.get("namespace", ""), meta["name"]


def in_apply_order(items: Iterable[Object]) -> list[Object]:
    """Each object once, after what it needs; equal kinds by namespace and name."""
    found = {identity(item): item for item in items}
    return sorted(found.values(), key=lambda one: (_ORDER.index(one["kind"]), *identity(one)[1:]))


def _faults(plan: object, images: object) -> Iterator[Finding]:
    if not isinstance(plan, ClusterPlan):
        yield wrong_type("plan", plan, "a ClusterPlan", "pass what plan_cluster returns")
    if not isinstance(images, ImageSource):
        yield wrong_type("images", images, "an ImageSource", "pass ImageSource(region=...)")
    if not isinstance(plan, ClusterPlan) or not isinstance(images, ImageSource):
        return
    keys = dict.fromkeys((driver.device_type, driver.mechanism) for driver in plan.drivers)
    for device_type, mechanism in keys:
        yield from images.image_faults(device_type=device_type, mechanism=mechanism)
    for driver in plan.drivers:
        yield from MANAGERS[driver.device_type, driver.mechanism].sharing_faults(driver)
