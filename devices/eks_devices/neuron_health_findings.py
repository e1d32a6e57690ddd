"""What is worth knowing of health monitoring beside the Neuron groups of a cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from ._data import read_toml
from .findings import Finding, warning
from .maintenance import RepairAction
from .neuron_health import NeuronError, NeuronHealth
from .plans import NodegroupPlan
from .vocabulary import DeviceType, ManagerKey

_PATH: Final = "neuron.health"
_REPAIR: Final = "https://docs.aws.amazon.com/eks/latest/userguide/node-repair.html"


def neuron_health_findings(
    health: NeuronHealth | None,
    plans: Collection[NodegroupPlan],
    held: Collection[ManagerKey],
) -> Iterator[Finding]:
    """The warnings of monitoring that has nothing to watch, and of recovery beside node repair.

    Args:
        health: How devices are watched; None for not at all.
        plans: The groups that there are; while there is none, nothing is known.
        held: The managers that the installation holds; what watches comes with Neuron's.
    """
    if health is None or not plans:
        return
    if not any(device_type is DeviceType.NEURON for device_type, _ in held):
        yield warning(
            "NeuronHealthWithoutEffect",
            _PATH,
            "the installation of the cluster has no manager of Neuron devices, with which comes "
            "what watches them, so none are watched",
            fix="leave it out, or name in keep what groups of other apps need",
        )
    elif health.recovery:
        watched = [one for one in plans if one.device_of(DeviceType.NEURON)]
        yield from _repaired_twice(health, watched)
        yield from _reserved([one.name for one in watched if one.capacity.is_reserved])


def _repaired_twice(health: NeuronHealth, plans: Collection[NodegroupPlan]) -> Iterator[Finding]:
    """One warning for the groups whose node repair acts on the same errors."""
    names: dict[tuple[NeuronError, ...], list[str]] = {}
    for plan in plans:
        both = tuple(one for one in health.counted if _is_repaired(plan, one))
        names.setdefault(both, []).append(plan.name)
    names.pop((), None)
    for both, groups in names.items():
        yield warning(
            "NeuronRepairedTwice",
            f"nodegroups.{groups[-1]}.node_repair",
            f"in groups {', '.join(groups)}, recovery replaces an instance at once for errors for "
            "which EKS's node repair, with limits, replaces or reboots it after "
            f"{_wait()} minutes: {', '.join(both)}",
            fix="leave recovery, which is one for the cluster, to node repair, which the node "
            "monitoring agent tells of the same errors; or give the groups node_repair=False, or "
            "override these reasons with RepairAction.NO_ACTION: "
            + ", ".join(_reasons()[one] for one in both),
            source=_REPAIR,
        )


def _reserved(groups: list[str]) -> Iterator[Finding]:
    if groups:
        yield warning(
            "RecoveryOfReserved",
            f"nodegroups.{groups[-1]}.capacity",
            f"in groups {', '.join(groups)}, recovery ends every instance with an error, however "
            "many at once, and a reservation has no spare one",
            fix="leave recovery, which is one for the cluster, out: node repair takes one node "
            "at a time",
        )


def _is_repaired(plan: NodegroupPlan, error: NeuronError) -> bool:
    """Whether EKS acts on an error that the node monitoring agent reports."""
    if plan.node_repair is None:
        return False
    reason = _reasons()[error]
    return not any(
        one.reason == reason and one.action is RepairAction.NO_ACTION
        for one in plan.node_repair.overrides
    )


def _reasons() -> dict[NeuronError, str]:
    """The agent's reason for each error."""
    rows = read_toml("maintenance.toml")["neuron_reason"]
    return {NeuronError(row["error"]): row["name"] for row in rows}


def _wait() -> int:
    return int(read_toml("maintenance.toml")["wait"]["accelerated_hardware"])
