"""Whether a node has the devices of all claims of a Pod together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..findings import Finding, fault
from ..plans import NodegroupPlan
from ..vocabulary import DeviceType
from .kinds import RequestKind
from .requests import DeviceRequest
from .syntax import DRA_PAGE
from .templates import DeviceClaim, ResourceClaimTemplate

_WHOLE: Final = (RequestKind.GPU, RequestKind.NEURON, RequestKind.EFA)
_CALLED: Final = {
    DeviceType.GPU: "GPUs",
    DeviceType.NEURON: "Neuron devices",
    DeviceType.EFA: "EFAs",
}
Manifest = Mapping[str, Any]


def together_faults(
    claims: Sequence[tuple[DeviceClaim, Manifest]], plan: NodegroupPlan
) -> Iterator[Finding]:
    """The fault of claims that ask together for more whole devices than a node has.

    Of alternatives the least counts, of all devices that selectors match one.

    Args:
        claims: The claims of a Pod, each with its manifest for the group.
        plan: The plan of the group.
    """
    if len(claims) == 1:
        return
    total: Counter[DeviceType] = Counter()
    for claim, manifest in claims:
        total += _devices(claim, manifest, plan)
    for device_type, wanted in total.items():
        has = _most(device_type, plan)
        if has is not None and wanted > has:
            yield _too_many(claims, device_type, wanted, has, plan)


def _most(device_type: DeviceType, plan: NodegroupPlan) -> int | None:
    """The devices that a node hands out one by one; None where claims share or cut them."""
    device = plan.device_of(device_type)
    if device is None:
        return None
    is_cut = device_type is DeviceType.GPU and plan.mig is not None
    return None if is_cut or device.settings.get("consumable-shares") else device.count


def _devices(claim: DeviceClaim, manifest: Manifest, plan: NodegroupPlan) -> Counter[DeviceType]:
    spec = manifest["spec"]
    inner = spec["spec"] if isinstance(claim, ResourceClaimTemplate) else spec
    total: Counter[DeviceType] = Counter()
    for request, written in zip(claim.requests, inner["devices"]["requests"], strict=True):
        options = written.get("firstAvailable") or [written["exactly"]]
        asked = [
            _of_option(option, one, plan)
            for option, one in zip(request.options, options, strict=True)
        ]
        for device_type in {kind for one in asked for kind in one}:
            total[device_type] += min(one.get(device_type, 0) for one in asked)
    return total


def _of_option(
    option: DeviceRequest, written: Manifest, plan: NodegroupPlan
) -> dict[DeviceType, int]:
    device_type = option.kind.device_type
    if option.kind not in _WHOLE or written.get("adminAccess"):
        return {}
    if written.get("allocationMode") == "All":
        device = plan.device_of(device_type)
        return {device_type: 1 if option.selectors or device is None else device.count}
    return {device_type: written.get("count", 1)}


def _too_many(
    claims: Sequence[tuple[DeviceClaim, Manifest]],
    device_type: DeviceType,
    wanted: int,
    has: int,
    plan: NodegroupPlan,
) -> Finding:
    names = ", ".join(claim.name for claim, _ in claims)
    return fault(
        "TooManyDevices",
        "claims",
        f"the claims {names} ask together for more {_CALLED[device_type]} than a node of group "
        f"{plan.name} has",
        got=wanted,
        allowed=f"at most {has}",
        fix=f"ask for {wanted - has} fewer in one of them",
        source=DRA_PAGE,
    )
