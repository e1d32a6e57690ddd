"""Finds the binaries of a Kubernetes control plane: named by a variable, or built into a cache."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .._outcome import OperationError

VARIABLE: Final = "EKS_DEVICES_CONTROLPLANE"
NAMES: Final = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
_SECONDS_TO_ANSWER = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Binaries:
    """A folder that holds the four binaries, and what its kube-apiserver says of itself.

    Attributes:
        folder: Where the binaries are.
        version: The version of kube-apiserver, such as `v1.34.9`.
    """

    folder: Path
    version: str

    def path(self, name: str) -> Path:
        """The path of one binary."""
        return self.folder / name


def cache_folder(minor: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The folder, outside any checkout, that the binaries of a Kubernetes minor are built into."""
    base = environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "eks-devices" / "controlplane" / minor


def find_binaries(minor: str, environ: Mapping[str, str] = os.environ) -> Binaries:
    """The binaries of a control plane of a Kubernetes minor such as `1.34`.

    A folder that `EKS_DEVICES_CONTROLPLANE` names is the only one asked; without it, the cache.

    Raises:
        OperationError: A binary is missing, does not run here, or is of another minor.
    """
    named = environ.get(VARIABLE)
    folder = Path(named).expanduser() if named else cache_folder(minor, environ)
    if missing := [name for name in NAMES if not os.access(folder / name, os.X_OK)]:
        raise OperationError(_missing(folder, missing, named))
    versions = {name: _version(folder / name) for name in NAMES if name.startswith("kube-")}
    for name, version in versions.items():
        if not version.startswith(f"v{minor}."):
            raise OperationError(
                f"{folder}: {name} is {version}; allowed: {minor}; "
                f"fix: name a folder of that minor in {VARIABLE}, or unset it"
            )
    return Binaries(folder=folder.resolve(), version=versions["kube-apiserver"])


def minors_here(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The minors whose binaries are there: in the folder that is named, or else in the cache.

    Raises:
        OperationError: A named folder lacks a binary, or one of them does not run here.
    """
    if named := environ.get(VARIABLE):
        folder = Path(named).expanduser()
        if missing := [name for name in NAMES if not os.access(folder / name, os.X_OK)]:
            raise OperationError(_missing(folder, missing, named))
        major, minor, _ = _version(folder / "kube-apiserver").removeprefix("v").split(".", 2)
        return (f"{major}.{minor}",)
    folder = cache_folder("", environ)
    found = [one.name for one in folder.iterdir()] if folder.is_dir() else []
    minors = [one for one in found if re.fullmatch(r"1\.[0-9]{1,3}", one, re.ASCII)]
    whole = [
        one for one in minors if all(os.access(folder / one / name, os.X_OK) for name in NAMES)
    ]
    return tuple(sorted(whole, key=lambda one: int(one.partition(".")[2])))


def _missing(folder: Path, missing: list[str], named: str | None) -> str:
    where = f"{VARIABLE} names {folder}, which" if named else f"{folder}"
    fix = f"put them there, or unset {VARIABLE}" if named else f"build them, or set {VARIABLE}"
    return (
        f"there is no control plane to run: {where} lacks {', '.join(missing)} (as executable "
        f"files); fix: {fix}"
    )


def _version(binary: Path) -> str:
    try:
        answer = subprocess.run(  # noqa: S603  (the binary that is about to run anyway)
            [binary, "--version"],
            capture_output=True,
            text=True,
            timeout=_SECONDS_TO_ANSWER,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise OperationError(f"{binary} does not run on this machine: {error}") from error
    found = re.search(r"v\d+\.\d+\.\d+\S*", answer.stdout)
    if found is None:
        raise OperationError(f"{binary} --version says {answer.stdout.strip()!r}, not a version")
    return found.group()
