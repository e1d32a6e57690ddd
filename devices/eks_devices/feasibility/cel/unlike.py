"""Expressions that the engine reads or answers otherwise than Kubernetes, so nothing is said.

Each was found by asking the packages of Kubernetes, of all minors, and the engine the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ...quantities import amount_of
from .form import DEVICE, QUOTED, bare, comments_gone

_NO_TYPE_OF_ITS_OWN: Final = (
    r"(?!\s*(?:quantity\s*\(|device\s*\.\s*capacity\b|''|-?\d|null\b|true\b|false\b))"
)
# Told by a text in which strings are empty.
_ODD: Final = (
    (r"`", "it has a name in backquotes"),
    (r"\.\s*format\s*\(", "it formats a text"),
    (
        r"\.\s*(?:all|exists|exists_one)\s*\(\s*\w+\s*,\s*\w+\s*,",
        "it has a macro of two variables",
    ),
    (r"\.\s*split\s*\(\s*''\s*[,)]", "it splits a text into what may be nothing"),
    (r"\?\s*(?:\w+|'')\s*\]?\s*(?:\.|\[)\s*\?", "it looks for a field of what may not be there"),
    (r"\b(?:uint|bool|duration|timestamp)\s*\(", "it reads another type from a text"),
    (r"\b(?:int|double)\s*\((?!\s*device\b)", "it reads another type from a text"),
    (r"\b(?:string|bytes)\s*\((?!\s*device\b)", "it makes a text of what it writes"),
    (r"(?:^|[^\w\s.)\]}'])\s*\.\s*[A-Za-z_]", "it has a name that begins with a dot"),
    (r"\bin\s*\[\s*\]", "it looks for something in an empty list"),
    (
        r"\]\s*(?:\.\s*\w+|\[\s*''\s*\])\s*\.\s*(?:all|exists|exists_one|map|filter)\s*\(",
        "it goes through a value of the device",
    ),
    (r"\d\.?[eE][+-]?\d{3,}", "it has a number that is too large"),
    (r"[\[,{]\s*\?", "it has an element that may not be there"),
    (
        r"\bquantity\s*\([^()]*\)\s*\.\s*(?:asInteger|isInteger|asApproximateFloat)\b",
        "it asks for the number behind a quantity that it writes",
    ),
    (
        r"\bdevice\s*\.\s*capacity\s*\[\s*''\s*\]\s*(?:\.\s*\w+|\[\s*''\s*\])\s*(?:[=!]=|in\b)"
        + _NO_TYPE_OF_ITS_OWN,
        "it compares a quantity with what may be another type",
    ),
)
# A value that may be a quantity or a version, and is of no type that is told before it is there.
_MAY_BE_VALUE: Final = re.compile(
    r"\b(?:orValue|or|optMap|optFlatMap|of|ofNonZero|ofNonZeroValue)\s*\([^)]*?"
    r"\b(?:quantity\s*\(|semver\s*\(|capacity\b)"
    r"|[?:]\s*\(*\s*(?:quantity\s*\(|semver\s*\(|device\s*\.\s*capacity\b)"
)
# What may be done with them, and what comes of it compared with a number.
_INSIDE: Final = r"\((?:[^()]|\([^()]*\))*\)"
_OF_VALUES: Final = re.compile(
    r"(?:\.\s*(?:compareTo|isGreaterThan|isLessThan|major|minor|patch|asInteger|isInteger"
    rf"|asApproximateFloat)\s*{_INSIDE}|\bsign\s*{_INSIDE})(?:\s*[=!]=\s*-?\d)?"
)
# What a map answers, which stands for them in the engine, and they do not, in one comparison.
_LIKE_MAP: Final = re.compile(
    r"\bsize\s*\(|\bhas\s*\(|\)\s*\[|[=!]=|\bin\b|\.\s*\??\s*(?:quantity|semver)\b(?!\s*\()"
)
# What may carry one on to another comparison.
_CARRIED: Final = re.compile(
    r"\bcel\s*\.|\boptMap\s*\(|\boptFlatMap\s*\(|\.\s*(?:all|exists|exists_one|map|filter)\s*\("
)
_AND_OR: Final = re.compile(r"&&|\|\|")
_PATTERNS: Final = tuple((re.compile(pattern), why) for pattern, why in _ODD)
# Fields that are asked about, macros over two variables, names in backquotes or with a dot in
# front, and elements that may not be there.
_UNREAD: Final = (
    re.compile(r"\bhas\s*\(\s*device\s*\.\s*\w+\s*\)"),
    re.compile(r"\.\s*(?:transform\w+|existsOne|sortBy)\s*\("),
    re.compile(r"\.\s*(?:all|exists|exists_one)\s*\(\s*\w+\s*,\s*\w+\s*,"),
    re.compile(r"`|(?:^|[^\w\s.)\]}'])\s*\.\s*[A-Za-z_]|[\[,{]\s*\?"),
)
_FIELD_OF_DEVICE: Final = re.compile(r"(?<![\w.])device\s*\.\s*\w+")
# The end of a raw string that the engine looks for elsewhere.
_RAW: Final = re.compile(r"\b(?:[rR][bB]?|[bB][rR])(?=['\"])")
_ESCAPED_QUOTE: Final = re.compile(r"\\['\"]")
_ONE_BYTE: Final = re.compile(r"\\C")
_WRITTEN: Final = re.compile(r"\b(?:quantity|isQuantity)\s*\(\s*(['\"])([^'\"\\]*)\1")
_LONG_NUMBER: Final = re.compile(r"[0-9]{19}", re.ASCII)
# What Kubernetes takes for a quantity, however strange.
_LIKE_QUANTITY: Final = re.compile(
    r"[+-]?[0-9]*\.?[0-9]*(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?", re.ASCII
)
_PATTERN: Final = re.compile(r"\.\s*matches\s*\(\s*$")
_NANO: Final = 10**9
_LARGE: Final = 2**62
_NEAR: Final = 32


def unlike(text: str) -> str:
    """Why the engine may read or answer an expression otherwise; empty where it does not."""
    return next(_reasons(text), "")


def unread(text: str) -> bool:
    """Whether the engine may refuse what Kubernetes reads: by syntax, or by a name, that it lacks.

    For its types, and for functions that nobody has, both refuse the same.
    """
    stripped = bare(text)
    if any(one.search(stripped) for one in _UNREAD):
        return True
    if is_read_otherwise(text):
        return True
    return DEVICE.search(_FIELD_OF_DEVICE.sub("", bare(comments_gone(text)))) is not None


def is_read_otherwise(text: str) -> bool:
    """Whether the engine looks for the end of a raw text where Kubernetes does not."""
    return bool(_RAW.search(text) and _ESCAPED_QUOTE.search(text))


def written_patterns(text: str) -> list[str]:
    """The patterns that texts are matched with, as they are written in an expression."""
    return [
        one[0] for one in QUOTED.finditer(text) if _PATTERN.search(text[: one.start()][-_NEAR:])
    ]


def _reasons(text: str) -> Iterator[str]:
    stripped = bare(text)
    yield from (why for pattern, why in _PATTERNS if pattern.search(stripped))
    if _looks_into_values(stripped):
        yield "it looks into what may be a version or a quantity"
    if is_read_otherwise(text):
        yield "it has a raw text with a quote in it"
    if "matches" in text and _ONE_BYTE.search(text):
        yield "it matches single bytes"
    if any(_is_strange(one[2]) for one in _WRITTEN.finditer(text)):
        yield "it has a quantity that is no common one"
    literals = (one[0] for one in QUOTED.finditer(text))
    if "emver" in text and any(_LONG_NUMBER.search(one) for one in literals):
        yield "it has a version with a number that is too large"


def _looks_into_values(stripped: str) -> bool:
    """Whether more may be done with a quantity or a version than what both sides know."""
    if not _MAY_BE_VALUE.search(stripped):
        return False
    if _CARRIED.search(stripped):
        return True
    parts = _AND_OR.split(stripped)
    is_whole = all(one.count("(") == one.count(")") for one in parts)
    about = [one for one in parts if _MAY_BE_VALUE.search(one)] if is_whole else [stripped]
    return any(_LIKE_MAP.search(_OF_VALUES.sub(" ", one)) for one in about)


def _is_strange(quantity: str) -> bool:
    """Whether a quantity is rounded, too large, or none that people write."""
    amount = amount_of(quantity)
    if amount is None:
        return _LIKE_QUANTITY.fullmatch(quantity) is not None and quantity != ""
    return bool(amount * _NANO % 1) or abs(amount) >= _LARGE
