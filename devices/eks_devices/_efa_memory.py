"""Huge pages and shared memory of the containers that use EFA."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, Final

from ._pod_specs import AMOUNTS, POD_SPEC, Container, PodSpec
from .findings import Finding, fault
from .quantities import MIB, amount_of, quantity_of
from .syntax import well_formed
from .typecheck import is_number_token, is_token

HUGEPAGES: Final = "hugepages-2Mi"
_PAGE: Final = 2 * MIB
_BESIDE: Final = ("cpu", "memory")
_MOUNT: Final = "/dev/shm"  # noqa: S108  (a mount in containers, not a file of this process)
_VOLUME: Final = "shared-memory"
_PAGES: Final = "https://kubernetes.io/docs/tasks/manage-hugepages/scheduling-hugepages/"
_EMPTY_DIR: Final = "https://kubernetes.io/docs/concepts/storage/volumes/#emptydir"


def hugepages_faults(value: object, path: str) -> Iterator[Finding]:
    """The fault of a value that is no amount of memory in whole pages."""
    yield from _size_faults(value, path, _PAGE, "5120Mi", _PAGES)


def shared_memory_faults(value: object, path: str) -> Iterator[Finding]:
    """The fault of a value that is no amount of memory of 1Mi or more."""
    yield from _size_faults(value, path, MIB, "8Gi", _EMPTY_DIR)


def _size_faults(
    value: object, path: str, unit: int, example: str, source: str
) -> Iterator[Finding]:
    yield from well_formed(
        value,
        path,
        lambda given: _is_multiple(amount_of(given), unit, lowest=unit),
        code="MalformedQuantity",
        message="this is no such amount of memory; a number without a unit is one of bytes",
        allowed=f"a multiple of {unit // MIB}Mi with its unit, such as {example}, or None",
        fix=f'write "{example}", or None to leave it out',
        source=source,
    )


def _is_multiple(amount: Fraction | None, unit: int, *, lowest: int) -> bool:
    return amount is not None and amount >= lowest and amount % unit == 0


def reserve_hugepages(pod: PodSpec, container: Container, amount: str | None) -> None:
    """Give a container huge pages, the same as its limit and as its request.

    Args:
        pod: The Pod spec, which is changed, and gets the faults of what the API server refuses.
        container: The container; what it asks for already stays.
        amount: How much; None adds nothing.
    """
    amounts = pod.amounts(container)
    own = [one[HUGEPAGES] for one in amounts if one.get(HUGEPAGES) is not None]
    if not own and amount is None:
        return
    pod.faults += list(_own_faults(own, container))
    if all(one.get(name) is None for one in amounts for name in _BESIDE):
        pod.faults.append(_memory_needed(container))
    resources = container.values["resources"] = pod.part(
        container.values, "resources", dict, container.path
    )
    for field, one in zip(AMOUNTS, amounts, strict=True):
        given = one.get(HUGEPAGES)
        resources[field] = {**one, HUGEPAGES: (own or [amount])[0] if given is None else given}


def _own_faults(own: list[Any], container: Container) -> Iterator[Finding]:
    path = f"{container.path}.resources"
    known = [one for one in own if not is_token(one) and not is_number_token(one)]
    amounts = list(map(quantity_of, known))
    for given, amount in zip(known, amounts, strict=True):
        if not _is_multiple(amount, _PAGE, lowest=0):
            yield fault(
                "MalformedQuantity",
                f"{path}.limits[{HUGEPAGES!r}]",
                "huge pages are counted in whole ones; a number without a unit is one of bytes",
                got=given,
                allowed="a multiple of 2Mi with its unit, such as 5120Mi",
                fix="write the amount with its unit, or leave it out",
                source=_PAGES,
            )
            return
    if len(set(amounts)) > 1:
        yield fault(
            "HugePagesNotEqual",
            path,
            "the API server takes huge pages only where request and limit are the same",
            got=own,
            allowed="one amount as both",
            fix="leave the request out: it follows from the limit",
            source=_PAGES,
        )


def _memory_needed(container: Container) -> Finding:
    return fault(
        "HugePagesNeedMemory",
        f"{container.path}.resources",
        "the API server takes huge pages only beside memory or cpu, and how much of these the "
        "container needs nobody else knows",
        got=container.name,
        allowed="a container with memory or cpu among its requests or limits",
        fix='add requests={"memory": "..."} to its resources, or pass hugepages=None',
        source=_PAGES,
    )


def share_memory(pod: PodSpec, containers: Iterable[Container], size: str | None) -> None:
    """Mount a file system in memory at /dev/shm, larger than the 64 MiB of a container runtime.

    Args:
        pod: The Pod spec, which is changed.
        containers: The containers; those with a mount there keep it.
        size: The most that it may hold; None adds nothing.
    """
    lacking = [one for one in containers if not _is_mounted(pod, one)]
    if size is None or not lacking:
        return
    volume = {"name": _VOLUME, "emptyDir": {"medium": "Memory", "sizeLimit": size}}
    entries = list(pod.entries(pod.values, "volumes", POD_SPEC))
    same = [(path, one) for path, one in entries if _is_text(one.get("name"), _VOLUME)]
    pod.faults += [_volume_taken(path, one) for path, one in same if not _is(one, volume)]
    if not same:
        pod.values["volumes"] = [*pod.part(pod.values, "volumes", list, POD_SPEC), volume]
    for one in lacking:
        mounts = pod.part(one.values, "volumeMounts", list, one.path)
        one.values["volumeMounts"] = [*mounts, {"name": _VOLUME, "mountPath": _MOUNT}]


def _is_mounted(pod: PodSpec, container: Container) -> bool:
    mounts = pod.entries(container.values, "volumeMounts", container.path)
    paths = [one.get("mountPath") for _, one in mounts]
    return any(isinstance(path, str) and path.rstrip("/") == _MOUNT for path in paths)


def _is_text(value: object, text: str) -> bool:
    return isinstance(value, str) and value == text


def _is(volume: dict[str, Any], ours: dict[str, Any]) -> bool:
    try:
        return volume == ours
    except Exception:  # noqa: BLE001  (values of a user's may refuse to be compared)
        return False


def _volume_taken(path: str, volume: dict[str, Any]) -> Finding:
    return fault(
        "VolumeNameTaken",
        path,
        f"the Pod has another volume of the name of that for {_MOUNT}",
        got={key: volume[key] for key in volume if key != "name"},
        allowed=f"{_VOLUME} for what is mounted at {_MOUNT}",
        fix=f"rename the volume, mount it at {_MOUNT} yourself, or pass shared_memory=None",
        source=_EMPTY_DIR,
    )
