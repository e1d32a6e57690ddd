"""Runs one process, and ends it when whoever asked for it is gone.

Started as a script of its own: `keeper.py DATA COMMAND...`. Its standard input is a pipe that
nobody writes to: the system closes it however the other side ends, also by a signal that no
program can catch. DATA is a folder of the process that is of no use after it; it may be empty.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading

_SET_PARENT_DEATH_SIGNAL = 1


def die_with_parent() -> None:
    """Ask Linux to end this process with the keeper, should that be killed itself."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def keep(command: list[str]) -> int:
    """Run a command until it ends or standard input does, and return its exit code."""
    # Nothing else runs in this process yet, so the function before exec is safe.
    process = subprocess.Popen(  # noqa: S603
        command,
        stdin=subprocess.DEVNULL,
        preexec_fn=die_with_parent,  # noqa: PLW1509
    )

    def watch() -> None:
        # Not through sys.stdin, whose lock would be held while the interpreter ends.
        os.read(0, 1)
        # Not asked first: what it knows is for the run only, and it would wait for its clients.
        process.kill()

    threading.Thread(target=watch, daemon=True).start()
    return process.wait()


def main(data: str, *command: str) -> int:
    """Keep a process, and take its data away after it."""
    try:
        return keep([*command])
    finally:
        if data:
            shutil.rmtree(data, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
