"""Finds and reads the files that a verb is to look at."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .._json_file import reason
from .._outcome import COULD_NOT_LOOK, FINE, OperationError
from . import ManifestDocument, Manifests, Trouble, manifests_of
from ._files import MOST_BYTES, chart_trouble, file_content

_SUFFIXES: Final = (".yaml", ".yml", ".json")
_CHART: Final = "Chart.yaml"
_KUSTOMIZATIONS: Final = frozenset({"kustomization.yaml", "kustomization.yml"})
_STDIN: Final = "-"
STDIN_NAME: Final = "<stdin>"
"""What documents of the standard input say their file is."""


@dataclass(slots=True)
class Input:
    """What was read: documents, what is wrong with texts, and files that cannot be looked at.

    `files` are all that were read, each with how many documents it has; `named` are those of them
    that the user named, `folders` says which files each folder has, and `kustomizations` are the
    folders whose files Kustomize puts together.
    """

    documents: list[ManifestDocument] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    problems: list[tuple[str, OperationError]] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)
    named: list[str] = field(default_factory=list)
    folders: dict[str, list[str]] = field(default_factory=dict)
    kustomizations: list[str] = field(default_factory=list)

    @property
    def code(self) -> int:
        """The exit code of what cannot be looked at, and of nothing to look at; else 0."""
        nothing = FINE if self.documents or self.troubles else COULD_NOT_LOOK
        return max((error.code for _, error in self.problems), default=nothing)

    @property
    def empty_folders(self) -> tuple[str, ...]:
        """What to tell of folders without files, in words."""
        ends = "has no file that ends in .yaml, .yml or .json"
        return tuple(f"{folder}: {ends}" for folder, files in self.folders.items() if not files)


def read_files(names: Sequence[str], *, without: str) -> Input:
    """Read files, the files of folders and the standard input.

    Args:
        names: What the user named.
        without: A folder that is passed over in other folders: that of the plan.
    """
    found = Input()
    seen: set[str] = set()
    for name in names:
        if name == _STDIN:
            _read_stdin(found)
        elif os.path.isdir(name):  # noqa: PTH112  (a name with a zero byte is no error here)
            found.folders[name] = [str(one) for one in _below(Path(name), without, found)]
            for one in found.folders[name]:
                _read(one, seen, found)
        else:
            found.named.append(name)
            _read(name, seen, found)
    return found


def _read(name: str, seen: set[str], found: Input) -> None:
    try:
        real = os.path.realpath(name)
    except (OSError, ValueError) as error:
        found.problems.append((name, OperationError(f"cannot be read: {reason(error)}")))
        return
    if real in seen:
        return
    seen.add(real)
    try:
        _add(manifests_of(name, file_content(Path(name))), name, found)
    except OperationError as error:
        found.problems.append((name, error))


def _read_stdin(found: Input) -> None:
    if STDIN_NAME in found.files or sys.stdin is None:
        return
    try:
        content = sys.stdin.buffer.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        found.problems.append((STDIN_NAME, OperationError(f"cannot be read: {reason(error)}")))
        return
    if len(content) > MOST_BYTES:
        large = OperationError(f"is larger than {MOST_BYTES >> 20} MiB")
        found.problems.append((STDIN_NAME, large))
        return
    found.named.append(STDIN_NAME)
    _add(manifests_of(STDIN_NAME, content), STDIN_NAME, found)


def _add(manifests: Manifests, name: str, found: Input) -> None:
    found.documents += manifests.documents
    found.troubles += manifests.troubles
    found.files[name] = len(manifests.documents) + len(manifests.troubles)


def _below(folder: Path, without: str, found: Input) -> Iterator[Path]:
    """The files of manifests in a folder and those below it, hidden ones left out."""
    skipped = os.path.realpath(without) if without else ""
    seen: set[str] = set()

    def note(error: OSError) -> None:
        name = str(error.filename or folder)
        found.problems.append(
            (name, OperationError(f"cannot be read: {reason(error)}", code=COULD_NOT_LOOK))
        )

    for place, folders, files in os.walk(folder, onerror=note, followlinks=True):
        real = os.path.realpath(place)
        if real in seen or real == skipped:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        if _CHART in files:
            # What it makes is not known before it is rendered, however many files it has.
            found.troubles.append(chart_trouble(str(Path(place) / _CHART), place))
            folders.clear()
            continue
        if not _KUSTOMIZATIONS.isdisjoint(files):
            found.kustomizations.append(place)
        for name in sorted(files):
            if name.endswith(_SUFFIXES) and not name.startswith("."):
                yield Path(place) / name
