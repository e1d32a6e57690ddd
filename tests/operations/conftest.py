"""What the tests of the operations share."""

import subprocess
import time
from collections.abc import Callable

import pytest


def _best_seconds(command: list[str], *, runs: int) -> float:
    """The shortest time that a whole process takes, over some runs."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.fixture
def best_seconds() -> Callable[..., float]:
    """Times a command."""
    return _best_seconds
