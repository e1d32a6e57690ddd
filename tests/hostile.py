"""Values that no rule may trip over: what raises when it is looked at, holds itself, or is a token.

Rules answer each of them with a fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

# As the CDK writes texts, lists and numbers that only the deployment knows.
TOKEN, LIST_TOKEN = "${Token[TOKEN.12]}", "#{Token[TOKEN.3]}"
NUMBER_TOKEN = -1.8881545897087626e289


class Hostile:
    """Raises whenever somebody looks at it."""

    def _refuse(self, *_: object) -> NoReturn:
        raise ZeroDivisionError

    __repr__ = __str__ = __format__ = __eq__ = __bool__ = __len__ = __iter__ = _refuse
    __lt__ = __gt__ = __le__ = __ge__ = __add__ = __index__ = __contains__ = _refuse
    __hash__ = object.__hash__


class Untouchable(Hostile):
    """Raises for every attribute that it is asked for, too."""

    def __getattr__(self, name: str) -> NoReturn:
        raise ZeroDivisionError


class HostileMapping(Mapping[Any, Any]):
    """A mapping that cannot be read."""

    def __getitem__(self, key: object) -> NoReturn:
        raise ZeroDivisionError

    def __iter__(self) -> NoReturn:
        raise ZeroDivisionError

    def __len__(self) -> int:
        return 1


class HostileList(list[Any]):
    """A list that cannot be read."""

    def __iter__(self) -> Iterator[Any]:
        raise ZeroDivisionError


class HostileTuple(tuple[Any, ...]):
    """A tuple that cannot be read."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        raise ZeroDivisionError


class HostileSet(set[Any]):
    """A set that cannot be read."""

    def __iter__(self) -> Iterator[Any]:
        raise ZeroDivisionError


class HostileText(str):
    """A text that cannot be shown."""

    __slots__ = ()

    def _refuse(self, *_: object) -> NoReturn:
        raise ZeroDivisionError

    __repr__ = __str__ = __format__ = _refuse


class UncomparedText(str):
    """A text that can be neither compared nor taken apart."""

    __slots__ = ()

    def _refuse(self, *_: object) -> NoReturn:
        raise ZeroDivisionError

    __eq__ = __ne__ = __contains__ = _refuse
    partition = replace = startswith = endswith = _refuse
    __hash__ = str.__hash__


class UncomparedNumber(float):
    """A number that can be neither compared nor shown."""

    __slots__ = ()

    def _refuse(self, *_: object) -> NoReturn:
        raise ZeroDivisionError

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _refuse
    __repr__ = __str__ = __format__ = __float__ = _refuse
    __hash__ = float.__hash__


def endless() -> dict[str, Any]:
    """A mapping that holds itself, twice."""
    mapping: dict[str, Any] = {}
    mapping["a"] = mapping["b"] = mapping
    return mapping


def doubled(levels: int) -> dict[str, Any]:
    """A small mapping that reads as one of 2**levels values."""
    mapping: dict[str, Any] = {"a": 1}
    for _ in range(levels):
        mapping = {"a": mapping, "b": mapping}
    return mapping
