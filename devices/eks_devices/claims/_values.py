"""How frozen values copy what they are given, and how their manifests turn into text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .._frozen import FrozenDict
from ..typecheck import plain_text


def copied_list(value: Any) -> Any:
    """A list or tuple as a tuple; what is neither, or cannot be read, stays for the rules to find.

    Sets have no order, and an iterator could be read only once.
    """
    try:
        return tuple(map(plain_text, value)) if isinstance(value, (list, tuple)) else value
    except Exception:  # noqa: BLE001  (a list that cannot be read has the wrong type)
        return value


def copied_mapping(value: Any) -> Any:
    """A copy that cannot change; what is not a mapping, or unreadable, stays for the rules."""
    if not isinstance(value, Mapping):
        return value
    try:
        return FrozenDict((plain_text(key), plain_text(one)) for key, one in value.items())
    except Exception:  # noqa: BLE001  (a mapping that cannot be read has the wrong type)
        return value


def json_text(manifest: Mapping[str, Any]) -> str:
    """A manifest as JSON text: equal manifests give equal texts."""
    return json.dumps(manifest, indent=2, sort_keys=True) + "\n"
