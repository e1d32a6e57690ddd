"""Asks what nodes make of claims, each distinct set of claims once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ..feasibility.check import verdicts_of_read
from ..feasibility.devices import node_devices
from ..feasibility.reading.asked import read_manifest
from ..feasibility.reading.class_form import read_class
from ..feasibility.telling.near_values import near_miss, times_off
from ..feasibility.verdicts import Status, Verdict
from ..findings import EksDevicesError, Finding
from ..names import (
    COMPUTE_DOMAIN_CHANNEL_CLASS,
    COMPUTE_DOMAIN_DAEMON_CLASS,
    EXTENDED_RESOURCES,
    MIG_CLASS,
    TEMPLATE_KIND,
    device_type_of_class,
    offered_resources,
)
from ..plans import ClusterPlan
from ..vocabulary import DeviceType, Mechanism
from .claim_places import expression_of
from .claim_versions import as_newest
from .device_names import DEVICES
from .documents import Document, Steps, frozen, mapping, steps_of
from .nodes import GroupNode, Obstacle
from .other_ways import as_claimed, may_be_cut
from .partitions import other_gpus
from .resources import too_many

Resource = tuple[str, str, int]
"""A resource that stands for devices of a class, that class, and a number."""

INVALID: Final = "ExpressionInvalid"
REFUSED: Final = (INVALID, "DistinctNotServed")
"""What the API server refuses of a claim, whichever nodes there are."""
_MOST: Final = 2**31 - 1
_NO_CLASS: Final = "ClassNotOnGroup"
_NO_MATCH: Final = "NoDeviceMatches"
_UNINSTALLED: Final = "ClassNotInstalled"
_DISTANCES: Final = {
    "TooFewDevices": 3,
    "TooFewDevicesTogether": 3,
    "NoAllocation": 3,
    _NO_CLASS: 8,
    _UNINSTALLED: 9,
}
_OTHERWISE: Final = 5
_ALMOST: Final = 2
_PLUGIN_DISTANCE: Final = 4
_NOT_MEANT: Final = 7
_NO_DOMAINS: Final = Obstacle(
    _UNINSTALLED,
    f"no node group has a ComputeDomain, so nobody installs the class "
    f"{COMPUTE_DOMAIN_CHANNEL_CLASS}",
    9,
    "make one by add_compute_domain, and name the template that it makes",
)
_UNCUT: Final = Obstacle(
    "NotCut", "their GPUs are not cut into partitions", _OTHERWISE, "cut them: the group's mig="
)


_OF_DAEMONS: Final = Obstacle(
    _NO_CLASS,
    "",
    9,
    "leave the claim out: this class is for the Pods of a ComputeDomain's own, and others claim by "
    "the template that add_compute_domain makes",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSet:
    """Claims that are asked about together, and resources that are had as one more claim.

    `key` is equal for claims that ask for the same under the same names.
    """

    key: tuple[Any, ...]
    manifests: tuple[Mapping[str, Any], ...]
    classes: frozenset[str]

    def having(self, resources: tuple[Resource, ...]) -> ClaimSet:
        """The same, with resources that DRA stands for."""
        if not resources:
            return self
        requests = [
            {"name": name, "exactly": {"deviceClassName": kind, "count": min(count, _MOST)}}
            for name, kind, count in resources
        ]
        # The scheduler makes one for each Pod.
        claim = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": TEMPLATE_KIND,
            "metadata": {"name": "resources"},
            "spec": {"spec": {"devices": {"requests": requests}}},
        }
        return ClaimSet(
            key=(*self.key, resources),
            manifests=(*self.manifests, claim),
            classes=self.classes | {kind for _, kind, _ in resources},
        )

    def expression(self, verdict: Verdict) -> str:
        """The expression that a verdict of them is about; empty where it is about none."""
        about = (one for one in self.manifests if one["metadata"]["name"] == verdict.claim)
        return next((expression_of(one, verdict) for one in about), "")


class ClaimJudge:
    """What the nodes of a plan make of claims.

    Args:
        plan: The node groups.
        nodes: Their nodes.
        classes: The DeviceClasses among the manifests.
    """

    def __init__(
        self, plan: ClusterPlan, nodes: Sequence[GroupNode], classes: Iterable[Document]
    ) -> None:
        self._plan = replace(plan, nodegroups=tuple(one.group for one in nodes))
        self._nodes = nodes
        self._classes: list[dict[str, Any]] = []
        self.class_faults: list[tuple[Document, Steps, Finding]] = []
        self.refused_classes: set[str] = set()
        for one in classes:
            self._add_class(one)
        self._has_domains = any(
            group.device_of(DeviceType.COMPUTE_DOMAIN) is not None for group in plan.nodegroups
        )
        self._numbers: dict[Any, int] = {}
        self._read: dict[int, tuple[frozenset[str], tuple[Finding, ...]]] = {}
        self._known: dict[tuple[Any, ...], tuple[Verdict, ...]] = {}

    def _add_class(self, document: Document) -> None:
        manifest = as_newest(document.content)
        try:
            read_class(manifest, document.title, kubernetes_version=self._plan.kubernetes_version)
        except EksDevicesError as error:
            for one in error.faults:
                steps = steps_of(one.path.removeprefix(f"{document.title}."))
                # Metadata are looked at with those of claims.
                if steps[:1] != ("metadata",):
                    self.class_faults.append((document, steps, one))
            # A class with a mistake is no unknown one, whatever it selects.
            self.refused_classes.add(document.name)
            manifest = {**manifest, "spec": {}}
        if document.name:
            self._classes.append(manifest)

    def faults(self, manifest: Mapping[str, Any]) -> tuple[Finding, ...]:
        """What the API server has against a claim or a template."""
        return self._looked_at(manifest)[1]

    def classes(self, manifests: Iterable[Mapping[str, Any]]) -> frozenset[str]:
        """The DeviceClasses that claims name; none of a claim with faults."""
        return frozenset().union(*(self._looked_at(one)[0] for one in manifests))

    def has_refused_class(self, manifests: Iterable[Mapping[str, Any]]) -> bool:
        """Whether claims name a DeviceClass of the manifests that the API server refuses."""
        return not self.refused_classes.isdisjoint(self.classes(manifests))

    def _looked_at(self, manifest: Mapping[str, Any]) -> tuple[frozenset[str], tuple[Finding, ...]]:
        key = id(manifest)
        if key not in self._read:
            try:
                version = self._plan.kubernetes_version
                wanted = read_manifest(manifest, "claim", kubernetes_version=version)
            except EksDevicesError as error:
                self._read[key] = frozenset(), error.faults
            else:
                options = (ask for one in wanted.requests for ask in one.options)
                self._read[key] = frozenset(one.device_class for one in options), ()
        return self._read[key]

    def claim_set(self, claims: Iterable[tuple[str, Mapping[str, Any]]]) -> ClaimSet:
        """Claims with the names that a Pod has for them; none of them has faults."""
        keys, manifests = [], []
        classes: frozenset[str] = frozenset()
        for name, manifest in claims:
            spec = frozen(mapping(manifest, "spec"))
            number = self._numbers.setdefault((manifest.get("kind"), spec), len(self._numbers))
            keys.append((name, number))
            manifests.append({**manifest, "metadata": {"name": name}})
            classes |= self._looked_at(manifest)[0]
        return ClaimSet(
            key=tuple(keys),
            manifests=tuple(manifests),
            classes=classes,
        )

    def verdicts(self, asked: ClaimSet) -> tuple[Verdict, ...]:
        """What each node makes of claims.

        Raises:
            EksDevicesError: The CEL engine is not installed.
        """
        if asked.key not in self._known:
            self._known[asked.key] = verdicts_of_read(asked.manifests, self._plan, self._classes)
        return self._known[asked.key]

    def obstacle(self, verdict: Verdict, asked: ClaimSet, node: GroupNode) -> Obstacle | None:
        """What claims that a node cannot serve, or may not, are told; None for others."""
        if verdict.status in (Status.FEASIBLE, Status.ERROR):
            return None
        found = Obstacle(verdict.code, verdict.reason, fix=verdict.fix, verdict=verdict)
        if verdict.status is Status.UNKNOWN:
            return replace(found, is_certain=False)
        if verdict.code == _NO_CLASS and (other := self._other_way(verdict, asked, node)):
            return other
        return replace(found, distance=_distance(verdict, asked, node))

    def _other_way(self, verdict: Verdict, asked: ClaimSet, node: GroupNode) -> Obstacle | None:
        """What claims that no driver serves are told of the node's other ways."""
        if verdict.device_class == COMPUTE_DOMAIN_CHANNEL_CLASS and not self._has_domains:
            return _NO_DOMAINS
        if verdict.device_class == COMPUTE_DOMAIN_DAEMON_CLASS:
            return replace(_OF_DAEMONS, reason=verdict.reason)
        found = _by_plugin(asked, node)
        if found is None:
            is_uncut = verdict.device_class == MIG_CLASS and may_be_cut(node.group)
            return _UNCUT if is_uncut else other_gpus(verdict, node)
        key = *asked.key, id(node)
        if key not in self._known:
            plan = replace(self._plan, nodegroups=(as_claimed(node.group),))
            self._known[key] = verdicts_of_read(asked.manifests, plan, self._classes)
        if self._known[key][0].status is Status.INFEASIBLE:
            # Whoever hands them out, they are not what the claims are for.
            return replace(found, distance=_NOT_MEANT, fix="")
        return found


def error_distance(verdict: Verdict, asked: ClaimSet, node: GroupNode) -> int:
    """How far an expression that stops the scheduler, or is refused, is from a node's devices."""
    text = asked.expression(verdict) if verdict.status is Status.ERROR else ""
    if not text:
        return _OTHERWISE
    devices = node_devices(node.group).devices
    times = times_off(text, verdict.device_class, devices)
    if times is None or times <= 1:
        return _OTHERWISE if times is None else int(times)
    return too_many(times, 1)


def _distance(verdict: Verdict, asked: ClaimSet, node: GroupNode) -> int:
    """How far claims are from a node that cannot serve them."""
    if verdict.wants is not None and verdict.has:
        return too_many(verdict.wants, verdict.has)
    if verdict.code == _NO_MATCH:
        devices = node_devices(node.group).devices
        if near := near_miss(asked.expression(verdict), devices):
            return _ALMOST if near.times == 1 else too_many(near.times, 1)
    return _DISTANCES.get(verdict.code, _OTHERWISE)


def _by_plugin(asked: ClaimSet, node: GroupNode) -> Obstacle | None:
    """Devices that are claimed, and that a node's device plugin hands out."""
    kinds = dict.fromkeys(map(device_type_of_class, sorted(asked.classes)))
    plugged = [
        kind
        for kind in kinds
        if kind
        and (device := node.group.device_of(kind)) is not None
        and device.mechanism is Mechanism.DEVICE_PLUGIN
    ]
    if not plugged:
        return None
    offered = " and ".join(filter(None, (_offered(kind, node) for kind in plugged)))
    text = f"their {DEVICES[plugged[0]]} are handed out by the device plugin, not by claims"
    return Obstacle(
        "HandedOutByPlugin", text, _PLUGIN_DISTANCE, f"ask for {offered} in limits instead"
    )


def _offered(kind: DeviceType, node: GroupNode) -> str:
    """The resources of a kind of device that a node offers: whole ones, else its parts."""
    offered = offered_resources(kind, node.group.extended_resources)
    whole = [one for one in EXTENDED_RESOURCES.get(kind, ())[:1] if one in offered]
    return " or ".join(whole or offered)
