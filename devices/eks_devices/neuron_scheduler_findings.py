"""What is worth knowing of Neuron devices by device plugin without the scheduler extension."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from .findings import Finding, info
from .names import EXTERNAL_OWNER
from .neuron_installation import NeuronInstallation
from .plans import DevicePlan, NodegroupPlan
from .vocabulary import DeviceType, Mechanism

SCHEDULER_PAGE: Final = (
    "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/"
    "kubernetes-getting-started.html"
)


def neuron_scheduler_findings(
    neuron: NeuronInstallation, plans: Collection[NodegroupPlan]
) -> Iterator[Finding]:
    """Who needs the extension that a cluster does not have: once for all of its groups.

    Args:
        neuron: The options of the cluster's default installation.
        plans: The groups of the cluster.
    """
    groups = [plan.name for plan in plans if any(map(_picks_blindly, plan.devices))]
    if groups and not neuron.scheduler_extension:
        yield info(
            "NeuronSchedulerExtensionAdvised",
            "neuron.scheduler_extension",
            "a Pod that takes more than one but not all of the Neuron devices or cores of a node "
            f"by the device plugin may get some that are not connected ({', '.join(groups)})",
            fix="pass neuron=NeuronInstallation(scheduler_extension=True) and let such Pods name "
            "its scheduler; do nothing where each Pod takes one, or all",
            source=SCHEDULER_PAGE,
        )


def _picks_blindly(device: DevicePlan) -> bool:
    """Whether a plugin of ours hands out several devices of a node, of which Pods may take some."""
    by_plugin = device.manager == (DeviceType.NEURON, Mechanism.DEVICE_PLUGIN)
    return by_plugin and device.owner != EXTERNAL_OWNER and device.count > 1
