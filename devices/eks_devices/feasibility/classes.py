"""The DeviceClasses that claims name, with their expressions and the drivers behind them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, Final

from .._frozen import FrozenDict
from ..device_classes import class_expressions
from ..kubernetes import gate_is_on
from ..names import (
    CLASS_RESOURCES,
    CLASS_RESOURCES_GATE,
    DEVICE_CLASSES,
    DRIVERS,
    device_type_of_class,
)

_LONGEST_NAME: Final = 63


@functools.cache
def installed_classes() -> FrozenDict[str, tuple[str, ...]]:
    """The expressions of the classes that come with the drivers, by the name of the class."""
    return FrozenDict((name, (one,)) for name, one in class_expressions().items())


def driver_of(device_class: str) -> str | None:
    """The driver behind a class; None for a class of the user's own."""
    device_type = device_type_of_class(device_class)
    return DRIVERS[device_type] if device_type else None


def class_of_driver(driver: str) -> str:
    """The class of a driver's devices; of several the one of whole devices."""
    return next(DEVICE_CLASSES[kind][0] for kind, name in DRIVERS.items() if name == driver)


def extended_resource_names(
    classes: Iterable[Mapping[str, Any]], *, kubernetes_version: str
) -> FrozenDict[str, str]:
    """The extended resources that Pods may name for devices of classes, each with its class.

    Args:
        classes: Manifests of DeviceClasses that the API server takes. Of two with one
            `extendedResourceName` the newer one serves it; here, where no time is told, the first.
        kubernetes_version: The minor of the cluster. Before the feature is on, which is up to
            1.35, the field is dropped, and no name is served.

    Returns:
        The names that classes have, and for each class the one that follows from its own name,
        where it is not too long for that.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """
    if not gate_is_on(CLASS_RESOURCES_GATE, kubernetes_version):
        return FrozenDict()
    found: dict[str, str] = {}
    for one in classes:
        name = str(one["metadata"]["name"])
        explicit = (one.get("spec") or {}).get("extendedResourceName")
        if isinstance(explicit, str) and explicit:
            found.setdefault(explicit, name)
        if len(name) <= _LONGEST_NAME:
            found[f"{CLASS_RESOURCES}{name}"] = name
    return FrozenDict(found)
