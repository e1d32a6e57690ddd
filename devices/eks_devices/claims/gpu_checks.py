"""What a request can ask of GPUs beyond their number: sharing, memory, virtual machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ..findings import Finding, fault, shown
from ..typecheck import boolean, member, path_step, wrong_type
from ..vocabulary import Feature
from .configs import SHARING_PAGE, STATE_PAGE
from .kinds import IommuBackendPolicy, RequestKind
from .sharing import ClaimSharing
from .syntax import memory_faults

if TYPE_CHECKING:
    from .requests import DeviceRequest

_SHARED: Final = {RequestKind.GPU: "GPU-", RequestKind.MIG: "MIG-"}
_VFIO_OPTIONS = ("iommu_backend", "enable_api_device")


def option_does_not_fit(value: object, path: str, owner: str) -> Iterator[Finding]:
    """The fault of an option that belongs to requests of another kind; None is none."""
    if value is not None:
        yield fault(
            "OptionDoesNotFit",
            path,
            f"this option belongs to {owner}",
            got=value,
            allowed="None",
            fix="leave it out",
        )


def gpu_faults(request: DeviceRequest, path: str) -> Iterator[Finding]:
    """Faults of what a request asks of GPUs, and of such options on other devices."""
    yield from _sharing_faults(request, f"{path}.sharing")
    yield from _memory_faults(request, f"{path}.memory")
    if request.kind is not RequestKind.VFIO:
        for name in _VFIO_OPTIONS:
            at, owner = f"{path}.{name}", "requests for passed-through GPUs"
            yield from option_does_not_fit(getattr(request, name), at, owner)
        return
    if request.iommu_backend is not None:
        yield from member(request.iommu_backend, IommuBackendPolicy, f"{path}.iommu_backend")
    yield from boolean(request.enable_api_device, f"{path}.enable_api_device", optional=True)


def _sharing_faults(request: DeviceRequest, path: str) -> Iterator[Finding]:
    sharing = request.sharing
    if request.kind not in _SHARED:
        yield from option_does_not_fit(sharing, path, "requests for GPUs and their partitions")
    elif isinstance(sharing, ClaimSharing):
        if request.kind is RequestKind.MIG and sharing.feature is Feature.TIME_SLICING:
            yield _time_slices_of_partitions(path)
        yield from _device_faults(request, sharing, f"{path}.per_device_memory")
    elif sharing is not None:
        wanted = "ClaimSharing.time_slicing(), ClaimSharing.mps() or None"
        yield wrong_type(path, sharing, wanted, "use a factory of ClaimSharing")


def _time_slices_of_partitions(path: str) -> Finding:
    return fault(
        "TimeSlicingOfPartitions",
        path,
        "the driver takes a time-slicing configuration of MIG partitions, and does nothing",
        got="ClaimSharing.time_slicing() of a partition",
        allowed="ClaimSharing.mps() or None",
        fix="use ClaimSharing.mps(), ask for smaller partitions, or share whole GPUs",
        source=SHARING_PAGE,
    )


def _device_faults(request: DeviceRequest, sharing: ClaimSharing, path: str) -> Iterator[Finding]:
    """Faults of limits for devices that the request cannot get."""
    count, prefix = request.count, _SHARED[request.kind]
    if type(count) is not int or count < 1:
        return
    for key in sharing.per_device_memory:
        if not (key.startswith(prefix) if isinstance(key, str) else key < count):
            yield _no_such_device(f"{path}[{path_step(key)}]", key, request, prefix)
    if len(sharing.per_device_memory) > count:
        yield _more_limits_than_devices(path, len(sharing.per_device_memory), count)


def _no_such_device(path: str, key: object, request: DeviceRequest, prefix: str) -> Finding:
    return fault(
        "NoSuchDeviceOfRequest",
        path,
        "the request gets no device of this name, and the driver would not start the Pod",
        got=key,
        allowed=f"indexes below {shown(request.count)}, the count, or UUIDs that begin {prefix}",
        fix="count from 0, or ask for more devices",
        source=SHARING_PAGE,
    )


def _more_limits_than_devices(path: str, limits: int, count: int) -> Finding:
    return fault(
        "NoSuchDeviceOfRequest",
        path,
        "there are more limits than devices, so one of them is of a device that the request does "
        "not get, or two are of one",
        got=f"{limits} limits",
        allowed=f"at most {count}",
        fix="leave one out, or ask for more devices",
        source=SHARING_PAGE,
    )


def _memory_faults(request: DeviceRequest, path: str) -> Iterator[Finding]:
    if request.kind is not RequestKind.GPU:
        yield from option_does_not_fit(request.memory, path, "requests for whole GPUs")
    elif request.memory is not None:
        yield from memory_faults(request.memory, path)
        sharing = request.sharing
        if isinstance(sharing, ClaimSharing) and sharing.feature is Feature.MPS:
            yield _mps_of_shares(path, request.memory)


def _mps_of_shares(path: str, memory: str) -> Finding:
    return fault(
        "MpsOfConsumableShares",
        path,
        "a part of a GPU's memory is handed out by consumable shares, with which the driver "
        "starts no MPS daemon",
        got=memory,
        allowed="memory or ClaimSharing.mps(), not both",
        fix="drop one of the two; ClaimSharing.mps(pinned_memory_limit=...) limits processes",
        source=STATE_PAGE,
    )
