"""Whether the GPUs of a group are cut, or whole, as a claim needs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..findings import Finding, fault
from ..mig import MIG_GUIDE, Mig, partitions
from ..plans import DevicePlan, NodegroupPlan
from .kinds import WHOLE_GPUS, RequestKind
from .requests import DeviceRequest
from .templates import DeviceClaim


def cut_faults(claim: DeviceClaim, gpus: DevicePlan, plan: NodegroupPlan) -> Iterator[Finding]:
    """Faults of partitions on whole GPUs, of whole GPUs where each is cut, and of other cuts.

    Args:
        claim: The claim.
        gpus: The GPUs of the group, by a driver whose options the plan tells.
        plan: The plan of the group.
    """
    mig = plan.mig
    for index, request in enumerate(claim.requests):
        path = f"{claim.path}.requests[{index}]"
        if mig is None and request.kind is RequestKind.MIG:
            yield _not_cut(path, request, plan)
        elif mig is not None and not mig.is_dynamic and request.kind in WHOLE_GPUS:
            yield _no_whole_gpus(path, request, mig, plan)
    if mig is not None and not mig.is_dynamic:
        yield from _other_cuts(claim, mig, gpus, plan)


def _other_cuts(
    claim: DeviceClaim, mig: Mig, gpus: DevicePlan, plan: NodegroupPlan
) -> Iterator[Finding]:
    """Faults of profiles that nodes are not cut into, and of more than they are cut into."""
    cut = dict(partitions(mig, plan.instance_type) or ())
    wanted: Counter[str] = Counter()
    for index, request in enumerate(claim.requests):
        profile = request.profile
        if profile is None:
            continue
        wanted[profile] += request.count or 0
        path = f"{claim.path}.requests[{index}]"
        if profile not in cut:
            yield _other_profile(f"{path}.profile", profile, cut, plan)
        elif wanted[profile] > gpus.count * cut[profile]:
            yield _too_many(f"{path}.count", profile, wanted[profile], gpus.count * cut[profile])


def _not_cut(path: str, request: DeviceRequest, plan: NodegroupPlan) -> Finding:
    return fault(
        "GpusNotCut",
        path,
        f"the GPUs of node group {plan.name} are whole, so a claim for a partition stays pending",
        got=request.profile,
        allowed="DeviceRequest.gpu() without mig on the group",
        fix=f'cut them: mig=Mig.uniform("{request.profile}"), or mig=Mig.dynamic() from '
        "Kubernetes 1.36 on; prepared=True where something else cuts them",
        source=MIG_GUIDE,
    )


def _no_whole_gpus(path: str, request: DeviceRequest, mig: Mig, plan: NodegroupPlan) -> Finding:
    return fault(
        "GpusAreCut",
        path,
        f"every GPU of node group {plan.name} is cut, and the driver publishes no whole one then",
        got=request.kind.value,
        allowed=f"partitions of {', '.join(dict.fromkeys(mig.profiles))}",
        fix=f'ask for DeviceRequest.mig("{mig.profiles[0]}"), or use a group without mig',
        source=MIG_GUIDE,
    )


def _other_profile(path: str, profile: str, cut: dict[str, int], plan: NodegroupPlan) -> Finding:
    return fault(
        "OtherPartitions",
        path,
        f"the GPUs of node group {plan.name} are cut into other partitions",
        got=profile,
        allowed=", ".join(cut),
        fix="ask for one of these, or cut the GPUs otherwise",
        source=MIG_GUIDE,
    )


def _too_many(path: str, profile: str, wanted: int, have: int) -> Finding:
    return fault(
        "TooManyDevices",
        path,
        f"a claim is for one node, and a node of the group is cut into fewer {profile}",
        got=wanted,
        allowed=f"at most {have}",
        fix="ask for fewer, or cut the GPUs otherwise",
        source=MIG_GUIDE,
    )
