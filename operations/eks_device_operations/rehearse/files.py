"""The objects of the user's files: plain values of our own, each with its place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eks_devices.workload_check.documents import Document, Steps, flattened

from .._outcome import COULD_NOT_LOOK, WRONG, OperationError
from ..manifests import ManifestDocument, read_manifests

Object = dict[str, Any]

# Aliases of YAML can make a small file endless.
_MOST_VALUES: Final = 1_000_000
_DEEPEST: Final = 100
# What an export from a cluster has, and no server takes from a user, or collects at once.
_OF_A_SERVER: Final = (
    "creationTimestamp",
    "finalizers",
    "generation",
    "managedFields",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Item:
    """An object of a file, or of the plan; `base` leads to it where it is an item of a List."""

    file: str
    content: Object
    document: ManifestDocument | None = None
    base: Steps = ()

    def line(self, steps: Steps = ()) -> int:
        """The line of a value in it; 0 for what no file has."""
        return self.document.line((*self.base, *steps)) if self.document else 0

    @property
    def place(self) -> str:
        """Where it is: `<file>:<line>`."""
        return f"{self.file}:{self.line()}" if self.document else self.file

    @property
    def kind(self) -> str:
        """What kind of object it is."""
        return str(self.content["kind"])

    @property
    def api_version(self) -> str:
        """The API version of its kind."""
        return str(self.content["apiVersion"])

    @property
    def api_group(self) -> str:
        """The API group of its kind; empty for the core's."""
        return group_of(self.api_version)

    @property
    def name(self) -> str:
        """Its name, or the prefix that one is made from."""
        meta = self.content["metadata"]
        return str(meta.get("name") or meta.get("generateName"))

    @property
    def namespace(self) -> str:
        """Its namespace; empty where it names none."""
        return str(self.content["metadata"].get("namespace") or "")

    def __str__(self) -> str:
        inside = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {inside}{self.name}"


def group_of(api_version: str) -> str:
    """The API group of an API version; empty for the core's."""
    group, slash, _ = api_version.partition("/")
    return group if slash else ""


def read_items(files: Sequence[str]) -> list[Item]:
    """The objects of YAML and JSON files, in their order, the items of Lists in their place.

    Raises:
        OperationError: Everything that cannot be read or is no object, together.
    """
    found: list[Item] = []
    wrong: list[tuple[int, str]] = []
    for file in files:
        try:
            documents = read_manifests(Path(file))
        except OperationError as error:
            wrong.append((error.code, f"{file}: {error}"))
            continue
        for document in documents:
            if document.content is None:
                continue
            try:
                found += _items(document)
            except OperationError as error:
                wrong.append((error.code, str(error)))
    if wrong:
        worst = max(code for code, _ in wrong)
        raise OperationError(*(message for _, message in wrong), code=worst)
    if not found:
        raise OperationError("the files hold no object", code=COULD_NOT_LOOK)
    return found


def _items(document: ManifestDocument) -> Iterator[Item]:
    budget = [_MOST_VALUES]
    try:
        content = plain(document.content, budget)
    except ValueError as error:
        place = f"{document.file}:{document.line()}"
        raise OperationError(f"{place}: {error}", code=WRONG) from None
    if not isinstance(content, dict):
        raise OperationError(_no_object(document, ()), code=WRONG)
    for one in flattened([Document(origin=document.file, content=content)]):
        if not _is_object(one.content):
            raise OperationError(_no_object(document, one.base), code=WRONG)
        content = _as_new(one.content)
        yield Item(file=document.file, content=content, document=document, base=one.base)


def _no_object(document: ManifestDocument, steps: Steps) -> str:
    return (
        f"{document.file}:{document.line(steps)}: this is no object of Kubernetes; expected "
        "apiVersion, kind and metadata with a name"
    )


def _is_object(content: Mapping[str, Any]) -> bool:
    meta = content.get("metadata")
    if not isinstance(meta, dict) or not isinstance(meta.get("namespace", ""), (str, type(None))):
        return False
    texts = (content.get("apiVersion"), content.get("kind"))
    named = meta.get("name") or meta.get("generateName")
    return all(isinstance(one, str) and one for one in (*texts, named))


def _as_new(content: Mapping[str, Any]) -> Object:
    """An object without what a server adds, so that an export can be made again."""
    meta = {key: one for key, one in content["metadata"].items() if key not in _OF_A_SERVER}
    return {key: one for key, one in content.items() if key != "status"} | {"metadata": meta}


def plain(value: Any, budget: list[int], depth: int = 0) -> Any:
    """A value as JSON has it, a copy; dates, which YAML knows and JSON does not, are texts.

    Args:
        value: What a reader of YAML made.
        budget: How many values there may be; it gets less.
        depth: How deep this one is.

    Raises:
        ValueError: There are more values than that, it is nested too deeply, or a number is none
            that JSON has.
    """
    budget[0] -= 1
    if budget[0] < 0 or depth > _DEEPEST:
        raise ValueError("this is larger or deeper than any manifest")
    if isinstance(value, dict):
        return {_text(key): plain(one, budget, depth + 1) for key, one in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(one, budget, depth + 1) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no number that JSON has")
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _text(key: Any) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)
