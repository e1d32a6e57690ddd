"""What selectors can read of the devices of a node: names, types and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...plans import NodegroupPlan
from ..cel.types_known import types_at_run_time
from ..cel.values import QUANTITY, SEMVER
from ..devices import node_devices
from ..slices import NodeDevice
from .near import capacity_names
from .values_told import shown

_ATTRIBUTES: Final = "attributes"
_CAPACITY: Final = "capacity"
_TYPES: Final = {bool: "bool", int: "int", str: "string"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedValue:
    """What some devices of a node have of an attribute or a capacity.

    `expression` is how a selector reads it, `type` one of string, int, bool, version and quantity;
    empty where nobody told. `values` are those of all devices, each once, and empty where only a
    running node knows them.
    """

    driver: str
    expression: str
    type: str
    values: tuple[str, ...]


def published_values(group: NodegroupPlan) -> tuple[PublishedValue, ...]:
    """What the DRA drivers of a group publish of the devices of one of its nodes.

    Of a group with several instance types, what they publish on the first.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for device in node_devices(group).devices:
        for field, name, kind, value in _of(device):
            known = found.setdefault((device.driver, field, name), {})
            known.setdefault(value, kind)
    return tuple(
        PublishedValue(
            driver=driver,
            expression=_expression(field, name),
            type=next(filter(None, known.values()), ""),
            values=tuple(one for one in known if one),
        )
        for (driver, field, name), known in sorted(found.items())
    )


def _of(device: NodeDevice) -> Iterator[tuple[str, str, str, str]]:
    """Field, name, type and value of what a device has; an empty value is known later."""
    both: tuple[tuple[str, Mapping[str, Any]], ...] = (
        (_ATTRIBUTES, device.attributes),
        (_CAPACITY, device.capacity),
    )
    for field, values in both:
        for name, value in values.items():
            if name not in device.at_run_time:
                yield field, name, _type(value), shown(value)
    for name in device.at_run_time:
        field = _CAPACITY if name in capacity_names() else _ATTRIBUTES
        yield field, name, types_at_run_time().get(name, ""), ""


def _type(value: Any) -> str:
    if isinstance(value, Mapping):
        return "version" if SEMVER in value else "quantity" if QUANTITY in value else ""
    return _TYPES.get(type(value), "")


def _expression(field: str, name: str) -> str:
    domain, _, own = name.rpartition("/")
    return f"device.{field}['{domain}'].{own}"
