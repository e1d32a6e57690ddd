"""Builds binaries from a Go module, once, into the cache.

The cache is outside the checkout, so that a new one does not build again; a stamp there says what
the binaries were built from.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eks_device_operations._outcome import OperationError

STAMP = "built-from"
LONGEST_BUILD_SECONDS = 2 * 60 * 60
ENVIRONMENT = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly -buildvcs=false"}


@dataclass(frozen=True, kw_only=True)
class Build:
    """What to build, from what, and where to."""

    what: str
    """Such as `the control plane of Kubernetes`; the version is told after it."""
    takes: str
    """How long it takes, in words."""
    missing_go: str
    """What to say where there is no Go."""
    folder: Path
    """Where the module is; Go runs there."""
    sources: Sequence[Path]
    """The files that the binaries depend on."""
    target: Path
    names: Sequence[str]
    """The binaries."""
    packages: str
    versioned: str
    """The module whose version is told."""
    options: Sequence[str] = ()
    """What Go is told each time it reads the module."""
    linker_flags: Callable[[str], str] = lambda _: "-s -w"
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Other names for binaries than those that Go gives them."""


def build_once(build: Build) -> int:
    """Build what is not there yet; 0 when the binaries are, 2 when they cannot be made."""
    target, stamp = build.target, fingerprint(build)
    if is_built(build, stamp):
        return 0
    if shutil.which("go") is None:
        print(build.missing_go, file=sys.stderr)
        return 2
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_left_over(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as scratch:
        made = Path(scratch) / "bin"
        started = time.monotonic()
        try:
            compile_all(build, made)
        except subprocess.CalledProcessError:
            print(f"The build of {build.what} failed; see above.", file=sys.stderr)
            return 2
        (made / STAMP).write_text(stamp, encoding="utf-8")
        # The old folder goes aside whole: what runs keeps its binaries.
        if target.exists():
            target.rename(Path(scratch) / "old")
        made.rename(target)
    print(f"Built {build.what} into {target} in {time.monotonic() - started:.0f} s.")
    return 0


def remove_left_over(folder: Path) -> None:
    """Take away what builds left that were killed; one that still runs is younger."""
    for scratch in folder.glob(".*-*"):
        if time.time() - scratch.stat().st_mtime > LONGEST_BUILD_SECONDS:
            shutil.rmtree(scratch, ignore_errors=True)


def fingerprint(build: Build) -> str:
    """What the binaries depend on: their sources, and this file."""
    texts = [*build.sources, Path(__file__)]
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in texts)).hexdigest()


def is_built(build: Build, stamp: str) -> bool:
    """Whether the folder holds every binary, built from the same sources."""
    said = build.target / STAMP
    there = all((build.target / name).is_file() for name in build.names)
    return there and said.is_file() and said.read_text(encoding="utf-8") == stamp


def compile_all(build: Build, made: Path) -> None:
    """Compile the packages, telling how far it is.

    Raises:
        subprocess.CalledProcessError: Go failed; it said why.
    """
    made.mkdir()
    version = go(build, "list", "-m", *build.options, "-f", "{{.Version}}", build.versioned)
    total = len(go(build, "list", "-deps", *build.options, build.packages).split())
    print(f"Building {build.what} {version} (once, {build.takes}).", flush=True)
    command = ["go", "build", "-v", "-trimpath", *build.options]
    command += ["-ldflags", build.linker_flags(version), "-o", f"{made}{os.sep}", build.packages]
    # With -v, Go names each package that it compiles; those that its own cache has, it skips.
    process = subprocess.Popen(
        command,
        cwd=build.folder,
        env=os.environ | ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        progress(process.stderr, total)
    finally:
        process.terminate()
    if process.wait() != 0:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    for name, better in build.renamed.items():
        (made / name).rename(made / better)


def progress(lines: Iterable[str], total: int) -> None:
    """Print a line for each twentieth of the packages, and whatever is not a package's name."""
    done, told = 0, 0
    for line in lines:
        if " " in line.strip() or line.startswith("#"):
            print(line, end="", file=sys.stderr, flush=True)
            continue
        done += 1
        if done * 20 // total > told:
            told = done * 20 // total
            print(f"  {done} of {total} packages", flush=True)


def go(build: Build, *arguments: str) -> str:
    """What a go command prints."""
    answer = subprocess.run(
        ["go", *arguments],
        cwd=build.folder,
        env=os.environ | ENVIRONMENT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return answer.stdout.strip()


def run(main: Callable[..., int], *arguments: str) -> int:
    """A build as a command: what keeps it from going on is told in a line."""
    # So that a build that is ended takes its folder away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return main(*arguments)
    except (OperationError, OSError) as error:
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        print("The build was interrupted.", file=sys.stderr)
    return 2
