"""Mappings of a user's that become JSON: what cannot be JSON, named by its path."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ._frozen import FreezeError, FrozenDict, deep_frozen
from .findings import Finding, fault
from .typecheck import is_number_token, is_token, path_step, wrong_type

_LONGEST_NUMBER = 64
_WANTED = "JSON: mappings, lists, strings, numbers, true, false and null"


def frozen_mapping(
    value: object, path: str, wanted: str, fix: str
) -> FrozenDict[Any, Any] | Finding:
    """A copy of nested mappings that cannot change, or the fault of what cannot be copied.

    Args:
        value: What was given.
        path: How faults name it.
        wanted: What it may be, in words.
        fix: What to write instead of something else.
    """
    if not isinstance(value, Mapping):
        return wrong_type(path, value, wanted, fix)
    kind = type(value).__name__
    try:
        copy: FrozenDict[Any, Any] = deep_frozen(value)
    except FreezeError as error:
        fix = "leave out what does not belong there"
        return fault(error.code, path, str(error), got=kind, allowed=error.allowed, fix=fix)
    except Exception:  # noqa: BLE001  (a collection of a user's may raise anything)
        message = "the value cannot be read to its end"
        return fault("WrongType", path, message, got=kind, allowed=wanted, fix=fix)
    return copy


def json_faults(value: object, path: str) -> Iterator[Finding]:
    """Faults of a value, and of what is in it, that cannot be written as JSON.

    Args:
        value: What `frozen_mapping` made, or a part of it.
        path: How faults name it.
    """
    if isinstance(value, Mapping):
        for key, one in value.items():
            if not isinstance(key, str) or is_token(key):
                yield wrong_type(path, key, "a string as the key", "write the key as a text")
            yield from json_faults(one, f"{path}.{path_step(key)}")
    elif isinstance(value, (list, tuple)):
        for index, one in enumerate(value):
            yield from json_faults(one, f"{path}[{index}]")
    elif not _is_plain(value):
        yield wrong_type(path, value, _WANTED, "write a value that JSON has")


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return not is_token(value)
    if isinstance(value, float):
        return math.isfinite(value) and not is_number_token(value)
    if isinstance(value, int):
        return value.bit_length() <= _LONGEST_NUMBER
    return value is None
