"""What the errors of the CEL engine say, and whether they are errors in Kubernetes too."""

from __future__ import annotations

import re
from typing import Final

from .form import bare

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


def with_place(error: str) -> str:
    """An error of the checker in one line, with its place in words."""
    told = in_words(error)
    found = _PLACE.match(told)
    if found is None:
        return told
    line = f"line {found[1]}, " if found[1] != "1" else ""
    what = _TAIL.sub("", told[found.end() :])
    return f"{what} ({line}character {found[2]})"
