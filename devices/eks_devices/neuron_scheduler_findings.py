"""Where Neuron's scheduler extension is needed, and where it is not."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from .findings import Finding, fault, info
from .names import EXTERNAL_OWNER
from .neuron_installation import NeuronInstallation
from .plans import DevicePlan, NodegroupPlan
from .vocabulary import DeviceType, ManagerKey, Mechanism

_PATH: Final = "neuron.scheduler_extension"
_DRIVER: Final[ManagerKey] = (DeviceType.NEURON, Mechanism.DRA)
_PLUGIN: Final[ManagerKey] = (DeviceType.NEURON, Mechanism.DEVICE_PLUGIN)
_PAGE: Final = (
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
            _PATH,
            "a Pod that takes more than one but not all of the Neuron devices or cores of a node "
            f"by the device plugin may get some that are not connected ({', '.join(groups)})",
            fix="pass neuron=NeuronInstallation(scheduler_extension=True) and let such Pods name "
            "its scheduler; do nothing where each Pod takes one, or all",
            source=_PAGE,
        )


def scheduler_extension_faults(
    neuron: NeuronInstallation, held: Collection[ManagerKey]
) -> Iterator[Finding]:
    """The fault of the extension in a cluster whose Neuron devices are all by DRA.

    Args:
        neuron: The options of the cluster's default installation.
        held: The managers that it holds once every group is known.
    """
    if neuron.scheduler_extension and _DRIVER in held and _PLUGIN not in held:
        yield fault(
            "SchedulerExtensionNeedsPlugin",
            _PATH,
            "the installation of the cluster has Neuron devices by DRA alone, whose claims take "
            "connected devices by themselves; the extension is for the device plugin",
            got=True,
            allowed="False, or clusters with Neuron devices by device plugin",
            fix="leave it out, or use mechanism=Mechanism.DEVICE_PLUGIN for a group, or name "
            "DeviceType.NEURON: (Mechanism.DEVICE_PLUGIN,) in keep",
            source=_PAGE,
        )


def _picks_blindly(device: DevicePlan) -> bool:
    """Whether a plugin of ours hands out several devices of a node, of which Pods may take some."""
    return device.manager == _PLUGIN and device.owner != EXTERNAL_OWNER and device.count > 1
