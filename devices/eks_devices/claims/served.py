"""Whether DRA serves what a claim asks for on an instance type, as support.toml tells."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, fault
from ..instance_types import AcceleratedInstanceType
from ..support import Support, find_support
from ..vocabulary import Compute, DeviceType, Mechanism, OperatingSystem
from .asked import Asked
from .hardware import most_devices


def support_faults(
    asked: Asked, instance: AcceleratedInstanceType, version: str
) -> Iterator[Finding]:
    """Faults of devices that the type has but no DRA driver serves, one per device type."""
    told: set[DeviceType] = set()
    for index, request in enumerate(asked.requests):
        device = request.kind.device_type
        if device in told or not most_devices(instance, request.kind):
            continue
        told.add(device)
        support = _support(device, instance.family, version)
        if not support.allowed:
            yield fault(
                support.code,
                f"{asked.path}.requests[{index}]",
                support.message,
                got=f"{request.kind.value} on {instance.name}",
                allowed=f"types of {', '.join(_families(device, version))}",
                fix=support.fix,
                source=support.source,
            )


def is_served(device: DeviceType, instance: AcceleratedInstanceType, version: str) -> bool:
    """Whether a DRA driver serves the devices of a type."""
    return _support(device, instance.family, version).allowed


def _support(device: DeviceType, family: str, version: str) -> Support:
    system = OperatingSystem.AL2023
    return find_support(
        device, Mechanism.DRA, Compute.MANAGED, system, family=family, version=version
    )


def _families(device: DeviceType, version: str) -> list[str]:
    families = {one.family for one in AcceleratedInstanceType.all() if one.device_type is device}
    return sorted(one for one in families if _support(device, one, version).allowed)
