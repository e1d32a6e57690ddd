"""Puts the objects of every manager of a plan together, each once, in apply order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from eks_devices import ClusterPlan, DriverPlan
from eks_devices.findings import Finding, raise_faults
from eks_devices.typecheck import wrong_type

from .bundles import bundles, driver_faults
from .images import ImageSource
from .installation import Installation
from .managers import ManagerKey
from .objects import Object
from .release_rules import group_release_faults

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
    "NetworkPolicy",
    "Issuer",
    "Certificate",
    "Service",
    "DaemonSet",
    "Deployment",
    "PodDisruptionBudget",
    # Last: from now on the API server asks.
    "ValidatingWebhookConfiguration",
)


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
            `FeatureGateNeedsRelease`: a gate of a driver that the image of an override lacks.
    """
    return in_apply_order(
        item for items in manager_manifests(plan, images).values() for item in items
    )


def manager_manifests(plan: ClusterPlan, images: ImageSource) -> dict[ManagerKey, list[Object]]:
    """The objects of a plan by manager, those of all its owners together.

    A namespace that two managers use is with both; what else two of them bring is with the first.
    """
    raise_faults(dict.fromkeys(_faults(plan, images)))
    installation = Installation.of(plan, images)
    found: dict[ManagerKey, dict[tuple[str, str, str], Object]] = {}
    for driver in plan.drivers:
        key = driver.device_type, driver.mechanism
        there = {one for other, items in found.items() if other != key for one in items}
        items = found.setdefault(key, {})
        for item in _objects(driver, installation):
            if item["kind"] == "Namespace" or identity(item) not in there:
                items[identity(item)] = item
    return {key: in_apply_order(items.values()) for key, items in found.items()}


def _objects(driver: DriverPlan, installation: Installation) -> list[Object]:
    items = [one for bundle in bundles(driver, installation) for one in bundle.objects]
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
    installation = Installation.of(plan, images)
    faults = [one for driver in plan.drivers for one in driver_faults(driver, installation)]
    faults += [one for group in plan.nodegroups for one in group_release_faults(group, images)]
    yield from sorted(faults, key=lambda one: one.code)
