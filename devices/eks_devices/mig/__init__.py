"""GPUs cut into partitions (MIG): what a user says, whether GPUs can do it, and who cuts them."""

from __future__ import annotations

from .bottlerocket import (
    mig_bottlerocket_faults,
    mig_bottlerocket_release,
    mig_bottlerocket_settings,
)
from .form import Mig, MigStrategy, mig_form_faults
from .geometry import (
    MIG_GUIDE,
    MIG_PAGE,
    MOST_COMPUTE_SLICES,
    compute_slices,
    mig_gpu,
    mig_profile_faults,
    unknown_mig_profile,
)
from .hardware import mig_hardware_faults, mig_resources, partitions
from .nodes import mig_commands
from .published_partitions import Partition, possible_partitions, published_partitions

__all__ = [
    "MIG_GUIDE",
    "MIG_PAGE",
    "MOST_COMPUTE_SLICES",
    "Mig",
    "MigStrategy",
    "Partition",
    "compute_slices",
    "mig_bottlerocket_faults",
    "mig_bottlerocket_release",
    "mig_bottlerocket_settings",
    "mig_commands",
    "mig_form_faults",
    "mig_gpu",
    "mig_hardware_faults",
    "mig_profile_faults",
    "mig_resources",
    "partitions",
    "possible_partitions",
    "published_partitions",
    "unknown_mig_profile",
]
