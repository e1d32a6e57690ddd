"""Faults of values with the wrong Python type and of unknown options, said alike everywhere."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from .findings import Finding, fault, meant, shown

# The CDK encodes numbers that are tokens as huge negative ones.
_NUMBER_TOKENS = (-1e308, -1e200)
_LONGEST_STEP = 120
_TOKEN = re.compile(r"[$#]\{Token\[")


def is_token(value: object) -> bool:
    """Whether a text holds a CDK token, whose value is unknown until deployment."""
    return isinstance(value, str) and _TOKEN.search(value) is not None


def is_number_token(value: object) -> bool:
    """Whether a number is a CDK token, whose value is unknown until deployment."""
    least, most = _NUMBER_TOKENS
    return isinstance(value, float) and least < float.__float__(value) < most


def plain_text(value: Any) -> Any:
    """A member of an enum, or another kind of text, as the text itself; other values as given."""
    return str.__str__(value) if isinstance(value, str) else value


def members(values: object, *, ordered: bool = False) -> list[Any] | None:
    """The members of a list, tuple or set; None for what is none of these, or cannot be read.

    Texts and mappings are not meant as lists, and an iterator could be read only once.

    Args:
        values: What was given.
        ordered: Whether the order matters, so that a set will not do.
    """
    kind = Sequence if ordered else Collection
    if isinstance(values, (str, bytes, bytearray, Mapping)) or not isinstance(values, kind):
        return None
    try:
        return list(values)
    except Exception:  # noqa: BLE001  (a collection of a user's may raise anything)
        return None


def as_list(value: object, path: str, example: str) -> str:
    """What to write where a list of names is needed: with the text that was given, if that is one.

    Args:
        value: What was given.
        path: The name of the option.
        example: A name to show where the value is none.
    """
    text = str.__str__(value) if isinstance(value, str) else ""
    is_name = text.isprintable() and 0 < len(text) <= _LONGEST_STEP and '"' not in text
    return f'write {path}=["{text if is_name else example}"]'


def path_step(value: object) -> str:
    """A name or key as it stands in the path of a finding: a short printable text as it is."""
    text = str.__str__(value) if isinstance(value, str) else ""
    return text if text.isprintable() and 0 < len(text) <= _LONGEST_STEP else shown(value)


def wrong_type(path: str, value: object, wanted: str, fix: str) -> Finding:
    """The fault of a value with the wrong type, or of a token where a literal is needed."""
    if is_token(value) or is_number_token(value):
        message = "rules read this value, so it cannot be a token"
        fix = "write the value itself"
        return fault("TokenNotAllowed", path, message, got=value, allowed=wanted, fix=fix)
    kind = type(value).__name__
    return fault(
        "WrongType", path, f"the value is of type {kind}", got=value, allowed=wanted, fix=fix
    )


def unknown_option(option: object, known: Iterable[str], path: str, *, of: str) -> Finding:
    """The fault of an option that does not exist.

    Args:
        option: What a user wrote as its name.
        known: The options that there are.
        path: Names what has the options, empty for what a call is for.
        of: The same in words, "a node group".
    """
    names, step = list(known), path_step(option)
    return fault(
        "UnknownOption",
        f"{path}.{step}" if path else step,
        f"{of} has no such option",
        got=option,
        allowed=", ".join(names),
        fix=meant(option, names) or "leave the option out",
    )


def text(value: object, path: str, wanted: str, fix: str) -> Iterator[Finding]:
    """The fault of a value that is not a string, or that is a token."""
    if not isinstance(value, str) or is_token(value):
        yield wrong_type(path, value, wanted, fix)


def member(
    value: object, enum: type[StrEnum], path: str, *, optional: bool = False
) -> Iterator[Finding]:
    """The fault of a value that is not a member of a closed set; its text is not enough."""
    if isinstance(value, enum) or (optional and value is None):
        return
    wanted = ", ".join(f"{enum.__name__}.{one.name}" for one in enum)
    wanted += ", or None" if optional else ""
    yield wrong_type(path, value, wanted, f"name a member of {enum.__name__}")


def listed(
    values: object, kinds: Any, path: str, *, many: str, one: str, fix: str
) -> tuple[list[Any], list[Finding]]:
    """What of a list is of a kind, and the faults of what is not, or of what is no list.

    Args:
        values: What was given.
        kinds: What `isinstance` takes.
        path: How faults name the list.
        many: What the list may hold, in words.
        one: A single one in words.
        fix: What to write for one.
    """
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        return [], [wrong_type(path, values, many, "pass a list or tuple")]
    try:
        given = list(values)
    except Exception:  # noqa: BLE001  (a collection of a user's may raise anything)
        return [], [wrong_type(path, values, many, "pass a list or tuple")]
    faults = [
        wrong_type(f"{path}[{index}]", value, one, fix)
        for index, value in enumerate(given)
        if not isinstance(value, kinds)
    ]
    return [value for value in given if isinstance(value, kinds)], faults


def boolean(value: object, path: str, *, optional: bool = False) -> Iterator[Finding]:
    """The fault of a value that is neither True nor False (nor None where that is allowed)."""
    if value is True or value is False or (optional and value is None):
        return
    wanted = "True, False or None" if optional else "True or False"
    yield wrong_type(path, value, wanted, "write True or False")


def whole_number(
    value: object, path: str, *, lowest: int, highest: int | None = None, optional: bool = False
) -> Iterator[Finding]:
    """The fault of a value that is no whole number in range; True and False are none."""
    if type(value) is int and lowest <= value and (highest is None or value <= highest):
        return
    if optional and value is None:
        return
    wanted = f"a whole number from {lowest}" + (f" to {highest}" if highest is not None else "")
    if type(value) is not int:
        yield wrong_type(path, value, wanted, "write a whole number")
    else:
        message, fix = "the number is out of range", "write a number in range"
        yield fault("OutOfRange", path, message, got=value, allowed=wanted, fix=fix)
