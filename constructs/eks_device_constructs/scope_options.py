"""What a scope says of options that its cluster has once, before the default one is known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

from eks_devices import (
    DeviceType,
    DranetBuild,
    EfaInstallation,
    Finding,
    NeuronInstallation,
    NodegroupPlan,
)
from eks_devices.cluster_planner import drivers_of
from eks_devices.efa_installation import build_of
from eks_devices.feature_gates import told_gates
from eks_devices.findings import fault, warning
from eks_devices.installation_options import OPTION_TYPES, InstallationOptions, NamedOptions


def unread_findings(named: NamedOptions) -> Iterator[Finding]:
    """The warnings of what a scope is asked for and a default installation has a part in."""
    if named["neuron"] not in (None, NeuronInstallation()):
        yield warning(
            "NeuronOptionsOfDefault",
            "neuron",
            "a scoped installation installs none of these, and the default one is not known here",
            fix="pass neuron= to the default installation of the cluster, and leave it out here",
        )
    efa = named["efa"]
    if efa not in (None, EfaInstallation()):
        yield warning(
            "EfaBuildOfDefault",
            "efa.build",
            f"a scoped installation runs the {efa.build} build, whose permissions the default one "
            "gives, and that one is not known here",
            fix="pass the same efa= to the default installation of the cluster",
        )


def late_default_faults(
    scope: str,
    named: NamedOptions,
    served: Collection[tuple[NodegroupPlan, InstallationOptions]],
    *,
    after: InstallationOptions,
) -> Iterator[Finding]:
    """The faults of a default installation with other options than a scope that came before it.

    Args:
        scope: Where the scope stands.
        named: The options that it was given.
        served: The groups that it serves already, each with what its managers were told.
        after: Those that the default installation brings.
    """
    for name, value in named.items():
        if value is not None and value != getattr(after, name):
            yield fault(
                f"{OPTION_TYPES[name].__name__}Differs",
                name,
                f"a cluster has these options once, and {scope} has others",
                got=getattr(after, name),
                allowed="the options of the scope, or a scope without any",
                fix=f"leave {name} out of the scope",
            )
    new = after.with_named(**named)
    for path, told in _TOLD.items():
        drawn = [one.name for one, old in served if told(one, old) != told(one, new)]
        if drawn:
            yield fault(
                "GroupsBeforeDrivers",
                path,
                f"node groups were added to {scope} before this was known, and run its managers "
                "without it",
                got=", ".join(drawn),
                allowed="an installation that comes before its groups",
                fix="make the default DeviceDrivers before the groups of its scopes",
            )


def _gates(plan: NodegroupPlan, options: InstallationOptions) -> list[dict[str, bool]]:
    return [told_gates(one.settings) for one in drivers_of(plan, options)]


def _builds(plan: NodegroupPlan, options: InstallationOptions) -> list[DranetBuild]:
    drivers = drivers_of(plan, options)
    return [build_of(one.settings) for one in drivers if one.device_type is DeviceType.EFA]


# What the DaemonSets of a group are told of options that a cluster has once.
_TOLD: Final[Mapping[str, Callable[[NodegroupPlan, InstallationOptions], object]]] = {
    "nvidia.compute_domain_gates": _gates,
    "efa.build": _builds,
}
