"""Faults of an instance type that node groups and claims tell alike."""

from __future__ import annotations

from .findings import Finding, fault
from .instance_types import AcceleratedInstanceType
from .vocabulary import DeviceType

_COMPUTE_DOMAINS = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu"
_LOGICAL_CORES = (
    "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/general/arch/neuron-features/"
    "logical-neuroncore-config.html"
)


def nvlink_fault(instance: AcceleratedInstanceType, path: str, got: object) -> Finding:
    """The fault of a ComputeDomain on a type whose NVLink does not reach over nodes.

    Args:
        instance: A type without `nvlink_domain`.
        path: Names the input in the fault.
        got: What the user gave there.
    """
    types = [one.name for one in AcceleratedInstanceType.all() if one.nvlink_domain]
    return fault(
        "ComputeDomainNeedsNvlinkDomain",
        path,
        f"{instance.name} has no NVLink domain across nodes",
        got=got,
        allowed=f"instance types with one: {', '.join(types)}",
        fix="use such a type, or do without memory that nodes share",
        source=_COMPUTE_DOMAINS,
    )


def bare_metal_gpu_types() -> str:
    """The types with GPUs and no hypervisor, as faults name them to those who need an IOMMU."""
    types = AcceleratedInstanceType.all()
    gpus = (one for one in types if one.device_type is DeviceType.GPU)
    return ", ".join(one.name for one in gpus if one.bare_metal)


def logical_core_fault(instance: AcceleratedInstanceType, path: str, size: object) -> Finding:
    """The fault of a size that is not in `logical_core_sizes` of a type.

    Args:
        instance: The type.
        path: Names the input in the fault.
        size: The physical cores per logical NeuronCore that the user gave.
    """
    sizes = ", ".join(map(str, instance.logical_core_sizes))
    return fault(
        "LogicalCoresNotSupported",
        path,
        f"{instance.name} has no such logical NeuronCores",
        got=size,
        allowed=sizes or "None: it has no logical NeuronCores",
        fix="leave logical_neuron_cores out" + (", or choose an allowed size" if sizes else ""),
        source=_LOGICAL_CORES,
    )
