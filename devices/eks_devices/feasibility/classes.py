"""The DeviceClasses that claims name, with their expressions and the drivers behind them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from .._frozen import FrozenDict
from ..names import (
    COMPUTE_DOMAIN_CHANNEL_CLASS,
    COMPUTE_DOMAIN_DAEMON_CLASS,
    COMPUTE_DOMAIN_DRIVER,
    DEVICE_CLASSES,
    DRIVERS,
    EFA_CLASS,
    EFA_DRIVER,
    GPU_CLASS,
    GPU_DRIVER,
    MIG_CLASS,
    NEURON_CLASS,
    NEURON_DRIVER,
    VFIO_CLASS,
)
from ..published import published

_SELECTED: Final[dict[str, tuple[str, dict[str, str | int]]]] = {
    GPU_CLASS: (GPU_DRIVER, {"type": "gpu"}),
    MIG_CLASS: (GPU_DRIVER, {"type": "mig"}),
    VFIO_CLASS: (GPU_DRIVER, {"type": "vfio"}),
    NEURON_CLASS: (NEURON_DRIVER, {}),
    COMPUTE_DOMAIN_DAEMON_CLASS: (COMPUTE_DOMAIN_DRIVER, {"type": "daemon"}),
    COMPUTE_DOMAIN_CHANNEL_CLASS: (COMPUTE_DOMAIN_DRIVER, {"type": "channel", "id": 0}),
}


@functools.cache
def installed_classes() -> FrozenDict[str, tuple[str, ...]]:
    """The expressions of the classes that come with the drivers, by the name of the class."""
    efa = published()["alike"][EFA_DRIVER][f"{EFA_DRIVER}/pciDevice"]["string"]
    selected = _SELECTED | {EFA_CLASS: (EFA_DRIVER, {"pciDevice": efa})}
    return FrozenDict((name, (_having(*one),)) for name, one in selected.items())


def _having(driver: str, attributes: Mapping[str, str | int]) -> str:
    """CEL for the devices of a driver with these attributes, each of them guarded."""
    domain = f"device.attributes['{driver}']"
    parts = [f"device.driver == '{driver}'"]
    for name, wanted in attributes.items():
        literal = f"'{wanted}'" if isinstance(wanted, str) else str(wanted)
        parts += [f"'{name}' in {domain}", f"{domain}.{name} == {literal}"]
    return " && ".join(parts)


def driver_of(device_class: str) -> str | None:
    """The driver behind a class; None for a class of the user's own."""
    for device_type, names in DEVICE_CLASSES.items():
        if device_class in names:
            return DRIVERS[device_type]
    return None
