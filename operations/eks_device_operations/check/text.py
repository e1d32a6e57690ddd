"""What a check found, as text. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from eks_devices import Severity
from eks_devices.feasibility import Status, Verdict
from eks_devices.workload_check import PodVerdicts, WorkloadReport

from .._output import counted, prose, safe, short
from .found import Found, Places

_INDENT: Final = "  "
_MOST_GROUPS: Final = 6


def as_text(found: Sequence[Found], report: WorkloadReport, places: Places, *, width: int) -> str:
    """Findings, then what serves each kind of Pod, then the numbers."""
    lines = [line for one in found for line in _finding(one, width)]
    if lines and report.pods:
        lines.append("")
    if report.pods:
        lines.append("Pods that ask for devices:")
        for pods in report.pods:
            lines += prose(_pods(pods, places), width=width, indent=_INDENT, hanging=_INDENT)
    if lines:
        lines.append("")
    lines += prose(_summary(found, report), width=width)
    return "\n".join(lines) + "\n"


def _finding(one: Found, width: int) -> Iterator[str]:
    finding = one.finding
    head = f"{safe(one.file)}:{one.line}: {finding.severity} {finding.code}"
    place = f" {one.path}" if one.path and finding.allowed else ""
    title = f"{one.title}{place}: " if one.title else ""
    yield from prose(f"{head} {title}{finding.message}", width=width, hanging=_INDENT)
    if finding.got:
        told = f"got {finding.got}; allowed: {finding.allowed}"
        yield from prose(told, width=width, indent=_INDENT, hanging=_INDENT)
    for file, line, claim in one.related:
        yield from prose(f"by {file}:{line}: {claim}", width=width, indent=_INDENT)
    if finding.fix and finding.severity is not Severity.INFO:
        yield from prose(f"fix: {finding.fix}", width=width, indent=_INDENT, hanging=_INDENT)


def _pods(pods: PodVerdicts, places: Places) -> str:
    file, line, _ = places.of(pods.pod.document, pods.pod.steps)
    title = short(pods.pod.document.title)
    part = path_in(pods)
    return f"{file}:{line}: {title}{f' ({part})' if part else ''}: {_who(pods.verdicts)}"


def path_in(pods: PodVerdicts) -> str:
    """The part of a manifest that makes the Pods, empty where it makes no others."""
    names = [one for one in pods.pod.steps if isinstance(one, (str, int))]
    skipped = {"spec", "template", "jobTemplate"}
    return ".".join(str(one) for one in names if one not in skipped)


def _who(verdicts: Sequence[Verdict]) -> str:
    fine = [one for one in verdicts if one.status is Status.FEASIBLE]
    may = [one for one in verdicts if one.status is Status.UNKNOWN]
    if fine:
        return f"served by {_named([_with_room(one) for one in fine])}"
    if may:
        return f"perhaps served by {_named([short(one.nodegroup) for one in may])}"
    return "served by none"


def _with_room(verdict: Verdict) -> str:
    room = "" if verdict.fits is None else f" ({verdict.fits} a node)"
    return f"{short(verdict.nodegroup)}{room}"


def _named(groups: Sequence[str]) -> str:
    left = len(groups) - _MOST_GROUPS
    return ", ".join(groups[:_MOST_GROUPS]) + (f" and {left} more" if left > 0 else "")


def _summary(found: Sequence[Found], report: WorkloadReport) -> str:
    severities = Counter(one.finding.severity for one in found)
    served = sum(bool(one.serving) for one in report.pods)
    parts = [
        f"{counted(report.templates, 'Pod template')}, {len(report.pods)} with devices",
        f"{served} of them served" if report.pods else "",
        counted(severities[Severity.ERROR], "error"),
        counted(severities[Severity.WARNING], "warning"),
    ]
    return ", ".join(filter(None, parts))
