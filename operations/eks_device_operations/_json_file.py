"""Reads JSON that somebody else wrote: every way it can fail has a message and an exit code."""

from __future__ import annotations

import json
import math
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from ._output import COULD_NOT_LOOK, WRONG

_LARGEST: Final = 64 * 1024 * 1024
_DEEPEST: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong with a file, and which exit code that means."""

    file: str
    message: str
    code: int


class UnusableFileError(Exception):
    """A file cannot be read, or holds no JSON."""

    def __init__(self, message: str, *, code: int) -> None:
        super().__init__(message)
        self.code = code


def read_json_file(path: Path) -> Any:
    """The content of a JSON file in UTF-8.

    Raises:
        UnusableFileError: It cannot be read, is no JSON, or is larger or deeper than is sensible.
    """
    content = _content(path)
    try:
        value = json.loads(
            content.decode("utf-8-sig"), parse_constant=_refuse_constant, parse_float=_finite
        )
    except RecursionError:
        raise UnusableFileError("is nested too deeply", code=WRONG) from None
    except ValueError as error:
        raise UnusableFileError(f"is not JSON in UTF-8: {error}", code=WRONG) from error
    if _is_deep(value):
        raise UnusableFileError("is nested too deeply", code=WRONG)
    return value


def _content(path: Path) -> bytes:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # opening a named pipe would wait for its writer
            raise UnusableFileError("cannot be read: it is not a file", code=COULD_NOT_LOOK)
        if status.st_size > _LARGEST:
            raise UnusableFileError(f"is larger than {_LARGEST >> 20} MiB", code=WRONG)
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise UnusableFileError(f"cannot be read: {reason(error)}", code=COULD_NOT_LOOK) from error


def reason(error: Exception) -> str:
    """Why the system refused, without the path, which the message has already."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [child for item in level for child in _children(item)]
        if not level:
            return False
    return True


def _children(item: Any) -> Iterable[Any]:
    if isinstance(item, dict):
        return item.values()
    return item if isinstance(item, list) else ()
