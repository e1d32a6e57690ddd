"""Reads the manifests in a property of a template, of which the deployment fills in parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

UNKNOWN: Final = "${Token[known-at-deployment]}"
"""What stands in a manifest for a value, or a part of a text, that only the deployment knows."""

_JOIN: Final = "Fn::Join"


def manifests_in(value: object) -> list[Mapping[str, Any]]:
    """The manifests that a property holds as JSON; none where it cannot be read.

    Args:
        value: The property as CloudFormation gets it: a text, or `Fn::Join` of texts and values
            that only the deployment knows, which become `UNKNOWN`.
    """
    parts = _parts(value)
    if parts is None:
        return []
    try:
        found = json.loads(_filled(parts))
    except (ValueError, RecursionError):
        return []
    return [one for one in (found if isinstance(found, list) else [found]) if _is_object(one)]


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping)


def _parts(value: object) -> Sequence[object] | None:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Mapping) or [*value] != [_JOIN]:
        return None
    joined = value[_JOIN]
    is_join = isinstance(joined, Sequence) and len(joined) == 2  # noqa: PLR2004
    if not is_join or joined[0] != "" or not isinstance(joined[1], Sequence):
        return None
    return list(joined[1])


def _filled(parts: Sequence[object]) -> str:
    return "".join(_pieces(parts))


def _pieces(parts: Sequence[object]) -> Iterator[str]:
    """Texts as they are; other values by what stands for them, in quotes unless they are inside."""
    is_inside = False
    for part in parts:
        if isinstance(part, str):
            yield part
            is_inside = _ends_inside(part, is_inside=is_inside)
        else:
            yield UNKNOWN if is_inside else json.dumps(UNKNOWN)


def _ends_inside(text: str, *, is_inside: bool) -> bool:
    """Whether JSON that goes on after a text does so within quotes."""
    quotes = text.replace("\\\\", "").replace('\\"', "").count('"')
    return is_inside != bool(quotes % 2)
