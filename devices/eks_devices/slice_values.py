"""How devices of a ResourceSlice are written."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def device_of(name: str, attributes: Json, **capacity: str) -> Json:
    """A device with attributes, whose types follow from the values, and quantities."""
    found: Json = {
        "name": name,
        "attributes": {key: _typed(one) for key, one in attributes.items()},
    }
    if capacity:
        found["capacity"] = {key: {"value": value} for key, value in capacity.items()}
    return found


def version(text: str) -> Json:
    """The value of an attribute that is a version."""
    return {"version": text}


def one_by_one(record: Json) -> list[tuple[Any, ...]]:
    """The place of each device: its PCIe root, and its NUMA node where that is published."""
    return [(root, *numa) for root, devices, *numa in record["roots"] for _ in range(devices)]


def _typed(value: Any) -> Json:
    """An attribute's value with its type; the data has them so already where JSON cannot tell."""
    names = {bool: "bool", int: "int", str: "string"}
    return {names[type(value)]: value} if type(value) in names else dict(value)
