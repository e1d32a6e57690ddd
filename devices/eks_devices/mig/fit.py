"""Whether the partitions of a layout fit on one GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ..findings import Finding, fault
from .form import Mig
from .geometry import MIG_PAGE, MOST_COMPUTE_SLICES, MigGpu, MigProfile, compute_slices
from .placement import created, has_room, largest_first

_ORDERS = "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/getting-started-with-mig.html"
_FEWER: Final = "name fewer or smaller partitions"
# With the first a partition has a GPU's only media engines of some kind, with the second every
# media engine, with the third none.
_MEDIA, _ALL_MEDIA, _NO_MEDIA = "+me", "+me.all", "-me"


def layout_faults(mig: Mig, gpu: MigGpu | None, path: str) -> Iterator[Finding]:
    """Faults of a layout that does not fit on one GPU, or not in its order.

    Args:
        mig: A layout of profiles that the GPU has.
        gpu: What the GPU can be cut into; where nobody told, only what no GPU holds is a fault.
        path: Names the profiles in the faults.
    """
    found = [*_slice_faults(mig, gpu, path), *_media_faults(mig, path)]
    if gpu is not None:
        found += _count_faults(mig, gpu, path)
    yield from found
    if gpu is not None and not found:
        yield from _place_faults(mig, gpu, path)


def _does_not_fit(mig: Mig, path: str, message: str, *, allowed: str, fix: str) -> Finding:
    return fault(
        "MigLayoutDoesNotFit",
        path,
        f"these partitions do not fit on one GPU: {message}",
        got=" ".join(mig.profiles),
        allowed=allowed,
        fix=fix,
        source=MIG_PAGE,
    )


def _slice_faults(mig: Mig, gpu: MigGpu | None, path: str) -> Iterator[Finding]:
    compute = sum(map(compute_slices, mig.profiles))
    most = MOST_COMPUTE_SLICES if gpu is None else gpu.compute_slices
    if compute > most:
        message = f"they take {compute} compute slices"
        yield _does_not_fit(mig, path, message, allowed=f"{most} compute slices", fix=_FEWER)
    if gpu is None:
        return
    memory, most = sum(gpu.profiles[one].memory_slices for one in mig.profiles), gpu.memory_slices
    if memory > most:
        message = f"they take {memory} memory slices"
        yield _does_not_fit(mig, path, message, allowed=f"{most} memory slices", fix=_FEWER)


def _count_faults(mig: Mig, gpu: MigGpu, path: str) -> Iterator[Finding]:
    for profile, count in Counter(mig.profiles).items():
        most = gpu.profiles[profile].most
        if count > most:
            message = f"it holds fewer of {profile}"
            yield _does_not_fit(mig, path, message, allowed=f"{most} of {profile}", fix=_FEWER)


def _media_faults(mig: Mig, path: str) -> Iterator[Finding]:
    owners = [one for one in mig.profiles if one.endswith((_MEDIA, _ALL_MEDIA))]
    others = [one for one in mig.profiles if one not in owners and not one.endswith(_NO_MEDIA)]
    if len(owners) > 1:
        message = "only one of them can have its media engines"
        allowed = f"one partition with {_MEDIA} or {_ALL_MEDIA}"
        fix = "name the others without it"
        yield _does_not_fit(mig, path, message, allowed=allowed, fix=fix)
    elif owners and owners[0].endswith(_ALL_MEDIA) and others:
        message = f"{owners[0]} has every media engine"
        allowed = f"partitions with {_NO_MEDIA} beside it"
        fix = f"use the profile with {_NO_MEDIA} instead of {others[0]}"
        yield _does_not_fit(mig, path, message, allowed=allowed, fix=fix)


def _place_faults(mig: Mig, gpu: MigGpu, path: str) -> Iterator[Finding]:
    profiles = [gpu.profiles[one] for one in mig.profiles]
    if any(one.starts is None for one in profiles):
        return
    if not has_room(profiles):
        message = "there is no room for all of them beside each other"
        allowed = "; ".join(dict.fromkeys(map(_room, profiles)))
        yield _does_not_fit(mig, path, message, allowed=allowed, fix=_FEWER)
    elif not mig.is_prepared and created(gpu, profiles) is None:
        order = " ".join(one.name for one in largest_first(profiles))
        yield fault(
            "MigLayoutDoesNotFit",
            path,
            "in this order the driver finds no place for all of them: it moves none to make room",
            got=" ".join(mig.profiles),
            allowed="large partitions before small ones",
            fix=f"name them in this order: {order}",
            source=_ORDERS,
        )


def _room(profile: MigProfile) -> str:
    starts = " or ".join(map(str, profile.starts or ()))
    return f"{profile.name} takes {profile.memory_slices} memory slices from slice {starts}"
