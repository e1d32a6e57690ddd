"""The objects of a manager in bundles: what lives and dies together, and what it needs first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from eks_devices import DeviceType, DriverPlan, EksDevicesError
from eks_devices.driver_planner import is_default
from eks_devices.efa_installation import build_of
from eks_devices.findings import Finding
from eks_devices.names import ADMIN_ACCESS_LABEL, HOST_OWNER
from eks_devices.neuron_health import NeuronHealth

from . import neuron_health
from .images import ImageSource
from .installation import Installation
from .managers import MANAGERS, Manager
from .objects import Object, metadata, namespace
from .release_rules import release_faults

# Other managers or users have objects in a namespace, and users have objects of a CRD's kinds:
# each stands alone, and stays when a manager goes.
_ALONE = ("Namespace", "CustomResourceDefinition")
HEALTH_BUNDLE: Final = "neuron-health"
"""What watches Neuron devices; its Pods have a role of AWS only if its association came first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Objects that are applied and deleted together.

    Attributes:
        name: The same name means the same objects, in any plan of a cluster.
        objects: The objects, in apply order.
        needs: Names of the bundles that are applied before.
        retain: Whether the objects stay when nothing needs them any more.
        is_shared: Whether several managers bring it, so that it is part of none.
    """

    name: str
    objects: Sequence[Object]
    needs: tuple[str, ...] = ()
    retain: bool = False
    is_shared: bool = False


def bundles(driver: DriverPlan, installation: Installation) -> list[Bundle]:
    """What installs a manager, in apply order.

    What a cluster has once comes with the default installation; a scope adds its DaemonSets to
    that and needs it. For a driver of the operating system there are DeviceClasses and no more.

    Raises:
        EksDevicesError: The faults of `driver_faults`.
    """
    manager = MANAGERS[driver.manager]
    name = f"{driver.device_type}-{driver.mechanism}"
    classes = _bundle(f"{name}-classes", manager.classes(installation))
    if driver.owner == HOST_OWNER:
        return classes
    image = _image(driver, installation)
    common = [*_common(name, manager, driver, image), *classes]
    common += _asked_for(name, manager, image, installation)
    if driver.device_type is DeviceType.NEURON:
        common += health_bundles(installation.options.neuron.health, installation.images)
    own_classes = _bundle(f"{name}-own-classes", manager.own_classes(driver), retain=True)
    own = Bundle(
        name=f"{name}-{driver.owner}",
        objects=manager.draw(driver, image),
        needs=_names([*common, *own_classes]),
    )
    return [*(common if is_default(driver.owner) else []), *own_classes, own]


def driver_faults(driver: DriverPlan, installation: Installation) -> list[Finding]:
    """Every reason why a manager has no manifests: an image, or what its release lacks."""
    if driver.owner == HOST_OWNER:
        return []
    images, build = installation.images, build_of(driver.settings)
    if wrong := images.image_faults(
        device_type=driver.device_type, mechanism=driver.mechanism, build=build
    ):
        return list(wrong)
    return [*release_faults(driver, images), *_asked_faults(driver, installation)]


def _asked_faults(driver: DriverPlan, installation: Installation) -> Iterator[Finding]:
    """Why what a user asks for beside a manager cannot be drawn."""
    image = _image(driver, installation)
    for draw in MANAGERS[driver.manager].asked_for.values() if is_default(driver.owner) else ():
        try:
            draw(installation, image)
        except EksDevicesError as error:
            yield from error.faults


def _image(driver: DriverPlan, installation: Installation) -> str:
    return installation.images.image(
        device_type=driver.device_type,
        mechanism=driver.mechanism,
        build=build_of(driver.settings),
    )


def installation_marker(path: str) -> Bundle:
    """A ConfigMap that may not exist yet, so that a second default installation fails.

    Args:
        path: Where the installation stands, for whoever finds the marker.
    """
    meta = metadata("eks-devices-installation", "kube-system")
    data = {"installation": path}
    marker = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}
    return Bundle(name="Marker", objects=[marker])


def health_bundles(health: NeuronHealth | None, images: ImageSource) -> list[Bundle]:
    """What watches the Neuron devices of a cluster, in apply order; nothing for None.

    The default installation has it once, whichever groups, mechanisms and scopes there are.
    """
    if health is None:
        return []
    *alone, together = _alone_and_together(
        HEALTH_BUNDLE, neuron_health.health_objects(health, images)
    )
    return [*alone, replace(together, is_shared=True)]


def namespace_bundle(name: str, *, admin_access: bool = False) -> Bundle:
    """A namespace for claims; one that a manager has is that of the manager.

    Args:
        name: The name of the namespace.
        admin_access: Whether its claims may ask for admin access to devices.
    """
    meta: dict[str, Any] = {"name": name}
    if admin_access:
        meta["labels"] = {ADMIN_ACCESS_LABEL: "true"}
    plain = {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}
    bundle = Bundle(name=f"Namespace-{name}", objects=[plain], retain=True)
    return manager_namespaces().get(bundle.name, bundle)


@cache
def manager_namespaces() -> dict[str, Bundle]:
    """The bundles of the namespaces that managers have, by their names."""
    items = [item for manager in MANAGERS.values() for item in manager.shared()]
    items.append(namespace(neuron_health.NAMESPACE))
    found = [_alone(item) for item in items if item["kind"] == "Namespace"]
    return {bundle.name: bundle for bundle in found}


def _alone(item: Object) -> Bundle:
    return Bundle(name=f"{item['kind']}-{item['metadata']['name']}", objects=[item], retain=True)


def _bundle(
    name: str, objects: list[Object], *, needs: tuple[str, ...] = (), retain: bool = False
) -> list[Bundle]:
    """A bundle of objects, where there are any."""
    return [Bundle(name=name, objects=objects, needs=needs, retain=retain)] if objects else []


def _asked_for(
    name: str, manager: Manager, image: str, installation: Installation
) -> Iterator[Bundle]:
    """What a cluster has of a manager where a user asks for it."""
    needs = tuple(_alone(one).name for one in manager.shared() if one["kind"] == "Namespace")
    for part, draw in manager.asked_for.items():
        objects = draw(installation, image)
        yield from _alone_and_together(f"{name}-{part}", objects, needs=needs)


def _common(name: str, manager: Manager, driver: DriverPlan, image: str) -> list[Bundle]:
    """What all installations of a manager use."""
    found = _alone_and_together(name, manager.shared())
    if objects := manager.controller(driver, image):
        found.append(Bundle(name=f"{name}-controller", objects=objects, needs=_names(found)))
    return found


def _alone_and_together(
    name: str, items: Sequence[Object], *, needs: tuple[str, ...] = ()
) -> list[Bundle]:
    """Objects that stand alone, and then the others in a bundle of this name."""
    found = [_alone(item) for item in items if item["kind"] in _ALONE]
    together = [item for item in items if item["kind"] not in _ALONE]
    return [*found, *_bundle(name, together, needs=(*needs, *_names(found)))]


def _names(found: Sequence[Bundle]) -> tuple[str, ...]:
    return tuple(one.name for one in found)
