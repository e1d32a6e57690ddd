"""The functions that API servers know in expressions, as declarations for the CEL engine."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from typing import Any, Final

from ..._data import read_toml

Declared = dict[str, Any]

_GROUPS: Final = ("quantities", "versions", "texts", "lists", "addresses", "formats", "conversions")
_FULL_NAMES: Final = {
    "Quantity": "kubernetes.Quantity",
    "Semver": "kubernetes.Semver",
    "URL": "kubernetes.URL",
    "NamedFormat": "kubernetes.NamedFormat",
    "IP": "net.IP",
    "CIDR": "net.CIDR",
    "optional": "optional_type",
}
# What stands for each of several types.
_EACH: Final = {"Ordered": "ordered", "Sized": "sizes"}


def environment() -> Declared:
    """The variables and functions of the newest minor, as the engine is configured with."""
    by_name: dict[str, list[Declared]] = {}
    for number, text in enumerate(_signatures()):
        name, overload = _overload(text, number)
        by_name.setdefault(name, []).append(overload)
    amounts, attributes = ("map(string, map(string, Quantity))", "map(string, map(string, dyn))")
    variables = {"driver": "string", "attributes": attributes, "capacity": amounts}
    variables |= dict.fromkeys(_data()["fields"], "bool")
    return {
        "name": "kubernetes",
        "stdlib": {"exclude_functions": [{"name": one} for one in _data()["extended"]]},
        "variables": [
            {"name": f"device.{name}", **_type(kind)} for name, kind in variables.items()
        ],
        "functions": [{"name": name, "overloads": many} for name, many in by_name.items()],
    }


def ways_to_call(name: str) -> tuple[str, ...]:
    """How a function is called, with the types of what it is called with; empty for others."""
    return _calls().get(name, ())


@functools.cache
def _calls() -> dict[str, tuple[str, ...]]:
    data = _data()
    found: dict[str, tuple[str, ...]] = {}
    for text in itertools.chain(*(data[group] for group in _GROUPS), *data["since"].values()):
        name = _overload(text, 0)[0]
        found[name] = (*found.get(name, ()), _in_words(text.partition(" -> ")[0]))
    return found


def _in_words(call: str) -> str:
    return (
        re.sub(r"\(A\)|(?<=\()A\b", "", call).replace("Ordered", "...").replace("Sized", "numbers")
    )


@functools.cache
def later_functions() -> dict[str, tuple[str, ...]]:
    """The functions and macros that not every minor has, by the first that has them."""
    found = {
        minor: {_overload(text, 0)[0]: None for text in texts}
        for minor, texts in _data()["since"].items()
    }
    for minor, names in _data()["macros_since"].items():
        found.setdefault(minor, {}).update(dict.fromkeys(names))
    return {minor: tuple(names) for minor, names in found.items()}


def gated_fields() -> dict[str, str]:
    """The fields of a device that a feature gate hides, each with the gate."""
    return dict(_data()["fields"])


def _data() -> dict[str, Any]:
    return read_toml("cel_functions.toml")


def _signatures() -> Iterator[str]:
    data = _data()
    later = data["since"].values()
    for text in itertools.chain(*(data[group] for group in _GROUPS), *later):
        word = next((one for one in _EACH if one in text), None)
        yield from (text.replace(word, one) for one in data[_EACH[word]]) if word else [text]


def _overload(text: str, number: int) -> tuple[str, Declared]:
    """The name of a function, and the way to call it that a signature has."""
    call, _, result = text.rpartition(" -> ")
    start = _opening(call)
    owner, _, name = call[:start].rpartition(".")
    arguments = [_type(one) for one in _parts(call[start + 1 : -1])]
    overload = {"id": f"kubernetes_{number}", "args": arguments, "return": _type(result)}
    # Of lists, texts and the like, and not of a name that functions stand under.
    if "(" in owner or owner == "string" or owner[:1].isupper():
        return name, overload | {"target": _type(owner)}
    return call[:start], overload


def _opening(text: str) -> int:
    """Where the last bracket begins, of a text that ends with one."""
    depth = 0
    for at in reversed(range(len(text))):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return at
    raise ValueError(text)


def _parts(text: str) -> list[str]:
    """What commas divide, those in brackets aside."""
    depth, parts = 0, [""]
    for one in text:
        depth += (one == "(") - (one == ")")
        if one == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += one
    return [one.strip() for one in parts if one.strip()]


def _type(text: str) -> Declared:
    name, _, inner = text.partition("(")
    if len(name) == 1:
        return {"type_name": name, "is_type_param": True}
    made: Declared = {"type_name": _FULL_NAMES.get(name, name)}
    return made | ({"params": [_type(one) for one in _parts(inner[:-1])]} if inner else {})
