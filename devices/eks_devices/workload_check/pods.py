"""The Pods that manifests make: of whatever kind, each holds the spec of a Pod somewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .documents import Document, Steps, mapping, mappings

_DEEPEST: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Container:
    """A container of a Pod; `steps` lead to it from the Pod's spec."""

    name: str
    steps: Steps
    content: Mapping[str, Any]
    is_init: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PodTemplate:
    """What a manifest says of Pods; `steps` lead to their spec from the manifest."""

    document: Document
    steps: Steps
    spec: Mapping[str, Any]
    metadata: Mapping[str, Any]

    @property
    def namespace(self) -> str:
        """The namespace of the Pods."""
        return self.document.namespace

    @property
    def containers(self) -> tuple[Container, ...]:
        """Init containers and containers, in the order of the spec."""
        found = []
        for field in ("initContainers", "containers"):
            for index, one in mappings(self.spec, field):
                name = one.get("name")
                found.append(
                    Container(
                        name=name if isinstance(name, str) else "",
                        steps=(field, index),
                        content=one,
                        is_init=field == "initContainers",
                    )
                )
        return tuple(found)


def pods_of(document: Document) -> Iterator[PodTemplate]:
    """The Pod templates in a manifest, a Pod itself among them."""
    yield from _found(document, document.content, (), 0)


def _found(document: Document, value: Any, steps: Steps, depth: int) -> Iterator[PodTemplate]:
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        if _is_pod(value):
            yield PodTemplate(
                document=document,
                steps=(*steps, "spec"),
                spec=mapping(value, "spec"),
                metadata=mapping(value, "metadata"),
            )
            return
        for key, one in value.items():
            if isinstance(key, str):
                yield from _found(document, one, (*steps, key), depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, one in enumerate(value):
            yield from _found(document, one, (*steps, index), depth + 1)


def _is_pod(value: Mapping[str, Any]) -> bool:
    """Whether a mapping has the spec of a Pod: no other kind's has a list of containers."""
    containers = mapping(value, "spec").get("containers")
    return isinstance(containers, (list, tuple)) and any(
        isinstance(one, Mapping) for one in containers
    )
