"""Builds the control plane of Kubernetes minors from Go modules, once, into the cache.

Each minor has a module of its own beside this file. The tests need that of 1.34; a rehearsal takes
whichever there is.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.cluster.go_build import Build, build_once, run

from eks_device_operations.control_plane.binaries import (
    NAMES,
    VARIABLE,
    cache_folder,
    find_binaries,
)

HERE = Path(__file__).parent
MISSING_GO = f"""\
There is no Go on this machine, so the control plane of the tests cannot be built. Either
  - install Go 1.26 or newer (https://go.dev/dl), or
  - set {VARIABLE} to a folder with {", ".join(NAMES)}."""


def main(minor: str = "1.34") -> int:
    """Build what is not there yet; 0 when the binaries are, 2 when they cannot be made."""
    if minor not in (there := minors()):
        print(f"There is no module of {minor!r}; allowed: {', '.join(there)}.", file=sys.stderr)
        return 2
    if folder := os.environ.get(VARIABLE):
        found = find_binaries(minor)
        print(f"The control plane {found.version} in {folder} is used ({VARIABLE}).")
        return 0
    return build_once(build_of(minor))


def minors() -> list[str]:
    """The minors that there are modules of."""
    return sorted(one.name.removeprefix("v") for one in HERE.glob("v1.*"))


def build_of(minor: str) -> Build:
    """What the control plane of a minor is built from, and where to."""
    module = HERE / f"v{minor}"
    return Build(
        what="the control plane of Kubernetes",
        takes="about five minutes",
        missing_go=MISSING_GO,
        folder=module,
        sources=[module / "go.mod", module / "go.sum", Path(__file__)],
        target=cache_folder(minor),
        names=NAMES,
        packages="tool",
        versioned="k8s.io/kubernetes",
        linker_flags=flags,
        # Go names a binary after its package, and etcd's main package is called server.
        renamed={"server": "etcd"},
    )


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


if __name__ == "__main__":
    sys.exit(run(main, *sys.argv[1:]))
