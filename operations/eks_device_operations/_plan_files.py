"""Finds the plan files of a cloud assembly and reads them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from eks_devices.plans import PLAN_FILE_SCHEMA, PLAN_FILE_SUFFIX, PLAN_SCHEMA

from . import _plan_shape as shapes
from ._json_file import Problem, UnusableFileError, read_json_file, reason
from ._output import COULD_NOT_LOOK, WRONG
from ._shape import Shape, differences

_MANIFEST: Final = "manifest.json"
_NESTED: Final = "assembly-"
_NESTED_TYPE: Final = "cdk:cloud-assembly"
_MOST_TOLD: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCluster:
    """The plan of one cluster as its file holds it; what reports need of it was checked."""

    file: str
    path: str
    plan: dict[str, Any]


@dataclass(slots=True)
class Assembly:
    """What a cloud assembly holds; files are named relative to its folder."""

    folder: Path
    files: list[str] = field(default_factory=list)
    clusters: list[PlannedCluster] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)
    """Plan files of stacks that the app no longer has; the CDK never cleans its folder."""

    def add_problem(self, file: Path, message: str, *, code: int = WRONG) -> None:
        """Note that a file, or a folder, is not what it should be."""
        self.problems.append(Problem(file=str(file), message=message, code=code))


def read_assembly(folder: str) -> Assembly:
    """Find and read every plan file of a cloud assembly and of the ones nested in it."""
    assembly = Assembly(Path(folder))
    seen: set[str] = set()
    waiting = [Path()]
    while waiting:
        inner = waiting.pop(0)
        if _is_new(assembly.folder / inner, seen):
            waiting += _look_into(assembly, inner, seen)
    return assembly


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
    artifacts = _artifacts(assembly, inner) if _MANIFEST in names else None
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


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _artifacts(assembly: Assembly, inner: Path) -> dict[str, Any] | None:
    """The artifacts of a manifest; None, and a problem, when it cannot tell them."""
    content = _checked(assembly, inner / _MANIFEST, shapes.MANIFEST)
    return None if content is None else dict(content.get("artifacts", {}))


def _nested_by_manifest(
    assembly: Assembly, inner: Path, artifacts: dict[str, Any]
) -> Iterator[Path]:
    for name, artifact in artifacts.items():
        path = f"artifacts.{name}"
        if artifact["type"] != _NESTED_TYPE or not _has_shape(
            assembly, inner / _MANIFEST, artifact, shapes.NESTED_ASSEMBLY, path
        ):
            continue
        nested = artifact["properties"]["directoryName"]
        if _stays_inside(nested) and _is_folder(assembly.folder / inner / nested):
            yield inner / nested
        else:
            message = f"{path}: expected the name of a folder beside it, got {nested[:80]!r}"
            assembly.add_problem(inner / _MANIFEST, message)


def _stays_inside(name: str) -> bool:
    path = Path(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def _read_plan_file(assembly: Assembly, file: Path) -> None:
    assembly.files.append(str(file))
    content = _checked(assembly, file, {"schema": str})
    if content is None or not _is_schema(assembly, file, content, PLAN_FILE_SCHEMA):
        return
    if not _has_shape(assembly, file, content, shapes.PLAN_FILE):
        return
    for place, cluster in enumerate(content["clusters"]):
        path, plan = f"clusters[{place}].plan", cluster["plan"]
        if _is_schema(assembly, file, plan, PLAN_SCHEMA, f"{path}.") and _has_shape(
            assembly, file, plan, shapes.PLAN, path
        ):
            found = PlannedCluster(file=str(file), path=cluster["path"], plan=plan)
            assembly.clusters.append(found)


def _checked(assembly: Assembly, file: Path, shape: Shape) -> dict[str, Any] | None:
    try:
        content = read_json_file(assembly.folder / file)
    except UnusableFileError as error:
        assembly.add_problem(file, str(error), code=error.code)
        return None
    return content if _has_shape(assembly, file, content, shape) else None


def _is_schema(
    assembly: Assembly, file: Path, content: dict[str, Any], schema: str, path: str = ""
) -> bool:
    if content["schema"] == schema:
        return True
    got = content["schema"][:80]
    again = "synthesise again with this version of eks-devices"
    assembly.add_problem(file, f"{path}schema: expected {schema!r}, got {got!r}; {again}")
    return False


def _has_shape(assembly: Assembly, file: Path, content: Any, shape: Shape, path: str = "") -> bool:
    found = differences(content, shape, path)
    told = list(islice(found, _MOST_TOLD))
    more = sum(1 for _ in found)
    for message in [*told, *([f"and {more} more like these"] if more else [])]:
        assembly.add_problem(file, message)
    return not told
