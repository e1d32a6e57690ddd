"""The kinds of devices that a claim can ask for."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from ..names import EFA_CLASS, GPU_CLASS, MIG_CLASS, NEURON_CLASS
from ..vocabulary import DeviceType


class RequestKind(StrEnum):
    """What a request asks for; the value is the default name of the request."""

    GPU = "gpu"
    MIG = "mig"
    NEURON = "neuron"
    ULTRASERVER_NODE = "ultraserver-node"
    EFA = "efa"

    @property
    def device_class(self) -> str:
        """The DeviceClass that holds such devices."""
        return _CLASSES[self]

    @property
    def device_type(self) -> DeviceType:
        """The hardware that such devices are, or are parts of."""
        return _HARDWARE[self]


_CLASSES: Final = {
    RequestKind.GPU: GPU_CLASS,
    RequestKind.MIG: MIG_CLASS,
    RequestKind.NEURON: NEURON_CLASS,
    RequestKind.ULTRASERVER_NODE: NEURON_CLASS,
    RequestKind.EFA: EFA_CLASS,
}
_HARDWARE: Final = {
    RequestKind.GPU: DeviceType.GPU,
    RequestKind.MIG: DeviceType.GPU,
    RequestKind.NEURON: DeviceType.NEURON,
    RequestKind.ULTRASERVER_NODE: DeviceType.NEURON,
    RequestKind.EFA: DeviceType.EFA,
}
