"""Builds the oracle for each Kubernetes minor from Go modules, once, into the cache.

The minors share its sources; each has a module file of its own beside them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.cluster.go_build import Build, build_once, run
from tests.cluster.oracle.oracle import NAME, VARIABLE, binary, built_minors, cache_folder

HERE = Path(__file__).parent
MISSING_GO = f"""\
There is no Go on this machine, so the oracle of the tests cannot be built. Either
  - install Go 1.26 or newer (https://go.dev/dl), or
  - set {VARIABLE} to a folder with {", ".join(f"{one}/{NAME}" for one in built_minors())}."""


def main(*minors: str) -> int:
    """Build what is not there yet; 0 when the binaries are, 2 when they cannot be made."""
    wanted = minors or built_minors()
    if folder := os.environ.get(VARIABLE):
        for minor in wanted:
            binary(minor)
        print(f"The oracles in {folder} are used ({VARIABLE}).")
        return 0
    return max(build_once(build_of(minor)) for minor in wanted)


def build_of(minor: str) -> Build:
    """What the oracle of a minor is built from, and where to."""
    module = HERE / f"v{minor}.mod"
    return Build(
        what="the oracle of Kubernetes' allocator",
        takes="less than a minute",
        missing_go=MISSING_GO,
        folder=HERE,
        sources=[*sorted(HERE.glob("*.go")), module, module.with_suffix(".sum"), Path(__file__)],
        target=cache_folder(minor),
        names=[NAME],
        packages=".",
        versioned="k8s.io/dynamic-resource-allocation",
        options=[f"-modfile={module.name}", f"-tags=k8s{minor}"],
    )


if __name__ == "__main__":
    sys.exit(run(main, *sys.argv[1:]))
