"""The partitions that the DRA driver publishes for a GPU that was cut, as far as anybody told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..published import mig_record
from .form import Mig
from .geometry import MigGpu, mig_gpu
from .hardware import creation_order
from .placement import created, largest_first


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """One partition: what follows its GPU's name, its profile, and what it has of the GPU.

    `capacity` are the driver's own counts, empty where nobody told; `slices` the memory slices
    that it takes, which are capacities of partitions that exist; `counters` what it consumes of
    its GPU where it is cut on request.
    """

    name: str
    profile: str
    capacity: dict[str, str]
    slices: dict[str, str]
    counters: dict[str, str]


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
        _partition(gpu, instance_name, profile, start)
        for profile, start in zip(cut, starts or range(len(cut)), strict=True)
    )


def possible_partitions(instance_name: str) -> tuple[Partition, ...] | None:
    """All partitions that a GPU of a type can be cut into on request, wherever they may lie.

    Returns:
        None where nobody told where they lie, and for GPUs whose profiles divide engines
        otherwise than memory: how many of them each takes was not told.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu (v0.5.0, partitions.go)
    """
    gpu = mig_gpu(instance_name)
    if gpu is None or any(one.starts is None for one in gpu.profiles.values()):
        return None
    if any(_divides_engines(name) for name in gpu.profiles):
        return None
    return tuple(
        _partition(gpu, instance_name, name, start)
        for name, profile in gpu.profiles.items()
        for start in profile.starts or ()
    )


def _divides_engines(profile: str) -> bool:
    return profile.endswith((".all", "-me"))


def _partition(gpu: MigGpu | None, instance_name: str, profile: str, start: int) -> Partition:
    capacity = dict(_capacity(instance_name, profile))
    places = range(start, start + (gpu.profiles[profile].memory_slices if gpu else 0))
    counters = capacity | {f"memory-slice-{place}": "1" for place in places}
    if gpu is not None and _takes_engines(gpu, profile):
        counters[_ENGINES] = "1"
    return Partition(
        name=f"mig-{_spelled(profile)}-{_number(instance_name, profile)}-{start}",
        profile=profile,
        capacity=capacity,
        # Each memory slice is a capacity, so that the scheduler sees which ones a partition has.
        slices={f"memorySlice{place}": "1" for place in places},
        counters=counters,
    )


# Engines of which a GPU has few: where fewer partitions of a profile can be had than lie beside
# each other, they have run out. One counter stands for all of them.
_ENGINES: Final = "ofa-engines"


def _takes_engines(gpu: MigGpu, profile: str) -> bool:
    """Whether partitions of a profile use up engines that there are few of."""
    one = gpu.profiles[profile]
    if one.memory_slices == gpu.memory_slices:
        return True
    free, lying = 0, 0
    for start in sorted(one.starts or ()):
        if start >= free:
            free, lying = start + one.memory_slices, lying + 1
    return lying > one.most


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


def _capacity(instance_name: str, profile: str) -> Iterator[tuple[str, str]]:
    told = _told(instance_name, profile)
    for name in ("memory", "multiprocessors"):
        if name in told:
            yield name, str(told[name])
