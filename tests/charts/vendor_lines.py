"""Parts of Kubernetes objects as lines: a path, and a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Item = Mapping[str, Any]
Facts = dict[str, dict[str, str]]
Lines = Iterator[tuple[str, str]]


def flat(path: str, value: Any) -> Lines:
    """A value as lines; those of a list of objects by their names, or by number."""
    if isinstance(value, Mapping) and (value or not path):
        for key, inner in value.items():
            yield from flat(f"{path}: {key}" if path else str(key), inner)
    elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        for number, one in enumerate(value):
            rest = {key: inner for key, inner in one.items() if key != "name"}
            yield from flat(f"{path} {one.get('name', number)}", rest)
    else:
        yield path, text(value)


def text(value: Any) -> str:
    """A plain value, or a list of them."""
    if isinstance(value, list):
        return joined(value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def joined(values: Iterable[Any]) -> str:
    """Values as one text, sorted: the order of the lists that are compared here means nothing."""
    return ", ".join(sorted(map(text, values)))


def without_nulls(value: Any) -> Any:
    """A value as the API server reads it: null is absent."""
    if isinstance(value, Mapping):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value
