"""Compares a JSON value with the shape that it should have, and names each difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

_KINDS: Final = {
    str: "a text",
    int: "a whole number",
    float: "a fraction",
    bool: "true or false",
    dict: "an object",
    list: "a list",
    type(None): "null",
}

Shape = Any
"""A dict of shapes by key, a list of one shape, a type, a set of words, or one of these classes."""


@dataclass(frozen=True, slots=True)
class Nullable:
    """A value that may be null."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class MayLack:
    """A key that may be missing."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class ByName:
    """An object with any keys, whose values have one shape."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class Either:
    """A value of one of some types."""

    types: tuple[type, ...]


def differences(value: Any, shape: Shape, path: str = "") -> Iterator[str]:
    """Where a value differs from a shape: `clusters[0].plan: expected an object, got null`."""
    if isinstance(shape, Nullable):
        if value is not None:
            yield from differences(value, shape.shape, path)
    elif isinstance(shape, dict):
        yield from _in_object(value, shape, path)
    elif isinstance(shape, ByName):
        if not isinstance(value, dict):
            yield _unexpected(path, "an object", value)
            return
        for key, item in value.items():
            yield from differences(item, shape.shape, _joined(path, key))
    elif isinstance(shape, list):
        yield from _in_list(value, shape[0], path)
    else:
        yield from _in_leaf(value, shape, path)


def _in_object(value: Any, shape: dict[str, Shape], path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield _unexpected(path, "an object", value)
        return
    for key, inner in shape.items():
        if key in value:
            known = inner.shape if isinstance(inner, MayLack) else inner
            yield from differences(value[key], known, _joined(path, key))
        elif not isinstance(inner, MayLack):
            yield f"{_joined(path, key)} is missing"


def _in_list(value: Any, shape: Shape, path: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield _unexpected(path, "a list", value)
        return
    for place, item in enumerate(value):
        yield from differences(item, shape, f"{path}[{place}]")


def _in_leaf(value: Any, shape: Shape, path: str) -> Iterator[str]:
    if isinstance(shape, frozenset):
        if not isinstance(value, str) or value not in shape:
            yield _unexpected(path, f"one of {', '.join(sorted(shape))}", value)
        return
    types = shape.types if isinstance(shape, Either) else (shape,)
    if type(value) not in types:  # True is no whole number here
        yield _unexpected(path, " or ".join(_KINDS[each] for each in types), value)


def _unexpected(path: str, expected: str, value: Any) -> str:
    got = repr(value[:40]) if isinstance(value, str) else _KINDS[type(value)]
    return f"{path or 'the content'}: expected {expected}, got {got}"


def _joined(path: str, key: str) -> str:
    return f"{path}.{key[:40]}" if path else key[:40]
