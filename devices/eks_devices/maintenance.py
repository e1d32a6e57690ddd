"""How EKS repairs and updates the nodes of a group."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ._data import read_toml
from .instance_types import AcceleratedInstanceType, lookup
from .typecheck import plain_text
from .vocabulary import DeviceType

if TYPE_CHECKING:
    from .spec import NodegroupSpec


class RepairAction(StrEnum):
    """What EKS does with an unhealthy node; values are those of the EKS API."""

    REPLACE = "Replace"
    REBOOT = "Reboot"
    NO_ACTION = "NoAction"


class UpdateStrategy(StrEnum):
    """The order in which an update makes and ends nodes; values are those of the EKS API."""

    DEFAULT = "DEFAULT"
    """New nodes first: it needs room for them beside the old ones."""
    MINIMAL = "MINIMAL"
    """Old nodes end before new ones start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairOverride:
    """What EKS does when a node reports one condition for one reason, instead of its own choice.

    `condition` and `reason` are compared as they are, without patterns ("AcceleratedHardwareReady"
    and "NvidiaXID64Error"); `wait_minutes` is how long the condition must last, in minutes.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/node-health-nma.html
    """

    condition: str
    reason: str
    wait_minutes: int
    action: RepairAction

    def __post_init__(self) -> None:
        """Keep another kind of text as the text itself."""
        for name in ("condition", "reason"):
            object.__setattr__(self, name, plain_text(getattr(self, name)))

    def to_dict(self) -> dict[str, Any]:
        """The override as plain JSON values."""
        return {
            "condition": self.condition,
            "reason": self.reason,
            "wait_minutes": self.wait_minutes,
            "action": str(self.action),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRepair:
    """How EKS repairs unhealthy nodes; what is not named is EKS's own default.

    Args:
        max_parallel: The most nodes under repair at once.
        max_parallel_percentage: The same in percent of the unhealthy nodes; instead of it.
        unhealthy_threshold: With more unhealthy nodes than this, no repair begins.
        unhealthy_threshold_percentage: The same in percent of the group's nodes; 20 where there
            are more than five, unless named.
        overrides: Other actions and waits for single reasons.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/node-repair.html
    """

    max_parallel: int | None = None
    max_parallel_percentage: int | None = None
    unhealthy_threshold: int | None = None
    unhealthy_threshold_percentage: int | None = None
    overrides: Sequence[RepairOverride] = ()

    def __post_init__(self) -> None:
        """Copy the overrides; what is no list stays as it is, for the plan to name."""
        given = self.overrides
        if isinstance(given, Sequence) and not isinstance(given, (str, bytes, bytearray)):
            with suppress(Exception):  # what cannot be read is named by the plan, too
                object.__setattr__(self, "overrides", tuple(given))

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain JSON values, what is not named left out."""
        overrides = [override.to_dict() for override in self.overrides]
        return {"enabled": True, **_named(self)} | ({"overrides": overrides} if overrides else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateConfig:
    """How many nodes an update of the group takes away at once, and in which order.

    Args:
        max_unavailable: Nodes at once, 1 to 100; either this or the percentage.
        max_unavailable_percentage: Percent of the nodes at once, 1 to 100.
        strategy: Whether new nodes come first. Left out, old nodes end first on reserved capacity,
            which has no room for both, and new ones come first on any other.

    Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html
    """

    max_unavailable: int | None = None
    max_unavailable_percentage: int | None = None
    strategy: UpdateStrategy | None = None

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain JSON values, what is not named left out."""
        return _named(self) | ({"strategy": str(self.strategy)} if self.strategy else {})


def _named(value: NodeRepair | UpdateConfig) -> dict[str, Any]:
    values = {name: getattr(value, name) for name in value.__slots__}
    return {name: given for name, given in values.items() if given not in (None, ())}


def node_repair(spec: NodegroupSpec) -> NodeRepair | None:
    """How EKS repairs the nodes of a group; None leaves it off.

    A reservation has no spare node, so there a false alarm would take paid capacity away.

    Source: https://github.com/aws/eks-node-monitoring-agent/issues/266
    """
    wanted = spec.node_repair
    if isinstance(wanted, NodeRepair):
        return wanted
    if not wanted:
        return None
    if not spec.capacity.is_reserved:
        return _usual()
    found = lookup(spec.instance_type, f"{spec.path}.instance_type")
    has_gpus = isinstance(found, AcceleratedInstanceType) and found.device_type is DeviceType.GPU
    return NodeRepair(max_parallel=1, overrides=_untouched_alarms() if has_gpus else ())


@functools.cache
def _usual() -> NodeRepair:
    return NodeRepair()


@functools.cache
def _untouched_alarms() -> tuple[RepairOverride, ...]:
    """Overrides that leave a node alone when DCGM's alarm is its only fault."""
    data = read_toml("maintenance.toml")
    return tuple(
        RepairOverride(
            condition=row["condition"],
            reason=row["name"],
            wait_minutes=data["wait"]["accelerated_hardware"],
            action=RepairAction.NO_ACTION,
        )
        for row in data["reason"]
    )


def update_config(spec: NodegroupSpec) -> UpdateConfig | None:
    """How an update takes the nodes of a group away; None is EKS's own default."""
    if not spec.capacity.is_reserved:
        return spec.update
    wanted = spec.update or UpdateConfig(max_unavailable=1)
    if wanted.strategy is None:
        return dataclasses.replace(wanted, strategy=UpdateStrategy.MINIMAL)
    return wanted
