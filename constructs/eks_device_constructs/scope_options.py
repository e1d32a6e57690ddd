"""What a scope says of options that its cluster has once, before the default one is known."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from eks_devices import Finding, NeuronInstallation, NodegroupPlan, NvidiaInstallation
from eks_devices.cluster_planner import drivers_of
from eks_devices.feature_gates import told_gates
from eks_devices.findings import fault, warning
from eks_devices.installation_options import OPTION_TYPES, InstallationOptions, NamedOptions


def unread_findings(named: NamedOptions) -> Iterator[Finding]:
    """The warning of what a scope is asked for and only a default installation would install."""
    if named["neuron"] not in (None, NeuronInstallation()):
        yield warning(
            "NeuronOptionsOfDefault",
            "neuron",
            "a scoped installation installs none of these, and the default one is not known here",
            fix="pass neuron= to the default installation of the cluster, and leave it out here",
        )


def late_default_faults(
    scope: str,
    named: NamedOptions,
    plans: Collection[NodegroupPlan],
    *,
    before: InstallationOptions,
    after: InstallationOptions,
) -> Iterator[Finding]:
    """The faults of a default installation with other options than a scope that came before it.

    Args:
        scope: Where the scope stands.
        named: The options that it was given.
        plans: The groups that it serves already.
        before: The options of the cluster so far.
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
    old, new = before.with_named(**named).nvidia, after.nvidia
    drawn = [one.name for one in plans if _gates(one, old) != _gates(one, new)]
    if drawn and named["nvidia"] is None:
        yield fault(
            "GroupsBeforeDrivers",
            "nvidia.compute_domain_gates",
            f"node groups were added to {scope} before these gates were known, and run its "
            "managers without them",
            got=", ".join(drawn),
            allowed="an installation that comes before its groups",
            fix="make the default DeviceDrivers before the groups of its scopes",
        )


def _gates(plan: NodegroupPlan, nvidia: NvidiaInstallation) -> list[dict[str, bool]]:
    """What the DaemonSets of a group are told of options that a cluster has once."""
    return [told_gates(one.settings) for one in drivers_of(plan, nvidia)]
