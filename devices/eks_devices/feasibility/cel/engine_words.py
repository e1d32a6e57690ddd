"""What the errors of the CEL engine say, and whether they are errors in Kubernetes too."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from .engine import engine
from .form import bare
from .refused_names import is_function

LONGEST: Final = 300
"""Characters of an error, or of an expression, that are told."""

# A field that no device has.
_NO_FIELD: Final = re.compile(r"undeclared reference to 'device\.")
_UNDECLARED: Final = re.compile(r"undeclared reference to '(?!device\b)([^']+)'")
_BINDING: Final = re.compile(
    r"\.\s*(?:all|exists|exists_one|existsOne|map|filter|transform\w+|bind|optMap|optFlatMap)\s*\("
)
_NUMBERS: Final = re.compile(r"applied to '\((?:int|uint|double), (?:int|uint|double)\)'")
_TOO_DEEP: Final = re.compile(r"recursion limit exceeded|Exceeded max\w* recursion")
_ORDERED: Final = re.compile(r"'_[<>]=?_'")
# The engine writes where a mistake is after this; the rest of its text is enough for people.
_PICTURE: Final = "\n"
_PLACE: Final = re.compile(r"ERROR: <input>:([0-9]+):([0-9]+): ")
_NO_KEY: Final = re.compile(r'^NOT_FOUND: Key not found in map : "(.*)"$')
# The kind of an error, in the words of the engine.
_STATUS: Final = re.compile(r"^[A-Z]+(?:_[A-Z]+)*: (?=\S)")
# What else there might have been, and where names are looked up, help nobody.
_TAIL: Final = re.compile(r" expecting .*| \(in container ''\)", re.DOTALL)


def mixes_numbers(error: str) -> bool:
    """Whether the engine refuses to order numbers of two types, which Kubernetes does."""
    return bool(_NUMBERS.search(error) and _ORDERED.search(error))


def is_too_deep(error: str) -> bool:
    """Whether the engine refuses an expression for its depth, of which Kubernetes allows more."""
    return _TOO_DEEP.search(error) is not None


def is_no_cel(text: str, error: str) -> bool:
    """Whether an expression cannot be read at all; newer CEL has names in backticks."""
    return "Syntax error:" in error and "`" not in bare(text)


def names_nothing(text: str, error: str) -> bool:
    """Whether the engine refuses an expression for a name that Kubernetes does not have either.

    That is a field that no device has, or a word that is neither called, nor part of a function's
    name such as sets.contains, nor bound by a macro.
    """
    if _NO_FIELD.search(error):
        return True
    found = _UNDECLARED.search(error)
    if found is None or _BINDING.search(bare(text)):
        return False
    return re.search(rf"\b{re.escape(found[1])}\b(?!\s*(?:\.\s*\w+\s*)*\()", bare(text)) is not None


def in_words(error: str) -> str:
    """An error of the engine in one line."""
    line = _NO_KEY.sub(r"\1 not found", error.partition(_PICTURE)[0].strip())
    return _STATUS.sub("", line)[:LONGEST]


def no_truth(kind: Any) -> str:
    """That an expression is of another type than a selector; empty where it is not."""
    types = engine().Type
    is_truth = kind in (types.BOOL, types.DYN)
    return "" if is_truth else f"it must be true or false, and is of type {kind.name()}"


def with_place(error: str) -> str:
    """An error of the checker in one line, with its place in words."""
    told = in_words(error)
    found = _PLACE.match(told)
    if found is None:
        return _plain(told)
    line = f"line {found[1]}, " if found[1] != "1" else ""
    what = _plain(_TAIL.sub("", told[found.end() :]))
    return f"{what} ({line}character {found[2]})"


def _plain(what: str) -> str:
    """What the checker says, in words that need no knowledge of it."""
    for pattern, plain in _PLAIN:
        if found := pattern.fullmatch(what):
            return plain(found)
    return what


def _not_for(found: re.Match[str]) -> str:
    """Of a function, or an operator, that is not there for some types."""
    name = found[1].strip("_@") if found[1] not in _OPERATORS else _OPERATORS[found[1]]
    return f"{name} is not there for {_types(found[2])}"


def _not_named(found: re.Match[str]) -> str:
    if is_function(found[1]):
        return f"{found[1]} is not called like that"
    return f"nothing is named '{found[1]}'"


def _types(text: str) -> str:
    for pattern, plain in _TYPES:
        text = re.sub(pattern, plain, text)
    return text


def _at(text: str) -> str:
    return "the end" if text == "<EOF>" else f"'{text.strip()}'"


_OPERATORS: Final = {"_[_]": "[...]", "_?_:_": "... ? ... : ...", "_?._": ".?", "_[?_]": "[?...]"}
_TYPES: Final = (
    (r"kubernetes\.Quantity", "quantity"),
    (r"kubernetes\.Semver", "version"),
    (r"(?:kubernetes|net)\.(?=[A-Z])", ""),
    (r"\bdyn\b|\w+%[0-9]+", "any"),
    (r"optional_type", "optional"),
)
_PLAIN: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    (
        re.compile(r"Expression recursion limit exceeded.*|Exceeded max\w* recursion.*"),
        lambda _: "it is nested too deeply",
    ),
    (re.compile(r"found no matching overload for '(.+?)' applied to '\((.*)\)'"), _not_for),
    (
        re.compile(r"undeclared reference to 'device\.(.+)'"),
        lambda found: f"a device has no field '{found[1]}'",
    ),
    (re.compile(r"undeclared reference to '(.+)'"), _not_named),
    (
        re.compile(r"expression of type '(.+)' cannot be the operand of a select operation"),
        lambda found: f"a value of the type {_types(found[1])} has no fields",
    ),
    (
        re.compile(r"Syntax error: (?:mismatched|extraneous) input '(.+?)'.*"),
        lambda found: f"{_at(found[1])} is not expected there",
    ),
    (
        re.compile(r"Syntax error: missing '(.)' at '(.*)'"),
        lambda found: f"'{found[1]}' is missing before {_at(found[2])}",
    ),
    (
        re.compile(r"Syntax error: token recognition error at: '(.*)'"),
        lambda found: f"{_at(found[1])} cannot be read",
    ),
)
