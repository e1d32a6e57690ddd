"""What became of workloads: plain values, made from what the cluster says. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from eks_devices import ClusterPlan
from eks_devices.feasibility import Status, Verdict
from eks_devices.workload_check.amounts import ORDINARY
from eks_devices.workload_check.refused import NOT_STARTED

from .files import Object
from .standing import CLAIMS, NodeFacts, Obstacle, add, obstacles, requests_of
from .watching import PodState
from .workloads import Workload

Devices = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Pods on nodes of a group that were given as much as each other.

    `devices` is how many devices of each driver, or of each extended resource, one of them has.
    """

    group: str
    devices: Devices
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """Pods that stay without a node for one reason.

    `reason` and `message` are the scheduler's; `obstacles` tell it group by group where they
    explain all of it.
    """

    count: int
    reason: str
    message: str
    obstacles: tuple[Obstacle, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a workload.

    Attributes:
        workload: It.
        wanted: How many Pods it should have.
        bound: Its Pods with nodes.
        pending: Its Pods without.
        evicted: How many of its Pods lost their nodes to others.
        missing: How many Pods its controller did not make.
        why_missing: What the controller says of them.
        verdicts: What the library's check says, for each spec of Pods with claims, by group.
        contradictions: Where check and scheduler do not agree.
    """

    workload: Workload
    wanted: int
    bound: tuple[Bound, ...]
    pending: tuple[Pending, ...]
    evicted: int = 0
    missing: int = 0
    why_missing: str = ""
    verdicts: tuple[tuple[Verdict, ...], ...] = ()
    contradictions: tuple[str, ...] = ()
    undecided: int = 0

    @property
    def is_fine(self) -> bool:
        """Whether every Pod has a node."""
        gone = self.pending or self.evicted or self.missing or self.undecided
        return not gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a cluster says once it is quiet.

    Attributes:
        nodes: What is known of each node.
        pods: The Pods.
        claims: The ResourceClaims, by namespace and name.
        failures: What controllers say that could not make Pods, by kind, namespace and name.
        wanted: How many Pods controllers want of whom only they know, by the workload's number.
        evicted: How many Pods of each workload lost their nodes.
        by_claims: Extended resources that DRA serves where no plugin does.
    """

    nodes: Mapping[str, NodeFacts]
    pods: Sequence[PodState]
    claims: Mapping[tuple[str, str], Object] = field(default_factory=dict)
    failures: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    wanted: Mapping[int, int] = field(default_factory=dict)
    evicted: Mapping[int, int] = field(default_factory=dict)
    by_claims: frozenset[str] = frozenset()


def results(
    workloads: Sequence[Workload],
    seen: Seen,
    plan: ClusterPlan,
    verdicts: Mapping[int, tuple[tuple[Verdict, ...], ...]],
) -> list[Result]:
    """What became of each workload.

    Args:
        workloads: All of them that the API server took.
        seen: What the cluster says.
        plan: The plan of the cluster.
        verdicts: What the library's check says of each, by number.
    """
    pods: dict[int, list[PodState]] = defaultdict(list)
    for one in seen.pods:
        pods[one.workload].append(one)
    telling = _Telling(seen, plan)
    return [telling.result(one, pods[one.index], verdicts.get(one.index, ())) for one in workloads]


class _Telling:
    def __init__(self, seen: Seen, plan: ClusterPlan) -> None:
        self._seen = seen
        self._offers = {one.name: one.extended_resources for one in plan.nodegroups}
        self._used: dict[str, dict[str, Fraction]] = defaultdict(dict)
        for pod in seen.pods:
            if pod.node:
                add(self._used[pod.node], requests_of(pod.spec))
        self._taken = {one["pool"] for claim in seen.claims.values() for one in _allocated(claim)}

    def result(
        self,
        workload: Workload,
        pods: Sequence[PodState],
        verdicts: tuple[tuple[Verdict, ...], ...],
    ) -> Result:
        bound, pending = self._bound(pods), self._pending(pods)
        wanted = self._seen.wanted.get(workload.index, workload.wanted or 0)
        missing = max(wanted - len(pods), 0)
        return Result(
            workload=workload,
            wanted=wanted,
            bound=bound,
            pending=pending,
            evicted=self._seen.evicted.get(workload.index, 0),
            missing=missing,
            why_missing=self._why_missing(workload, pods) if missing else "",
            verdicts=verdicts,
            contradictions=tuple(self._contradictions(bound, pending, verdicts)),
            undecided=sum(not (one.node or one.reason) for one in pods),
        )

    def _bound(self, pods: Iterable[PodState]) -> tuple[Bound, ...]:
        found: Counter[tuple[str, Devices]] = Counter()
        for pod in pods:
            if pod.node:
                group = self._seen.nodes[pod.node].group
                found[group, tuple(sorted(self._devices(pod, group).items()))] += 1
        return tuple(
            Bound(group=group, devices=devices, count=count)
            for (group, devices), count in sorted(found.items())
        )

    def _devices(self, pod: PodState, group: str) -> Counter[str]:
        offered = self._offers.get(group, ())
        found: Counter[str] = Counter()
        for key, value in requests_of(pod.spec).items():
            if key in offered and value:
                found[key] = int(value)
        for name in sorted(set(pod.claims.values())):
            claim = self._seen.claims.get((pod.namespace, name))
            found.update(one["driver"] for one in _allocated(claim or {}))
        return found

    def _pending(self, pods: Iterable[PodState]) -> tuple[Pending, ...]:
        alike: dict[tuple[str, str, str], list[PodState]] = defaultdict(list)
        for pod in pods:
            if not pod.node and pod.reason:
                alike[pod.reason, _without_names(pod), repr(requests_of(pod.spec))].append(pod)
        found: Counter[Pending] = Counter()
        for (reason, _, _), those in sorted(alike.items()):
            seen, message = self._seen, those[0].message
            why = obstacles(
                message, those[0].spec, seen.nodes, self._used, by_claims=seen.by_claims
            )
            found[Pending(count=0, reason=reason, message=message, obstacles=why)] += len(those)
        return tuple(replace(one, count=count) for one, count in found.items())

    def _why_missing(self, workload: Workload, pods: Sequence[PodState]) -> str:
        kinds = ("CronJob", "Job") if workload.item.kind == "CronJob" else (workload.item.kind,)
        for kind in kinds:
            key = kind, workload.namespace, workload.item.name
            if said := self._seen.failures.get(key):
                return said
        waits = [one.name for one in pods if not one.node]
        if workload.item.kind == "StatefulSet" and waits:
            return f"a StatefulSet makes one after the other, and {waits[0]} has no node"
        return ""

    def _contradictions(
        self,
        bound: Sequence[Bound],
        pending: Sequence[Pending],
        verdicts: tuple[tuple[Verdict, ...], ...],
    ) -> Iterator[str]:
        # Of several specs, whose Pods these are cannot be told apart here.
        for verdict in verdicts[0] if len(verdicts) == 1 else ():
            count = sum(one.count for one in bound if one.group == verdict.nodegroup)
            is_kept_off = verdict.status in (Status.INFEASIBLE, Status.ERROR)
            # What a driver does when Pods start is not played.
            if count and is_kept_off and verdict.code != NOT_STARTED:
                yield (
                    f"{verdict.nodegroup}: {_pods(count)} bound, and the check says "
                    f"{verdict.status}: {verdict.reason}"
                )
            if verdict.status is Status.FEASIBLE and self._refused_by_free(verdict, pending):
                yield (
                    f"{verdict.nodegroup}: the check says that a node serves the Pod, and the "
                    "scheduler refuses nodes of which nobody has devices"
                )

    def _refused_by_free(self, verdict: Verdict, pending: Sequence[Pending]) -> bool:
        group = [one.name for one in self._seen.nodes.values() if one.group == verdict.nodegroup]
        free = [name for name in group if name not in self._taken]
        said = (one for each in pending for one in each.obstacles if one.group == verdict.nodegroup)
        return any(
            _is_for_ever(one) or (one.what == CLAIMS and one.nodes > len(group) - len(free))
            for one in said
        )


def _without_names(pod: PodState) -> str:
    """What the scheduler says of a Pod, without names that differ from one Pod to the next."""
    text = pod.message
    for mine, name in sorted(pod.claims.items(), key=lambda pair: len(pair[1]), reverse=True):
        text = text.replace(name, mine)
    return text


def _is_for_ever(one: Obstacle) -> bool:
    """Whether an obstacle that the check knows of is there on an empty node too."""
    is_checked = "/" in one.what or one.what in ORDINARY
    never = one.kind == "resource" and is_checked and one.short in ("none", "small")
    return never or one.kind in ("taint", "selector")


def _allocated(claim: Mapping[str, Any]) -> Sequence[Mapping[str, str]]:
    allocation = claim.get("status", {}).get("allocation") or {}
    found: Sequence[Mapping[str, str]] = allocation.get("devices", {}).get("results", ())
    return found


def _pods(count: int) -> str:
    return "1 Pod is" if count == 1 else f"{count} Pods are"
