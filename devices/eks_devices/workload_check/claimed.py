"""The claims that Pods name, found among the manifests and the claims of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .documents import Document, Steps, mappings
from .pods import PodTemplate

_KINDS: Final = {
    "resourceClaimName": "ResourceClaim",
    "resourceClaimTemplateName": "ResourceClaimTemplate",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PodClaim:
    """A claim of a Pod; `manifest` is that of the object it names, None where nobody has it.

    `steps` lead to its entry from the Pod's spec; `kind` and `object_name` are what it names.
    """

    name: str
    steps: Steps
    kind: str
    object_name: str
    manifest: Mapping[str, Any] | None


class KnownClaims:
    """Claims and templates by kind, namespace and name.

    Args:
        documents: The manifests.
        planned: The manifests of the claims that a plan's app makes.
    """

    def __init__(
        self, documents: Iterable[Document], planned: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        apart = [Document(origin="", content=one) for one in planned]
        self._known = {
            (one.kind, one.namespace, one.name): one.content
            for one in (*apart, *documents)
            if one.kind in _KINDS.values()
        }

    def of(self, pod: PodTemplate) -> Iterator[PodClaim]:
        """The claims of the Pods of a template."""
        for index, entry in mappings(pod.spec, "resourceClaims"):
            for field, kind in _KINDS.items():
                name = entry.get(field)
                if isinstance(name, str):
                    yield PodClaim(
                        name=str(entry.get("name", "")),
                        steps=("resourceClaims", index),
                        kind=kind,
                        object_name=name,
                        manifest=self._known.get((kind, pod.namespace, name)),
                    )
