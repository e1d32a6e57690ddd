"""The partitions that the DRA driver publishes for a GPU that was cut, as far as anybody told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..published import mig_record
from .form import Mig
from .geometry import MigGpu, mig_gpu
from .hardware import creation_order
from .placement import created, largest_first


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """One partition: what follows its GPU's name, its profile, and what it has of the GPU.

    `capacity` are the driver's own counts; empty where nobody told.
    """

    name: str
    profile: str
    capacity: dict[str, str]


def published_partitions(mig: Mig, instance_name: str) -> tuple[Partition, ...]:
    """The partitions of each GPU of a type, in the order of their creation.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu (v0.5.0, mig.go)
    """
    gpu, cut = mig_gpu(instance_name), creation_order(mig, instance_name)
    if gpu is not None and mig.is_prepared:
        # Nobody told how they were created; this order works wherever any does.
        cut = tuple(one.name for one in largest_first([gpu.profiles[name] for name in cut]))
    starts = _starts(gpu, cut) if gpu else None
    return tuple(
        Partition(
            name=f"mig-{_spelled(profile)}-{_number(instance_name, profile)}-{start}",
            profile=profile,
            capacity=dict(_capacity(gpu, instance_name, profile, start)),
        )
        for profile, start in zip(cut, starts or range(len(cut)), strict=True)
    )


def _starts(gpu: MigGpu, cut: Sequence[str]) -> tuple[int, ...] | None:
    """Where the partitions lie; None where nobody told."""
    profiles = [gpu.profiles[name] for name in cut]
    return None if any(one.starts is None for one in profiles) else created(gpu, profiles)


def _spelled(profile: str) -> str:
    return profile.replace(".", "", 1).replace("+", "-").replace(".", "-")


def _number(instance_name: str, profile: str) -> Any:
    return _told(instance_name, profile).get("instanceProfile", 0)


def _told(instance_name: str, profile: str) -> dict[str, Any]:
    found: dict[str, Any] = (mig_record(instance_name) or {}).get("profiles", {}).get(profile, {})
    return found


def _capacity(
    gpu: MigGpu | None, instance_name: str, profile: str, start: int
) -> Iterator[tuple[str, str]]:
    told = _told(instance_name, profile)
    for name in ("memory", "multiprocessors"):
        if name in told:
            yield name, str(told[name])
    # Each memory slice is a capacity, so that the scheduler sees which ones a partition has.
    for place in range(gpu.profiles[profile].memory_slices if gpu else 0):
        yield f"memorySlice{start + place}", "1"
