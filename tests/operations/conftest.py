"""What the tests of the operations share."""

import resource
import subprocess
from collections.abc import Callable

import pytest


def _best_seconds(command: list[str], *, runs: int) -> float:
    """The processor's time of the quickest run: what else runs here does not count."""
    return min(_seconds(command) for _ in range(runs))


def _seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.fixture
def best_seconds() -> Callable[..., float]:
    """Times a command."""
    return _best_seconds
