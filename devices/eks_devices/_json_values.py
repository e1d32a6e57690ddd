"""Mappings of a user's that become JSON: what cannot be JSON, named by its path."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ._frozen import FrozenDict
from .findings import Finding, fault
from .typecheck import is_token, path_step, wrong_type

# Nothing that a node reads is deeper; a mapping that holds itself ends here.
_DEEPEST = 32
_LONGEST_NUMBER = 64
_WANTED = "JSON: mappings, lists, strings, numbers, true, false and null"


def json_faults(value: object, path: str, depth: int = 0) -> Iterator[Finding]:
    """Faults of a value, and of what is in it, that cannot be written as JSON.

    Args:
        value: What was given.
        path: How faults name it.
        depth: How deep it lies.
    """
    if depth > _DEEPEST:
        yield fault(
            "TooDeep",
            path,
            "the value is nested too deeply, or holds itself",
            got=type(value).__name__,
            allowed=f"{_DEEPEST} levels",
            fix="flatten it",
        )
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if not isinstance(key, str) or is_token(key):
                yield wrong_type(path, key, "a string as the key", "write the key as a text")
            yield from json_faults(one, f"{path}.{path_step(key)}", depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, one in enumerate(value):
            yield from json_faults(one, f"{path}[{index}]", depth + 1)
    elif not _is_plain(value):
        yield wrong_type(path, value, _WANTED, "write a value that JSON has")


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return not is_token(value)
    if isinstance(value, float):
        return math.isfinite(value) and not _is_number_token(value)
    if isinstance(value, int):
        return value.bit_length() <= _LONGEST_NUMBER
    return value is None


def _is_number_token(value: float) -> bool:
    return wrong_type("", value, "", "").code == "TokenNotAllowed"


def json_frozen(value: Any, depth: int = 0) -> Any:
    """A copy that cannot change, texts as plain ones.

    Raises:
        ValueError: The value is nested too deeply, or holds itself.
    """
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (Mapping, list, tuple)) and depth > _DEEPEST:
        raise ValueError(f"it is nested more than {_DEEPEST} levels deep, or holds itself")
    if isinstance(value, Mapping):
        items = value.items()
        return FrozenDict((_plain_key(key), json_frozen(one, depth + 1)) for key, one in items)
    if isinstance(value, (list, tuple)):
        return tuple(json_frozen(one, depth + 1) for one in value)
    return value


def is_readable(value: Any) -> bool:
    """Whether nested collections can be read to their end."""
    try:
        json_frozen(value)
    except Exception:  # noqa: BLE001  (a collection of a user's may raise anything)
        return False
    return True


def _plain_key(key: Any) -> Any:
    return str.__str__(key) if isinstance(key, str) else key


def differences(
    own: Mapping[str, Any], plans: Mapping[str, Any], at: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """The keys that both mappings set to different values, with both values."""
    for key in filter(plans.__contains__, own):
        mine, its = own[key], plans[key]
        if isinstance(mine, Mapping) and isinstance(its, Mapping):
            yield from differences(mine, its, (*at, key))
        elif not same(mine, its):
            yield (*at, key), mine, its


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON, where true is not 1."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def found(tree: Mapping[str, Any], keys: tuple[str, ...] | list[str]) -> Any:
    """What nested mappings hold under keys; None where there is nothing."""
    value: Any = tree
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
