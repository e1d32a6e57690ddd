"""The kinds of devices that a claim can ask for."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from ..names import EFA_CLASS, GPU_CLASS, MIG_CLASS, NEURON_CLASS, VFIO_CLASS
from ..vocabulary import DeviceType


class RequestKind(StrEnum):
    """What a request asks for; the value is the default name of the request."""

    GPU = "gpu"
    MIG = "mig"
    VFIO = "vfio"
    NEURON = "neuron"
    ULTRASERVER_NODE = "ultraserver-node"
    EFA = "efa"
    FIRST_AVAILABLE = "first-available"
    """A list of alternatives, each of which is of another kind; it has no class of its own."""

    @property
    def device_class(self) -> str:
        """The DeviceClass that holds such devices."""
        return _CLASSES[self]

    @property
    def device_type(self) -> DeviceType:
        """The hardware that such devices are, or are parts of."""
        return _HARDWARE[self]


class AllocationMode(StrEnum):
    """How many of the devices that match a request gets; the values are the API's.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """

    EXACT_COUNT = "ExactCount"
    """A number of them."""
    ALL = "All"
    """Every one on the node, none of which may be in use: pass it to a factory as the count."""


class IommuBackendPolicy(StrEnum):
    """Which interface of the IOMMU a virtual machine gets its GPUs by; the values are the API's.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu
    """

    LEGACY_ONLY = "LegacyOnly"
    PREFER_IOMMU_FD = "PreferIommuFD"


_CLASSES: Final = {
    RequestKind.GPU: GPU_CLASS,
    RequestKind.MIG: MIG_CLASS,
    RequestKind.VFIO: VFIO_CLASS,
    RequestKind.NEURON: NEURON_CLASS,
    RequestKind.ULTRASERVER_NODE: NEURON_CLASS,
    RequestKind.EFA: EFA_CLASS,
}
WHOLE_GPUS: Final = (RequestKind.GPU, RequestKind.VFIO)
"""What takes a GPU as a whole, for containers or for virtual machines."""

_HARDWARE: Final = {
    RequestKind.GPU: DeviceType.GPU,
    RequestKind.MIG: DeviceType.GPU,
    RequestKind.VFIO: DeviceType.GPU,
    RequestKind.NEURON: DeviceType.NEURON,
    RequestKind.ULTRASERVER_NODE: DeviceType.NEURON,
    RequestKind.EFA: DeviceType.EFA,
}
