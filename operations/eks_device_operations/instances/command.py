"""The verb `instances`: which types there are, and everything about the ones that are named."""

from __future__ import annotations

from collections.abc import Sequence

from eks_devices import AcceleratedInstanceType, Finding
from eks_devices.instance_types import lookup

from .._outcome import OperationError, Outcome
from .._output import as_json, terminal_width
from .details import details
from .overview import Types, overview
from .record import record

_SCHEMA = "eks-devices/instances/v1"


def show_instances(names: Sequence[str], *, family: str | None, json: bool) -> Outcome:
    """List instance types, or tell everything about the named ones."""
    found = _named(names, family) if names else _listed(family)
    announced = () if names else _announced(family)
    if not names and not found and not announced:
        raise OperationError(_unknown_family(family))
    if json:
        records = [record(instance) for instance in found]
        return Outcome(text=as_json(_SCHEMA, instance_types=records, announced=list(announced)))
    width = terminal_width()
    if names:
        lines = [line for instance in found for line in [*details(instance, width=width), ""]][:-1]
    else:
        lines = overview(found, announced, width=width)
    return Outcome(text="\n".join(lines) + "\n")


def _named(names: Sequence[str], family: str | None) -> Types:
    found = [lookup(name, "NAME") for name in dict.fromkeys(names)]
    messages = [str(one) for one in found if isinstance(one, Finding)]
    types = [one for one in found if isinstance(one, AcceleratedInstanceType)]
    if family is not None:
        others = [one.name for one in types if one.family != family]
        messages += [f"{name} is not of the family {family!r}" for name in others]
    if messages:
        raise OperationError(*messages)
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
