"""What tables of a user's own launch template properties need as a whole, and when rows hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ._data import read_toml
from ._frozen import FrozenDict
from .capacity import Capacity, CapacityKind
from .findings import Finding, fault
from .instance_types import AcceleratedInstanceType, lookup
from .launch_template import TAGGED
from .spec import NodegroupSpec
from .tags import NAME, tag_count_faults
from .template_fields import Property, normal
from .template_volumes import is_added_disk, is_plan_disk, is_root_disk
from .typecheck import whole_number

_DATA: Final = "launch_template.toml"


def table_faults(spec: NodegroupSpec, table: Property) -> Iterator[Finding]:
    """Faults of a table whose properties may each be right."""
    for row in read_toml(_DATA)["needed"]:
        if row["field"] == table.field and applies(row, spec, table):
            yield from _needed_faults(row, table)
    if table.field == "CpuOptions":
        yield from _core_faults(spec, table)
    if table.field == "TagSpecifications[]":
        yield from _tag_faults(spec, table)


def applies(row: Mapping[str, Any], spec: NodegroupSpec, one: Property) -> bool:
    """Whether the condition of a row of data holds for a property."""
    return "when" not in row or _CONDITIONS[row["when"]](spec, one)


def has(table: Mapping[Any, Any], name: str) -> bool:
    """Whether a table has a property, in whatever spelling: a wrong one has its fault already."""
    return any(normal(key) == normal(name) for key in table)


def _needed_faults(row: Mapping[str, Any], table: Property) -> Iterator[Finding]:
    names, beside = row["one_of"], row.get("beside")
    if any(has(table.value, name) for name in names):
        return
    if beside is None or has(table.value, beside):
        yield fault(
            "MissingTemplateField",
            table.path,
            row["message"],
            got=table.value,
            allowed=f"a table with {' or '.join(names)}",
            fix=row.get("fix", f"add {names[0]}"),
            source=row["source"],
        )


def _core_faults(spec: NodegroupSpec, table: Property) -> Iterator[Finding]:
    cores, threads = table.value.get("CoreCount"), table.value.get("ThreadsPerCore")
    if type(cores) is not int:
        return
    divisor = threads if type(threads) is int and threads > 0 else 1
    most = min((one.vcpus // divisor for one in _instances(spec)), default=None)
    yield from whole_number(cores, f"{table.path}.CoreCount", lowest=1, highest=most)


def _tag_faults(spec: NodegroupSpec, entry: Property) -> Iterator[Finding]:
    """The fault of more tags than AWS takes, those of the plan among them."""
    tags, kind = entry.value.get("Tags"), entry.value.get("ResourceType")
    if not isinstance(tags, tuple):
        return
    own = [one.get("Key") for one in tags if isinstance(one, FrozenDict)]
    keys = {key for key in own if isinstance(key, str)}
    if isinstance(kind, str) and kind in TAGGED:
        keys |= {NAME, *(spec.tags if isinstance(spec.tags, FrozenDict) else ())}
    yield from tag_count_faults(keys, entry.path)


def _instances(spec: NodegroupSpec) -> list[AcceleratedInstanceType]:
    """The types that EC2 may start, as far as they are known."""
    others = spec.alternative_instance_types
    names = [spec.instance_type, *(others if isinstance(others, tuple) else ())]
    found = [lookup(name, "") for name in names]
    return [one for one in found if isinstance(one, AcceleratedInstanceType)]


def _is_bought(spec: NodegroupSpec, kind: CapacityKind) -> bool:
    return isinstance(spec.capacity, Capacity) and spec.capacity.kind is kind


_CONDITIONS: Final[Mapping[str, Callable[[NodegroupSpec, Property], bool]]] = {
    "capacity-block": lambda spec, _: _is_bought(spec, CapacityKind.CAPACITY_BLOCK),
    "spot": lambda spec, _: _is_bought(spec, CapacityKind.SPOT),
    "not-spot": lambda spec, _: not _is_bought(spec, CapacityKind.SPOT),
    "no-named-group": lambda spec, _: not isinstance(spec.placement_group, str),
    "bare-metal": lambda spec, _: any(one.bare_metal for one in _instances(spec)),
    "plan-disk": is_plan_disk,
    "root-disk": is_root_disk,
    "added-disk": is_added_disk,
}
