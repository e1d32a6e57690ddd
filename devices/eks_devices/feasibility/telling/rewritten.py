"""What to write so that an expression matches devices: one value in it as devices have it.

Nothing is told but what was evaluated: the changed expression is true of a device.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from ..cel.expressions import Outcome, evaluate
from ..slices import NodeDevice

_READ: Final = (
    r"""device\s*\.\s*attributes\s*\[\s*['"](?P<domain>[^'"\\]+)['"]\s*\]"""
    r"""\s*(?:\.\s*(?P<name>\w+)|\[\s*['"](?P<key>[^'"\\]+)['"]\s*\])"""
)
_TEXT: Final = r"""'[^'\\\n]*'|"[^"\\\n]*\""""
_COMPARED: Final = re.compile(rf"{_READ}\s*==\s*(?P<value>{_TEXT}|-?[0-9]+\b|true\b|false\b)")
_CALLED: Final = re.compile(
    rf"{_READ}\s*\.\s*(?P<call>contains|startsWith|endsWith)\s*\(\s*(?P<value>{_TEXT})\s*\)"
)
# Whoever compares more than these has written no slip of the pen.
_MOST_PLACES: Final = 16
_IN_WORDS: Final = {int: "a number", bool: "true or false"}


def rewritten(text: str, devices: Sequence[NodeDevice]) -> str:
    """A part of an expression as it should be, with the reason; empty where none is found.

    Args:
        text: The expression, which matches none of the devices.
        devices: The devices.
    """
    places = itertools.chain(_COMPARED.finditer(text), _CALLED.finditer(text))
    for found in itertools.islice(places, _MOST_PLACES):
        name = f"{found['domain']}/{found['name'] or found['key']}"
        known = [one for one in devices if name not in one.at_run_time]
        values = (one.attributes.get(name) for one in known)
        # A version is none of these, and is compared by functions of its own.
        for value in dict.fromkeys(one for one in values if isinstance(one, (str, int))):
            for literal, why in _instead(found, value):
                start, end = found.span("value")
                changed = text[:start] + literal + text[end:]
                if _matches(changed, devices):
                    part = text[found.start() : start] + literal + text[end : found.end()]
                    return f"{why}write {part}"
    return ""


def _matches(text: str, devices: Iterable[NodeDevice]) -> bool:
    return any(evaluate(text, one).outcome is Outcome.TRUE for one in devices)


def _instead(found: re.Match[str], value: Any) -> Iterator[tuple[str, str]]:
    """What may be written instead, by what a device has, each with the reason."""
    written, is_text = found["value"], found["value"][0] in "'\""
    quote, inner = (written[0], written[1:-1]) if is_text else ("'", written)
    if isinstance(value, str):
        part = value
        if "call" in found.groupdict():
            at = value.casefold().find(inner.casefold())
            part = value[at : at + len(inner)] if at >= 0 else ""
        if part and not {quote, "\\", "\n"} & {*part} and (not is_text or _is_like(inner, value)):
            why = "" if is_text else f"{_own(found)} is a text: "
            yield f"{quote}{part}{quote}", why
    elif isinstance(value, (int, bool)) and is_text and inner:
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        kind = _IN_WORDS[type(value)]
        why = f"{written} is a text, and {_own(found)} is {kind}: "
        if shown == inner.strip().lower():
            yield shown, why


def _own(found: re.Match[str]) -> str:
    return str(found["name"] or found["key"])


def _is_like(written: str, value: str) -> bool:
    """Whether one of two texts is in the other, whatever its capitals."""
    one, other = written.casefold(), value.casefold()
    return bool(one) and (one in other or other in one)
