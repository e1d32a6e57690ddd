"""Puts the objects of every manager of a plan together, each once, in apply order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from eks_devices import ClusterPlan
from eks_devices.findings import Finding, raise_faults
from eks_devices.typecheck import wrong_type

from .bundles import bundles, driver_faults
from .images import ImageSource
from .installation import Installation
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
    with the default installation; a scope has DaemonSets and what only they need. An object's
    text depends on the Kubernetes version, the images and the settings, never on which groups
    there are.

    Args:
        plan: The plan of a cluster.
        images: Where the nodes pull images from.

    Raises:
        EksDevicesError: Every image that cannot be named (see `ImageSource.image`) and every
            `FeatureGateNeedsRelease`: a gate of a driver that the image of an override lacks.
    """
    return in_apply_order(
        item for items in manifests_by_part(plan, images).values() for item in items
    )


def manifests_by_part(plan: ClusterPlan, images: ImageSource) -> dict[str, list[Object]]:
    """The objects of a plan by manager, those of all its owners together, and by shared bundle.

    A namespace that two managers use is with both; no other object is.
    """
    raise_faults(dict.fromkeys(_faults(plan, images)))
    installation = Installation.of(plan, images)
    found: dict[str, dict[tuple[str, str, str], Object]] = {}
    for driver in plan.drivers:
        for bundle in bundles(driver, installation):
            own = f"{driver.device_type}-{driver.mechanism}"
            items = found.setdefault(bundle.name if bundle.is_shared else own, {})
            # Plain values of their own, so that no object shares a part with another.
            items |= {identity(one): json.loads(json.dumps(one)) for one in bundle.objects}
    return {part: in_apply_order(items.values()) for part, items in found.items()}


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
