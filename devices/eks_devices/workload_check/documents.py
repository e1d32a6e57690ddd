"""The manifests that are looked at together, and places in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from .._frozen import FrozenDict
from ..typecheck import path_step

Steps = tuple[str | int, ...]
"""Keys and indexes that lead from a manifest to a value in it."""

DEFAULT_NAMESPACE: Final = "default"
_OF_CLUSTERS: Final = ("DeviceClass", "ClusterTrainingRuntime", "Namespace")
_DEEPEST_LIST: Final = 8
_SCALARS: Final = (str, int, float, bool, type(None))
_LONGEST_NUMBER: Final = 128
_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[([0-9]+)\]|\['([^']*)'\]")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Document:
    """One manifest, and where it comes from: a file, a construct of an app.

    Args:
        origin: Where it comes from, in the caller's words.
        content: The manifest, as plain values.
        base: What leads to it where it is an item of a List.
        default_namespace: The namespace of what names none.
        source: What people call the place that it comes from, where `origin` is a key; those of one
            source are sent to one cluster.
        of_app: Whether it is sent to the same cluster as all others, wherever they come from.
    """

    origin: str
    content: Mapping[str, Any]
    base: Steps = ()
    default_namespace: str = DEFAULT_NAMESPACE
    source: str = ""
    of_app: bool = False

    def is_sent_with(self, other: Document) -> bool:
        """Whether both are sure to be sent to one cluster."""
        return (self.of_app and other.of_app) or self.place == other.place

    @property
    def place(self) -> str:
        """The source, or the origin where that is all that is told."""
        return self.source or self.origin

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
        """Its namespace, the default one where it names none."""
        return _text(self.metadata.get("namespace")) or self.default_namespace

    @property
    def title(self) -> str:
        """Kind, namespace and name, as people look for it."""
        of = "" if self.kind in _OF_CLUSTERS else f"{self.namespace}/"
        return f"{self.kind or 'object'} {of}{self.name or '(no name)'}"


def flattened(documents: Iterable[Document]) -> Iterator[Document]:
    """Documents with the items of each List in its place."""
    for document in documents:
        if not is_list(document):
            yield document
            continue
        for index, item in mappings(document.content, "items"):
            yield from flattened([item_of(document, index, item)])


def is_list(document: Document) -> bool:
    """Whether a document stands for its items."""
    has_items = document.kind.endswith("List") and "items" in document.content
    return has_items and len(document.base) <= _DEEPEST_LIST


def item_of(document: Document, index: int, item: Mapping[str, Any]) -> Document:
    """The document of an item of a List."""
    return replace(document, content=item, base=(*document.base, "items", index))


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


def frozen(value: Any) -> Any:
    """Plain values as ones that cannot change, and that can be looked up."""
    if type(value) is FrozenDict:
        return value
    if isinstance(value, Mapping):
        return FrozenDict((key, frozen(one)) for key, one in value.items())
    return tuple(map(frozen, value)) if isinstance(value, (list, tuple)) else value


def plain(value: Any) -> Any:
    """A frozen copy in which what no manifest can hold, such as a set, is null."""
    if isinstance(value, FrozenDict):
        return FrozenDict((key, plain(one)) for key, one in value.items())
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if type(value) is int and value.bit_length() > _LONGEST_NUMBER:
        return None
    return value if type(value) in _SCALARS else None


def text_of(owner: Mapping[str, Any], key: str) -> str:
    """A text by its key; empty where there is none."""
    return _text(owner.get(key))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def path_of(steps: Steps) -> str:
    """Steps as findings write them: `spec.containers[0].resources`."""
    parts = (f"[{one}]" if isinstance(one, int) else f".{path_step(one)}" for one in steps)
    return "".join(parts).removeprefix(".")


def steps_of(path: str) -> Steps:
    """The steps that a path of a finding is made of, as far as they can be told."""
    found = []
    for name, index, quoted in _STEP.findall(path):
        found.append(int(index) if index else name or quoted)
    return tuple(found)
