"""What is worth knowing of Neuron's UltraServer operator beside the groups of a cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from ._data import read_toml
from .findings import Finding, fault, info, warning
from .keep import Keep
from .neuron_installation import NeuronInstallation
from .plans import NodegroupPlan
from .vocabulary import DeviceType, ManagerKey, Mechanism

_PATH: Final = "neuron.ultraserver_operator"
_DRIVER: Final[ManagerKey] = (DeviceType.NEURON, Mechanism.DRA)
_PLUGIN: Final[ManagerKey] = (DeviceType.NEURON, Mechanism.DEVICE_PLUGIN)
_EFA_DRIVER: Final[ManagerKey] = (DeviceType.EFA, Mechanism.DRA)
_EFA_PLUGIN: Final[ManagerKey] = (DeviceType.EFA, Mechanism.DEVICE_PLUGIN)


def ultraserver_operator_findings(
    neuron: NeuronInstallation,
    plans: Collection[NodegroupPlan],
    held: Collection[ManagerKey],
    keep: Keep,
) -> Iterator[Finding]:
    """What the operator serves of a cluster, and what it needs.

    Args:
        neuron: What the installation is asked for.
        plans: The groups that there are; while there is none, nothing is known.
        held: The managers that the installation holds; the operator comes with the DRA driver.
        keep: What it holds for groups of other apps, whose types nobody here knows.
    """
    if not neuron.ultraserver_operator or not plans or _DRIVER not in held:
        return
    yield _beta()
    served = [one for one in plans if _is_served(one)]
    if not served and Mechanism.DRA not in keep.get(DeviceType.NEURON, ()):
        yield _without_effect()
    elif _EFA_DRIVER not in held or any(_has(one, _EFA_PLUGIN) for one in served):
        yield _needs_efa_driver()


def ultraserver_operator_faults(
    neuron: NeuronInstallation, held: Collection[ManagerKey]
) -> Iterator[Finding]:
    """The fault of the operator in a cluster whose Neuron devices are all by device plugin.

    Args:
        neuron: What the installation is asked for.
        held: The managers that it holds once every group is known.
    """
    if neuron.ultraserver_operator and _PLUGIN in held and _DRIVER not in held:
        yield fault(
            "UltraServerOperatorNeedsDra",
            _PATH,
            "the installation of the cluster has Neuron devices by device plugin alone, and the "
            "operator reads what the DRA driver publishes",
            got=True,
            allowed="False, or clusters with Neuron devices by DRA",
            fix="leave it out, or use mechanism=Mechanism.DRA for a group, or name "
            "DeviceType.NEURON: (Mechanism.DRA,) in keep",
            source=_operator()["source"],
        )


def _operator() -> dict[str, Any]:
    return dict(read_toml("neuron_ultraservers.toml")["operator"])


def _is_served(plan: NodegroupPlan) -> bool:
    """Whether the operator takes the nodes of a group; types are named after their family."""
    families = {name.partition(".")[0] for name in plan.instance_types}
    return _has(plan, _DRIVER) and not families.isdisjoint(_operator()["families"])


def _has(plan: NodegroupPlan, manager: ManagerKey) -> bool:
    return any(one.manager == manager for one in plan.devices)


def _beta() -> Finding:
    return info(
        "UltraServerOperatorBeta",
        _PATH,
        "the operator is a beta, and its vendor wants it on a node of the size of "
        f"{_operator()['node']} or larger",
        fix="give it such a node without devices: "
        f'add_system_nodegroup(instance_types=["{_operator()["node"]}"])',
        source=_operator()["source"],
    )


def _without_effect() -> Finding:
    families = " and ".join(_operator()["families"])
    return warning(
        "UltraServerOperatorWithoutEffect",
        _PATH,
        f"the operator serves UltraServers of the families {families}, and no group by DRA is of "
        "them, so it allocates nothing",
        fix="leave it out, and use DeviceRequest.ultraserver_node(...) for other UltraServers; or "
        "name DeviceType.NEURON: (Mechanism.DRA,) in keep for nodes of other apps",
        source=_operator()["source"],
    )


def _needs_efa_driver() -> Finding:
    return info(
        "UltraServersNeedEfaDriver",
        _PATH,
        "a workload with more than one UltraServer (server_count) also claims the EFAs of its "
        "nodes, which takes EFA by DRA",
        fix="use EFA by DRA for these groups, or name DeviceType.EFA: (Mechanism.DRA,) in keep",
        source=_operator()["source"],
    )
