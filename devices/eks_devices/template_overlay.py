"""Lays properties of a user's over the data of a launch template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

# What tells the entries of a list apart; entries of other lists have no names.
ENTRY_KEYS: Final = {
    "BlockDeviceMappings": "DeviceName",
    "TagSpecifications": "ResourceType",
    "TagSpecifications[].Tags": "Key",
}


def overlaid(data: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """A launch template's data with overrides laid over it; neither input changes.

    Tables merge by key. A list replaces the one that is there, but block devices merge by
    DeviceName, tag specifications by ResourceType and their tags by Key. Any other value, a
    token too, replaces what is there.

    Args:
        data: What the plan gives, in CloudFormation's spelling.
        overrides: What `override_faults` finds no fault with.
    """
    return _table(data, overrides, "")


def _table(data: Mapping[str, Any], overrides: Mapping[str, Any], field: str) -> dict[str, Any]:
    result = {name: _plain(value) for name, value in data.items()}
    for name, value in overrides.items():
        result[name] = _value(result.get(name), value, f"{field}.{name}" if field else name)
    return result


def _value(old: Any, new: Any, field: str) -> Any:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return _table(old, new, field)
    key = ENTRY_KEYS.get(field)
    if key and _is_list(new) and all(_name(one, key) for one in new):
        return _entries(old if isinstance(old, list) else [], new, field)
    return _plain(new)


def _entries(old: list[Any], new: Sequence[Any], field: str) -> list[Any]:
    result, key = list(old), ENTRY_KEYS[field]
    for entry in new:
        place = next((at for at, one in enumerate(result) if _name(one, key) == entry[key]), None)
        if place is None:
            result.append(_table({}, entry, f"{field}[]"))
        else:
            result[place] = _table(result[place], entry, f"{field}[]")
    return result


def _name(entry: Any, key: str) -> str | None:
    """What an entry goes by; None for one that has no name."""
    name = entry.get(key) if isinstance(entry, Mapping) else None
    return name if isinstance(name, str) else None


def _is_list(value: object) -> bool:
    return isinstance(value, (list, tuple))


def _plain(value: Any) -> Any:
    """A copy that may change, down to its leaves."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if _is_list(value) else value
