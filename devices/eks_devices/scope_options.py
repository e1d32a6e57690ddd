"""What a scoped installation says of options that its cluster has once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

from .driver_planner import drivers_of
from .efa_installation import DranetBuild, EfaInstallation, build_of
from .feature_gates import told_gates
from .findings import Finding, fault, warning
from .installation_options import OPTION_TYPES, InstallationOptions, NamedOptions
from .neuron_installation import NeuronInstallation
from .plans import NodegroupPlan
from .vocabulary import DeviceType


def unread_findings(named: NamedOptions) -> Iterator[Finding]:
    """The warnings of options of a scope of which the default installation does a part, or all.

    Args:
        named: The options of a scope whose default installation is in another app.
    """
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


def scope_option_faults(
    named: Mapping[str, object], default: str, options: InstallationOptions
) -> Iterator[Finding]:
    """The faults of a scope with other options than the default installation has for both.

    Args:
        named: The options that it is given; what is of another type has a fault already.
        default: Where the default installation stands.
        options: The options of that.
    """
    for name, value in named.items():
        # What is of another type may raise when it is compared.
        if isinstance(value, OPTION_TYPES[name]) and value != getattr(options, name):
            yield _differs(
                name,
                default,
                got=value,
                allowed="None, or the options of the default installation",
                fix=f"leave {name} out",
            )


def other_scope_faults(
    named: Mapping[str, object], other: str, theirs: NamedOptions
) -> Iterator[Finding]:
    """The fault of a scope that runs another build than one beside it, where no default is known.

    Args:
        named: The options that it is given; what is of another type has a fault already.
        other: Where the other scope stands.
        theirs: The options that that one was given.
    """
    given = named["efa"]
    if given is not None and not isinstance(given, EfaInstallation):
        return
    if (given or EfaInstallation()) != (theirs["efa"] or EfaInstallation()):
        yield _differs(
            "efa",
            other,
            got=given,
            allowed="the options of the other scope",
            fix="pass the same efa= to both, and to the default installation of the cluster",
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
            yield _differs(
                name,
                scope,
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


def _differs(name: str, other: str, *, got: object, allowed: str, fix: str) -> Finding:
    return fault(
        f"{OPTION_TYPES[name].__name__}Differs",
        name,
        f"a cluster has these options once, and {other} has others",
        got=got,
        allowed=allowed,
        fix=fix,
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
