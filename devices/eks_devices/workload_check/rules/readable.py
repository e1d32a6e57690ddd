"""Copies of manifests that every rule can look at: what cannot be read in them is one value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...typecheck import is_number_token, is_token

_DEEPEST: Final = 32
_MOST_VALUES: Final = 20_000


class _Unknown:
    """What nobody can tell before the deployment, or at all."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "a value that is not known here"


UNKNOWN: Final = _Unknown()
"""Stands for tokens, for objects that are no JSON, and for what lies too deep or is too much."""


def readable(value: object) -> Any:
    """A copy of a value of plain dicts, lists, texts, numbers, booleans, None and `UNKNOWN`."""
    return _Copier().copy(value, 0)


class _Copier:
    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def copy(self, value: object, depth: int) -> Any:
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            return UNKNOWN
        try:
            if isinstance(value, Mapping):
                pairs = [*value.items()]
                return {
                    str.__str__(key): self.copy(one, depth + 1)
                    for key, one in pairs
                    if isinstance(key, str)
                }
            if isinstance(value, (list, tuple)):
                return [self.copy(one, depth + 1) for one in [*value]]
            return _scalar(value)
        except Exception:  # noqa: BLE001  (values of a user's may raise anything)
            return UNKNOWN


def _scalar(value: object) -> Any:
    if isinstance(value, str):
        text = str.__str__(value)
        return UNKNOWN if is_token(text) else text
    if value is None or type(value) in (bool, int):
        return value
    return value if type(value) is float and not is_number_token(value) else UNKNOWN
