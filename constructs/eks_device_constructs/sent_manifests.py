"""The manifests that an app sends to its clusters, found in its tree when it is synthesised."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from weakref import WeakKeyDictionary

import cdk8s
from aws_cdk import CfnResource, Stack
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IConstruct

from eks_devices import Finding
from eks_devices.app_check import manifests_in
from eks_devices.findings import info
from eks_devices.workload_check import Document

from .host_registry import known_by_names
from .known_cluster import KnownCluster
from .sent import is_ours
from .tree import Remembered, is_in_tree, node_of, reference_of, stack_of, stage_of

# Its import takes time, and an app without clusters of it has no manifest of it.
_OLDER_MODULE: Final = "aws_cdk.aws_eks"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SentManifests:
    """What sends manifests to a cluster, and how they are read."""

    sender: IConstruct
    known: KnownCluster | None
    read: Callable[[], Sequence[Document]]


def sent_manifests(stack: Stack) -> list[SentManifests]:
    """What sends manifests of users in the stage of a stack.

    The tree is searched once for all stacks of a synth: a stack that asks again is in another one.
    """
    stage = stage_of(stack)[0] or stack
    scan = _scans.get(stage)
    if scan is None or reference_of(stack) not in scan.waiting:
        scan = _scans[stage] = _Scan(stage)
    scan.waiting.discard(reference_of(stack))
    return scan.found


class _Scan:
    def __init__(self, stage: IConstruct) -> None:
        self.waiting: set[object] = {reference_of(stage)}
        self.found: list[SentManifests] = []
        self._receivers: dict[tuple[object, str], KnownCluster | None] = {}
        older = sys.modules.get(_OLDER_MODULE)
        kinds = (eks.KubernetesManifest, *((older.KubernetesManifest,) if older else ()))
        for one in stage.node.find_all():
            if isinstance(one, Stack):
                self.waiting.add(reference_of(one))
            elif isinstance(one, kinds) and not is_ours(one):
                self.found.append(self._sent(one))
        self.found += (one() for at, one in _charts(stage) if is_in_tree(at))

    def _sent(self, sender: IConstruct) -> SentManifests:
        resource = cast(CfnResource, node_of(sender).find_child("Resource").node.default_child)
        properties: Mapping[str, Any] = resource._cfn_properties  # noqa: SLF001  (for subclasses)

        def read() -> list[Document]:
            found = manifests_in(stack_of(sender).resolve(properties.get("Manifest")))
            path = node_of(sender).path
            return [Document(origin=path, content=one) for one in found]

        known = self._receiver(sender, properties.get("ClusterName"))
        return SentManifests(sender=sender, known=known, read=read)

    def _receiver(self, sender: IConstruct, name: object) -> KnownCluster | None:
        """The cluster of a name, as far as it is known in the place of a sender."""
        if not isinstance(name, str):
            return None
        key = reference_of(stack_of(sender)), name
        if key not in self._receivers:
            self._receivers[key] = known_by_names(sender, [name])
        return self._receivers[key]


_scans: WeakKeyDictionary[IConstruct, _Scan] = WeakKeyDictionary()


def note_chart(
    scope: Construct, chart: cdk8s.Chart, find: Callable[[], KnownCluster | None]
) -> None:
    """Remember a chart that something else than this app sends to a cluster.

    Args:
        scope: Where findings are told.
        chart: The chart, which is read at synth.
        find: Finds the cluster at synth.
    """

    def read() -> list[Document]:
        origin = f"{node_of(scope).path} chart {node_of(chart).id}"
        return [Document(origin=origin, content=one) for one in chart.to_json()]

    stage = stage_of(scope)[0] or stack_of(scope)
    make = lambda: SentManifests(sender=scope, known=find(), read=read)  # noqa: E731
    _charts(stage).append((scope, make))


@Remembered
def _charts(stage: IConstruct) -> list[tuple[IConstruct, Callable[[], SentManifests]]]:
    del stage
    return []


def documents_to(
    known: KnownCluster, sent: Sequence[SentManifests]
) -> tuple[list[tuple[IConstruct, Document]], list[Finding]]:
    """The manifests that go to a cluster, each with what sends it, and which cannot be read."""
    documents: list[tuple[IConstruct, Document]] = []
    unread: list[Finding] = []
    for one in sent:
        if one.known is known:
            try:
                documents += ((one.sender, document) for document in one.read())
            except Exception as error:  # noqa: BLE001  (a chart of a user's may raise anything)
                unread.append(_not_read(one.sender, error))
    return documents, unread


def _not_read(sender: IConstruct, error: Exception) -> Finding:
    return info(
        "ManifestsNotRead",
        node_of(sender).path,
        f"its manifests are not held against the node groups, for they cannot be read: {error}",
    )
