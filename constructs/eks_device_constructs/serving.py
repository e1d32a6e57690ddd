"""Who serves the devices of a node group: an installation of this app, or somebody else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from constructs import Construct, IConstruct

from eks_devices import DeviceType, DranetBuild, Finding, NodegroupPlan
from eks_devices.driver_planner import drivers_of, unserved
from eks_devices.findings import fault
from eks_devices.typecheck import wrong_type

from .delivery import Delivery
from .drivers import DeviceDrivers, ExternalDrivers
from .hosts import NodegroupHost
from .tree import is_in_tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What `drivers=` of a group means in its cluster.

    Attributes:
        installation: The installation of this app that serves the group.
        elsewhere: Whether an installation of another app does.
        foreign: The device types that another maker's manager serves.
        delivery: How the group's claims reach the cluster.
    """

    installation: DeviceDrivers | None
    elsewhere: bool
    foreign: tuple[DeviceType, ...]
    delivery: Delivery | None

    @classmethod
    def of(
        cls, drivers: DeviceDrivers | ExternalDrivers | None, host: NodegroupHost | None
    ) -> Serving:
        """Resolve what a group was given; a group that names nobody has the default.

        Args:
            drivers: What it was given.
            host: Its cluster; None where that is at fault.
        """
        default = host.fleet.drivers if host else None
        external = drivers if isinstance(drivers, ExternalDrivers) else None
        elsewhere = external is not None and not external.foreign
        installation = drivers if isinstance(drivers, DeviceDrivers) else default
        named = external.delivery if external else None
        return cls(
            installation=None if elsewhere else installation,
            elsewhere=elsewhere,
            foreign=external.foreign if external else (),
            delivery=named or (installation.delivery if installation else None),
        )

    @property
    def scope_name(self) -> str | None:
        """The name of a scoped installation."""
        return self.installation.scope_name if self.installation else None

    @property
    def scope_address(self) -> str:
        """What tells it from an installation of this name in another app."""
        return self.installation.scope_address if self.installation else ""

    @property
    def efa_build(self) -> DranetBuild | None:
        """The build of DRANET that serves the group's claims; None where it is not known here."""
        if self.installation is None or DeviceType.EFA in self.foreign:
            return None
        return self.installation.options.efa.build

    def faults(self, scope: Construct, host: NodegroupHost, plan: NodegroupPlan) -> list[Finding]:
        """What keeps a group of a scope from being served."""
        if self.installation is None:
            return []
        return [
            *self.installation.stack_faults(scope, plan),
            *self.installation.serving_faults(host, plan),
        ]

    def findings(self, plan: NodegroupPlan) -> list[Finding]:
        """The warning of a group that nothing serves."""
        return unserved(plan) if self.awaits_drivers(plan) else []

    def awaits_drivers(self, plan: NodegroupPlan) -> bool:
        """Whether the group has devices that nothing serves yet."""
        if self.elsewhere or not drivers_of(plan):
            return False
        return self.installation is None or not is_in_tree(self.installation)

    def install(self, plan: NodegroupPlan) -> list[IConstruct]:
        """Install what the group needs; returns what its nodes wait for."""
        return self.installation.serve(plan) if self.installation else []


def drivers_faults(drivers: object, host: NodegroupHost | None, path: str) -> Iterator[Finding]:
    """The fault of what is no installation, or of one that cannot deliver claims."""
    if not isinstance(drivers, DeviceDrivers | ExternalDrivers | None):
        wanted = "DeviceDrivers, ExternalDrivers or None"
        yield wrong_type(path, drivers, wanted, "leave it out to use the cluster's own")
    elif isinstance(drivers, DeviceDrivers) and not is_in_tree(drivers):
        fix = "make the installation again, or leave drivers out"
        yield wrong_type(path, drivers.node.path, "an installation that was not removed", fix)
    elif isinstance(drivers, ExternalDrivers) and host is not None:
        yield from _external_faults(drivers, host, path)


def _external_faults(drivers: ExternalDrivers, host: NodegroupHost, path: str) -> Iterator[Finding]:
    if drivers.delivery is not None:
        yield from drivers.delivery.faults(host)
    default = host.fleet.drivers
    if default is not None and not drivers.foreign:
        yield fault(
            "SecondDefaultInstallation",
            path,
            "the default installation of the cluster is in this app, not in another one",
            got=f"ExternalDrivers beside {default.node.path}",
            allowed="ExternalDrivers(foreign=...) for the device types that somebody else serves",
            fix="leave drivers out, or name what is foreign",
        )
