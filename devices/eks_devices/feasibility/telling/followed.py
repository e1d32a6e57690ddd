"""What an expression that is refused, or fails, comes to on the devices that there are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ..cel.advice import with_whole
from ..cel.answers import Outcome
from ..cel.engine_words import LONGEST
from ..cel.expressions import evaluate, selector
from ..cel.other_words import METHODS
from ..slices import NodeDevice
from .changes import ATTRIBUTE, attribute, name_of
from .rewritten import matches, rewritten
from .values_told import values_told

# What is written, as opposed to what is done about an operator or a word.
_CODE: Final = re.compile(r"device|quantity\(|semver\(")


def followed(fix: str, instead: str, devices: Sequence[NodeDevice]) -> str:
    """What to write, with the whole expression, and with values as the devices have them.

    Args:
        fix: What to do about a mistake.
        instead: The expression without it; empty where that is not known.
        devices: The devices that it is about.
    """
    if not instead or len(instead) > LONGEST:
        return fix
    whole = with_whole(fix, instead)
    answers = [evaluate(instead, one) for one in devices]
    outcomes = {one.outcome for one in answers}
    if Outcome.FAILS in outcomes:
        further = next((one.instead for one in answers if one.instead), "")
        return followed(fix, further, devices) if further != instead else fix
    if outcomes != {Outcome.FALSE}:
        return whole
    found, has = rewritten(instead, devices), values_told(instead, devices)
    if found is None:
        return f"{whole}; these devices have {has}" if has else whole
    if found.times is None:
        return f"{whole}; these devices have {has}: write {found.whole}"
    made = f"write {found.whole}" if _CODE.search(fix) else with_whole(fix, found.whole)
    return f"{made}, for these devices have {has}"


def as_it_matches(text: str, devices: Sequence[NodeDevice]) -> str:
    """An expression as it matches devices; empty where that is not known."""
    found = selector(text).problem
    if found is not None and found.outcome is Outcome.FAILS:
        text = found.instead
    if not text or len(text) > LONGEST:
        return ""
    if any(matches(text, one) for one in devices):
        return text
    made = rewritten(text, devices)
    return made.whole if made else ""


def no_value(text: str, devices: Sequence[NodeDevice]) -> str:
    """What to write for an expression that is an attribute, or looks into one; or nothing."""
    found = _ALONE.fullmatch(text.strip())
    if found is None:
        looked = _FIELD_OF.search(text)
        if looked is None:
            return ""
        fix = f"an attribute has no fields: leave .{looked['field']} out"
        made = f"{looked['read']}.size()" if METHODS.get(looked["field"]) == "size" else ""
        whole = text[: looked.start()] + (made or looked["read"]) + text[looked.end() :]
        return followed(f"write {made}" if made else fix, whole, devices)
    values = (attribute(name_of(found), one) for one in devices)
    value = next((one for one in values if isinstance(one, (str, int))), None)
    if value is None:
        return "compare it with something, by == or the like"
    literal = f"'{value}'" if isinstance(value, str) else str(value).lower()
    return f"compare it with something: write {found['read']} == {literal}"


_ALONE: Final = re.compile(ATTRIBUTE)
_FIELD_OF: Final = re.compile(rf"{ATTRIBUTE}\s*\.\s*(?P<field>[a-zA-Z]\w*)\b(?!\s*\()")
