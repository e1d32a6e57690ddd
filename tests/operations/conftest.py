"""What the tests of the operations share."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable

import pytest

# A process that loads what every command line does; it takes a thirtieth of a second.
_PLAIN = "import argparse, dataclasses, json, shutil, textwrap, tomllib"
_REFERENCE = [sys.executable, "-I", "-c", _PLAIN]
_REFERENCE_SECONDS = 1 / 30


def _is_quick(command: list[str], *, seconds: float, runs: int) -> bool:
    """Whether a command takes so little of the processor, in the quickest of some runs.

    Other work on the machine takes from its caches and cores: where it makes the reference slow,
    the command may be slow by as much, and twice as slow while other tests run.
    """
    best = reference = float("inf")
    seconds *= 2 if "PYTEST_XDIST_WORKER" in os.environ else 1
    for _ in range(runs):
        best, reference = min(best, _taken(command)), min(reference, _taken(_REFERENCE))
        if best < seconds * max(1, reference / _REFERENCE_SECONDS):
            return True
    return False


def _taken(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.fixture
def is_quick() -> Callable[..., bool]:
    """Times a command."""
    return _is_quick
