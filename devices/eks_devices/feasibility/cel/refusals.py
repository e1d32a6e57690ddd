"""What API servers have against an expression, or why nothing is said of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ...claims.syntax import LONGEST_CEL_BYTES
from . import form
from .advice import Advice, advice
from .answers import Answer, Outcome
from .costs import too_costly, unpriced
from .engine import checker, engine, program
from .engine_words import (
    LONGEST,
    in_words,
    is_no_cel,
    is_too_deep,
    mixes_numbers,
    names_nothing,
    no_truth,
    with_place,
)
from .formats import unformattable
from .lists import mixed_lists
from .unlike import unlike, unread, written_patterns

_CALLED: Final = re.compile(r"(?<![\w.])(\w+)\s*\(\s*device\s*\)")
# All others are there for values of other types, or for none.
_OF_ANYTHING: Final = ("dyn", "type")
# A variable of a loop that is called the same.
_RENAMED: Final = re.compile(r"\(\s*device\s*,")
# Brackets in brackets that Kubernetes takes.
_DEEPEST: Final = 250


def problem(text: str, written: str) -> Answer | None:
    """What Kubernetes has against an expression, or why nothing is said of it; None for neither.

    Args:
        text: The expression as it is evaluated; see `form.indexed`.
        written: The expression as it is written, whose length counts and whose cost is estimated.
    """
    if refused := _no_text(written):
        return Answer(Outcome.FAILS, refused, "shorten it, or write whole characters")
    if name := _of_device(text):
        why = f"{name} is not there for a device as a whole"
        return Answer(Outcome.FAILS, why, "name an attribute or a capacity of it")
    try:
        kind = checker().compile(text).return_type()
    except RuntimeError as error:
        return _refused(text, str(error))
    return next(_problems(text, written, no_truth(kind) or _no_pattern(text)), None)


def _problems(text: str, written: str, refused: str) -> Iterator[Answer]:
    if refused and not unread(text):
        yield _advised(refused, advice(text, refused))
    mixed, is_certain = mixed_lists(text)
    if is_certain:
        yield Answer(Outcome.FAILS, mixed, "write values of one type")
    if wrong := unformattable(text) or too_costly(written):
        yield Answer(Outcome.FAILS, *wrong)
    if left_open := form.unimitated(text) or unlike(text) or mixed or unpriced(written):
        yield Answer(Outcome.UNCLEAR, left_open)


def _no_text(text: str) -> str:
    """Why the API server does not take a text, whatever it says."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > LONGEST_CEL_BYTES:
        return f"it has {size} bytes and may have {LONGEST_CEL_BYTES}"
    # The half would be replaced by one byte.
    is_whole = size == len(text.encode("utf-8", "replace"))
    return "" if is_whole else "it holds half of a character"


def _of_device(text: str) -> str:
    """The function that is called of the device itself, and is not there for it."""
    stripped = form.bare(text)
    if _RENAMED.search(stripped):
        return ""
    names = (one[1] for one in _CALLED.finditer(stripped))
    return next((one for one in names if one not in _OF_ANYTHING), "")


def _refused(text: str, told: str) -> Answer:
    """What an error of the checker means, which may be one of the engine alone."""
    why = ""
    if mixes_numbers(told):
        why = "it orders numbers of two types, which the engine does not"
    elif is_too_deep(told) and form.depth(text) < _DEEPEST:
        why = "it is nested more deeply than the engine follows"
    elif unread(text) and not (names_nothing(text, told) or is_no_cel(text, told)):
        why = form.unimitated(text) or unlike(text)
    if why:
        return Answer(Outcome.UNCLEAR, why)
    return _advised(with_place(told), advice(text, in_words(told)))


def _advised(why: str, what: Advice) -> Answer:
    left = problem(what.instead, what.instead) if what.instead else None
    is_taken = left is None or left.outcome is Outcome.UNCLEAR
    return Answer(Outcome.FAILS, why, what.fix, instead=what.instead if is_taken else "")


def _no_pattern(text: str) -> str:
    """What is wrong with a pattern, which Kubernetes looks at before anything is matched."""
    for pattern in written_patterns(text):
        value = program(f"''.matches({pattern})").eval(data={})
        if value.type() == engine().Type.ERROR:
            return f"matches is given {pattern[:LONGEST]}, which is no regular expression"
    return ""
