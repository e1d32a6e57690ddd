"""Operations on nested mappings, as user data and settings of Bottlerocket are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def found(tree: Mapping[str, Any], keys: tuple[str, ...] | list[str]) -> Any:
    """What nested mappings hold under keys; None where there is nothing."""
    value: Any = tree
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both mappings in one; the second wins."""
    result = dict(first)
    for key, value in second.items():
        old = result.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        result[key] = merged(old, value) if both else value  # type: ignore[arg-type]
    return result


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by dotted name as nested mappings."""
    tree: dict[str, Any] = {}
    for name, value in values.items():
        part: Any = value
        for key in reversed(name.split(".")):
            part = {key: part}
        tree = merged(tree, part)
    return tree


def differences(
    first: Mapping[str, Any], second: Mapping[str, Any], at: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """The keys that both mappings set to different values, with both values.

    Args:
        first: One mapping.
        second: The other one.
        at: The keys above both.
    """
    for key in filter(second.__contains__, first):
        one, other = first[key], second[key]
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from differences(one, other, (*at, key))
        elif not same(one, other):
            yield (*at, key), one, other


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON, where true is not 1."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)
