"""What the tests of the operations share."""

import resource
import subprocess
from collections.abc import Callable

import pytest


def _best_seconds(command: list[str], *, runs: int, enough: float) -> float:
    """The processor's time of the quickest run, of no more than are needed to be quick enough.

    Whatever else runs here makes single runs slow, as it takes from the caches.
    """
    best = _seconds(command)
    for _ in range(runs - 1):
        if best >= enough:
            best = min(best, _seconds(command))
    return best


def _seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.fixture
def best_seconds() -> Callable[..., float]:
    """Times a command."""
    return _best_seconds
