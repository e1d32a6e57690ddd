"""How many GPUs the MIG partitions of a claim take, and whether an instance type has so many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..findings import Finding, fault
from ..instance_types import AcceleratedInstanceType
from ..mig import MIG_PAGE, MOST_COMPUTE_SLICES, compute_slices, mig_gpu
from ..published import mig_placements, mig_profiles
from .asked import Asked, count_of
from .hardware import most_devices
from .kinds import WHOLE_GPUS, RequestKind


def partition_gpus(asked: Asked, type_name: str) -> int:
    """GPUs of a type that the MIG partitions of a claim take at least; a mix may need more."""
    wanted, most = _wanted(asked), _most_slices(type_name)
    slices = sum(count * compute_slices(profile) for profile, count in wanted.items())
    # No two of these fit on one GPU, whatever their profiles are.
    large = sum(count for profile, count in wanted.items() if 2 * compute_slices(profile) > most)
    alone = (_up(count, _per_gpu(type_name, profile)) for profile, count in wanted.items())
    return max((_up(slices, most), large, *alone))


def partition_faults(asked: Asked, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Faults of more MIG partitions, alone or beside whole GPUs, than the type's GPUs hold."""
    has, wanted = most_devices(instance, RequestKind.MIG), _wanted(asked)
    known = mig_profiles(instance.name)
    if not has or (known is not None and not wanted.keys() <= set(known)):
        return
    faults = [
        _too_many(asked, instance, profile)
        for profile, count in wanted.items()
        if count > has * _per_gpu(instance.name, profile)
    ]
    yield from faults
    gpus, cut = count_of(asked, *WHOLE_GPUS), partition_gpus(asked, instance.name)
    if cut and not faults and gpus <= has < gpus + cut:
        yield _too_many_together(asked, instance, f"{gpus} whole GPU and partitions of {cut}")


def _wanted(asked: Asked) -> Counter[str]:
    """The partitions of a claim by profile."""
    wanted: Counter[str] = Counter()
    for one in asked.requests:
        if one.profile is not None:
            wanted[one.profile] += one.count or 0
    return wanted


def _most_slices(type_name: str) -> int:
    """The compute slices of a GPU; as many as any has where nobody told."""
    gpu = mig_gpu(type_name)
    return MOST_COMPUTE_SLICES if gpu is None else gpu.compute_slices


def _per_gpu(type_name: str, profile: str) -> int:
    """The most partitions of one profile that a GPU holds, from its slices where nobody told."""
    told = mig_placements(type_name, profile)
    return _most_slices(type_name) // compute_slices(profile) or 1 if told is None else told


def _up(number: int, size: int) -> int:
    return -(-number // size)


def _too_many(asked: Asked, instance: AcceleratedInstanceType, profile: str) -> Finding:
    first = next(index for index, one in enumerate(asked.requests) if one.profile == profile)
    has, each = most_devices(instance, RequestKind.MIG), _per_gpu(instance.name, profile)
    return fault(
        "TooManyDevices",
        f"{asked.path}.requests[{first}].count",
        f"a claim is for one node, and the GPUs of {instance.name} hold fewer {profile}",
        got=_wanted(asked)[profile],
        allowed=f"at most {has * each}, {each} on each of {has} GPUs",
        fix=f"ask for {has * each} or fewer, or take a larger type",
        source=MIG_PAGE,
    )


def _too_many_together(asked: Asked, instance: AcceleratedInstanceType, got: str) -> Finding:
    return fault(
        "TooManyDevices",
        f"{asked.path}.requests",
        "a GPU is whole or cut into partitions, and a claim is for one node",
        got=got,
        allowed=f"the {most_devices(instance, RequestKind.GPU)} GPUs of {instance.name} in all",
        fix="ask for fewer GPUs or partitions, or take a larger type",
        source=MIG_PAGE,
    )
