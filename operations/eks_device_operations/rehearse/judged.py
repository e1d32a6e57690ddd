"""What the library's own check says of the claims of Pods, beside what the scheduler does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from eks_devices import ClusterPlan, EksDevicesError
from eks_devices.feasibility import Verdict, check_claims
from eks_devices.workload_check.documents import mappings

from .files import Item

_KINDS = {
    "resourceClaimName": "ResourceClaim",
    "resourceClaimTemplateName": "ResourceClaimTemplate",
}


class Judge:
    """Asks the check of the library, if its engine is installed.

    Args:
        plan: The plan of the cluster.
        items: All objects that are sent, claims and DeviceClasses among them.
        namespace: Where objects are that name no namespace.

    Attributes:
        silence: Why it says nothing, where it cannot; empty otherwise.
    """

    def __init__(self, plan: ClusterPlan, items: Sequence[Item], namespace: str) -> None:
        self.silence = ""
        self._plan = plan
        self._claims = {
            (one.kind, one.namespace or namespace, one.name): one.content
            for one in items
            if one.kind in _KINDS.values()
        }
        self._classes = [one.content for one in items if one.kind == "DeviceClass"]
        self._known: dict[tuple[tuple[str, str, str], ...], tuple[Verdict, ...]] = {}

    def verdicts(
        self, specs: Iterable[Mapping[str, Any]], namespace: str
    ) -> Iterator[tuple[Verdict, ...]]:
        """For each spec of Pods with claims that are known, the verdict on each group."""
        for spec in specs:
            keys = tuple(_named(spec, namespace))
            if keys and all(key in self._claims for key in keys) and not self.silence:
                if keys not in self._known:
                    self._known[keys] = self._asked(keys)
                if self._known[keys]:
                    yield self._known[keys]

    def _asked(self, keys: Sequence[tuple[str, str, str]]) -> tuple[Verdict, ...]:
        claims = [self._claims[key] for key in keys]
        try:
            return check_claims(claims, self._plan, device_classes=self._classes)
        except EksDevicesError as error:
            if any(one.code == "CheckExtraMissing" for one in error.faults):
                self.silence = "the extra 'check' is not installed"
            return ()


def _named(spec: Mapping[str, Any], namespace: str) -> Iterator[tuple[str, str, str]]:
    for _, entry in mappings(spec, "resourceClaims"):
        for field, kind in _KINDS.items():
            if isinstance(name := entry.get(field), str):
                yield kind, namespace, name
