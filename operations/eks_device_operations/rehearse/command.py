"""The verb `rehearse`: finds what it takes, runs it, and reports."""

from __future__ import annotations

import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .._outcome import COULD_NOT_LOOK, FINE, WRONG, OperationError, Outcome
from .._output import terminal_width
from ..plan.assembly import read_assembly
from ..plan.cluster_plan import cluster_plan
from ..plan.plan_file import PlannedCluster

if TYPE_CHECKING:
    from .rehearsal import Rehearsed

_TERMINATED = 143
_EXTRAS = {"trustme": "controlplane", "urllib3": "controlplane", "yaml": "check"}


def rehearse(
    files: Sequence[str],
    *,
    assembly: str,
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
            planned=_planned_cluster(assembly, cluster),
            nodes=nodes,
            namespace=namespace,
            kubernetes=kubernetes,
            seconds=seconds,
            json=json,
        )
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get(error.name or "")
        if extra is None:
            raise
        raise OperationError(
            f"rehearsing needs {error.name}, which the extra {extra!r} brings; fix: "
            "pip install 'eks-devices[controlplane,check]'"
        ) from None


def _rehearse(
    files: Sequence[str],
    *,
    planned: PlannedCluster,
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

    plan = cluster_plan(planned.json)
    asked = sizes_asked(list(nodes))
    nodes_of(plan, asked)  # names of groups are wrong or right before anything starts
    items = read_items(files)
    binaries, note = nearest_binaries(plan.kubernetes_version, kubernetes)
    rehearsal = Rehearsal(
        plan=plan,
        items=items,
        claims=[one["manifest"] for one in planned.claims_json if "manifest" in one],
        nodes=asked,
        namespace=namespace,
        seconds=seconds,
    )
    with (
        _ended_in_order(),
        tempfile.TemporaryDirectory(prefix="eks-devices-rehearse-") as folder,
        control_plane(binaries, Path(folder) / "plane") as plane,
    ):
        found = rehearse_on(plane.api, rehearsal, kubelet_version=binaries.version)
    show = as_document if json else report
    text = show(found, path=planned.path, version=binaries.version, width=terminal_width())
    return Outcome(code=_code(found), text=text, messages=_messages(found, note, seconds))


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let a rehearsal that is told to end take its folder away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _planned_cluster(folder: str, path: str | None) -> PlannedCluster:
    """The one cluster of an assembly, or the one that is named.

    Raises:
        OperationError: There is none, there are several and none is named, or none has the name.
    """
    assembly = read_assembly(folder)
    clusters = {one.path: one for _, one in assembly.clusters}
    problems = [f"{assembly.folder / one.file}: {one.message}" for one in assembly.problems]
    if path is not None and path in clusters:
        return clusters[path]
    if not clusters:
        what = f"{folder!r} holds no plan; synthesise an app with an accelerated node group"
        raise OperationError(*problems, what, code=COULD_NOT_LOOK)
    if path is None and len(clusters) == 1 and not problems:
        return next(iter(clusters.values()))
    told = f"no cluster {path!r}" if path is not None else "more than one cluster"
    if path is None and len(clusters) == 1:
        told = "files that cannot be read, so say which cluster is meant"
    names = ", ".join(map(repr, sorted(clusters)))
    raise OperationError(*problems, f"{folder!r} holds {told}; allowed with --cluster: {names}")


def _code(found: Rehearsed) -> int:
    decided = all(not one.undecided for one in found.results)
    if not found.is_fine and not (found.results and not decided and _only_undecided(found)):
        return WRONG
    return FINE if found.in_time else COULD_NOT_LOOK


def _only_undecided(found: Rehearsed) -> bool:
    """Whether nothing is wrong but that the scheduler was not done."""
    wrong = (one.pending or one.evicted or one.missing for one in found.results)
    return not found.sent.refusals and not any(wrong)


def _messages(found: Rehearsed, note: str, seconds: float) -> tuple[str, ...]:
    late = f"the scheduler was not done after {seconds:g} s; --timeout gives it longer"
    return tuple(one for one in (note, "" if found.in_time else late) if one)
