"""What a claim with GPUs for virtual machines may hold."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, fault
from .asked import Asked
from .configs import STATE_PAGE
from .kinds import RequestKind
from .requests import DeviceRequest


def passthrough_faults(asked: Asked) -> Iterator[Finding]:
    """Faults of passed-through GPUs beside others, and of such with different options."""
    vfio = [
        (index, one) for index, one in enumerate(asked.requests) if one.kind is RequestKind.VFIO
    ]
    if not vfio:
        return
    for index, one in enumerate(asked.requests):
        if one.kind in (RequestKind.GPU, RequestKind.MIG):
            yield _beside_others(f"{asked.path}.requests[{index}]", one)
    for index, one in vfio[1:]:
        if _options(one) != _options(vfio[0][1]):
            yield _options_differ(f"{asked.path}.requests[{index}]", one, vfio[0][1])


def _options(request: DeviceRequest) -> tuple[object, ...]:
    return request.iommu_backend, request.enable_api_device


def _beside_others(path: str, request: DeviceRequest) -> Finding:
    return fault(
        "PassthroughBesideOthers",
        path,
        "the driver offers a GPU as a whole and for virtual machines at once, so the claim could "
        "get one GPU both ways",
        got=f"{request.kind.value} beside {RequestKind.VFIO.value}",
        allowed="passed-through GPUs and EFAs",
        fix="give the two claims of their own, of different Pods",
        source=STATE_PAGE,
    )


def _options_differ(path: str, request: DeviceRequest, first: DeviceRequest) -> Finding:
    return fault(
        "PassthroughOptionsDiffer",
        path,
        "the driver takes one configuration for all passed-through GPUs of a claim",
        got=f"iommu_backend={request.iommu_backend}, enable_api_device={request.enable_api_device}",
        allowed=f"iommu_backend={first.iommu_backend}, enable_api_device={first.enable_api_device}"
        ", as in the first of these requests",
        fix="write the same in each, or use claims of their own",
        source=STATE_PAGE,
    )
