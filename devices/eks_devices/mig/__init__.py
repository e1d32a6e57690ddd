"""GPUs cut into partitions (MIG): what a user says, and whether GPUs can do it."""

from __future__ import annotations

from .form import Mig, MigStrategy, mig_form_faults
from .hardware import mig_hardware_faults, mig_resources, partitions

__all__ = [
    "Mig",
    "MigStrategy",
    "mig_form_faults",
    "mig_hardware_faults",
    "mig_resources",
    "partitions",
]
