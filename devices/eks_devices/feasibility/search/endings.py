"""How a search for devices ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


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
class Cause:
    """What keeps claims from being served, or leaves it open: a stable code and a sentence.

    The rest is what it is about, as far as it is about one part of a claim: the claim by its index,
    the request as a claim's status names it, the selector or the constraint by its index, the class
    of the devices, how many are wanted and there. `fix` is what to write instead, and `instead` the
    whole expression that it comes to, where that is known.
    """

    code: str = ""
    text: str = ""
    claim: int | None = None
    request: str = ""
    selector: int | None = None
    constraint: int | None = None
    device_class: str = ""
    wants: int | None = None
    has: int | None = None
    fix: str = ""
    instead: str = ""


NO_CAUSE: Final = Cause()


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a search: the devices that are allocated, or the cause that stopped it."""

    ending: Ending
    picks: tuple[Pick, ...] = ()
    cause: Cause = NO_CAUSE


class StoppedError(Exception):
    """Carries the end of a search out of it."""

    def __init__(self, ending: Ending, cause: Cause) -> None:
        super().__init__()
        self.result = Result(ending, cause=cause)
