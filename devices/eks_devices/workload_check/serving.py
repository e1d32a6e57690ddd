"""Which node groups can serve the Pods of a template, and how far the others are from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..feasibility.of_types import verdict_of_types
from ..feasibility.verdicts import Status, Verdict
from ..names import device_type_of_class
from ..plans import ClusterPlan, NodegroupPlan
from ..vocabulary import DeviceType
from .affinity import LABELS_DIFFER
from .amounts import Amounts, amounts_of
from .claim_judge import REFUSED, ClaimJudge, ClaimSet, error_distance
from .claimed import PodClaim
from .device_names import device_type_of
from .documents import Document
from .node_amounts import AMOUNTS
from .nodes import GroupNode, Obstacle, nodes_of
from .other_ways import accelerators_of
from .pods import PodTemplate
from .reach import Reach
from .resources import OnNode, ResourceCheck, claim_instead

_ONE_EACH = "DaemonSet"
_HOPELESS = 7
_MALFORMED, _NOT_FOUND = "MalformedClaim", "ClaimNotFound"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdict of a group, and how far it is from serving.

    `fix` is all that would bring it to serve, and that of the verdict what its own reason asks for.
    `uses_dra` says whether the Pods have devices by DRA there, `is_reached` whether nothing but
    devices and other resources keeps them off such nodes. `is_unselected` says that labels by which
    they select do, `is_left_alone` that nothing else does, `is_meant` that they select these nodes
    but for a slip, `is_to_claim` that the fix has claims in the place of resources. `has` is how
    Pods ask for the accelerators of such nodes.
    """

    verdict: Verdict
    distance: int = 0
    fix: str = ""
    uses_dra: bool = False
    is_reached: bool = True
    is_unselected: bool = False
    is_left_alone: bool = False
    is_meant: bool = False
    is_to_claim: bool = False
    has: str = ""


class Serving:
    """Judges Pods and claims against the node groups of a plan.

    Args:
        plan: The node groups.
        classes: The DeviceClasses among the manifests.
        nodegroup_names: The names of the groups in EKS, as far as they are known.
    """

    def __init__(
        self,
        plan: ClusterPlan,
        classes: tuple[Document, ...],
        nodegroup_names: Mapping[str, str] | None = None,
    ) -> None:
        self.plan = plan
        self._nodes = nodes_of(plan, nodegroup_names)
        self.judge = ClaimJudge(plan, self._nodes, classes)
        self.reach = Reach(plan, self._nodes)
        self.resources = ResourceCheck(plan, classes)
        self._known: dict[Any, tuple[Judged, ...]] = {}

    def asks_for_devices(self, pod: PodTemplate, amounts: Amounts) -> bool:
        """Whether the Pods of a template ask for devices that node groups are about."""
        claims = pod.spec.get("resourceClaims")
        return bool(claims) or any(self.resources.is_device(name) for name, _ in amounts.devices)

    def reachable(self, pod: PodTemplate, amounts: Amounts) -> tuple[NodegroupPlan, ...]:
        """The groups to whose nodes the Pods of a template may come, whatever devices they have."""
        names = tuple(name for name, _ in amounts.devices)
        found = zip(self._nodes, self.reach.obstacles(pod, names), strict=True)
        open_ones = {node.index for node, some in found if not any(x.is_certain for x in some)}
        return tuple(one for at, one in enumerate(self.plan.nodegroups) if at in open_ones)

    def of_pod(
        self, pod: PodTemplate, claims: Sequence[PodClaim], amounts: Amounts | None = None
    ) -> tuple[Judged, ...]:
        """What each group makes of the Pods of a template, in the order of the plan."""
        amounts = amounts_of(pod) if amounts is None else amounts
        names = tuple(name for name, _ in amounts.devices)
        manifests = [(one.name, one.manifest) for one in claims if one.manifest is not None]
        sound = [(name, one) for name, one in manifests if not self.judge.faults(one)]
        asked = self.judge.claim_set(sound)
        more = tuple(_beyond(claims, len(sound)))
        key = (asked.key, amounts, self.reach.key(pod, names), more)
        if key not in self._known:
            reach = self.reach.obstacles(pod, names)
            most = 1 if pod.document.kind == _ONE_EACH else None
            self._known[key] = self._by_group(
                _with_taints(
                    self._on_node(at, asked, amounts, reach[at], more, most=most),
                    [one for one in self._claiming(pod, names, at) if one not in reach[at]],
                )
                for at in range(len(self._nodes))
            )
        return self._known[key]

    def _claiming(self, pod: PodTemplate, names: tuple[str, ...], at: int) -> tuple[Obstacle, ...]:
        """What keeps Pods off a node that claim what it does not have by resources.

        The tolerations that EKS adds for resources, nobody adds for claims.
        """
        offered, resources = self._nodes[at].group.extended_resources, self.resources
        kept = tuple(one for one in names if one in offered or resources.class_of(one))
        return self.reach.obstacles(pod, kept)[at]

    def of_claim(self, manifest: Mapping[str, Any], name: str) -> tuple[Judged, ...]:
        """What each group makes of a claim by itself; it has no faults."""
        asked = self.judge.claim_set([(name, manifest)])
        nothing = Amounts((), ())
        return self._by_group(
            self._on_node(at, asked, nothing, (), ()) for at in range(len(self._nodes))
        )

    def failures(self, manifest: Mapping[str, Any], name: str) -> tuple[Judged, ...]:
        """The groups on whose nodes a claim, which has no faults, stops the attempt at its Pods."""
        asked = self.judge.claim_set([(name, manifest)])
        failing: dict[int, Judged] = {}
        for node, one in zip(self._nodes, self.judge.verdicts(asked), strict=True):
            if one.status is Status.ERROR:
                distance = error_distance(one, asked, node)
                found = Judged(verdict=one, distance=distance, uses_dra=True)
                failing.setdefault(node.index, found)
        return tuple(failing.values())

    def _by_group(self, found: Iterator[Judged]) -> tuple[Judged, ...]:
        groups: list[list[tuple[GroupNode, Judged]]] = [[] for _ in self.plan.nodegroups]
        for node, one in zip(self._nodes, found, strict=True):
            groups[node.index].append((node, one))
        return tuple(map(_together, groups))

    def _on_node(
        self,
        at: int,
        asked: ClaimSet,
        amounts: Amounts,
        reach: tuple[Obstacle, ...],
        more: tuple[Obstacle, ...],
        *,
        most: int | None = None,
    ) -> Judged:
        """What a node makes of Pods, of which it gets at most so many."""
        node = self._nodes[at]
        on_node = self.resources.on_node(amounts, node)
        whole = asked.having(on_node.by_class)
        found = [*reach, *more, *on_node.obstacles]
        said = self.judge.verdicts(whole)[at] if whole.manifests else None
        if said is not None and (one := self.judge.obstacle(said, whole, node)) is not None:
            found.append(one)
        fits = None if found else _least(said, on_node, most)
        judged = _judged(node.group.name, found, said, fits)
        if judged.verdict.status is Status.ERROR:
            distance = error_distance(judged.verdict, whole, node)
            judged = replace(judged, distance=distance)
        certain = [one for one in found if one.is_certain]
        return replace(
            judged,
            is_reached=not any(one.is_certain for one in reach),
            is_unselected=any(one.code in LABELS_DIFFER for one in certain),
            is_left_alone=bool(certain) and all(one.code in LABELS_DIFFER for one in certain),
            is_meant=any(one.is_meant for one in certain),
            is_to_claim=any(one.claim and one.claim in judged.fix for one in certain),
            has=_has_instead(node.group, whole, amounts),
        )


def _with_taints(judged: Judged, taints: Sequence[Obstacle]) -> Judged:
    """A verdict by which devices are to be claimed, with what keeps Pods with claims off."""
    if not judged.is_to_claim:
        return judged
    fixes = dict.fromkeys(one.fix for one in taints if one.is_certain)
    return replace(judged, fix="; ".join([judged.fix, *fixes]))


def _has_instead(group: NodegroupPlan, asked: ClaimSet, amounts: Amounts) -> str:
    """How Pods ask for the accelerators of a group, where it has the rest of what they ask for."""
    kinds = {
        *map(device_type_of_class, asked.classes),
        *(device_type_of(name) for name, _ in amounts.devices),
    }
    if DeviceType.EFA in kinds and group.device_of(DeviceType.EFA) is None:
        return ""
    return accelerators_of(group)


def _beyond(claims: Sequence[PodClaim], sound: int) -> Iterator[Obstacle]:
    """What stands in the way of claims that cannot be looked at."""
    there = sum(one.manifest is not None for one in claims)
    if there > sound:
        text = "it has a claim that the API server refuses"
        yield Obstacle(_MALFORMED, text, distance=1)
    if there < len(claims):
        missing = next(one for one in claims if one.manifest is None)
        text = f"what {missing.kind} {missing.object_name} asks for is not known here"
        yield Obstacle(_NOT_FOUND, text, is_certain=False)


def _judged(
    group: str, obstacles: Sequence[Obstacle], said: Verdict | None, fits: int | None
) -> Judged:
    certain = [one for one in obstacles if one.is_certain]
    if certain:
        worst = max(certain, key=lambda one: one.distance)
        alike = [one for one in certain if one.code in AMOUNTS and worst.code in AMOUNTS]
        if len(alike) > 1:
            worst = replace(worst, reason=", and ".join(one.reason for one in alike))
        return Judged(
            verdict=replace(_verdict(group, Status.INFEASIBLE, worst), fix=_fix(worst, [worst])),
            fix=_fix(worst, certain),
            # What is missing twice over is put right in one go.
            distance=sum({one.code: one.distance for one in certain}.values()),
        )
    if said is not None and said.status is Status.ERROR:
        # A claim that nobody knows does not stop the attempt from failing for this one.
        doubts = [one for one in obstacles if one.code != _NOT_FOUND]
        # What the API server refuses no doubt makes good.
        if not doubts or said.code in REFUSED:
            return Judged(verdict=said, uses_dra=True)
        text = f"{said.reason}; and {doubts[0].reason}"
        return Judged(verdict=replace(said, status=Status.UNKNOWN, reason=text), uses_dra=True)
    if obstacles:
        verdict = _verdict(group, Status.UNKNOWN, obstacles[0])
        return Judged(verdict=verdict, uses_dra=said is not None)
    if said is not None:
        same = said.fits == fits
        return Judged(verdict=said if same else replace(said, fits=fits), uses_dra=True)
    return Judged(verdict=Verdict(nodegroup=group, status=Status.FEASIBLE, fits=fits))


def _fix(worst: Obstacle, certain: Sequence[Obstacle]) -> str:
    """What would bring a group to serve; nothing else helps where devices, or a class, lack."""
    if worst.distance >= _HOPELESS:
        return worst.fix
    fixes = [one.fix for one in certain if one.fix]
    return "; ".join(dict.fromkeys([*fixes, *_claiming(certain)]))


def _claiming(obstacles: Sequence[Obstacle]) -> Iterator[str]:
    """How a Pod has the devices by one claim that it asks for by resources."""
    claims = list(dict.fromkeys(one.claim for one in obstacles if one.claim))
    if claims:
        yield claim_instead(claims)


def _least(said: Verdict | None, on_node: OnNode, most: int | None) -> int | None:
    """How many Pods a node has room for, by claims and by other resources; None if unknown."""
    if said is not None and said.fits is None:
        return None
    room = (on_node.fits, most, said and said.fits)
    return min((one for one in room if isinstance(one, int)), default=None)


def _verdict(group: str, status: Status, obstacle: Obstacle) -> Verdict:
    """What an obstacle comes to, with the part of a claim that it is about."""
    about = obstacle.verdict or Verdict(nodegroup=group, status=status)
    return replace(
        about,
        nodegroup=group,
        status=status,
        code=obstacle.code,
        reason=obstacle.reason,
        fits=0 if status is Status.INFEASIBLE else None,
        devices=(),
    )


def _together(types: Sequence[tuple[GroupNode, Judged]]) -> Judged:
    """What a group with several instance types comes to, the nearest to serving first."""
    if len(types) == 1:
        return types[0][1]
    near = sorted(types, key=lambda one: one[1].distance)
    verdict = verdict_of_types([(node.instance.name, one.verdict) for node, one in near])
    return Judged(
        verdict=verdict,
        distance=near[0][1].distance,
        fix=near[0][1].fix,
        uses_dra=any(one.uses_dra for _, one in types),
        is_reached=any(one.is_reached for _, one in types),
        is_unselected=any(one.is_unselected for _, one in types),
        is_left_alone=any(one.is_left_alone for _, one in types),
        is_meant=any(one.is_meant for _, one in types),
        has=near[0][1].has,
    )
