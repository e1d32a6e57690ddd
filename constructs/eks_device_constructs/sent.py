"""What takes objects to a cluster, so that none is sent twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakSet

from constructs import IConstruct

from eks_devices.claims.objects import ObjectKey

from .tree import is_in_tree

_ours: WeakSet[IConstruct] = WeakSet()


def note_ours(manifest: IConstruct) -> None:
    """Remember a manifest that this library made."""
    _ours.add(manifest)


def is_ours(manifest: IConstruct) -> bool:
    """Whether this library made a manifest; whoever sent it holds it."""
    return manifest in _ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Who sent objects, and what takes them to the cluster; nothing does with GitOps."""

    by: IConstruct
    manifests: Sequence[IConstruct]
    admin_access: bool = False
    """Of a namespace, whether it allows claims with admin access."""


class SentObjects:
    """The bundles and claims of a cluster, as far as those who sent them are still there."""

    def __init__(self, home: IConstruct) -> None:
        self._home = home
        self._bundles: dict[tuple[str, str], Sent] = {}
        self._claims: dict[ObjectKey, Sent] = {}

    def bundle(self, name: str, way: str) -> list[IConstruct] | None:
        """What takes a bundle to the cluster in a way of delivery, None where nothing does."""
        found = self._there(self._bundles.get((name, way)))
        return [*found.manifests] if found else None

    def allows_admin_access(self, name: str, way: str) -> bool:
        """Whether a namespace, by the bundle's name, was sent as one for admin access."""
        found = self._there(self._bundles.get((name, way)))
        return found is not None and found.admin_access

    def note_bundle(self, name: str, way: str, sent: Sent) -> None:
        """Remember who sent a bundle."""
        self._bundles[name, way] = sent

    def claim(self, key: ObjectKey) -> Sent | None:
        """Who sent a claim, None where nobody did."""
        return self._there(self._claims.get(key))

    def note_claim(self, key: ObjectKey, sent: Sent) -> None:
        """Remember who sent a claim."""
        self._claims[key] = sent

    def claims_in(self, namespace: str) -> list[IConstruct]:
        """What takes the claims of a namespace to the cluster."""
        found = [sent for (_, space, _), sent in self._claims.items() if space == namespace]
        return [one for sent in found for one in sent.manifests]

    def _there(self, sent: Sent | None) -> Sent | None:
        return sent if sent and is_in_tree(sent.by, beside=self._home) else None
