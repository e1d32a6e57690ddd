"""How long the API server takes the values in an expression to be, at the least and at the most."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from ...._data import read_toml
from .tree import CelType, Kind, Part

ENDLESS: Final = 2**64 - 1
"""What nobody says an end of; no sum goes beyond it."""

Path = tuple[str, ...]
_SCALARS: Final = ("bool", "double", "duration", "int", "timestamp", "uint")
_WITHIN: Final = ("@items", "@values")


@dataclass(frozen=True, slots=True)
class Size:
    """How many characters or elements a value has: the least and the most."""

    least: int
    most: int

    def __add__(self, other: Size) -> Size:
        """The size of both, one behind the other."""
        return Size(capped(self.least + other.least), capped(self.most + other.most))

    def __mul__(self, other: Size) -> Size:
        """The size of as many of the other."""
        return Size(capped(self.least * other.least), capped(self.most * other.most))

    def __or__(self, other: Size) -> Size:
        """The size of one or the other."""
        return Size(min(self.least, other.least), max(self.most, other.most))


UNKNOWN: Final = Size(0, ENDLESS)
ONE: Final = Size(1, 1)


@dataclass(frozen=True, slots=True)
class Entries:
    """How long the keys and the values of a list or a mapping are."""

    kind: str
    key: Size
    value: Size

    def __or__(self, other: Entries) -> Entries:
        """Those of one or the other."""
        return Entries(self.kind, self.key | other.key, self.value | other.value)


@dataclass(frozen=True, slots=True)
class _Place:
    """What stands at a place of a device."""

    most: int
    key: _Place | None = None
    value: _Place | None = None
    fields: dict[str, _Place] = field(default_factory=dict)
    # Of attributes each has the same size, by whatever name it is read.
    has_attributes: bool = False


def capped(number: int) -> int:
    """A number, which is at most endless."""
    return min(number, ENDLESS)


def factored(number: int, factor: float) -> int:
    """A number times a factor, rounded up."""
    return capped(math.ceil(float(number) * factor))


def costs() -> dict[str, Any]:
    """What is known of costs and of sizes."""
    return read_toml("cel_costs.toml")


def union(sizes: Iterable[Size]) -> Size:
    """The size of any of some; none is empty."""
    found = list(sizes)
    if not found:
        return Size(0, 0)
    return functools.reduce(Size.__or__, found)


def written_size(part: Part) -> Size | None:
    """The size of what is written in an expression; None for what is not."""
    if part.kind is Kind.CONSTANT:
        is_long = isinstance(part.value, (str, bytes)) and part.type.kind != "double"
        return _exactly(len(part.value)) if is_long else ONE
    if part.kind is Kind.LIST:
        return _exactly(len(part.parts))
    return _exactly(len(part.parts) // 2) if part.kind is Kind.MAP else None


def type_size(of: CelType) -> Size | None:
    """The size of a value of a type that has only one; None for others."""
    if of.kind == "opaque" and of.name == "optional_type":
        return type_size(of.of[0])
    return ONE if of.kind in _SCALARS else None


def size_at(path: Path) -> Size | None:
    """The size of what is at a place of the device; None where nothing is told of it."""
    if not path or path[0] != "device":
        return None
    place: _Place | None = _device()
    for name in path[1:]:
        if place is None:
            return None
        place = _step(place, name)
    return None if place is None else Size(0, place.most)


def _step(place: _Place, name: str) -> _Place | None:
    if name in _WITHIN:
        return place.value
    if name == "@keys":
        return place.key
    return place.fields.get(name) or (place.value if place.has_attributes else None)


@functools.cache
def _device() -> _Place:
    known = costs()
    domain, name, value = (_Place(known[one]) for one in ("domain", "name", "value"))
    attributes = _Place(known["entries"], name, value, has_attributes=True)
    capacity = _Place(known["entries"], name, _Place(0))
    fields = {
        "driver": _Place(known["driver"]),
        "allowMultipleAllocations": _Place(1),
        "attributes": _Place(known["entries"], domain, attributes),
        "capacity": _Place(known["entries"], domain, capacity),
    }
    return _Place(0, fields=fields)


def _exactly(number: int) -> Size:
    return Size(number, number)
