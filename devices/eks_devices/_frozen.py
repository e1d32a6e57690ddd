"""Mappings and lists that cannot change, so that frozen values may hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NoReturn, TypeVar

from .typecheck import plain_text

K = TypeVar("K")
V = TypeVar("V")

# Nothing that a node or a launch template reads is deeper; what holds itself ends here.
_DEEPEST: Final = 32
# Nor does it hold more, with a hundred characters counted as one value more. A few mappings that
# hold one another twice over are millions of values.
_MOST: Final = 10_000
_CHARACTERS: Final = 100


class FreezeError(ValueError):
    """Values that are too deep or too many to be copied.

    Args:
        code: The code of the fault.
        message: What is wrong with them.
        allowed: What there may be.
    """

    def __init__(self, code: str, message: str, allowed: str) -> None:
        self.code, self.allowed = code, allowed
        super().__init__(message)


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


def copied_list(value: Any) -> Any:
    """A list or tuple as a tuple; what is neither, or cannot be read, stays for the rules to find.

    Sets have no order, and an iterator could be read only once.
    """
    try:
        return tuple(map(plain_text, value)) if isinstance(value, (list, tuple)) else value
    except Exception:  # noqa: BLE001  (a list that cannot be read has the wrong type)
        return value


def copied_mapping(value: Any) -> Any:
    """A copy that cannot change; what is not a mapping, or unreadable, stays for the rules."""
    if not isinstance(value, Mapping):
        return value
    try:
        return FrozenDict((plain_text(key), plain_text(one)) for key, one in value.items())
    except Exception:  # noqa: BLE001  (a mapping that cannot be read has the wrong type)
        return value


def deep_frozen(value: Any) -> Any:
    """A copy that cannot change: of nested mappings and lists, with plain texts and numbers.

    Other values stay as they are.

    Raises:
        FreezeError: The value is nested too deeply, holds itself, or holds too much.
    """
    return _Copy().of(value, 0)


class _Copy:
    """Copies nested values, and counts them meanwhile."""

    def __init__(self) -> None:
        self._left = _MOST

    def of(self, value: Any, depth: int) -> Any:
        self._count(value)
        if not isinstance(value, (Mapping, list, tuple)):
            return _plain(value)
        if depth > _DEEPEST:
            message = "it is nested too deeply, or holds itself"
            raise FreezeError("TooDeep", message, f"{_DEEPEST} levels")
        if isinstance(value, Mapping):
            return FrozenDict(self._items(value, depth + 1))
        return tuple(self.of(one, depth + 1) for one in value)

    def _items(self, value: Mapping[Any, Any], depth: int) -> Iterator[tuple[Any, Any]]:
        for key, one in value.items():
            self._count(key)
            yield plain_text(key), self.of(one, depth)

    def _count(self, value: Any) -> None:
        self._left -= 1 + (str.__len__(value) // _CHARACTERS if isinstance(value, str) else 0)
        if self._left < 0:
            message = "it holds more than any node or launch template reads"
            raise FreezeError("TooLarge", message, f"about {_MOST} values")


def _plain(value: Any) -> Any:
    """A text or number of a class of its own as a plain one, whose comparisons cannot fail."""
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    return plain_text(value)
