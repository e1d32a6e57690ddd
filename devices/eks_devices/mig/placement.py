"""Where the partitions of a GPU lie, and in which order the driver can create them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .geometry import MigGpu, MigProfile

# A partition takes the memory slices from its first number to before its second one.
Place = tuple[int, int]


def has_room(profiles: Sequence[MigProfile]) -> bool:
    """Whether partitions of profiles with known placements can lie beside each other on a GPU.

    Source: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
    """
    return _lie(largest_first(profiles), ())


def created(gpu: MigGpu, profiles: Sequence[MigProfile]) -> tuple[int, ...] | None:
    """The first memory slices of partitions that are created one after another.

    Each gets the place that leaves the most placements open for further ones, and is not moved
    afterwards. NVIDIA documents the outcome for some orders, not the rule; this one agrees with
    every documented outcome.

    Returns:
        None where one of them finds no place any more, though another order may work.

    Source: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/getting-started-with-mig.html
    """
    taken: list[Place] = []
    for profile in profiles:
        free = list(_free(profile, taken))
        if not free:
            return None
        taken.append(max(free, key=lambda place: (_open(gpu, [*taken, place]), -place[0])))
    return tuple(first for first, _ in taken)


def largest_first(profiles: Sequence[MigProfile]) -> tuple[MigProfile, ...]:
    """The order of creation that works wherever any does, on all GPUs with known placements."""
    return tuple(sorted(profiles, key=lambda one: (-one.memory_slices, -one.compute_slices)))


def _free(profile: MigProfile, taken: Sequence[Place]) -> Iterator[Place]:
    for first in profile.starts or ():
        end = first + profile.memory_slices
        if all(end <= other or first >= other_end for other, other_end in taken):
            yield first, end


def _open(gpu: MigGpu, taken: Sequence[Place]) -> int:
    return sum(len(list(_free(profile, taken))) for profile in gpu.profiles.values())


def _lie(profiles: Sequence[MigProfile], taken: tuple[Place, ...]) -> bool:
    if not profiles:
        return True
    return any(_lie(profiles[1:], (*taken, place)) for place in _free(profiles[0], taken))
