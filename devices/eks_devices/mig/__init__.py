"""GPUs cut into partitions (MIG): what a user says, whether GPUs can do it, and who cuts them."""

from __future__ import annotations

from .bottlerocket import (
    mig_bottlerocket_faults,
    mig_bottlerocket_release,
    mig_bottlerocket_settings,
)
from .form import Mig, MigStrategy, mig_form_faults
from .hardware import mig_hardware_faults, mig_resources, partitions
from .nodes import mig_commands
from .published_partitions import published_partitions

__all__ = [
    "Mig",
    "MigStrategy",
    "mig_bottlerocket_faults",
    "mig_bottlerocket_release",
    "mig_bottlerocket_settings",
    "mig_commands",
    "mig_form_faults",
    "mig_hardware_faults",
    "mig_resources",
    "partitions",
    "published_partitions",
]
