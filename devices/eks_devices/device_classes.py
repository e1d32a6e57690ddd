"""The DeviceClasses that come with the drivers, and the devices that each of them is for."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from ._frozen import FrozenDict
from .names import (
    COMPUTE_DOMAIN_CHANNEL_CLASS,
    COMPUTE_DOMAIN_DAEMON_CLASS,
    COMPUTE_DOMAIN_DRIVER,
    EFA_CLASS,
    EFA_DRIVER,
    GPU_CLASS,
    GPU_DRIVER,
    MIG_CLASS,
    NEURON_CLASS,
    NEURON_DRIVER,
    VFIO_CLASS,
)
from .published import published

_SELECTED: Final[dict[str, tuple[str, dict[str, str | int]]]] = {
    GPU_CLASS: (GPU_DRIVER, {"type": "gpu"}),
    MIG_CLASS: (GPU_DRIVER, {"type": "mig"}),
    VFIO_CLASS: (GPU_DRIVER, {"type": "vfio"}),
    NEURON_CLASS: (NEURON_DRIVER, {}),
    COMPUTE_DOMAIN_DAEMON_CLASS: (COMPUTE_DOMAIN_DRIVER, {"type": "daemon"}),
    COMPUTE_DOMAIN_CHANNEL_CLASS: (COMPUTE_DOMAIN_DRIVER, {"type": "channel", "id": 0}),
}


@functools.cache
def class_expressions() -> FrozenDict[str, str]:
    """The CEL expression of each class, by the name of the class."""
    efa = published()["alike"][EFA_DRIVER][f"{EFA_DRIVER}/pciDevice"]["string"]
    selected = _SELECTED | {EFA_CLASS: (EFA_DRIVER, {"pciDevice": efa})}
    return FrozenDict((name, _having(*one)) for name, one in selected.items())


def _having(driver: str, attributes: Mapping[str, str | int]) -> str:
    """CEL for the devices of a driver that have these attributes, in the driver's own domain.

    Reading an attribute that a device lacks aborts the scheduling of a Pod, so each is guarded.
    """
    domain = f"device.attributes['{driver}']"
    parts = [f"device.driver == '{driver}'"]
    for name, wanted in attributes.items():
        literal = f"'{wanted}'" if isinstance(wanted, str) else str(wanted)
        parts += [f"'{name}' in {domain}", f"{domain}.{name} == {literal}"]
    return " && ".join(parts)
