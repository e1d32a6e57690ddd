"""A rehearsal on a control plane that runs: what it takes, and what comes of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from eks_devices import ClusterPlan
from eks_devices.feasibility.classes import extended_resource_names
from eks_devices.workload_check.documents import mapping

from .._outcome import OperationError
from ..control_plane import Api, Binaries, ControlPlane
from .files import Item, Object
from .fleet import NodesOfGroup, nodes_of
from .joining import channel_templates, join_all
from .judged import Judgement, judged
from .repeated import Repeated
from .results import Result, Seen, results
from .send import Refusal, Sent, send_all
from .settling import RESOURCES, settled
from .train_jobs import runtime_of
from .watching import PodWatch
from .workloads import Workload, split

# Nobody says that nodes live, and nothing here is about nodes that do not.
_NODES_LIVE_SECONDS: Final = 24 * 60 * 60
# Which of so many equal nodes a Pod is on matters to nobody, and comparing them takes most of the
# time. Kubernetes compares a hundred at least, so that smaller fleets are placed as ever.
_NODES_TO_SCORE_PERCENT: Final = 1


def control_plane(binaries: Binaries, folder: Path) -> ControlPlane:
    """A control plane as a rehearsal takes it, not started yet.

    Args:
        binaries: What to run.
        folder: Where logs and keys are.
    """
    return ControlPlane(
        binaries,
        folder,
        node_grace_seconds=_NODES_LIVE_SECONDS,
        nodes_to_score_percent=_NODES_TO_SCORE_PERCENT,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What is rehearsed.

    Args:
        plan: The node groups.
        items: The objects of the user's files.
        claims: The manifests of the claims that the plan's app makes.
        nodes: How many nodes groups have, where not as the plan says.
        namespace: Where objects are that name no namespace.
        seconds: How long to wait for the scheduler at most.
        nodegroup_names: The names of groups in EKS, by their names in the plan.
    """

    plan: ClusterPlan
    items: Sequence[Item]
    claims: Sequence[Object] = ()
    nodes: Mapping[str, int] = field(default_factory=dict)
    namespace: str = "default"
    seconds: float = 300
    nodegroup_names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """What came of a rehearsal.

    Attributes:
        results: What became of each workload that the API server took.
        sent: What it refused, and what was left out or made besides.
        fleet: The nodes.
        in_time: Whether the scheduler made up its mind in time.
        seconds: How long joining, sending and settling took.
        check: Why the library's check says nothing; empty where it does.
    """

    results: tuple[Result, ...]
    sent: Sent
    fleet: tuple[NodesOfGroup, ...]
    in_time: bool
    seconds: Mapping[str, float]
    check: str

    @property
    def is_fine(self) -> bool:
        """Whether everything was taken and every Pod has a node."""
        return not self.sent.refusals and all(one.is_fine for one in self.results)


def rehearse_on(api: Api, rehearsal: Rehearsal, *, kubelet_version: str) -> Rehearsed:
    """Let a fleet join an empty cluster, send the workloads, and tell what became of them.

    Args:
        api: An administrator's client.
        rehearsal: What is rehearsed.
        kubelet_version: Such as `v1.34.2`.

    Raises:
        OperationError: The files make no Pods.
    """
    space, names = rehearsal.namespace, rehearsal.nodegroup_names
    fleet = nodes_of(rehearsal.plan, rehearsal.nodes, names)
    workloads, others, repeated = _to_send(rehearsal)
    clock = _Clock()
    nodes = join_all(api, rehearsal.plan, fleet, kubelet_version=kubelet_version)
    clock.lap("nodes")
    with PodWatch(api) as watch:
        sent = send_all(api, others, workloads, namespace=space)
        sent.refusals += repeated
        sent.passed_over = not_played(sent.passed_over, workloads, others, namespace=space)
        clock.lap("objects")
        refused = {id(one.item): one for one in sent.refusals}
        taken = [one for one in workloads if not _is_refused(one, refused)]
        pods, in_time = settled(api, watch, taken, seconds=rehearsal.seconds)
        clock.lap("scheduling")
        seen = Seen(
            nodes=nodes,
            pods=pods,
            claims=_by_name(api.list(RESOURCES, "ResourceClaim")),
            failures=_failures(api) | _refused_parts(taken, refused),
            wanted=_wanted(api, taken),
            evicted=watch.evicted,
            by_claims=_by_claims(api, kubelet_version),
        )
    judgement = judged(rehearsal.plan, rehearsal.items, rehearsal.claims, space, names)
    return Rehearsed(
        results=_results(rehearsal, taken, seen, judgement),
        sent=sent,
        fleet=fleet,
        in_time=in_time,
        seconds=clock.laps,
        check=judgement.silence,
    )


def _to_send(rehearsal: Rehearsal) -> tuple[list[Workload], list[Item], list[Refusal]]:
    """The workloads, the objects that are none, and what stands twice and is not sent."""
    workloads, others = split(rehearsal.items, namespace=rehearsal.namespace)
    if not workloads:
        raise OperationError("the files make no Pods, so there is nothing to rehearse")
    repeated = Repeated(rehearsal.namespace)
    workloads, others = repeated.workloads(workloads), repeated.others(others)
    return workloads, _with_claims(rehearsal, others), repeated.refusals


def not_played(
    passed_over: Sequence[Refusal],
    workloads: Sequence[Workload],
    items: Sequence[Item],
    *,
    namespace: str,
) -> list[Refusal]:
    """What is passed over without the runtimes of TrainJobs, whose Pods are made by them here.

    Args:
        passed_over: What was not sent.
        workloads: The workloads.
        items: The objects that are none.
        namespace: Where objects are that name no namespace.
    """
    runtimes = (runtime_of(one.item, items, namespace) for one in workloads)
    used = {id(one) for one in runtimes if one is not None}
    return [one for one in passed_over if id(one.item) not in used]


def _is_refused(workload: Workload, refused: Mapping[int, Refusal]) -> bool:
    """Whether nothing of a workload was taken."""
    found = refused.get(id(workload.item))
    return found is not None and found.count >= len(workload.objects)


def _refused_parts(
    workloads: Sequence[Workload], refused: Mapping[int, Refusal]
) -> dict[tuple[str, str, str], str]:
    """What the API server said of workloads of which it took some Pods and not others."""
    return {
        (one.item.kind, one.namespace, one.item.name): refused[id(one.item)].message
        for one in workloads
        if id(one.item) in refused
    }


def _results(
    rehearsal: Rehearsal, workloads: Sequence[Workload], seen: Seen, judgement: Judgement
) -> tuple[Result, ...]:
    places = {id(one): at for at, one in enumerate(rehearsal.items)}
    verdicts = {one.index: judgement.verdicts.get(places[id(one.item)], ()) for one in workloads}
    return tuple(results(workloads, seen, rehearsal.plan, verdicts))


class _Clock:
    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._started = time.monotonic()

    def lap(self, name: str) -> None:
        now = time.monotonic()
        self.laps[name] = now - self._started
        self._started = now


def _with_claims(rehearsal: Rehearsal, others: Sequence[Item]) -> list[Item]:
    """The objects of files with the claims of the plan that no file has, and their templates."""
    space = rehearsal.namespace
    given = {(one.kind, one.namespace or space, one.name) for one in others}
    items = [Item(file="the plan", content=dict(one)) for one in rehearsal.claims]
    planned = [one for one in items if (one.kind, one.namespace, one.name) not in given]
    found = [*planned, *others]
    return [*found, *channel_templates(found, space)]


def _by_name(items: Sequence[Object]) -> dict[tuple[str, str], Object]:
    return {(one["metadata"]["namespace"], one["metadata"]["name"]): one for one in items}


def _by_claims(api: Api, version: str) -> frozenset[str]:
    """The extended resources that the classes of a cluster serve by DRA."""
    minor = ".".join(version.removeprefix("v").split(".")[:2])
    classes = api.list(RESOURCES, "DeviceClass")
    return frozenset(extended_resource_names(classes, kubernetes_version=minor))


def _failures(api: Api) -> dict[tuple[str, str, str], str]:
    """What controllers said last of Pods that they could not make, by what the user knows."""
    events = api.list("v1", "Event", fieldSelector="reason=FailedCreate")
    owners = {}
    for item in api.list("apps/v1", "ReplicaSet") if events else ():
        for owner in item["metadata"].get("ownerReferences", ()):
            key = "ReplicaSet", item["metadata"]["namespace"], item["metadata"]["name"]
            owners[key] = owner["kind"], key[1], owner["name"]
    found = {}
    for event in events:
        about = event["involvedObject"]
        key = about["kind"], about.get("namespace", ""), about["name"]
        found[owners.get(key, key)] = event["message"].rpartition("Error creating: ")[2]
    return found


def _wanted(api: Api, workloads: Sequence[Workload]) -> dict[int, int]:
    """How many Pods DaemonSets want."""
    sets = [one for one in workloads if one.wanted is None]
    there = _by_name(api.list("apps/v1", "DaemonSet")) if sets else {}
    found = {}
    for one in sets:
        status = mapping(there.get((one.namespace, one.item.name), {}), "status")
        found[one.index] = int(status.get("desiredNumberScheduled", 0))
    return found
