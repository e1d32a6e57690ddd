"""The DeviceClass that is meant by a name of devices which is that of something else."""

from __future__ import annotations

import re
from typing import Final

from ..names import (
    COMPUTE_DOMAIN_CHANNEL_CLASS,
    DEVICE_CLASSES,
    DRIVERS,
    EFA_CLASS,
    EFA_DRIVER,
    GPU_CLASS,
    MIG_CLASS,
    NEURON_CLASS,
    VFIO_CLASS,
    device_type_of_class,
)

_CLASSES: Final = tuple(one for some in DEVICE_CLASSES.values() for one in some)
# What people call devices, the most particular first: a partition is one of a GPU as well. The
# name of EFA's driver has no word of its own.
_CALLED: Final = (
    (EFA_CLASS, rf"efas?|dranet|rdma|{re.escape(EFA_DRIVER)}"),
    (COMPUTE_DOMAIN_CHANNEL_CLASS, "compute-?domain|channel|imex"),
    (MIG_CLASS, "mig"),
    (VFIO_CLASS, "vfio|passthrough"),
    (NEURON_CLASS, "neuron(core|device)?s?|trainium|inferentia"),
    (GPU_CLASS, "gpus?|nvidia"),
)
_NO_LETTER: Final = "(?<![a-z])(?:{})(?![a-z])"


def class_called(name: object) -> str:
    """The class of a driver that a name stands for: of its resource, of itself, of its devices.

    Empty where it stands for none.

    Args:
        name: What a user wrote in the place of a class; it may be of any type.
    """
    lowered = name.lower() if isinstance(name, str) else ""
    if lowered in _CLASSES:
        return lowered
    called = (one for one, words in _CALLED if re.search(_NO_LETTER.format(words), lowered))
    return next(called, "")


def driver_called(name: object) -> str:
    """The same of the driver."""
    kind = device_type_of_class(class_called(name))
    return DRIVERS[kind] if kind else ""
