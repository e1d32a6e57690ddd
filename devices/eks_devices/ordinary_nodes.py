"""What runs on nodes without devices, and waits where a cluster has none."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from .findings import Finding, info, warning
from .installation_options import InstallationOptions
from .plans import NodegroupPlan
from .taints import TaintEffect
from .vocabulary import DeviceType, ManagerKey, Mechanism

_CODE: Final = "NoOrdinaryNodes"
_PATH: Final = "cluster.nodegroups"
_UNLESS: Final = "acknowledge this where the cluster has other nodes without devices"

# What it is in words, the manager that it comes with, and the option that asks for it, if any.
_PODS: Final[tuple[tuple[str, ManagerKey, str], ...]] = (
    (
        "Neuron's scheduler extension and the scheduler that asks it",
        (DeviceType.NEURON, Mechanism.DEVICE_PLUGIN),
        "neuron.scheduler_extension",
    ),
    (
        "Neuron's UltraServer operator",
        (DeviceType.NEURON, Mechanism.DRA),
        "neuron.ultraserver_operator",
    ),
    ("the controller of ComputeDomains", (DeviceType.COMPUTE_DOMAIN, Mechanism.DRA), ""),
    (
        "the webhook that checks claims",
        (DeviceType.GPU, Mechanism.DRA),
        "nvidia.claim_webhook",
    ),
)


def ordinary_node_findings(
    options: InstallationOptions,
    held: Collection[ManagerKey],
    plans: Collection[NodegroupPlan],
) -> Iterator[Finding]:
    """What to tell of a cluster without a node that has no devices, once for all that waits.

    Args:
        options: The options of the cluster's default installation.
        held: The managers that it holds.
        plans: The groups, all with devices: CoreDNS takes nodes with devices, but no taint.
    """
    waiting = [
        what
        for what, manager, option in _PODS
        if manager in held and (not option or options.value(option))
    ]
    if waiting:
        yield warning(
            _CODE,
            _PATH,
            "every node group has devices, and what runs on nodes without any waits for one: "
            + "; ".join(waiting),
            fix=f"use add_system_nodegroup(), which CoreDNS needs too; {_UNLESS}",
        )
    elif all(map(_repels, plans)):
        yield info(
            _CODE,
            _PATH,
            "every node group is tainted, so CoreDNS waits for a node, and Pods have no DNS",
            fix=f"use add_system_nodegroup(); {_UNLESS}",
        )


def _repels(plan: NodegroupPlan) -> bool:
    """Whether nodes take no Pod that does not tolerate their taints."""
    return any(one.effect is not TaintEffect.PREFER_NO_SCHEDULE for one in plan.taints)
