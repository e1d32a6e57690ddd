"""Faults of how EKS is to repair and update the nodes of a group."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ._data import read_toml
from .findings import Finding, fault
from .maintenance import NodeRepair, RepairAction, RepairOverride, UpdateConfig, UpdateStrategy
from .spec import NodegroupSpec
from .typecheck import member, text, whole_number, wrong_type

# How Kubernetes spells the reason of a condition, so that nothing else can be reported.
_REASON = re.compile(r"[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?", re.ASCII)
_REASON_FORM = "one word such as NvidiaXID64Error, with the code written out"
_OVERRIDE = "RepairOverride(condition=..., reason=..., wait_minutes=..., action=...)"


def maintenance_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults of how a group is to be repaired and updated."""
    yield from _repair_faults(spec.node_repair, f"{spec.path}.node_repair")
    if spec.update is not None:
        yield from _update_faults(spec.update, f"{spec.path}.update")


def _repair_faults(value: object, path: str) -> Iterator[Finding]:
    if value is True or value is False:
        return
    if not isinstance(value, NodeRepair):
        yield wrong_type(path, value, "True, False or a NodeRepair", "use NodeRepair(...)")
        return
    most = read_toml("maintenance.toml")["limits"]["number"]
    for name in ("max_parallel", "unhealthy_threshold"):
        yield from _share_faults(value, name, path, most=most)
    yield from _override_list_faults(value.overrides, f"{path}.overrides")


def _update_faults(value: object, path: str) -> Iterator[Finding]:
    if not isinstance(value, UpdateConfig):
        yield wrong_type(path, value, "an UpdateConfig, or None", "use UpdateConfig(...)")
        return
    row = read_toml("maintenance.toml")["update"]
    yield from _share_faults(value, "max_unavailable", path, most=row["most"])
    if value.max_unavailable is None and value.max_unavailable_percentage is None:
        yield fault(
            "UpdateSizeMissing",
            f"{path}.max_unavailable",
            row["message"],
            got=None,
            allowed="max_unavailable or max_unavailable_percentage",
            fix="add max_unavailable=1",
            source=row["source"],
        )
    if value.strategy is not None:
        yield from member(value.strategy, UpdateStrategy, f"{path}.strategy")


def _share_faults(
    owner: NodeRepair | UpdateConfig, name: str, path: str, *, most: int
) -> Iterator[Finding]:
    """Faults of a number of nodes and of the percentage that may stand instead of it."""
    limits = read_toml("maintenance.toml")["limits"]
    count, percentage = getattr(owner, name), getattr(owner, f"{name}_percentage")
    at = f"{path}.{name}_percentage"
    yield from whole_number(count, f"{path}.{name}", lowest=1, highest=most, optional=True)
    yield from whole_number(percentage, at, lowest=1, highest=limits["percentage"], optional=True)
    if count is not None and percentage is not None:
        yield fault(
            "CountAndPercentage",
            at,
            f"EKS takes {name} or its percentage, not both",
            got=percentage,
            allowed=f"None while {name} is named",
            fix="leave one of the two out",
            source=limits["source"],
        )


def _override_list_faults(overrides: object, path: str) -> Iterator[Finding]:
    if type(overrides) is not tuple:
        yield wrong_type(path, overrides, f"a list of {_OVERRIDE}", "pass a list or tuple")
        return
    seen: list[tuple[str, str]] = []
    for index, override in enumerate(overrides):
        at = f"{path}[{index}]"
        if not isinstance(override, RepairOverride):
            yield wrong_type(at, override, _OVERRIDE, f"use {_OVERRIDE}")
        elif wrong := list(_override_faults(override, at)):
            yield from wrong
        elif (pair := (override.condition, override.reason)) in seen:
            yield _repeated(pair, at)
        else:
            seen.append(pair)


def _repeated(pair: tuple[str, str], path: str) -> Finding:
    return fault(
        "RepeatedOverride",
        path,
        "another override has this condition and reason already",
        got=", ".join(pair),
        allowed="each pair once",
        fix="leave one of the two out",
    )


def _override_faults(override: RepairOverride, path: str) -> Iterator[Finding]:
    data = read_toml("maintenance.toml")
    known, most = data["repair"]["conditions"], data["limits"]["number"]
    condition, reason, wait = override.condition, override.reason, override.wait_minutes
    yield from _word_faults(condition, f"{path}.condition", ", ".join(known), known.__contains__)
    yield from _word_faults(reason, f"{path}.reason", _REASON_FORM, _REASON.fullmatch)
    yield from whole_number(wait, f"{path}.wait_minutes", lowest=1, highest=most)
    yield from member(override.action, RepairAction, f"{path}.action")


def _word_faults(
    value: str, path: str, allowed: str, fits: Callable[[str], object]
) -> Iterator[Finding]:
    """The fault of a condition or reason that no node ever reports."""
    wrong = list(text(value, path, allowed, "write it as a text"))
    yield from wrong
    if not wrong and not fits(value):
        rule = read_toml("maintenance.toml")["repair"]
        yield fault(
            "NeverReported",
            path,
            rule["message"],
            got=value,
            allowed=allowed,
            fix="write one override for each reason, as `kubectl describe node` shows it",
            source=rule["source"],
        )
