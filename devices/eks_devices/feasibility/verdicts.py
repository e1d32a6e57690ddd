"""What is said of a Pod's claims and a node group."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Whether the nodes of a group can serve claims.

    FEASIBLE: a node with nothing on it can. INFEASIBLE: none ever can. ERROR: the scheduler stops
    its whole attempt at the Pod when it looks at such a node, also for nodes that could serve it.
    UNKNOWN: it cannot be told before a node runs, or is not looked at.
    """

    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    ERROR = "error"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatedDevice:
    """A device that a request of a claim would get; `request` is as in the claim's status."""

    claim: str
    request: str
    driver: str
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether the nodes of a group can serve the claims of a Pod.

    `code` is stable across releases and empty for FEASIBLE, as is `reason`, which is the first
    one, in plain words. What it is about is told as far as it is about one part: `claim`, as in
    `AllocatedDevice`; `request`, as in the claim's status (`gpu`, or `gpu/big` for an alternative);
    `selector` and `constraint`, their indexes; `device_class`; `wants` and `has`, numbers of
    devices. `fix` is what to do about it, empty where that is not known.

    `fits` is how many such Pods the devices of one node serve, at most the 256 that may name a
    claim; None where it is not known, or nothing is used up. `devices` are those that the first of
    them gets.
    """

    nodegroup: str
    status: Status
    code: str = ""
    reason: str = ""
    claim: str = ""
    request: str = ""
    selector: int | None = None
    constraint: int | None = None
    device_class: str = ""
    wants: int | None = None
    has: int | None = None
    fix: str = ""
    fits: int | None = None
    devices: tuple[AllocatedDevice, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The verdict as plain JSON values."""
        return {
            **{name: getattr(self, name) for name in self.__slots__},
            "status": str(self.status),
            "devices": [
                {name: getattr(one, name) for name in AllocatedDevice.__slots__}
                for one in self.devices
            ],
        }
