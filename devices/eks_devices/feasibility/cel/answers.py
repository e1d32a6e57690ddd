"""What an expression says of a device."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What an expression says of a device."""

    TRUE = "true"
    FALSE = "false"
    FAILS = "fails"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Answer:
    """An outcome and, where it is neither true nor false, the reason.

    `fix` is what to write instead, empty where that is not known, and `instead` the whole
    expression that it comes to; `selector` is the index of the expression among those of a
    request, None for those of a class. `is_at_run_time` says that a running node knows more.
    """

    outcome: Outcome
    text: str = ""
    fix: str = ""
    selector: int | None = None
    is_at_run_time: bool = False
    instead: str = ""
