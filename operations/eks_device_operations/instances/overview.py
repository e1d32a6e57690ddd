"""The list of instance types, for people."""

from __future__ import annotations

from collections.abc import Sequence

from eks_devices import AcceleratedInstanceType
from eks_devices.network import default_efa_count

from .._output import prose, table, without_columns
from .facts import defaults
from .words import chips, gib, number

_TITLES = ("TYPE", "CHIPS", "MEMORY", "VCPUS", "EFA", "PODS", "CAPACITY", "AMI TYPE", "MECHANISM")
_LEAST_NEEDED_FIRST = ("AMI TYPE", "CAPACITY", "PODS", "VCPUS", "MEMORY")
_DEFAULTS = "PODS, AMI TYPE and MECHANISM are the defaults"

Types = Sequence[AcceleratedInstanceType]


def overview(found: Types, announced: Sequence[str], *, width: int) -> list[str]:
    """A row for each type that fits the width, and notes on how to read it."""
    lines: list[str] = []
    if found:
        titles, rows, dropped = without_columns(
            _TITLES, [_row(one) for one in found], _LEAST_NEEDED_FIRST, width=width
        )
        lines += [*table(titles, rows, width=width), "", *_notes(found, dropped, width)]
    if announced:
        text = f"Announced, names without data so far: {', '.join(announced)}."
        lines += prose(text, width=width)
    return lines


def _row(instance: AcceleratedInstanceType) -> list[str]:
    usual = defaults(instance)
    return [
        instance.name,
        chips(instance),
        gib(instance.accelerator.memory_mib) if instance.accelerator else "",
        str(instance.vcpus),
        number(default_efa_count(instance)),
        number(usual.plan.max_pods if usual.plan else None),
        ", ".join(sorted(instance.usage_classes)),
        usual.plan.ami_type if usual.plan else "",
        ", ".join(dict.fromkeys(usual.mechanisms.values())),
    ]


def _notes(found: Types, dropped: Sequence[str], width: int) -> list[str]:
    usual = defaults(found[0])
    count = f"{len(found)} type{'s' if len(found) > 1 else ''}"
    version = usual.kubernetes_version
    notes = [f"{count}. MEMORY is of one device. {_DEFAULTS} on Kubernetes {version} and AL2023."]
    if any(one.accelerator is None for one in found):
        notes.append(
            "A plan of a type without CHIPS needs efa=True: there is nothing else to ask for."
        )
    if dropped:
        notes.append(f"Left out, too wide here: {', '.join(dropped)}; see --json or name a type.")
    unverified = [one.name for one in found if one.unverified]
    if unverified:
        notes.append(f"From weaker sources than EC2's API: {', '.join(unverified)}.")
    return [line for note in notes for line in prose(note, width=width)]
