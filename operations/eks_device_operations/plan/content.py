"""Turns the JSON of plan files and manifests into values that reports can trust."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .._outcome import WRONG, OperationError

T = TypeVar("T")


def understood(read: Callable[[Any], T], content: Any, what: str) -> T:
    """What a reader makes of a file's content.

    Raises:
        OperationError: The content lacks a key or holds a value that the reader cannot take.
    """
    try:
        return read(content)
    except KeyError as error:
        raise OperationError(f"is not {what}: {error!s:.80} is missing", code=WRONG) from error
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise OperationError(f"is not {what}: {error!s:.200}", code=WRONG) from error


def field(table: Any, key: str, kind: type[T]) -> T:
    """A value of an object by its key; true and false are no numbers here.

    Raises:
        KeyError: The object has no such key.
        TypeError: It is no object, or the value is of another kind.
    """
    if not isinstance(table, dict):
        raise TypeError(f"{table!r:.80} stands where an object with {key!r} should")
    value = table[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{key!r} is {value!r:.80}")
    return value


def texts(table: Any, key: str) -> tuple[str, ...]:
    """A list of texts by its key.

    Raises:
        KeyError: The object has no such key.
        TypeError: The value is no list of texts.
    """
    values = field(table, key, list)
    if not all(isinstance(value, str) for value in values):
        raise TypeError(f"{key!r} is {values!r:.80}")
    return tuple(values)


def numbers(table: Any, key: str) -> dict[str, int]:
    """An object of whole numbers by its key.

    Raises:
        KeyError: The object has no such key.
        TypeError: The value is no object of whole numbers.
    """
    values = field(table, key, dict)
    return {name: field(values, name, int) for name in values}
