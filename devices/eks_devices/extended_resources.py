"""The extended resources that device plugins register on a node."""

from __future__ import annotations

from collections.abc import Iterator

from ._frozen import FrozenDict
from .instance_types import AcceleratedInstanceType, Accelerator
from .names import (
    EFA_RESOURCE,
    GPU_RESOURCE,
    NEURON_CORE_RESOURCE,
    NEURON_RESOURCE,
    SHARED_GPU_RESOURCE,
)
from .plans import DevicePlan
from .vocabulary import DeviceType, Mechanism


def extended_resources(
    devices: tuple[DevicePlan, ...],
    instance: AcceleratedInstanceType,
    logical_neuron_cores: int | None,
) -> FrozenDict[str, int]:
    """What a node offers to Pods that ask in `resources.limits`; empty where all is DRA."""
    found: list[tuple[str, int]] = []
    for device in devices:
        if device.mechanism is not Mechanism.DEVICE_PLUGIN:
            continue
        if device.device_type is DeviceType.NEURON:
            size = logical_neuron_cores or instance.default_logical_core_size
            found += _neuron(instance.accelerator, size)
        elif device.device_type is DeviceType.GPU:
            found.append(_gpus(device))
        else:
            found.append((EFA_RESOURCE, device.count))
    return FrozenDict(found)


def _gpus(device: DevicePlan) -> tuple[str, int]:
    name = SHARED_GPU_RESOURCE if device.settings.get("rename") else GPU_RESOURCE
    return name, device.count * int(device.settings.get("replicas", 1))


def _neuron(chips: Accelerator | None, logical_core_size: int) -> Iterator[tuple[str, int]]:
    if chips is not None:
        yield NEURON_RESOURCE, chips.count
        cores = chips.count * (chips.cores_per_device or 1)
        yield NEURON_CORE_RESOURCE, cores // logical_core_size
