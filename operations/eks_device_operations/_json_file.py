"""Reads JSON that somebody else wrote: every way it can fail has a message and an exit code."""

from __future__ import annotations

import json
import math
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NoReturn

from ._outcome import WRONG, OperationError

_LARGEST: Final = 64 * 1024 * 1024
_DEEPEST: Final = 100
_GZIP_MAGIC: Final = b"\x1f\x8b"


def read_json_file(path: Path) -> Any:
    """The content of a JSON file, plain or compressed with gzip.

    Raises:
        OperationError: It cannot be read, is no JSON, or is larger or deeper than is sensible.
            The message leaves the file to be named by the caller.
    """
    content = _content(path)
    try:
        plain = _unpacked(content) if content.startswith(_GZIP_MAGIC) else content
        value = json.loads(plain, parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        raise OperationError("is nested too deeply", code=WRONG) from None
    except ValueError as error:
        raise OperationError(f"is not JSON: {error}", code=WRONG) from error
    if _is_deep(value):
        raise OperationError("is nested too deeply", code=WRONG)
    return value


def reason(error: Exception) -> str:
    """Why the system refused, without the path, which the message has already."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _content(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OperationError("cannot be read: it is not a file")
        with path.open("rb") as file:
            return _bounded(file.read(_LARGEST + 1))
    except (OSError, ValueError) as error:
        raise OperationError(f"cannot be read: {reason(error)}") from error


def _bounded(content: bytes) -> bytes:
    if len(content) > _LARGEST:
        raise OperationError(f"is larger than {_LARGEST >> 20} MiB", code=WRONG)
    return content


def _unpacked(content: bytes) -> bytes:
    import gzip  # noqa: PLC0415  (hardly ever needed)
    import io  # noqa: PLC0415
    import zlib  # noqa: PLC0415

    try:
        with gzip.open(io.BytesIO(content)) as file:
            return _bounded(file.read(_LARGEST + 1))
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(str(error)) from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _is_deep(value: Any) -> bool:
    """Whether writing the value again could exhaust the stack."""
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
