"""The Pods that manifests make: of whatever kind, each holds the spec of a Pod somewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .documents import Document, Steps, mapping, mappings, text_of

_DEEPEST: Final = 24
# What looks like a Pod in objects of these is a pattern, a schema or a part of one.
_PATTERNS: Final = (
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "gatekeeper.sh",
    "kyverno.io",
    "rbac.authorization.k8s.io",
)
_NO_PODS: Final = ("ConfigMap", "Secret", "Event", "Node")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Container:
    """A container of a Pod; `steps` lead to it from the Pod's spec."""

    name: str
    steps: Steps
    content: Mapping[str, Any]
    is_init: bool

    @property
    def values(self) -> Mapping[str, Any]:
        """What the manifest says of it."""
        return self.content


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PodTemplate:
    """What a manifest says of Pods; `steps` lead to their spec from the manifest.

    `is_partial` says that more of the Pods stands where nobody looked.
    """

    document: Document
    steps: Steps
    spec: Mapping[str, Any]
    metadata: Mapping[str, Any]
    is_partial: bool = False

    @property
    def namespace(self) -> str:
        """The namespace of the Pods."""
        return self.document.namespace

    @property
    def containers(self) -> tuple[Container, ...]:
        """Init containers and containers, in the order of the spec."""
        return containers_of(self.spec)


def containers_of(spec: Mapping[str, Any]) -> tuple[Container, ...]:
    """Init containers and containers of a Pod's spec, in its order."""
    return tuple(
        Container(
            name=text_of(one, "name"),
            steps=(field, index),
            content=one,
            is_init=field == "initContainers",
        )
        for field in ("initContainers", "containers")
        for index, one in mappings(spec, field)
    )


def pods_of(document: Document) -> Iterator[PodTemplate]:
    """The Pod templates in a manifest, a Pod itself among them."""
    group = document.api_group
    if document.kind in _NO_PODS or any(group.endswith(one) for one in _PATTERNS):
        return
    yield from _found(document, document.content, (), 0)


def _found(document: Document, value: Any, steps: Steps, depth: int) -> Iterator[PodTemplate]:
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        if is_pod(value):
            yield PodTemplate(
                document=document,
                steps=(*steps, "spec"),
                spec=mapping(value, "spec"),
                metadata=mapping(value, "metadata"),
            )
            return
        for key, one in value.items():
            if isinstance(key, str) and isinstance(one, (Mapping, list, tuple)):
                yield from _found(document, one, (*steps, key), depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, one in enumerate(value):
            yield from _found(document, one, (*steps, index), depth + 1)


def is_pod(value: Mapping[str, Any]) -> bool:
    """Whether a mapping has the spec of a Pod: no other kind's has a list of containers."""
    spec = value.get("spec")
    containers = spec.get("containers") if isinstance(spec, Mapping) else None
    return isinstance(containers, (list, tuple)) and any(
        isinstance(one, Mapping) for one in containers
    )
