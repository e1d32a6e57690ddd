"""How a search for devices ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Ending(StrEnum):
    """How a search ends."""

    ALLOCATED = "allocated"
    NONE = "none"
    FAILS = "fails"
    UNCLEAR = "unclear"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class Pick:
    """A device, by its index, that a request of a claim gets by one of its options."""

    claim: int
    request: int
    option: int
    device: int


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a search: the devices that are allocated, or what stopped it.

    `code` and `text` say what failed or is unclear.
    """

    ending: Ending
    picks: tuple[Pick, ...] = ()
    code: str = ""
    text: str = ""


class StoppedError(Exception):
    """Carries the end of a search out of it."""

    def __init__(self, ending: Ending, code: str, text: str) -> None:
        super().__init__()
        self.result = Result(ending, code=code, text=text)
