"""Processes that end with this one, each with a log, and waiting until they answer."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from .._outcome import OperationError
from . import keeper

_SECONDS_TO_END: Final = 10
_SECONDS_BETWEEN_LOOKS: Final = 0.05
_LAST_LINES: Final = 12


class Process:
    """One process, kept by a keeper: it ends when `stop` is called or this process is gone.

    A folder of `data` goes with it, also then.

    Attributes:
        name: What errors call it.
        log: The file that holds everything it printed.
    """

    def __init__(
        self, name: str, command: Sequence[str | Path], log: Path, *, data: Path | None = None
    ) -> None:
        self.name = name
        self.log = log
        arguments = [sys.executable, "-I", keeper.__file__, str(data or ""), *map(str, command)]
        with log.open("wb") as output:
            self._keeper = subprocess.Popen(  # noqa: S603  (our own script, and found binaries)
                arguments,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                # Control-C in a terminal is for this process, which then stops the others in order.
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The id of the keeper; the process itself is its only child."""
        return self._keeper.pid

    def has_ended(self) -> bool:
        """Whether the process ended, by itself or because it was stopped."""
        return self._keeper.poll() is not None

    def stop(self) -> None:
        """End the process and wait until it is gone."""
        if self._keeper.stdin is not None:
            self._keeper.stdin.close()
        try:
            self._keeper.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()

    def last_lines(self) -> str:
        """The end of the log."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-_LAST_LINES:])


def wait_until(answers: Callable[[], bool], process: Process, seconds: float) -> None:
    """Wait until a process answers.

    Raises:
        OperationError: It ended, or did not answer in time; with the end of its log.
    """
    deadline = time.monotonic() + seconds
    while not answers():
        if process.has_ended():
            raise OperationError(_failed(process, "ended before it was ready"))
        if time.monotonic() > deadline:
            raise OperationError(_failed(process, f"is not ready after {seconds:.0f} s"))
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _failed(process: Process, how: str) -> str:
    return f"{process.name} {how}; its log {process.log} ends with\n{process.last_lines()}"


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nothing listens on now, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()
