"""Whether the driver of a group's GPUs serves how a claim wants to use them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .._data import read_toml
from ..feature_gates import excluding_gate, gates_source, told_gates
from ..findings import Finding, fault, info, warning
from ..instance_types import AcceleratedInstanceType
from ..names import EXTERNAL_OWNER, HOST_OWNER, MPS_GATE, PASSTHROUGH_GATE, TIME_SLICING_GATE
from ..plans import DevicePlan, NodegroupPlan
from ..vocabulary import DeviceType, Feature, Mechanism
from .cut_on_nodegroup import cut_faults
from .kinds import RequestKind
from .requests import DeviceRequest
from .templates import DeviceClaim, ResourceClaimTemplate

SHARING_GATES: Final = {Feature.TIME_SLICING: TIME_SLICING_GATE, Feature.MPS: MPS_GATE}
"""The gates of the driver without which GPUs are not shared in these ways."""
_SHARES_PAGE: Final = (
    "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/v0.5.0/"
    "demo/specs/consumable-shares/README.md"
)
_BY_MEMORY: Final = "memory"


def gpu_claim_faults(claim: DeviceClaim, plan: NodegroupPlan) -> Iterator[Finding]:
    """Faults of what the driver on the nodes does not do; a driver of others is not judged."""
    gpus = _our_gpus(plan)
    if gpus is None:
        return
    for index, gate in missing_gates(claim, plan):
        at = f"{claim.path}.requests[{index}]"
        shared = claim.requests[index].sharing is not None
        yield _gate_fault(f"{at}.sharing" if shared else at, gate, gpus, plan)
    for index, request in enumerate(claim.requests):
        path = f"{claim.path}.requests[{index}]"
        if request.memory is not None and not _shares(gpus):
            yield _memory_fault(f"{path}.memory", request.memory, plan)
    yield from cut_faults(claim, gpus, plan)


def missing_gates(
    claim: DeviceClaim, plan: NodegroupPlan, *, selected: bool = True
) -> Iterator[tuple[int, str]]:
    """The requests, by index, whose gate the driver on a group's nodes has off, and the gate.

    Args:
        claim: The claim.
        plan: The group.
        selected: Whether requests with selectors of a user's own count.
    """
    gpus = _our_gpus(plan)
    on = {} if gpus is None else told_gates(gpus.settings)
    for index, request in enumerate(claim.requests):
        gate = _gate(request)
        if gpus and gate and not on.get(gate, False) and (selected or not request.selectors):
            yield index, gate


def gpu_claim_findings(claim: DeviceClaim, plan: NodegroupPlan) -> Iterator[Finding]:
    """What is worth knowing of a claim for GPUs on the nodes of a group."""
    gpus = _our_gpus(plan)
    shares = _shares(gpus) if gpus else ""
    if any(_may_be_shared(one, shares) for one in claim.requests):
        yield _shared_by_claims(claim, shares)
    elif isinstance(claim, ResourceClaimTemplate) and any(one.sharing for one in claim.requests):
        yield _shared_by_containers(claim)
    if gpus is not None:
        yield from _slice_findings(claim, plan)
        yield from _part_findings(claim, plan)
    if any(one.kind is RequestKind.VFIO for one in claim.requests):
        yield _offered_twice(claim, plan)


def _our_gpus(plan: NodegroupPlan) -> DevicePlan | None:
    """The GPUs of a group whose DRA driver is ours or Bottlerocket's."""
    gpus = plan.device_of(DeviceType.GPU)
    if gpus is None or gpus.mechanism is not Mechanism.DRA or gpus.owner == EXTERNAL_OWNER:
        return None
    return gpus


def _shares(gpus: DevicePlan) -> str:
    return str(gpus.settings.get("consumable-shares", ""))


def _gate(request: DeviceRequest) -> str:
    """The gate of the driver that a request needs; empty for none."""
    if request.kind is RequestKind.VFIO:
        return PASSTHROUGH_GATE
    return SHARING_GATES[request.sharing.feature] if request.sharing else ""


def _gate_fault(path: str, gate: str, gpus: DevicePlan, plan: NodegroupPlan) -> Finding:
    return fault(
        "ClaimNeedsFeatureGate",
        path,
        f"the GPU driver on node group {plan.name} has {gate} off, so Pods with the claim would "
        "not start",
        got=f"{gate}=false",
        allowed=f"{gate}=true",
        fix=gate_fix(gate, gpus),
        source=gates_source(),
    )


def gate_fix(gate: str, gpus: DevicePlan) -> str:
    """How a group comes to a driver with a gate on."""
    switch = f'gpu_driver=GpuDriver(feature_gates={{"{gate}": True}})'
    if gpus.owner == HOST_OWNER:
        return f"leave host_service out, and pass {switch}: the built-in driver has no gates"
    other = excluding_gate(gate, told_gates(gpus.settings))
    if other:
        return f"use another group with {switch}: {gate} does not work together with {other}"
    return f"pass {switch} to the group"


def _memory_fault(path: str, memory: str, plan: NodegroupPlan) -> Finding:
    return fault(
        "MemoryNeedsShares",
        path,
        f"node group {plan.name} gives a GPU to one claim at a time, with all its memory",
        got=memory,
        allowed="None without consumable shares",
        fix='pass gpu_driver=GpuDriver(consumable_shares="memory") to the group, or leave memory '
        "out",
        source=_SHARES_PAGE,
    )


def _may_be_shared(request: DeviceRequest, shares: str) -> bool:
    """Whether other claims may get the device of a request at the same time."""
    if not shares or request.kind not in (RequestKind.GPU, RequestKind.MIG):
        return False
    return shares != _BY_MEMORY or request.memory is not None


def _shared_by_claims(claim: DeviceClaim, shares: str) -> Finding:
    text = "several claims, and requests of a claim, may get one GPU at once, without isolation"
    if any(one.sharing for one in claim.requests):
        text += "; the driver starts no Pod whose claim shares the GPU in another way than the "
        text += "claims that have it"
    if shares != _BY_MEMORY:
        text += "; claims that ask for no memory take none"
    return info(
        "SharedByClaims",
        f"{claim.path}.requests",
        text,
        fix="give Pods that need a GPU of their own a group without consumable_shares",
        source=_SHARES_PAGE,
    )


def _shared_by_containers(claim: DeviceClaim) -> Finding:
    return info(
        "SharedByContainers",
        f"{claim.path}.requests",
        "a template gives every Pod a claim and GPUs of its own, so only the containers of a Pod "
        "share them",
        fix="for Pods that share GPUs make a ResourceClaim, which they name",
        source="https://kubernetes.io/docs/concepts/scheduling-eviction/"
        "dynamic-resource-allocation/",
    )


def _slice_findings(claim: DeviceClaim, plan: NodegroupPlan) -> Iterator[Finding]:
    """The driver fails where a GPU does not let its time slice be set."""
    row = read_toml("limits.toml")["time_slices"]
    chip = AcceleratedInstanceType.of(plan.instance_type).accelerator
    if chip is None or (chip.name in row["gpus"] and chip.partition == 1):
        return
    for index, request in enumerate(claim.requests):
        if request.sharing is not None and request.sharing.feature is Feature.TIME_SLICING:
            path = f"{claim.path}.requests[{index}].sharing"
            yield warning(
                "TimeSliceUnproven", path, row["message"], fix=row["fix"], source=row["source"]
            )


def _part_findings(claim: DeviceClaim, plan: NodegroupPlan) -> Iterator[Finding]:
    """The warning of MPS on a part of a GPU; time slices have one of their own."""
    row = read_toml("limits.toml")["gpu_parts"]["sharing"]
    chip = AcceleratedInstanceType.of(plan.instance_type).accelerator
    if chip is None or chip.partition >= 1:
        return
    for index, request in enumerate(claim.requests):
        if request.sharing is not None and request.sharing.feature is Feature.MPS:
            path = f"{claim.path}.requests[{index}].sharing"
            yield warning(
                "SharingUnproven", path, row["message"], fix=row["fix"], source=row["source"]
            )


def _offered_twice(claim: DeviceClaim, plan: NodegroupPlan) -> Finding:
    return warning(
        "GpuOfferedTwice",
        f"{claim.path}.requests",
        f"nodes of group {plan.name} offer every free GPU as a whole and for virtual machines, so "
        "two Pods that start at once may be given one GPU, and one of them never starts",
        fix="claim no whole GPUs on this group",
        source="https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/v0.5.0/"
        "cmd/gpu-kubelet-plugin/device_state.go",
    )
