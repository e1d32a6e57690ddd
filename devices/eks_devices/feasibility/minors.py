"""What the scheduler of each Kubernetes minor looks at when it allocates devices."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import StrEnum

from .._data import read_toml
from ..kubernetes import gate_is_on, newest_minor


class Distinct(StrEnum):
    """What becomes of a constraint that wants an attribute to differ.

    PRESENT: devices must have it, and may have the same. REFUSED: the API server takes no such
    claim. LAST: only the last device of each request is compared with another one. ALL: all are.
    """

    PRESENT = "present"
    REFUSED = "refused"
    LAST = "last"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Scheduler:
    """The scheduler of a minor, with the gates as EKS has them.

    `loses_alternatives` says that it goes on with the first alternative of a request after one
    device of a later one that asks for all devices. `shares` are devices that several claims may
    have, by amounts of their capacity; `all_leaves_out_full` says that All does without those
    that others have, `fails_at_huge` that amounts beyond 64 bits end the attempt, and
    `thousandths` that amounts go by steps of a thousandth. `counters` are those that partitions
    of a device consume from; All over such devices crashes it before the patch `crashes_before`.
    `taints` are those of devices.
    """

    version: str
    distinct: Distinct
    loses_alternatives: bool
    shares: bool
    all_leaves_out_full: bool
    fails_at_huge: bool
    thousandths: bool
    counters: bool
    crashes_before: str
    taints: bool


@functools.cache
def scheduler_of(version: str) -> Scheduler:
    """The scheduler of a minor that this library knows."""
    rows = read_toml("kubernetes.toml")["scheduler"]
    return Scheduler(
        version=version,
        distinct=Distinct(rows["distinctAttribute"][version]),
        loses_alternatives=rows["all_as_alternative"][version] == "lost",
        shares=gate_is_on("DRAConsumableCapacity", version),
        all_leaves_out_full=rows["all_of_shared"][version] == "free",
        fails_at_huge=rows["huge_amounts"][version] == "fail",
        thousandths=gate_is_on("DRAFractionalCapacityRange", version),
        crashes_before=rows["all_of_partitions"].get(version, ""),
        counters=gate_is_on("DRAPartitionableDevices", version),
        taints=gate_is_on("DRADeviceTaints", version),
    )


def newest_scheduler() -> Scheduler:
    """The scheduler of the newest minor."""
    return scheduler_of(newest_minor())
