"""The objects of the user's files: plain values of our own, each with its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from eks_devices import Severity
from eks_devices.workload_check.documents import Document, Steps, flattened
from eks_devices.workload_check.lists import item_faults

from .._outcome import COULD_NOT_LOOK, WRONG, OperationError
from ..manifests import ManifestDocument
from ..manifests.inputs import STDIN_NAME, read_files

Object = dict[str, Any]

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
    def is_planned(self) -> bool:
        """Whether the plan has it, and no file."""
        return self.document is None

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


@dataclass(slots=True)
class Given:
    """What files hold: their objects, and what is worth telling of the rest."""

    items: list[Item] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_items(names: Sequence[str], *, without: str = "") -> Given:
    """The objects of YAML and JSON files, in their order, the items of Lists in their place.

    In the files of folders, what is no object is passed over.

    Args:
        names: Files, folders, or `-` for the standard input.
        without: A folder that is passed over in other folders: that of the plan.

    Raises:
        OperationError: Everything that cannot be read or is no object, together.
        EksDevicesError: PyYAML is not installed.
    """
    found, given = read_files(names, without=without), Given()
    wrong = [(error.code, f"{name}: {error}") for name, error in found.problems]
    for one in found.troubles:
        text = f"{one.file}:{one.mark[0]}: {one.finding.message}"
        if one.finding.severity is Severity.ERROR:
            wrong.append((WRONG, text))
        else:
            given.notes.append(text)
    named = {*found.named, STDIN_NAME}
    for document in found.documents:
        try:
            given.items += _items(document)
        except OperationError as error:
            if document.file in named:
                wrong.append((error.code, str(error)))
            else:
                given.notes.append(f"{error}, so it is passed over")
    if wrong:
        worst = max(code for code, _ in wrong)
        raise OperationError(*(message for _, message in wrong), code=worst)
    if not given.items:
        told = (*given.notes, *found.empty_folders, "the files hold no object")
        raise OperationError(*told, code=COULD_NOT_LOOK)
    return given


def _items(document: ManifestDocument) -> list[Item]:
    content = plain(document.content)
    if not isinstance(content, dict):
        raise OperationError(_no_object(document, ()), code=WRONG)
    found, given = [], [Document(origin=document.file, content=content)]
    for wrong, steps, _ in item_faults(given):
        raise OperationError(_no_object(document, (*wrong.base, *steps)), code=WRONG)
    for one in flattened(given):
        if not _is_object(one.content):
            raise OperationError(_no_object(document, one.base), code=WRONG)
        made = _as_new(one.content)
        found.append(Item(file=document.file, content=made, document=document, base=one.base))
    return found


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


def plain(value: Any) -> Any:
    """A copy of a value of JSON that may be changed."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value
