"""How a rehearsal is told: text for people, JSON for programs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from eks_devices.feasibility import Verdict

from .._output import as_json, counted, prose, safe, table
from .fleet import NodesOfGroup
from .rehearsal import Rehearsed
from .results import Bound, Devices, Pending, Result
from .send import Refusal
from .standing import CLAIMS
from .words import by_group

_SCHEMA: Final = "eks-devices/rehearsal/v1"
_INDENT: Final = "  "
_DEEPER: Final = "    "
_OF_THE_SCHEDULER: Final = ("Unschedulable", "SchedulerError")
_DEEPEST: Final = "      "


def report(found: Rehearsed, *, path: str, version: str, width: int) -> str:
    """A rehearsal as text."""
    lines = [f"{safe(path)} on a control plane of Kubernetes {version}", ""]
    lines += _fleet(found.fleet, width)
    lines += _sent(found, width)
    for one in found.results:
        lines += ["", *_result(one, found, width)]
    lines += ["", _sum(found)]
    return "\n".join(lines) + "\n"


def _fleet(fleet: Sequence[NodesOfGroup], width: int) -> list[str]:
    titles = ("GROUP", "INSTANCE TYPE", "NODES", "WHY SO MANY")
    rows = [
        [one.name, one.group.instance_type if one.group else "", str(one.count), one.why]
        for one in fleet
    ]
    return table(titles, rows, width=width)


def _sent(found: Rehearsed, width: int) -> Iterator[str]:
    sent = found.sent
    if sent.made:
        text = f"Made besides, since no file has them: {', '.join(sent.made)}."
        yield from ["", *prose(text, width=width)]
    for title, those in (
        ("Refused:", sent.refusals),
        ("Left out:", sent.passed_over),
    ):
        if those:
            yield from ["", title]
            for one in those:
                yield from prose(f"{one.place}: {one.item}", width=width, indent=_INDENT)
                yield from prose(one.message, width=width, indent=_DEEPER)


def _result(result: Result, found: Rehearsed, width: int) -> Iterator[str]:
    workload = result.workload
    yield from prose(f"{workload} ({workload.item.place}): {_standing(result)}", width=width)
    for note in workload.notes:
        yield from prose(note, width=width, indent=_INDENT)
    for one in result.bound:
        yield from prose(_bound(one), width=width, indent=_INDENT, hanging=_INDENT)
    if result.evicted:
        text = f"{counted(result.evicted, 'Pod')} lost a node to Pods of higher priority"
        yield from prose(text, width=width, indent=_INDENT)
    if result.missing:
        why = result.why_missing or "their controller does not say why"
        text = f"{counted(result.missing, 'Pod')} could not be made: {why}"
        yield from prose(text, width=width, indent=_INDENT, hanging=_INDENT)
    if result.undecided:
        text = f"{counted(result.undecided, 'Pod')} the scheduler has not decided on yet"
        yield from prose(text, width=width, indent=_INDENT)
    for pending in result.pending:
        yield from _pending(result, pending, found, width)
    for text in result.contradictions:
        told = f"Check and scheduler do not agree; please report this. {text}"
        yield from prose(told, width=width, indent=_INDENT, hanging=_INDENT)


def _standing(result: Result) -> str:
    bound = sum(one.count for one in result.bound)
    if not result.wanted and not bound:
        return "no Pods wanted"
    return f"{bound} of {counted(result.wanted, 'Pod')} bound"


def _bound(one: Bound) -> str:
    each = " each" if one.count > 1 else ""
    with_what = f", with {_devices(one.devices)}{each}" if one.devices else ""
    return f"{one.count} on {one.group}{with_what}"


def _devices(devices: Devices) -> str:
    return ", ".join(f"{count} {name}" for name, count in devices)


def _pending(result: Result, pending: Pending, found: Rehearsed, width: int) -> Iterator[str]:
    yield f"{_INDENT}{pending.count} pending:"
    if not pending.obstacles:
        yield from prose(pending.message or pending.reason, width=width, indent=_DEEPER)
        told = (f"{one.nodegroup}: {_check([one], one.nodegroup)}" for one in _verdicts(result))
        for text in dict.fromkeys(told) if pending.reason in _OF_THE_SCHEDULER else ():
            yield from prose(text, width=width, indent=_DEEPER, hanging=_INDENT)
    for group, text in by_group(pending.obstacles, found.fleet):
        yield from prose(f"{group}: {text}", width=width, indent=_DEEPER, hanging=_INDENT)
        if CLAIMS in text:
            for said in dict.fromkeys(_check(each, group) for each in result.verdicts):
                yield from prose(said, width=width, indent=_DEEPEST)


def _verdicts(result: Result) -> Iterator[Verdict]:
    return (one for each in result.verdicts for one in each)


def _check(verdicts: Sequence[Verdict], group: str) -> str:
    """What the library's check says of Pods on a group; empty for nodes without devices."""
    for one in verdicts:
        if one.nodegroup == group:
            if one.reason:
                return f"the check says {one.status}: {one.reason}"
            fits = "" if one.fits is None else f", {counted(one.fits, 'Pod')} on an empty node"
            return f"the check says {one.status}{fits}"
    return ""


def _sum(found: Rehearsed) -> str:
    bound = sum(one.count for each in found.results for one in each.bound)
    pending = sum(one.count for each in found.results for one in each.pending)
    wanted = sum(one.wanted for one in found.results)
    parts = [f"{bound} of {counted(wanted, 'Pod')} bound", f"{pending} pending"]
    if refused := len(found.sent.refusals):
        parts.append(f"{counted(refused, 'object')} refused")
    if found.check:
        parts.append(f"not checked beside it: {found.check}")
    return ", ".join(parts)


def as_document(found: Rehearsed, *, path: str, version: str, width: int) -> str:
    """A rehearsal as one JSON document."""
    del width
    return as_json(
        _SCHEMA,
        cluster=path,
        kubernetes=version,
        in_time=found.in_time,
        seconds={name: round(value, 3) for name, value in found.seconds.items()},
        nodes=[{"group": one.name, "count": one.count, "why": one.why} for one in found.fleet],
        made=found.sent.made,
        refused=list(map(_refusal_json, found.sent.refusals)),
        left_out=list(map(_refusal_json, found.sent.passed_over)),
        workloads=[_result_json(one, found) for one in found.results],
        check=found.check or "beside each workload",
    )


def _refusal_json(one: Refusal) -> dict[str, Any]:
    return {
        "file": one.item.file,
        "line": one.line,
        "object": str(one.item),
        "message": one.message,
    }


def _result_json(result: Result, found: Rehearsed) -> Mapping[str, Any]:
    workload = result.workload
    return {
        "kind": workload.item.kind,
        "namespace": workload.namespace,
        "name": workload.item.name,
        "file": workload.item.file,
        "line": workload.item.line(),
        "notes": list(workload.notes),
        "wanted": result.wanted,
        "bound": [
            {"group": one.group, "count": one.count, "devices": dict(one.devices)}
            for one in result.bound
        ],
        "pending": [_pending_json(one, found) for one in result.pending],
        "evicted": result.evicted,
        "not_made": {"count": result.missing, "message": result.why_missing},
        "undecided": result.undecided,
        "check": [[one.to_dict() for one in each] for each in result.verdicts],
        "contradictions": list(result.contradictions),
    }


def _pending_json(one: Pending, found: Rehearsed) -> Mapping[str, Any]:
    told = by_group(one.obstacles, found.fleet)
    return {
        "count": one.count,
        "reason": one.reason,
        "message": one.message,
        "by_group": [{"group": group, "why": why} for group, why in told],
    }
