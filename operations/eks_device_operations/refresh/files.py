"""The generated files of the data folder: read, and written all or none."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from .._outcome import OperationError


def read_text(folder: str, name: str) -> str:
    """A generated file of today; empty when there is none.

    Raises:
        OperationError: It is there and cannot be read.
    """
    try:
        return (Path(folder) / name).read_bytes().decode()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise OperationError(f"{name!r} in {folder!r} cannot be read: {error}") from error


def write_all(folder: str, texts: Mapping[str, str]) -> None:
    """Write all files or none: each is complete beside its place before any is moved there.

    Raises:
        OperationError: The folder cannot be written.
    """
    ready = {name: Path(folder) / f".{name}.new" for name in texts}
    try:
        for name, path in ready.items():
            path.write_bytes(texts[name].encode())
        for name, path in ready.items():
            path.replace(Path(folder) / name)
    except OSError as error:
        raise OperationError(f"{folder!r} cannot be written: {error}") from error
    finally:
        for path in ready.values():
            with contextlib.suppress(OSError):
                path.unlink()
