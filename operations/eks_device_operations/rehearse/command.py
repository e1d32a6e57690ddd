"""The verb `rehearse`: finds what it takes, runs it, and reports."""

from __future__ import annotations

import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from eks_devices import EksDevicesError
from eks_devices.extras import how_to_install

from .._outcome import COULD_NOT_LOOK, FINE, WRONG, OperationError, Outcome
from .._output import terminal_width
from ..plan.planned import Planned, read_plan

if TYPE_CHECKING:
    from .rehearsal import Rehearsed

# What shells call a process that a signal ended.
_BY_SIGNAL = 128
_EXTRAS = {"trustme": "controlplane", "urllib3": "controlplane", "yaml": "check"}


def rehearse(
    files: Sequence[str],
    *,
    plan: str,
    cluster: str | None,
    nodes: Sequence[str],
    namespace: str,
    kubernetes: str | None,
    seconds: float,
    json: bool,
) -> Outcome:
    """Place the Pods of files on the nodes of a plan, by Kubernetes itself."""
    try:
        return _rehearse(
            files,
            planned=read_plan(plan, cluster),
            without=plan,
            nodes=nodes,
            namespace=namespace,
            kubernetes=kubernetes,
            seconds=seconds,
            json=json,
        )
    except EksDevicesError as error:
        faults = (f"{one.message}: {one.fix}" for one in error.faults)
        raise OperationError(*faults) from error
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get(error.name or "")
        if extra is None:
            raise
        raise OperationError(
            f"rehearsing needs {error.name}, which the extra {extra!r} brings; fix: "
            f"{how_to_install('controlplane', 'check')}"
        ) from None


def _rehearse(
    files: Sequence[str],
    *,
    planned: Planned,
    without: str,
    nodes: Sequence[str],
    namespace: str,
    kubernetes: str | None,
    seconds: float,
    json: bool,
) -> Outcome:
    from .files import read_items  # noqa: PLC0415  (needs an extra)
    from .fleet import nodes_of, sizes_asked  # noqa: PLC0415
    from .minors import nearest_binaries  # noqa: PLC0415
    from .rehearsal import Rehearsal, control_plane, rehearse_on  # noqa: PLC0415
    from .report import as_document, report  # noqa: PLC0415

    asked = sizes_asked(list(nodes))
    nodes_of(planned.plan, asked)  # names of groups are wrong or right before anything starts
    given = read_items(files, without=without)
    binaries, note = nearest_binaries(planned.plan.kubernetes_version, kubernetes)
    rehearsal = Rehearsal(
        plan=planned.plan,
        items=given.items,
        claims=planned.claims,
        nodes=asked,
        namespace=namespace,
        seconds=seconds,
        nodegroup_names=planned.nodegroup_names,
    )
    with (
        _refusals_told(binaries.version),
        _ended_in_order(),
        tempfile.TemporaryDirectory(prefix="eks-devices-rehearse-") as folder,
        control_plane(binaries, Path(folder) / "plane") as plane,
        _undisturbed_end(),
    ):
        found = rehearse_on(plane.api, rehearsal, kubelet_version=binaries.version)
    show = as_document if json else report
    text = show(found, path=planned.path, version=binaries.version, width=terminal_width())
    notes = (*planned.notes, *given.notes, note, _late(found, seconds))
    return Outcome(code=_code(found), text=text, messages=tuple(one for one in notes if one))


@contextmanager
def _refusals_told(version: str) -> Iterator[None]:
    """Tell in a line what the control plane refuses that is none of the user's objects."""
    from ..control_plane import ApiError  # noqa: PLC0415  (an extra)

    try:
        yield
    except (ApiError, TimeoutError) as error:
        raise OperationError(
            f"a control plane of {version} does not go along with the nodes of the plan: {error}"
        ) from error


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let a rehearsal that is told to end take its folder away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.getsignal(one) for one in _ending()}
    for one, handler in before.items():
        # What nohup ignores goes on.
        if handler is not signal.SIG_IGN:
            signal.signal(one, _end)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


@contextmanager
def _undisturbed_end() -> Iterator[None]:
    """Let nothing interrupt what comes after the block: it takes keys away, in a few seconds."""
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            _ignore_signals()


def _ending() -> list[signal.Signals]:
    # A terminal that is closed hangs up; Windows has no such signal.
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    return [signal.Signals[one] for one in names if hasattr(signal, one)]


def _ignore_signals() -> None:
    for one in _ending():
        signal.signal(one, signal.SIG_IGN)


def _end(number: int, _: FrameType | None) -> None:
    _ignore_signals()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(_BY_SIGNAL + number)


def _code(found: Rehearsed) -> int:
    decided = all(not one.undecided for one in found.results)
    if not found.is_fine and not (found.results and not decided and _only_undecided(found)):
        return WRONG
    return FINE if found.in_time else COULD_NOT_LOOK


def _only_undecided(found: Rehearsed) -> bool:
    """Whether nothing is wrong but that the scheduler was not done."""
    wrong = (one.pending or one.evicted or one.missing for one in found.results)
    return not found.sent.refusals and not any(wrong)


def _late(found: Rehearsed, seconds: float) -> str:
    if found.in_time:
        return ""
    return f"the scheduler was not done after {seconds:g} s; --timeout gives it longer"
