"""Copies of manifests that every rule can look at: what cannot be read in them is one value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...typecheck import is_number_token, is_token

_DEEPEST: Final = 32
_MOST_VALUES: Final = 10_000


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
        self._around: set[int] = set()

    def copy(self, value: object, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST or id(value) in self._around:
            return UNKNOWN
        if not isinstance(value, (Mapping, list, tuple)):
            return _scalar(value)
        self._around.add(id(value))
        made = self._inside(value, depth + 1)
        self._around.discard(id(value))
        return made

    def _inside(self, value: Mapping[Any, Any] | list[Any] | tuple[Any, ...], depth: int) -> Any:
        try:
            if isinstance(value, Mapping):
                return {
                    str.__str__(key): self.copy(one, depth)
                    for key, one in [*value.items()]
                    if isinstance(key, str)
                }
            return [self.copy(one, depth) for one in [*value]]
        except Exception:  # noqa: BLE001  (collections of a user's may raise anything)
            return UNKNOWN


def _scalar(value: object) -> Any:
    if isinstance(value, str):
        text = str.__str__(value)
        return UNKNOWN if is_token(text) else text
    if value is None or type(value) in (bool, int):
        return value
    return value if type(value) is float and not is_number_token(value) else UNKNOWN
