"""Waits until the scheduler has made up its mind about every Pod."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from eks_devices.names import CLAIM_FIELDS, DEFAULT_SCHEDULER

from ..control_plane import Api
from .watching import PodState, PodWatch
from .workloads import Workload

RESOURCES: Final = "resource.k8s.io/v1"
NO_CLAIM: Final = "NoClaim"
"""Our word for the refusal of a Pod whose claim is not there: its scheduler says nothing."""
OTHER_SCHEDULER: Final = "OtherScheduler"
"""Our word for a Pod that the scheduler here is not asked about."""
_SECONDS_BETWEEN_LOOKS: Final = 0.2
# It looks again at a Pod within two seconds of a change.
_QUIET_SECONDS: Final = 3.5
_QUIET_WHEN_ALL_ARE_BOUND: Final = 0.5


def settled(
    api: Api, watch: PodWatch, workloads: Sequence[Workload], *, seconds: float
) -> tuple[list[PodState], bool]:
    """The Pods once each has a node or a refusal that stays, and whether they came to that.

    Args:
        api: An administrator's client.
        watch: Follows the Pods.
        workloads: Whose Pods they are.
        seconds: How long to wait at most.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
        quiet, pods = watch.quiet_seconds(), watch.pods()
        if quiet >= _QUIET_WHEN_ALL_ARE_BOUND and _all_bound(pods, workloads):
            return pods, True
        if quiet >= _QUIET_SECONDS:
            told = explained(api, pods)
            if all(one.node or one.reason for one in told):
                return told, True
    return explained(api, watch.pods()), False


def _all_bound(pods: Sequence[PodState], workloads: Sequence[Workload]) -> bool:
    there = Counter(one.workload for one in pods)
    complete = all(one.wanted is not None and there[one.index] >= one.wanted for one in workloads)
    return complete and all(one.node for one in pods)


def explained(api: Api, pods: Sequence[PodState]) -> list[PodState]:
    """Pods, with a reason for those that no scheduler here says anything of."""
    if all(one.node or one.reason for one in pods):
        return list(pods)
    there = {field: _there(api, kind) for field, kind in CLAIM_FIELDS.items()}
    return [_explained(one, there) for one in pods]


def _there(api: Api, kind: str) -> frozenset[tuple[str, str]]:
    found = (one["metadata"] for one in api.list(RESOURCES, kind))
    return frozenset((one["namespace"], one["name"]) for one in found)


def _explained(pod: PodState, there: Mapping[str, Collection[tuple[str, str]]]) -> PodState:
    if pod.node or pod.reason:
        return pod
    scheduler = pod.spec.get("schedulerName", DEFAULT_SCHEDULER)
    if scheduler != DEFAULT_SCHEDULER:
        message = f"its scheduler {scheduler!r} does not run here, so nobody looks at it"
        return replace(pod, reason=OTHER_SCHEDULER, message=message)
    for one in pod.spec.get("resourceClaims", ()):
        for field, kind in CLAIM_FIELDS.items():
            if (name := one.get(field)) and (pod.namespace, name) not in there[field]:
                message = f"there is no {kind} {name} in namespace {pod.namespace}"
                return replace(pod, reason=NO_CLAIM, message=message)
    return pod
