"""What verdicts come to, in a user's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ..feasibility.classes import driver_of
from ..feasibility.verdicts import Status
from ..findings import Finding, Severity, info, warning
from ..names import NODEGROUP_LABEL, POOL_LABEL, device_type_of_class
from ..plans import ClusterPlan
from ..vocabulary import DeviceType
from .affinity import selects_by
from .claim_judge import ClaimSet
from .device_names import DEVICES, device_type_of
from .documents import path_of
from .failing import Told, may_fail
from .fixes import first_of, fix_of, named
from .pods import PodTemplate
from .serving import Judged

_LATER: Final = "KnownAtRunTime"
_MOST_REASONS: Final = 5
_BY_RESOURCE: Final = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
    "#extended-resource"
)
_SCALE: Final = "https://github.com/kubernetes/autoscaler/issues/7724"


def unserved(judged: Sequence[Judged], path: str, *, code: str, what: str) -> Iterator[Told]:
    """The fault of what no group can serve, nearest misses first; with the verdict of the nearest.

    Args:
        judged: The verdicts of the groups.
        path: How the finding names the place.
        code: The code of the fault.
        what: What nobody serves, and what becomes of it.
    """
    if any(one.verdict.status is not Status.INFEASIBLE for one in judged):
        return
    near = sorted(judged, key=lambda one: one.distance)
    reasons = "; ".join(_reasons(near)) or "there is none"
    found = Finding(
        code=code,
        severity=Severity.ERROR,
        path=path,
        message=f"no node group can serve {what}: {reasons}",
        fix=fix_of(near),
    )
    first = first_of(near)
    yield found, first.verdict if first else None


def _reasons(near: Sequence[Judged]) -> Iterator[str]:
    """Groups with their reasons, those of one reason together."""
    by_reason: dict[str, list[str]] = {}
    for one in near:
        by_reason.setdefault(one.verdict.reason, []).append(one.verdict.nodegroup)
    for at, (reason, groups) in enumerate(by_reason.items()):
        if at == _MOST_REASONS:
            left = sum(map(len, list(by_reason.values())[at:]))
            yield f"and {left} more node groups are further from it"
            return
        yield f"{named(groups)}: {reason}"


def by_both(
    pod: PodTemplate, judged: Sequence[Judged], asked: ClaimSet, resources: Sequence[str]
) -> Iterator[Finding]:
    """The fault of Pods that ask for one kind of device by a plugin's resource and by a claim."""
    if any(one.verdict.status in (Status.FEASIBLE, Status.UNKNOWN) for one in judged):
        return
    claimed = {device_type_of_class(one) for one in asked.classes}
    for kind in DeviceType:
        names = [one for one in resources if device_type_of(one) is kind]
        if kind in claimed and names:
            yield Finding(
                code="BothMechanisms",
                severity=Severity.ERROR,
                path=path_of(pod.steps),
                message=f"these Pods ask for {DEVICES[kind]} by {names[0]} and by a claim, and a "
                "node hands them out in one way, so that no node can serve both",
                fix=f"ask by the claim alone, or by {names[0]} alone",
            )


def asked_twice(
    pod: PodTemplate, judged: Sequence[Judged], asked: ClaimSet, resources: Mapping[str, str]
) -> Iterator[Finding]:
    """The warning of Pods that claim devices of a class, and ask for more by its resource.

    Args:
        pod: The template.
        judged: The verdicts of the groups.
        asked: The claims that the Pods name.
        resources: The resources that they ask for, each with its class; empty where it has none.
    """
    by_dra = (one.verdict for one in judged if one.uses_dra)
    first = next((one for one in by_dra if one.status is Status.FEASIBLE), None)
    for name, kind in resources.items():
        if first is not None and kind in asked.classes:
            driver = driver_of(kind)
            total = sum(one.driver == driver for one in first.devices) if driver else 0
            many = f", {total} devices in all for each Pod" if total else ""
            yield warning(
                "AskedForTwice",
                path_of(pod.steps),
                f"these Pods claim devices of the class {kind}, and ask for more of them by {name}:"
                f" both are handed out{many}",
                fix=f"ask by the claim alone, or by {name} alone, unless both are meant",
                source=_BY_RESOURCE,
            )


def served(pod: PodTemplate, judged: Sequence[Judged], plan: ClusterPlan) -> Iterator[Finding]:
    """What is worth knowing of Pods that a group can serve, or may."""
    path = path_of(pod.steps)
    yield from may_fail(judged, path)
    fine = [one for one in judged if one.verdict.status is Status.FEASIBLE]
    may = [one for one in judged if one.verdict.status is Status.UNKNOWN]
    is_daemon = pod.document.kind == "DaemonSet"
    if is_daemon and fine:
        yield from _waiting(judged, path, [one.verdict.nodegroup for one in fine])
    elif len(fine) > 1 and not (
        selects_by(pod, (NODEGROUP_LABEL, POOL_LABEL)) or _are_a_pool(fine, plan)
    ):
        groups = [one.verdict.nodegroup for one in fine]
        yield info(
            "SeveralNodegroupsServe",
            path,
            f"{len(fine)} node groups can serve these Pods, and which does is left to chance: "
            f"{named(groups)}",
            fix=f"where it matters, add nodeSelector: {{{NODEGROUP_LABEL}: {groups[0]}}}",
        )
    verdicts = [one.verdict for one in may if one.verdict.code == _LATER]
    if not fine and may and any(one.verdict.code != "ClaimNotFound" for one in may):
        yield info(
            "NotKnownBeforeNodesRun",
            path,
            "whether a node group can serve these Pods is not known before nodes run: "
            + "; ".join(_reasons(may)),
            fix=next((f"for {x.nodegroup}, {x.fix}" for x in verdicts if x.fix), ""),
        )
    yield from _from_zero([*fine, *may], path, plan)


def _are_a_pool(judged: Sequence[Judged], plan: ClusterPlan) -> bool:
    """Whether groups are all of one pool, which of them does not matter."""
    names = {one.verdict.nodegroup for one in judged}
    pools = {one.labels.get(POOL_LABEL) for one in plan.nodegroups if one.name in names}
    return len(pools) == 1 and None not in pools


def _waiting(judged: Sequence[Judged], path: str, fine: Sequence[str]) -> Iterator[Finding]:
    """Groups on whose nodes a DaemonSet has Pods that wait: it makes one for every node."""
    wait = [one for one in judged if one.is_reached and one.verdict.status is Status.INFEASIBLE]
    if wait:
        yield warning(
            "DaemonSetPodsWait",
            path,
            "the DaemonSet makes a Pod for every node that it selects and whose taints it "
            f"tolerates, and on these it waits for ever: {'; '.join(_reasons(wait))}",
            fix="select the nodes that can serve it"
            + (f": nodeSelector: {{{NODEGROUP_LABEL}: {fine[0]}}}" if len(fine) == 1 else "")
            + (f", those of {named(fine)}" if len(fine) > 1 else ""),
            source="https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/",
        )


def _from_zero(able: Sequence[Judged], path: str, plan: ClusterPlan) -> Iterator[Finding]:
    """Claims make no autoscaler start the first node of a group."""
    groups = {one.name: one for one in plan.nodegroups}
    empty = [
        one.verdict.nodegroup
        for one in able
        if one.uses_dra
        and (group := groups[one.verdict.nodegroup]).min_size == 0
        and group.desired_size is None
        and group.scheduled_size is None
    ]
    if empty and len(empty) == len(able):
        yield info(
            "ScaleFromZero",
            path,
            f"the nodes that can serve these Pods are all of groups that begin with none, "
            f"{named(empty)}, and Cluster Autoscaler starts no first node for a claim",
            fix="give a group min_size=1, start it by hand or by a scheduled action, or let "
            "Karpenter 1.15 or later with DRA make the nodes",
            source=_SCALE,
        )
