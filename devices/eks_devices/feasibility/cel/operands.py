"""Where the parts of an expression are that an operator stands between."""

from __future__ import annotations

import re
from typing import Final

from .form import quoted_out

_ENDS: Final = ("&&", "||")
_STOPS: Final = "?:,;"
_AT: Final = re.compile(r":([0-9]+):([0-9]+): ")
_RECEIVER: Final = re.compile(r"[\w.\x00]")
_COMPARES: Final = re.compile(r"[=!<>]=|[<>]|\bin\b")


def before(text: str, at: int) -> int:
    """Where the operand begins that ends in front of a place."""
    quoted, depth, start = quoted_out(text), 0, at
    while start > 0:
        one = quoted[start - 1]
        depth += (one in ")]}") - (one in "([{")
        if depth < 0 or (depth == 0 and _is_end(quoted, start - 1, back=True)):
            break
        start -= 1
    return start + len(text[start:at]) - len(text[start:at].lstrip())


def after(text: str, at: int) -> int:
    """Where the operand ends that begins behind a place."""
    quoted, depth, end = quoted_out(text), 0, at
    while end < len(text):
        one = quoted[end]
        depth += (one in "([{") - (one in ")]}")
        if depth < 0 or (depth == 0 and _is_end(quoted, end)):
            break
        end += 1
    return at + len(text[at:end].rstrip())


def _is_end(quoted: str, at: int, *, back: bool = False) -> bool:
    start = at - 1 if back else at
    return quoted[max(start, 0) : start + 2] in _ENDS or quoted[at] in _STOPS


def compared(text: str, start: int, end: int) -> tuple[str, str, str] | None:
    """Left side, operator and right side of a comparison between two places; None without one."""
    quoted = quoted_out(text)
    depth = 0
    for at in range(start, end):
        depth += (quoted[at] in "([{") - (quoted[at] in ")]}")
        found = _COMPARES.match(quoted, at) if depth == 0 else None
        if found and found.end() <= end:
            return text[start:at].strip(), found[0], text[found.end() : end].strip()
    return None


def place(told: str, text: str) -> int:
    """Where in an expression something is that the engine says; the first place by default."""
    found = _AT.search(told)
    if found is None:
        return 0
    lines = text.splitlines(keepends=True)[: int(found[1]) - 1]
    return sum(map(len, lines)) + int(found[2]) - 1


def value_before(text: str, at: int) -> int:
    """Where the value begins that a function is called of, whose dot is at a place."""
    quoted, depth, start = quoted_out(text), 0, at
    while start > 0:
        one = quoted[start - 1]
        depth += (one in ")]}") - (one in "([{")
        if depth < 0 or (depth == 0 and one not in "([{" and not _RECEIVER.match(one)):
            break
        start -= 1
    return start


def closing(text: str, at: int) -> int:
    """Where the bracket ends that begins at a place; the end of the text where it does not."""
    quoted, depth = quoted_out(text), 0
    for end in range(at, len(text)):
        depth += (quoted[end] in "([{") - (quoted[end] in ")]}")
        if depth == 0:
            return end + 1
    return len(text)
