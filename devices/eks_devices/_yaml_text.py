"""Values of manifests in findings, as people write them in YAML."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .findings import Finding, fault, shown
from .typecheck import is_number_token, is_token, wrong_type

_LONGEST: Final = 128
_LONGEST_NUMBER: Final = 400
_PLAIN: Final = re.compile(r"[A-Za-z_/][\w./-]*", re.ASCII)
# What YAML takes for true, false and null.
_WORDS: Final = frozenset(["y", "yes", "n", "no", "on", "off", "true", "false", "null"])


class AsYaml:
    """A value of a manifest that findings show as YAML has it.

    Args:
        value: The value; what no YAML can hold is shown as Python has it.
    """

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __repr__(self) -> str:
        """The first part of the text, a little more than findings show."""
        text = ""
        for part in _parts(self._value, is_inner=False):
            text += part
            if len(text) > _LONGEST:
                break
        return text


def wrong_in_manifest(path: str, value: object, wanted: str, fix: str) -> Finding:
    """The fault of a value of a manifest with the wrong type, in the words of YAML.

    Args:
        path: How findings name the place.
        value: What stands there.
        wanted: What may stand there.
        fix: What to write.
    """
    if is_token(value) or is_number_token(value):
        return wrong_type(path, value, wanted, fix)
    message = f"the value is {_kind(value)}"
    return fault("WrongType", path, message, got=AsYaml(value), allowed=wanted, fix=fix)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean, which is true or false"
    names = ((Mapping, "a mapping"), ((list, tuple), "a list"), (str, "a text"))
    found = (name for kinds, name in names if isinstance(value, kinds))
    number = "a number" if isinstance(value, (int, float)) else f"of type {type(value).__name__}"
    return next(found, number)


def _parts(value: object, *, is_inner: bool = True) -> Iterator[str]:
    """The text of a value, piece by piece, for it may be endless."""
    if isinstance(value, Mapping):
        yield from _mapping(value)
    elif isinstance(value, (list, tuple)):
        yield from _sequence(value)
    else:
        yield _scalar(value, is_inner=is_inner)


def _mapping(value: Mapping[Any, Any]) -> Iterator[str]:
    yield "{"
    for at, (key, one) in enumerate(value.items()):
        yield ", " if at else ""
        yield from _parts(key)
        yield ": "
        yield from _parts(one)
    yield "}"


def _sequence(value: list[Any] | tuple[Any, ...]) -> Iterator[str]:
    yield "["
    for at, one in enumerate(value):
        yield ", " if at else ""
        yield from _parts(one)
    yield "]"


def _scalar(value: object, *, is_inner: bool) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(str.__str__(value)[: _LONGEST + 1], is_inner=is_inner)
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return "a number of many digits"
    return shown(value)


def _text(text: str, *, is_inner: bool) -> str:
    """A text, in quotes where it stands alone or would be read as something else."""
    if is_inner and _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return f"'{text}'" if text.isprintable() and "'" not in text else json.dumps(text)
