"""The managers that node groups need: one for each device type, mechanism and owner."""

from __future__ import annotations

from ._frozen import FrozenDict
from .findings import Finding, warning
from .installation_options import InstallationOptions
from .keep import Keep
from .names import DEFAULT_OWNER, EXTERNAL_OWNER, HOST_OWNER
from .plans import DevicePlan, DriverPlan, NodegroupPlan
from .vocabulary import DeviceType, ManagerKey, Mechanism

_NOT_INSTALLED = (EXTERNAL_OWNER, HOST_OWNER)


def is_default(owner: str) -> bool:
    """Whether an owner is the default installation, with or without settings."""
    return owner == DEFAULT_OWNER or owner.startswith(f"{DEFAULT_OWNER}-")


def is_installed(device: DevicePlan) -> bool:
    """Whether something is installed for a device: of a driver of the host, its classes."""
    host = device.owner == HOST_OWNER and device.mechanism is Mechanism.DRA
    return host or device.owner not in _NOT_INSTALLED


def is_scoped(owner: str) -> bool:
    """Whether an owner is a scoped installation."""
    return not is_default(owner) and owner not in _NOT_INSTALLED


def drivers_of(
    plan: NodegroupPlan, options: InstallationOptions | None = None
) -> tuple[DriverPlan, ...]:
    """The managers to install for one node group."""
    return plan_drivers((plan,), {}, options or InstallationOptions())


def kept_drivers(keep: Keep, options: InstallationOptions) -> tuple[DriverPlan, ...]:
    """The managers that an installation holds although no group needs them."""
    return plan_drivers((), keep, options)


def unserved(plan: NodegroupPlan) -> list[Finding]:
    """The warning of a group whose managers nothing installs."""
    drivers = [f"{one.device_type} by {one.mechanism}" for one in drivers_of(plan)]
    if not drivers:
        return []
    return [
        warning(
            "NoDrivers",
            f"nodegroups.{plan.name}.drivers",
            f"nothing installs the managers that the group needs: {', '.join(drivers)}",
            fix="pass delivery=Delivery.kubectl(...) or .gitops(...) to AcceleratedCluster, make "
            "DeviceDrivers(...) for another cluster, or pass drivers=ExternalDrivers() where "
            "another app installs them",
        )
    ]


def plan_drivers(
    plans: tuple[NodegroupPlan, ...], keep: Keep, options: InstallationOptions
) -> tuple[DriverPlan, ...]:
    """One manager per device type, mechanism and owner, in a stable order."""
    served: dict[tuple[ManagerKey, str], list[str]] = {}
    settings: dict[tuple[ManagerKey, str], FrozenDict[str, str | int]] = {}
    for device_type, mechanisms in keep.items():
        for mechanism in mechanisms:
            served.setdefault(((device_type, mechanism), DEFAULT_OWNER), [])
    for plan in plans:
        for device in plan.devices:
            if is_installed(device):
                key = (device.manager, device.owner)
                served.setdefault(key, []).append(plan.name)
                settings[key] = device.settings
    shared = _shared_settings(options)
    order = {device: place for place, device in enumerate(DeviceType)}
    keys = sorted(served, key=lambda key: (order[key[0][0]], key[0][1], key[1]))
    return tuple(
        DriverPlan(
            device_type=manager[0],
            mechanism=manager[1],
            owner=owner,
            settings=shared.get(manager) or settings.get((manager, owner), FrozenDict()),
            nodegroups=tuple(served[manager, owner]),
        )
        for manager, owner in keys
    )


def _shared_settings(
    options: InstallationOptions,
) -> dict[ManagerKey, FrozenDict[str, str | int]]:
    """What the managers of a device type are told alike on all nodes, whoever owns them."""
    return {
        # The controller of ComputeDomains too.
        (DeviceType.COMPUTE_DOMAIN, Mechanism.DRA): FrozenDict(
            options.nvidia.compute_domain_settings()
        ),
        (DeviceType.EFA, Mechanism.DRA): FrozenDict(options.efa.dra_settings()),
    }


def held_managers(plans: tuple[NodegroupPlan, ...], keep: Keep) -> set[ManagerKey]:
    """The managers that the default installation holds, for groups or because it keeps them."""
    kept = {(device, mechanism) for device, mechanisms in keep.items() for mechanism in mechanisms}
    return kept | {
        device.manager for plan in plans for device in plan.devices if is_default(device.owner)
    }
