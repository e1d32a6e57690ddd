"""Bottlerocket's settings: read from TOML, and written in the TOML that EKS can read."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .._frozen import deep_frozen

_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_ESCAPED_QUOTE = '\\"'


@functools.lru_cache(maxsize=256)
def read_settings(text: str) -> Mapping[str, Any] | str:
    """The settings of a text, or what is wrong with the text."""
    import tomllib  # noqa: PLC0415  (kept off the import path of the package)

    try:
        settings: Mapping[str, Any] = deep_frozen(tomllib.loads(text))
    except (ValueError, RecursionError) as error:
        return str(error) or "it is nested too deeply"
    others = settings.keys() - {"settings"}
    if others:
        return f"{', '.join(sorted(others))} beside the table settings, which Bottlerocket ignores"
    if not isinstance(settings.get("settings"), Mapping):
        return "it has no table settings"
    return settings


def unreadable(settings: Mapping[str, Any], text: str) -> Iterator[tuple[str, Any, str]]:
    """Keys that EKS's reader of TOML does not take, with the value and what is wrong.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    """
    yield from _unreadable(settings, "", escaped=_ESCAPED_QUOTE in text)


def _unreadable(value: Any, at: str, *, escaped: bool) -> Iterator[tuple[str, Any, str]]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            below = f"{at}.{key}" if at else key
            if '"' in key or "'" in key:
                yield below, key, "the key has quotes in it"
            elif isinstance(one, Mapping) and not _BARE.fullmatch(key):
                yield below, key, "the name of the table needs quotes"
            yield from _unreadable(one, below, escaped=escaped)
    elif isinstance(value, tuple):
        if len({type(one) for one in value}) > 1:
            yield at, value, "the array has values of several types"
        for one in value:
            yield from _unreadable(one, at, escaped=escaped)
    elif isinstance(value, str) and '"' in value and (escaped or not _is_literal(value)):
        yield at, value, "the text has escaped quotes"


def write_settings(settings: Mapping[str, Any]) -> str:
    """A text of tables, each under a header of its own."""
    return "\n".join(_tables(settings, ()))


def _tables(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    below = {key: one for key, one in table.items() if isinstance(one, Mapping) or _is_list(one)}
    lines = [f"{_key(key)} = {_value(table[key])}" for key in sorted(table.keys() - below.keys())]
    header = ".".join(map(_key, path))
    if path and (lines or not below):
        yield "\n".join([f"[{header}]", *lines, ""])
    for key in sorted(below):
        if isinstance(below[key], Mapping):
            yield from _tables(below[key], (*path, key))
        else:
            yield from _list(below[key], (*path, key))


def _list(tables: tuple[Mapping[str, Any], ...], path: tuple[str, ...]) -> Iterator[str]:
    header = ".".join(map(_key, path))
    for table in tables:
        lines = [f"{_key(key)} = {_value(table[key])}" for key in sorted(table)]
        yield "\n".join([f"[[{header}]]", *lines, ""])


def _is_list(value: Any) -> bool:
    return (
        isinstance(value, (list, tuple))
        and bool(value)
        and all(isinstance(one, Mapping) for one in value)
    )


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _basic(key)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}'" if _needs_literal(value) else _basic(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(key)} = {_value(one)}" for key, one in sorted(value.items()))
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, (bool, int, float)):
        return str(value).lower()
    return str(value.isoformat())


def _needs_literal(value: str) -> bool:
    return ('"' in value or "\\" in value) and _is_literal(value)


def _is_literal(value: str) -> bool:
    return "'" not in value and value.isprintable()


def _basic(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
