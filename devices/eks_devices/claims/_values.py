"""How frozen values copy what they are given, and how their manifests turn into text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .._frozen import FrozenDict


def plain(value: Any) -> Any:
    """A member of an enum, or another kind of string, as the string itself."""
    return str.__str__(value) if isinstance(value, str) else value


def copied_list(value: Any) -> Any:
    """A list or tuple as a tuple; what is neither, or cannot be read, stays for the rules to find.

    Sets have no order, and an iterator could be read only once.
    """
    try:
        return tuple(map(plain, value)) if isinstance(value, (list, tuple)) else value
    except Exception:  # noqa: BLE001  (a list that cannot be read has the wrong type)
        return value


def copied_mapping(value: Any) -> Any:
    """A copy that cannot change; what is not a mapping, or unreadable, stays for the rules."""
    if not isinstance(value, Mapping):
        return value
    try:
        return FrozenDict((plain(key), plain(one)) for key, one in value.items())
    except Exception:  # noqa: BLE001  (a mapping that cannot be read has the wrong type)
        return value


def json_text(manifest: Mapping[str, Any]) -> str:
    """A manifest as JSON text: equal manifests give equal texts."""
    return json.dumps(manifest, indent=2, sort_keys=True) + "\n"
