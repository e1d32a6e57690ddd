"""Lists and maps that hold values of several types, which Kubernetes refuses."""

from __future__ import annotations

import re
from typing import Final

from . import form
from .engine import checker

_ANY: Final = "DYN"
_FORMATTED: Final = re.compile(r"\.\s*format\s*\(\s*(?=\[)")


def mixed_lists(text: str) -> tuple[str, bool]:
    """What Kubernetes has against a list, or a map, of several types, and whether it surely has.

    Empty without one; a list of what `format` fills in may be of several types.
    """
    ends = [one.end() for one in _FORMATTED.finditer(text)]
    formatted = [one for end in ends for one in form.lists(text[end:])[:1]]
    parts = [one for one in form.lists(text) if one not in formatted]
    parts += [each for one in form.maps(text) for each in one]
    found = [told for one in parts if (told := _of_one_type(one))[0]]
    return next(iter(sorted(found, key=lambda one: not one[1])), ("", False))


def _of_one_type(elements: list[str]) -> tuple[str, bool]:
    kinds = dict.fromkeys(_kind(one) for one in elements if one.strip())
    certain = [one for one in kinds if one and (one == _ANY or _ANY not in one)]
    # An empty list or map is of any type of its kind.
    if len(certain) > 1 or len({one.partition("<")[0] for one in kinds if one}) > 1:
        told = ", ".join(filter(None, kinds))
        return f"a list or a map holds values of several types: {told}", True
    if len(elements) > 1 and "" in kinds:
        return "a list or a map holds values of types that are not known", False
    return "", False


def _kind(element: str) -> str:
    """The type of an element of a list; empty where it has none of its own."""
    try:
        kind = checker().compile(element).return_type()
    except RuntimeError:
        # It is of a variable of the expression's own.
        return ""
    return str(kind.name())
