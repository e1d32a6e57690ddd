"""How frozen values copy what they are given, and how they turn into JSON text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from eks_devices._frozen import frozen_dict


def copied(value: Any) -> Any:
    """A value that cannot change: mappings and sequences are copied, the rest is returned.

    What has the wrong type stays as it is, for the rules to find.
    """
    if isinstance(value, Mapping):
        return frozen_dict(value)
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return tuple(value)
    return value


def json_text(value: object) -> str:
    """Deterministic JSON text of a frozen value or of a manifest: sorted keys, None left out."""
    import json  # noqa: PLC0415  (kept off the import path of the package)

    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: object) -> object:
    if is_dataclass(value):
        pairs = {one.name: getattr(value, one.name) for one in fields(value)}
        return {key: _plain(one) for key, one in pairs.items() if one is not None}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
