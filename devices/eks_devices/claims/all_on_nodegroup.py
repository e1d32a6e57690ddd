"""Requests for every device, or every EFA, of a node: how many those are on a group's nodes."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, fault
from ..mig import partitions
from ..plans import NodegroupPlan
from ..vocabulary import DeviceType
from .choices import changed, places_of
from .constraints import all_constraints, covers
from .kinds import RequestKind
from .match import MatchAttribute
from .requests import DeviceRequest
from .selectors_on_nodegroup import matching_devices
from .templates import DeviceClaim

_PANIC = "https://github.com/kubernetes/kubernetes/pull/138988"


def all_on_nodegroup(plan: NodegroupPlan, request: DeviceRequest) -> int:
    """How many devices of a node of a group are all that match; the least that it can be.

    Which of them CEL of the user's own matches is not looked at.
    """
    device = plan.device_of(request.kind.device_type)
    if device is None:
        return 1
    if request.selectors:
        return matching_devices(request, plan) or 1
    if request.kind is RequestKind.MIG:
        return device.count * _partitions(plan, request.profile) or 1
    return device.count or 1


def _partitions(plan: NodegroupPlan, profile: str | None) -> int:
    if plan.mig is None or plan.mig.is_dynamic:
        return 0
    return dict(partitions(plan.mig, plan.instance_type) or ()).get(profile or "", 0)


def all_on_nodegroup_faults(claim: DeviceClaim, plan: NodegroupPlan) -> Iterator[Finding]:
    """Faults of all devices of a group whose driver cuts GPUs on request."""
    if plan.mig is None or not plan.mig.is_dynamic:
        return
    for index, request in enumerate(claim.requests):
        for place, one in places_of(request, index):
            if one.takes_all and one.kind.device_type is DeviceType.GPU:
                yield fault(
                    "AllOfDynamicMig",
                    f"{claim.path}.{place}",
                    "all of what can be cut shares the slices of the GPUs, so it is never free as "
                    "a whole, and the scheduler of Kubernetes 1.36.0 and 1.36.1 crashed over it",
                    got="all devices",
                    allowed="a number of devices",
                    fix="write how many GPUs or partitions",
                    source=_PANIC,
                )


def fitted_claim(claim: DeviceClaim, plan: NodegroupPlan) -> DeviceClaim:
    """Without a match, an open EFA count is every EFA that the group's nodes have."""
    efa = plan.device_of(DeviceType.EFA)
    if efa is None:
        return claim
    requests = [_filled(claim, one, efa.count) for one in claim.requests]
    if all(one is given for one, given in zip(requests, claim.requests, strict=True)):
        return claim
    filled: DeviceClaim = changed(claim, requests=tuple(requests))
    return filled


def _filled(claim: DeviceClaim, request: DeviceRequest, efas: int) -> DeviceRequest:
    options = [
        changed(one, count=efas) if one.is_open and not _is_matched(claim, request, one) else one
        for one in request.options
    ]
    if all(one is given for one, given in zip(options, request.options, strict=True)):
        return request
    filled: DeviceRequest = (
        changed(request, alternatives=tuple(options)) if request.alternatives else options[0]
    )
    return filled


def _is_matched(claim: DeviceClaim, request: DeviceRequest, option: DeviceRequest) -> bool:
    return any(
        isinstance(one, MatchAttribute) and covers(one, request, option)
        for _, one in all_constraints(claim)
    )
