"""Builds the control plane of a Kubernetes minor from Go modules, once, into the cache.

Each minor has a module of its own beside this file. The cache is outside the checkout, so that a
new one does not build again; a stamp there says what the binaries were built from.
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
from collections.abc import Iterable
from pathlib import Path

from eks_device_operations._outcome import OperationError
from eks_device_operations.control_plane.binaries import (
    NAMES,
    VARIABLE,
    cache_folder,
    find_binaries,
)

HERE = Path(__file__).parent
STAMP = "built-from"
LONGEST_BUILD_SECONDS = 2 * 60 * 60
# Go names a binary after its package, and etcd's main package is called server.
RENAMED = {"server": "etcd"}
ENVIRONMENT = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly -buildvcs=false"}
FAILED = "The build of the control plane failed; see above. It takes Go 1.24 or newer."
MISSING_GO = f"""\
There is no Go on this machine, so the control plane of the tests cannot be built. Either
  - install Go 1.24 or newer (https://go.dev/dl), or
  - set {VARIABLE} to a folder with {", ".join(NAMES)}."""


def main(minor: str = "1.34") -> int:
    """Build what is not there yet; 0 when the binaries are, 2 when they cannot be made."""
    if folder := os.environ.get(VARIABLE):
        found = find_binaries(minor)
        print(f"The control plane {found.version} in {folder} is used ({VARIABLE}).")
        return 0
    module, target = HERE / f"v{minor}", cache_folder(minor)
    stamp = fingerprint(module)
    if is_built(target, stamp):
        return 0
    if shutil.which("go") is None:
        print(MISSING_GO, file=sys.stderr)
        return 2
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_left_over(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{minor}-") as scratch:
        made = Path(scratch) / "bin"
        started = time.monotonic()
        try:
            build(module, made)
        except subprocess.CalledProcessError:
            print(FAILED, file=sys.stderr)
            return 2
        (made / STAMP).write_text(stamp, encoding="utf-8")
        # The old folder goes aside whole: a plane that runs keeps its binaries.
        if target.exists():
            target.rename(Path(scratch) / "old")
        made.rename(target)
    print(f"Built the control plane into {target} in {time.monotonic() - started:.0f} s.")
    return 0


def remove_left_over(folder: Path) -> None:
    """Take away what builds left that were killed; one that still runs is younger."""
    for scratch in folder.glob(".*-*"):
        if time.time() - scratch.stat().st_mtime > LONGEST_BUILD_SECONDS:
            shutil.rmtree(scratch, ignore_errors=True)


def fingerprint(module: Path) -> str:
    """What the binaries depend on: the module, its sums, and this file."""
    texts = [module / "go.mod", module / "go.sum", Path(__file__)]
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in texts)).hexdigest()


def is_built(folder: Path, stamp: str) -> bool:
    """Whether a folder holds every binary, built from the same module."""
    said = folder / STAMP
    there = all((folder / name).is_file() for name in NAMES)
    return there and said.is_file() and said.read_text(encoding="utf-8") == stamp


def build(module: Path, made: Path) -> None:
    """Compile the tools of a module, telling how far it is.

    Raises:
        subprocess.CalledProcessError: Go failed; it said why.
    """
    made.mkdir()
    version = go(module, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
    total = len(go(module, "list", "-deps", "tool").split())
    print(f"Building the control plane of Kubernetes {version} (once, about five minutes).")
    command = ["build", "-v", "-trimpath", "-ldflags", flags(version), "-o", f"{made}{os.sep}"]
    # With -v, Go names each package that it compiles; those that its own cache has, it skips.
    process = subprocess.Popen(
        ["go", *command, "tool"],
        cwd=module,
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
    for name, better in RENAMED.items():
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


def go(module: Path, *arguments: str) -> str:
    """What a go command prints."""
    answer = subprocess.run(
        ["go", *arguments],
        cwd=module,
        env=os.environ | ENVIRONMENT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return answer.stdout.strip()


def flags(version: str) -> str:
    """What the linker writes into the binaries, so that they tell their version."""
    major, minor, _ = version.removeprefix("v").split(".", 2)
    base = "k8s.io/component-base/version"
    variables = {
        f"{base}.gitVersion": version,
        f"{base}.gitMajor": major,
        f"{base}.gitMinor": minor,
        "k8s.io/client-go/pkg/version.gitVersion": version,
    }
    return " ".join(["-s -w", *(f"-X {name}={value}" for name, value in variables.items())])


def run(*arguments: str) -> int:
    """The build as a command: what keeps it from going on is told in a line."""
    # So that a build that is ended takes its folder away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return main(*arguments)
    except (OperationError, OSError) as error:
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        print("The build of the control plane was interrupted.", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
