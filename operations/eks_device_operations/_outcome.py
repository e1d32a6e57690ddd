"""How a verb ends: with an outcome, or with the one exception that says why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FINE: Final = 0
WRONG: Final = 1
"""What was looked at is wrong."""
COULD_NOT_LOOK: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a verb found: its exit code, its output, and one line for each thing to tell apart."""

    code: int = FINE
    text: str = ""
    messages: tuple[str, ...] = ()


class OperationError(Exception):
    """A verb cannot go on; each message is a line of its own, `code` is the exit code."""

    def __init__(self, *messages: str, code: int = COULD_NOT_LOOK) -> None:
        super().__init__("\n".join(messages))
        self.messages = messages
        self.code = code
