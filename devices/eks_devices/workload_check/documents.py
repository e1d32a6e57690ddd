"""The manifests that are looked at together, and places in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..typecheck import path_step

Steps = tuple[str | int, ...]
"""Keys and indexes that lead from a manifest to a value in it."""

DEFAULT_NAMESPACE: Final = "default"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Document:
    """One manifest, and where it comes from: a file, a construct of an app.

    `base` leads to it where it is an item of a List.
    """

    origin: str
    content: Mapping[str, Any]
    base: Steps = ()

    @property
    def kind(self) -> str:
        """What kind of object it is; empty where it does not say."""
        return _text(self.content.get("kind"))

    @property
    def api_group(self) -> str:
        """The API group of its kind; empty for the core's."""
        group, slash, _ = _text(self.content.get("apiVersion")).partition("/")
        return group if slash else ""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Its metadata; empty where it has none."""
        return mapping(self.content, "metadata")

    @property
    def name(self) -> str:
        """Its name, or the prefix that one is made from."""
        return _text(self.metadata.get("name")) or _text(self.metadata.get("generateName"))

    @property
    def namespace(self) -> str:
        """Its namespace, `default` where it names none."""
        return _text(self.metadata.get("namespace")) or DEFAULT_NAMESPACE


def flattened(documents: Sequence[Document]) -> Iterator[Document]:
    """Documents with the items of each List in its place."""
    for document in documents:
        if not (document.kind.endswith("List") and "items" in document.content):
            yield document
            continue
        for index, item in enumerate(sequence(document.content, "items")):
            if isinstance(item, Mapping):
                base = (*document.base, "items", index)
                yield from flattened([Document(origin=document.origin, content=item, base=base)])


def mapping(owner: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A mapping by its key; empty where there is none."""
    value = owner.get(key)
    return value if isinstance(value, Mapping) else {}


def sequence(owner: Mapping[str, Any], key: str) -> Sequence[Any]:
    """A list by its key; empty where there is none."""
    value = owner.get(key)
    return value if isinstance(value, (list, tuple)) else ()


def mappings(owner: Mapping[str, Any], key: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The mappings in a list, each with its index."""
    return ((at, one) for at, one in enumerate(sequence(owner, key)) if isinstance(one, Mapping))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def path_of(steps: Steps) -> str:
    """Steps as findings write them: `spec.containers[0].resources`."""
    parts = (f"[{one}]" if isinstance(one, int) else f".{path_step(one)}" for one in steps)
    return "".join(parts).removeprefix(".")
