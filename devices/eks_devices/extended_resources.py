"""The extended resources that device plugins register on a node."""

from __future__ import annotations

from collections.abc import Iterator

from ._frozen import FrozenDict
from .instance_types import AcceleratedInstanceType, Accelerator
from .mig import Mig, mig_resources
from .names import (
    EFA_RESOURCE,
    GPU_RESOURCE,
    NEURON_CORE_RESOURCE,
    NEURON_RESOURCE,
    SHARED_GPU_RESOURCE,
)
from .plans import DevicePlan
from .spec import NodegroupSpec
from .vocabulary import DeviceType, Mechanism


def extended_resources(
    spec: NodegroupSpec, devices: tuple[DevicePlan, ...], instance: AcceleratedInstanceType
) -> FrozenDict[str, int]:
    """What a node offers to Pods that ask in `resources.limits`; empty where all is DRA."""
    found: list[tuple[str, int]] = []
    for device in devices:
        if device.mechanism is not Mechanism.DEVICE_PLUGIN:
            continue
        if device.device_type is DeviceType.NEURON:
            size = spec.logical_neuron_cores or instance.default_logical_core_size
            found += _neuron(instance.accelerator, size)
        elif device.device_type is DeviceType.GPU:
            found += _gpus(device, spec.mig, instance.name)
        else:
            found.append((EFA_RESOURCE, device.count))
    return FrozenDict(found)


def _gpus(device: DevicePlan, mig: Mig | None, instance_name: str) -> Iterator[tuple[str, int]]:
    if mig is not None:
        yield from mig_resources(mig, instance_name, device.count).items()
        return
    name = SHARED_GPU_RESOURCE if device.settings.get("rename") else GPU_RESOURCE
    yield name, device.count * int(device.settings.get("replicas", 1))


def _neuron(chips: Accelerator | None, logical_core_size: int) -> Iterator[tuple[str, int]]:
    if chips is not None:
        yield NEURON_RESOURCE, chips.count
        cores = chips.count * (chips.cores_per_device or 1)
        yield NEURON_CORE_RESOURCE, cores // logical_core_size
