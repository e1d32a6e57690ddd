"""Finds the plan files of a cloud assembly and reads them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from eks_devices.plans import PLAN_FILE_SUFFIX

from .._json_file import read_json_file, reason
from .._outcome import COULD_NOT_LOOK, WRONG, OperationError
from .manifest import Artifacts, artifacts_of
from .plan_file import PlannedCluster, planned_clusters

_MANIFEST: Final = "manifest.json"
_NESTED: Final = "assembly-"

_UNFINISHED: Final = (
    "synthesis did not finish, so these plans may not be whole; mend what 'cdk synth' says, and "
    "run it again"
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong with a file, and which exit code that means."""

    file: str
    message: str
    code: int


@dataclass(slots=True)
class Assembly:
    """What a cloud assembly holds; files are named relative to its folder."""

    folder: Path
    clusters: list[tuple[str, PlannedCluster]] = field(default_factory=list)
    """Each with the name of its file."""
    files: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)
    """Plan files of stacks that the app no longer has; the CDK never cleans its folder."""
    unfinished: list[Path] = field(default_factory=list)
    """Folders whose synthesis ended before the app was written whole."""

    def add_problem(self, file: Path, message: str, *, code: int = WRONG) -> None:
        """Note that a file, or a folder, is not what it should be."""
        self.problems.append(Problem(file=str(file), message=message, code=code))


def read_assembly(folder: str) -> Assembly:
    """Find and read every plan file of a cloud assembly and of the ones nested in it.

    Where a plan file itself is named, whether its synthesis finished is not judged.
    """
    if folder.endswith(PLAN_FILE_SUFFIX) and not _is_folder(Path(folder)):
        assembly = Assembly(Path(folder).parent)
        _read_plan_file(assembly, Path(Path(folder).name))
        return assembly
    assembly = Assembly(Path(folder))
    seen: set[str] = set()
    waiting = [Path()]
    while waiting:
        inner = waiting.pop(0)
        if _is_new(assembly.folder / inner, seen):
            waiting += _look_into(assembly, inner, seen)
    _tell_unfinished(assembly)
    return assembly


def _tell_unfinished(assembly: Assembly) -> None:
    """Tell the outermost folders with plan files whose synthesis did not finish."""
    told: list[Path] = []
    for inner in assembly.unfinished:
        holds_plans = any(Path(file).is_relative_to(inner) for file in assembly.files)
        if holds_plans and not any(inner.is_relative_to(one) for one in told):
            told.append(inner)
            assembly.add_problem(inner, _UNFINISHED)


def _is_new(path: Path, seen: set[str]) -> bool:
    """Whether a path leads to something else than all before; symbolic links may make circles."""
    real = os.path.realpath(path)
    if real in seen:
        return False
    seen.add(real)
    return True


def _look_into(assembly: Assembly, inner: Path, seen: set[str]) -> list[Path]:
    """Read the plan files of one folder; returns the assemblies nested in it."""
    folder = assembly.folder / inner
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        assembly.add_problem(inner, f"cannot be read: {reason(error)}", code=COULD_NOT_LOOK)
        return []
    artifacts = None
    if _MANIFEST not in names:
        assembly.unfinished.append(inner)
    else:
        artifacts = _read(assembly, inner / _MANIFEST, artifacts_of)
    for name in names:
        if not (name.endswith(PLAN_FILE_SUFFIX) and _is_new(folder / name, seen)):
            continue
        if artifacts is None or name.removesuffix(PLAN_FILE_SUFFIX) in artifacts:
            _read_plan_file(assembly, inner / name)
        else:
            assembly.left_over.append(str(inner / name))
    if artifacts is not None:
        return list(_nested_by_manifest(assembly, inner, artifacts))
    nested = (name for name in names if name.startswith(_NESTED))
    return [inner / name for name in nested if _is_folder(folder / name)]


def _read(assembly: Assembly, file: Path, reader: Callable[[Any], T]) -> T | None:
    """What a reader makes of a file; None, and a problem, when it cannot."""
    try:
        return reader(read_json_file(assembly.folder / file))
    except OperationError as error:
        assembly.add_problem(file, str(error), code=error.code)
        return None


def _read_plan_file(assembly: Assembly, file: Path) -> None:
    assembly.files.append(str(file))
    found = _read(assembly, file, planned_clusters) or ()
    assembly.clusters += [(str(file), cluster) for cluster in found]


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _nested_by_manifest(assembly: Assembly, inner: Path, artifacts: Artifacts) -> Iterator[Path]:
    for artifact, name in artifacts.items():
        if name is None:
            continue
        if _stays_inside(name) and _is_folder(assembly.folder / inner / name):
            yield inner / name
        else:
            message = f"artifact {artifact!r:.80} is in no folder beside it: {name!r:.80}"
            assembly.add_problem(inner / _MANIFEST, message)


def _stays_inside(name: str) -> bool:
    path = Path(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts
