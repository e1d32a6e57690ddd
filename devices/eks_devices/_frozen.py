"""A mapping that cannot change, so that frozen values may hold one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """A dict without mutators: equal to a plain dict, hashable, and JSON serialisable."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping is part of a frozen value and cannot be changed")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (dict(self),))


def frozen_dict(items: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> FrozenDict[K, V]:
    """Copy `items` into a mapping that cannot change."""
    return FrozenDict(items)


def deep_frozen(value: Any) -> Any:
    """Copy nested mappings and lists into what cannot change; other values stay as they are."""
    if isinstance(value, Mapping):
        return FrozenDict({key: deep_frozen(one) for key, one in value.items()})
    if isinstance(value, (list, tuple)):
        return tuple(deep_frozen(one) for one in value)
    return value
