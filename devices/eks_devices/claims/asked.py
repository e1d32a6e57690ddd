"""The requests of one claim as rules look at them."""

from __future__ import annotations

from dataclasses import dataclass

from .kinds import RequestKind
from .match import MatchAttribute
from .requests import DeviceRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a claim asks for, and how faults name it."""

    path: str
    requests: tuple[DeviceRequest, ...]
    match: MatchAttribute | None

    def total(self, *kinds: RequestKind) -> int:
        """How many devices of some kinds are asked for; an open count is none."""
        return sum(one.count or 0 for one in self.requests if one.kind in kinds)

    def has(self, *kinds: RequestKind) -> bool:
        """Whether any request is of one of the kinds."""
        return any(one.kind in kinds for one in self.requests)

    def path_of(self, kind: RequestKind) -> str:
        """How a fault names the first request of a kind; there must be one."""
        index = next(index for index, one in enumerate(self.requests) if one.kind is kind)
        return f"{self.path}.requests[{index}]"

    @property
    def open_path(self) -> str:
        """How a fault names the count that is left open; empty when none is."""
        is_open = any(one.count is None for one in self.requests)
        return f"{self.path_of(RequestKind.EFA)}.count" if is_open else ""
