"""What is told of expressions that cost too much, and what to write instead."""

from __future__ import annotations

import functools
import re
from typing import Final

from ..engine import checker, engine, evaluator
from ..unlike import is_read_otherwise
from .sizes import costs
from .tree import tree
from .walk import LOOP, Estimate, estimated

# Only what has no end that the API server knows of comes near it: its lengths are of 64 bits.
_AS_GOOD_AS_ENDLESS: Final = 10**15
_TEXT: Final = r"""(?:'[^'\\\n]*'|"[^"\\\n]*")"""
_MAY_BE_ABSENT: Final = re.compile(
    rf"""device\s*\.\s*attributes\s*\[\s*\??\s*(?P<domain>{_TEXT})\s*\]"""
    r"""\s*(?:\.\s*\??\s*(?P<name>\w+)|\[\s*\?\s*['"](?P<key>\w+)['"]\s*\])"""
    rf"""\s*\.\s*orValue\s*\(\s*(?P<else>{_TEXT})\s*\)"""
    # What is asked of it.
    rf"""(?P<asked>(?:\s*\.\s*\w+\s*\(\s*{_TEXT}?\s*\))*(?:\s*[=!]=\s*{_TEXT})?)"""
)
_AMOUNTS: Final = re.compile(
    rf"""(device\s*\.\s*capacity\s*\[\s*{_TEXT}\s*\]\s*\.\s*\w+)\s*!=\s*(quantity\s*\([^()]*\))"""
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
    if found.cost >= _AS_GOOD_AS_ENDLESS:
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
    for pattern, rewritten in ((_MAY_BE_ABSENT, _guarded), (_AMOUNTS, _negated)):
        made = pattern.sub(rewritten, text)
        estimate = None if made == text else _estimate(made)
        if estimate and estimate.cost <= costs()["limit"]:
            return f"write {made}"
    if found.costliest == LOOP:
        return "go through fewer elements, or compare them by == and in"
    if _PARTS.search(text):
        return "look at the whole text by contains, startsWith or matches instead of its parts"
    return "compare attributes of the device themselves, by ==, in, startsWith, contains or matches"


def _guarded(found: re.Match[str]) -> str:
    """The same of an attribute that may be absent with a guard before it."""
    own, domain = found["name"] or found["key"], f"device.attributes[{found['domain']}]"
    if (otherwise := _truth(found["else"] + found["asked"])) is None:
        return found[0]
    asked = f"{domain}.{own}{found['asked']}"
    made = f"!('{own}' in {domain}) || {asked}" if otherwise else f"'{own}' in {domain} && {asked}"
    return made if found[0] == found.string.strip() else f"({made})"


def _truth(text: str) -> bool | None:
    """What an expression without a device says; None for what is neither true nor false."""
    try:
        said = evaluator().compile(text).eval(data={})
    except RuntimeError:
        return None
    return said.plain_value() if said.type() == engine().Type.BOOL else None


def _negated(found: re.Match[str]) -> str:
    return f"!({found[1]} == {found[2]})"
