"""What is told of expressions that cost too much, and what to write instead."""

from __future__ import annotations

import functools
import re
from typing import Final

from ..engine import checker
from ..unlike import is_read_otherwise
from .sizes import costs
from .tree import tree
from .walk import LOOP, Estimate, estimated

# Above it something has no end that the API server knows of.
_ENDLESS: Final = 10**15
_MAY_BE_ABSENT: Final = re.compile(
    r"""device\s*\.\s*attributes\s*\[\s*\??\s*(?P<domain>'[^'\\]+'|"[^"\\]+")\s*\]"""
    r"""\s*(?:\.\s*\??\s*(?P<name>\w+)|\[\s*\?\s*['"](?P<key>\w+)['"]\s*\])"""
    r"""\s*\.\s*orValue\s*\(\s*(?:'[^'\\]*'|"[^"\\]*")\s*\)"""
)
_PARTS: Final = re.compile(r"\.\s*split\s*\(")
_OPERATORS: Final = {"_?_:_": "the choice by ?", "_[_]": "the index"}


def too_costly(text: str) -> tuple[str, str] | None:
    """Why the API server refuses an expression for its cost, and what to write; None where not."""
    found = None if is_read_otherwise(text) else _estimate(text)
    if found is None or found.cost <= costs()["limit"]:
        return None
    limit, name = f"{costs()['limit']:,}", _shown(found.costliest)
    told = f"its estimated cost is {found.cost:,}, beyond the limit of {limit}, most of {name}"
    if found.cost >= _ENDLESS:
        told = (
            f"its estimated cost is beyond the limit of {limit}, as {name} goes through something "
            "that may be of any length"
        )
    return told, _instead(text, found)


def unpriced(text: str) -> str:
    """Why nothing is known of what an expression costs; empty where something is."""
    return "" if _estimate(text) else "nothing is known of what a function of it costs"


@functools.lru_cache(maxsize=4096)
def _estimate(text: str) -> Estimate | None:
    """The estimate of an expression; None of what the engine does not read."""
    try:
        serialized = checker().compile(text).serialize()
    except RuntimeError:
        return None
    return estimated(tree(serialized))


def _shown(name: str) -> str:
    return name if name == LOOP else _OPERATORS.get(name) or name.strip("_@")


def _instead(text: str, found: Estimate) -> str:
    if guarded := _guarded(text):
        return f"write {guarded}"
    if found.costliest == LOOP:
        return "go through fewer elements, or compare them by == and in"
    if _PARTS.search(text):
        return "look at the whole text by contains, startsWith or matches instead of its parts"
    return "compare attributes of the device themselves, by ==, in, startsWith, contains or matches"


def _guarded(text: str) -> str:
    """The expression with guards before attributes that may be absent; empty where it helps not."""
    guards = dict.fromkeys(
        f"'{one['name'] or one['key']}' in device.attributes[{one['domain']}]"
        for one in _MAY_BE_ABSENT.finditer(text)
    )
    if not guards:
        return ""
    changed = _MAY_BE_ABSENT.sub(
        lambda one: f"device.attributes[{one['domain']}].{one['name'] or one['key']}", text
    )
    whole = changed if not re.search(r"\|\||\?", changed) else f"({changed})"
    made = " && ".join([*guards, whole])
    estimate = _estimate(made)
    return made if estimate and estimate.cost <= costs()["limit"] else ""
