"""Reads the data files of this package, each once and only when first asked for."""

from __future__ import annotations

import functools
import os
from typing import Any

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


def data_path(name: str) -> str:
    """The path of a data file of this package."""
    return os.path.join(_FOLDER, name)


@functools.cache
def read_json(name: str) -> Any:
    """The content of a JSON data file."""
    import json  # noqa: PLC0415  (kept off the import path of the package)

    with open(data_path(name), encoding="utf-8") as file:
        return json.load(file)


@functools.cache
def read_toml(name: str) -> dict[str, Any]:
    """The content of a TOML data file."""
    import tomllib  # noqa: PLC0415  (kept off the import path of the package)

    with open(data_path(name), "rb") as file:
        return tomllib.load(file)
