"""What one GPU can be cut into, and faults of a profile that is none of it."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from .._frozen import FrozenDict
from ..findings import Finding, fault
from ..published import mig_record
from ..syntax import well_formed

MIG_PAGE: Final = (
    "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html"
)
MIG_GUIDE: Final = (
    "https://docs.aws.amazon.com/eks/latest/userguide/device-management-nvidia-mig.html"
)

MOST_COMPUTE_SLICES: Final = 7
"""No GPU has more compute slices; the profile `3g.40gb` takes three of them.

Source: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
"""

# A number of compute slices, the memory in GB, and what is more or less than usual: `+me`.
_PROFILE: Final = re.compile(r"[1-9][0-9]?g\.[1-9][0-9]{0,3}gb([+-][a-z]+(\.[a-z]+)*)*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class MigProfile:
    """One way to cut a partition out of a GPU.

    Source: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
    """

    name: str
    compute_slices: int
    memory_slices: int
    most: int
    """How many partitions of this profile one GPU holds."""
    starts: tuple[int, ...] | None
    """The memory slices at which a partition may begin; None where nobody told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MigGpu:
    """The slices of a whole GPU, and the profiles that it can be cut into, by name."""

    compute_slices: int
    memory_slices: int
    profiles: FrozenDict[str, MigProfile]


@functools.cache
def mig_gpu(name: str) -> MigGpu | None:
    """What the GPUs of an instance type can be cut into.

    Returns:
        None where they have no MIG, and where nobody told; `published.mig_profiles` tells which.
    """
    record = mig_record(name)
    if not record:
        return None
    return MigGpu(
        compute_slices=record["computeSlices"],
        memory_slices=record["memorySlices"],
        profiles=FrozenDict(
            (profile, _profile(profile, values)) for profile, values in record["profiles"].items()
        ),
    )


def _profile(name: str, values: dict[str, Any]) -> MigProfile:
    starts = values.get("placements")
    return MigProfile(
        name=name,
        compute_slices=compute_slices(name),
        memory_slices=values["memorySlices"],
        most=values["most"],
        starts=None if starts is None else tuple(starts),
    )


def compute_slices(profile: str) -> int:
    """The compute slices that a well formed profile takes: three of `3g.40gb`."""
    return int(profile.partition("g")[0])


def mig_profile_faults(profile: object, path: str) -> Iterator[Finding]:
    """The fault of a value that is not written as a MIG profile."""
    yield from well_formed(
        profile,
        path,
        lambda text: _PROFILE.fullmatch(text) is not None,
        code="MalformedMigProfile",
        message="this is not a MIG profile",
        allowed="a MIG profile such as 1g.10gb or 1g.10gb+me",
        fix="write it as the driver publishes it, in lower case",
        source=MIG_PAGE,
    )


def unknown_mig_profile(
    profile: str, known: tuple[str, ...], instance_name: str, path: str, *, instead: str
) -> Finding:
    """The fault of a profile that the GPUs of a type do not have.

    Args:
        profile: What the user gave.
        known: The profiles that they have; none without MIG.
        instance_name: The type.
        path: Names the input in the fault.
        instead: What to do where they have no MIG.
    """
    return fault(
        "UnknownMigProfile",
        path,
        f"the GPUs of {instance_name} have no such partition",
        got=profile,
        allowed=", ".join(known) or "none: these GPUs have no MIG",
        fix=f"use {known[0]}, for example" if known else instead,
        source=MIG_PAGE,
    )
