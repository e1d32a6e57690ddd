"""The command `eks-devices`: arguments in, one verb, text and an exit code out.

Exit codes: 0 fine (warnings too), 1 what was looked at is wrong, 2 could not look.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import IO, Final

from ._arguments import UsageError, command_line
from ._outcome import COULD_NOT_LOOK, FINE, OperationError, Outcome
from ._output import as_json, safe

_PROGRAM = "eks-devices"
_INTERRUPTED = 130
_ERROR: Final = "eks-devices/error/v1"
"""What `--json` prints where a verb could not look."""
_JSON: Final = "--json"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments after the program's name; those of the process unless given.

    Returns:
        The exit code: 0 fine (warnings too), 1 what was looked at is wrong, 2 could not look.
    """
    is_json = _JSON in (sys.argv[1:] if argv is None else argv)
    try:
        outcome = _run(_arguments(argv))
    except SystemExit as stop:  # argparse ends --help and usage errors with it, signals rehearsals
        outcome = _stopped(stop, is_json=is_json)
    except BrokenPipeError:  # argparse writes --help itself, at once where output has no buffer
        _silence()
        return FINE
    except KeyboardInterrupt:
        outcome = _error(_INTERRUPTED, "interrupted", is_json=is_json)
    return _written(outcome)


def _stopped(stop: SystemExit, *, is_json: bool) -> Outcome:
    code = int(stop.code or 0)
    if code == FINE:  # what was asked for is written, as by --help
        return Outcome(code=code)
    said = stop.message if isinstance(stop, UsageError) else "ended by a signal"
    return _error(code, said, is_json=is_json)


def _error(code: int, *said: str, is_json: bool) -> Outcome:
    """How a command ends that has nothing to show."""
    return Outcome(code=code, text=as_json(_ERROR, errors=list(said)) if is_json else "")


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = command_line(_PROGRAM)
    arguments = parser.parse_args(argv)
    if not arguments.verb and not arguments.version:
        parser.error("name a verb: instances, plan, check, rehearse or refresh")
    return arguments


def _run(arguments: argparse.Namespace) -> Outcome:
    if arguments.version:
        return _version()
    try:
        return _VERBS[arguments.verb](arguments)
    except OperationError as error:
        outcome = _error(error.code, *error.messages, is_json=arguments.json)
        return replace(outcome, messages=error.messages)


def _version() -> Outcome:
    from importlib import metadata  # noqa: PLC0415  (slow to import)

    try:
        version = metadata.version(_PROGRAM)
    except metadata.PackageNotFoundError:
        version = "of a source tree, not installed"
    return Outcome(text=f"{_PROGRAM} {version}\n")


def _instances(arguments: argparse.Namespace) -> Outcome:
    from .instances import show_instances  # noqa: PLC0415  (each verb loads what it needs)

    return show_instances(arguments.names, family=arguments.family, json=arguments.json)


def _plan(arguments: argparse.Namespace) -> Outcome:
    from .plan import show_plan  # noqa: PLC0415

    return show_plan(arguments.assembly, json=arguments.json)


def _rehearse(arguments: argparse.Namespace) -> Outcome:
    from .rehearse import rehearse  # noqa: PLC0415

    return rehearse(
        arguments.files,
        plan=arguments.plan,
        cluster=arguments.cluster,
        nodes=arguments.nodes or (),
        namespace=arguments.namespace,
        kubernetes=arguments.kubernetes,
        seconds=arguments.timeout,
        json=arguments.json,
    )


def _check(arguments: argparse.Namespace) -> Outcome:
    from .check import check_files  # noqa: PLC0415

    return check_files(
        arguments.files,
        plan=arguments.plan,
        cluster=arguments.cluster,
        namespace=arguments.namespace,
        json=arguments.json,
    )


def _refresh(arguments: argparse.Namespace) -> Outcome:
    from .refresh import run_refresh  # noqa: PLC0415

    return run_refresh(
        source_file=arguments.source_file,
        regions=[region for some in arguments.region or () for region in some],
        check=arguments.check,
        allow_removals=arguments.allow_removals,
        data_folder=arguments.data_folder,
        json=arguments.json,
    )


_VERBS: Final[Mapping[str, Callable[[argparse.Namespace], Outcome]]] = {
    "instances": _instances,
    "plan": _plan,
    "check": _check,
    "rehearse": _rehearse,
    "refresh": _refresh,
}


def _written(outcome: Outcome) -> int:
    """Write an outcome; a reader that went away, as `head` does, changes nothing."""
    try:
        for message in outcome.messages:
            _write(sys.stderr, f"{_PROGRAM}: {safe(message)}\n")
        _write(sys.stdout, outcome.text)
    except BrokenPipeError:
        _silence()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except OSError as error:
        _silence()
        with contextlib.suppress(OSError):
            _write(sys.stderr, f"{_PROGRAM}: the output cannot be written: {error.strerror}\n")
        return COULD_NOT_LOOK
    return outcome.code


def _write(stream: IO[str] | None, text: str) -> None:
    """Write and flush, so that failures show here; a closed stream is None."""
    if stream is None:
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def _silence() -> None:
    """Send what is left in the buffer of stdout nowhere: Python flushes it once more at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
