"""The verb `instances`: which types there are, and everything about the ones that are named."""

from __future__ import annotations

from collections.abc import Sequence

from eks_devices import AcceleratedInstanceType, Finding
from eks_devices.instance_types import lookup
from eks_devices.network import efa_counts

from ._facts import chips, defaults, gib, number
from ._instance_details import details, record
from ._output import (
    CannotLookError,
    Outcome,
    as_json,
    prose,
    table,
    terminal_width,
    without_columns,
)

_SCHEMA = "eks-devices/instances/v1"
_TITLES = ("TYPE", "CHIPS", "MEMORY", "VCPUS", "EFA", "PODS", "CAPACITY", "AMI TYPE", "MECHANISM")
_LEAST_NEEDED_FIRST = ("AMI TYPE", "CAPACITY", "PODS", "VCPUS", "MEMORY")
_DEFAULTS = "PODS, AMI TYPE and MECHANISM are the defaults"

Types = Sequence[AcceleratedInstanceType]


def show_instances(names: Sequence[str], *, family: str | None, json: bool) -> Outcome:
    """List instance types, or tell everything about the named ones."""
    found = _named(names, family) if names else _listed(family)
    announced = () if names else _announced(family)
    if not names and not found and not announced:
        raise CannotLookError(_unknown_family(family))
    if json:
        records = [record(instance) for instance in found]
        return Outcome(text=as_json(_SCHEMA, instance_types=records, announced=list(announced)))
    width = terminal_width()
    if names:
        lines = [line for instance in found for line in [*details(instance, width=width), ""]][:-1]
    else:
        lines = _overview(found, announced, width)
    return Outcome(text="\n".join(lines) + "\n")


def _named(names: Sequence[str], family: str | None) -> Types:
    found = [lookup(name, "NAME") for name in dict.fromkeys(names)]
    messages = [str(one) for one in found if isinstance(one, Finding)]
    types = [one for one in found if isinstance(one, AcceleratedInstanceType)]
    if family is not None:
        others = [one.name for one in types if one.family != family]
        messages += [f"{name} is not of the family {family!r}" for name in others]
    if messages:
        raise CannotLookError(*messages)
    return types


def _listed(family: str | None) -> Types:
    found: Types = AcceleratedInstanceType.all()
    if family is not None:
        every = (*found, *AcceleratedInstanceType.efa_only())
        found = [one for one in every if one.family == family]
    return sorted(found, key=lambda one: (one.family, one.vcpus, one.name))


def _announced(family: str | None) -> tuple[str, ...]:
    names = AcceleratedInstanceType.announced()
    return tuple(name for name in names if family in (None, _family(name)))


def _family(name: str) -> str:
    return name.partition(".")[0]


def _unknown_family(family: str | None) -> str:
    known = {one.family for one in AcceleratedInstanceType.all()}
    known |= {_family(name) for name in AcceleratedInstanceType.announced()}
    return (
        f"no family {family!r} has accelerators or EFA; families with accelerators: "
        f"{', '.join(sorted(known))}"
    )


def _overview(found: Types, announced: Sequence[str], width: int) -> list[str]:
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
        number(efa_counts(instance)),
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
    if dropped:
        notes.append(f"Left out, too wide here: {', '.join(dropped)}; see --json or name a type.")
    unverified = [one.name for one in found if one.unverified]
    if unverified:
        notes.append(f"From weaker sources than EC2's API: {', '.join(unverified)}.")
    return [line for note in notes for line in prose(note, width=width)]
