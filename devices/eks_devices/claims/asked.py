"""What rules ask of a claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .distinct import DistinctAttribute
from .kinds import RequestKind
from .match import MatchAttribute
from .opaque import OpaqueConfig
from .requests import DeviceRequest

Constraint = MatchAttribute | DistinctAttribute
"""What the devices of some requests, or of all, must have in common, or differ in."""


class Asked(Protocol):
    """A claim or a template of claims, as rules look at it."""

    @property
    def path(self) -> str:
        """How faults name the claim."""

    @property
    def requests(self) -> Sequence[DeviceRequest]:
        """What is asked for."""

    @property
    def match(self) -> MatchAttribute | None:
        """The attribute that all devices must share."""

    @property
    def constraints(self) -> Sequence[Constraint]:
        """What devices of some requests must share, or differ in, beside the match."""

    @property
    def configs(self) -> Sequence[OpaqueConfig]:
        """What drivers are told beside what requests say."""


def count_of(asked: Asked, *kinds: RequestKind) -> int:
    """How many devices of some kinds are asked for; an open count is none."""
    return sum(one.count or 0 for one in asked.requests if one.kind in kinds)


def group_size(asked: Asked) -> int | None:
    """The Neuron devices of the device group that a claim matches; None when it matches none."""
    if asked.match is None:
        return None
    return asked.match.group_size(count_of(asked, RequestKind.NEURON))


def asks_for(asked: Asked, *kinds: RequestKind) -> bool:
    """Whether any request is of one of the kinds."""
    return any(one.kind in kinds for one in asked.requests)


def request_path(asked: Asked, kind: RequestKind) -> str:
    """How a fault names the first request of a kind; there must be one."""
    index = next(index for index, one in enumerate(asked.requests) if one.kind is kind)
    return f"{asked.path}.requests[{index}]"


def open_path(asked: Asked) -> str:
    """How a fault names the count that is left open; empty when none is."""
    is_open = any(one.is_open for one in asked.requests)
    return f"{request_path(asked, RequestKind.EFA)}.count" if is_open else ""


def own_type(asked: Asked) -> str | None:
    """The instance type that a request names, whichever alternative it gets; None for none."""
    for one in asked.requests:
        named = {option.instance_type for option in one.options}
        if len(named) == 1 and None not in named:
            return named.pop()
    return None
