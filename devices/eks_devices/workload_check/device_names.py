"""Which devices the names of extended resources are about."""

from __future__ import annotations

from typing import Final

from ..findings import alike, meant
from ..names import (
    CLASS_RESOURCES,
    DEVICE_CLASSES,
    DRIVERS,
    EFA_RESOURCE,
    GPU_RESOURCE,
    NEURON_RESOURCE,
    NVIDIA_RESOURCES,
    device_type_of_class,
)
from ..vocabulary import DeviceType

DEVICES: Final = {
    DeviceType.GPU: "GPUs",
    DeviceType.NEURON: "Neuron devices",
    DeviceType.EFA: "EFAs",
    DeviceType.COMPUTE_DOMAIN: "channels of ComputeDomains",
}
"""What the devices are called."""

# Shares and partitions of GPUs, and cores of Neuron devices, begin alike.
_BEGINNINGS: Final = {
    GPU_RESOURCE: DeviceType.GPU,
    f"{NVIDIA_RESOURCES}mig-": DeviceType.GPU,
    NEURON_RESOURCE: DeviceType.NEURON,
    EFA_RESOURCE: DeviceType.EFA,
}
# How much of a domain has to be alike.
_ALIKE: Final = 0.8


def device_type_of(resource: str) -> DeviceType | None:
    """The devices that an extended resource is of, shares, parts and misspelt names too.

    None for what this library does not know, other resources of the same vendors among them.
    """
    if resource.startswith(CLASS_RESOURCES):
        return device_type_of_class(resource.removeprefix(CLASS_RESOURCES))
    known = _BEGINNINGS.items()
    begun = next((kind for begin, kind in known if resource.startswith(begin)), None)
    misspelt = (kind for name, kind in known if _is_misspelt(resource, name, kind))
    return begun or next(misspelt, None) or _of_class(resource)


def _is_misspelt(resource: str, name: str, kind: DeviceType) -> bool:
    domain, _, own = resource.partition("/")
    right, _, right_own = name.partition("/")
    is_near = domain in (right, right.partition(".")[0], DRIVERS[kind], *DEVICE_CLASSES[kind])
    # Domains of others, such as amd.com, are not taken for those of ours.
    is_near = is_near or bool(alike(domain, [right], least=_ALIKE))
    is_swapped = own == right_own and any(one.startswith(f"{domain}/") for one in _BEGINNINGS)
    return is_swapped or (is_near and bool(meant(own, [right_own])))


def _of_class(resource: str) -> DeviceType | None:
    """The devices of a class that a resource is named after, but for the domain."""
    domain, _, own = resource.partition("/")
    right = CLASS_RESOURCES.rstrip("/")
    return device_type_of_class(own) if alike(domain, [right, *right.split(".")]) else None
