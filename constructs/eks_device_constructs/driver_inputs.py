"""Judges what an installation of device managers is given before anything of it is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from eks_device_charts.manifests import ImageSource
from eks_devices import DeviceType, Finding
from eks_devices.checks import scope_faults
from eks_devices.claim_checks import claim_check_faults
from eks_devices.findings import fault
from eks_devices.installation_options import NamedOptions, option_type_faults
from eks_devices.keep import keep_faults
from eks_devices.kubernetes import minors
from eks_devices.scope_options import (
    late_default_faults,
    other_scope_faults,
    scope_option_faults,
)
from eks_devices.typecheck import member, members, wrong_type

from .delivery import Delivery
from .hosts import NodegroupHost
from .tree import is_in_tree


def option_faults(delivery: object, images: object) -> Iterator[Finding]:
    """Faults of the types of what says how objects and images reach a cluster."""
    if not isinstance(delivery, Delivery):
        fix = "use Delivery.kubectl(...) or Delivery.gitops(...)"
        yield wrong_type("delivery", delivery, "a Delivery", fix)
    if images is not None and not isinstance(images, ImageSource):
        yield wrong_type("images", images, "an ImageSource, or None", "use ImageSource(...)")


def external_faults(delivery: object, foreign: object) -> Iterator[Finding]:
    """Faults of the types of what says that somebody else installs managers."""
    if delivery is not None and not isinstance(delivery, Delivery):
        fix = "use Delivery.kubectl(...) or Delivery.gitops(...)"
        yield wrong_type("drivers.delivery", delivery, "a Delivery, or None", fix)
    given = members(foreign)
    if given is None:
        fix = "write {DeviceType.GPU} for instance"
        yield wrong_type("drivers.foreign", foreign, "a set of DeviceType", fix)
        return
    for device_type in given:
        yield from member(device_type, DeviceType, "drivers.foreign")


def mode_faults(host: NodegroupHost, checks: object) -> Iterator[Finding]:
    """The fault of what says how claims are checked, or says it otherwise than somebody before."""
    wrong = list(claim_check_faults(checks, "drivers.claim_checks"))
    yield from wrong
    chosen = host.known.chosen_checks
    if not wrong and None not in (checks, chosen) and checks != chosen:
        yield fault(
            "ClaimChecksDiffer",
            "drivers.claim_checks",
            "the cluster is known with another value",
            got=str(checks),
            allowed=str(chosen),
            fix="say it once for a cluster",
        )


def installation_faults(
    host: NodegroupHost,
    delivery: object,
    images: object,
    keep: object,
    scope_name: object,
    **options: object,
) -> Iterator[Finding]:
    """Every fault of an installation in a cluster; `options` are those that a cluster has once."""
    yield from option_faults(delivery, images)
    yield from option_type_faults(**options)
    yield from keep_faults(keep, minors()[host.kubernetes_version])
    if isinstance(delivery, Delivery):
        yield from delivery.faults(host)
    if scope_name is None:
        yield from _default_faults(host) or _late_faults(host, options)
    else:
        yield from _scope_faults(host, keep, scope_name)
        yield from _option_faults(host, options)


def _option_faults(host: NodegroupHost, options: Mapping[str, object]) -> Iterator[Finding]:
    """The faults of a scope with other options than the cluster has as far as it is known."""
    if default := host.fleet.drivers:
        yield from scope_option_faults(options, default.node.path, host.fleet.options)
        return
    for scope in host.fleet.scopes:
        yield from other_scope_faults(options, scope.node.path, scope.named_options)


def _default_faults(host: NodegroupHost) -> list[Finding]:
    fleet = host.fleet
    other = fleet.drivers.node.path if fleet.drivers else "that of another app"
    if fleet.drivers is not None or fleet.has_default_elsewhere:
        return [
            fault(
                "SecondDefaultInstallation",
                "drivers",
                "a cluster has one default installation, and this one has it already",
                got=f"another one beside {other}",
                allowed="one DeviceDrivers without scope_name",
                fix="use the first one, or pass scope_name=...",
            )
        ]
    waiting = [one.plan.name for one in fleet.groups if one.serving.awaits_drivers(one.plan)]
    if not waiting:
        return []
    return [
        fault(
            "GroupsBeforeDrivers",
            "drivers",
            "node groups that this installation would serve were added before it",
            got=", ".join(waiting),
            allowed="an installation that comes before its groups",
            fix="make DeviceDrivers first, or pass delivery= to the cluster",
        )
    ]


def _late_faults(host: NodegroupHost, options: Mapping[str, object]) -> Iterator[Finding]:
    """The faults of a default installation with other options than scopes that were there first."""
    if list(option_type_faults(**options)):
        return
    fleet = host.fleet
    after = fleet.options.with_named(**cast("NamedOptions", options))
    for scope in fleet.scopes:
        served = [one for one in fleet.groups if one.serving.installation is scope]
        drawn = [(one.plan, fleet.drawn_with(one)) for one in served]
        yield from late_default_faults(scope.node.path, scope.named_options, drawn, after=after)


def _scope_faults(host: NodegroupHost, keep: object, scope_name: object) -> Iterator[Finding]:
    path = "drivers.scope_name"
    yield from scope_faults(scope_name, path)
    other = host.fleet.scoped.get(scope_name) if isinstance(scope_name, str) else None
    if other is not None and is_in_tree(other):
        yield fault(
            "RepeatedScope",
            path,
            "a scoped installation of the cluster has this name",
            got=scope_name,
            allowed="each name once in a cluster",
            fix="choose another name",
        )
    if isinstance(keep, Mapping) and len(keep):
        yield fault(
            "KeepInScope",
            "keep",
            "a scoped installation holds what its groups need, and nothing more",
            got=keep,
            allowed="keep on the default installation",
            fix="pass keep= to the cluster, or to DeviceDrivers without scope_name",
        )
