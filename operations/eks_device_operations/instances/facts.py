"""What the rules say of one instance type: its default plan, and what works on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eks_devices import (
    AcceleratedInstanceType,
    Capacity,
    CapacityKind,
    DeviceType,
    EksDevicesError,
    Finding,
    Mechanism,
    NetworkInterface,
    NodegroupPlan,
    NodegroupSpec,
    OperatingSystem,
    Severity,
    Support,
    device_support,
    plan_nodegroup,
)
from eks_devices.kubernetes import newest_minor
from eks_devices.network import default_efa_count, efa_interfaces

if TYPE_CHECKING:
    from eks_devices.feasibility.telling.published_values import PublishedValue

_SOME_RESERVATION = f"cr-{0:017d}"
SYSTEMS = (OperatingSystem.AL2023, OperatingSystem.BOTTLEROCKET)


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """The plan of a node group that names the type and what it cannot do without."""

    kubernetes_version: str
    needs_efa: bool
    """Whether the group has to ask for EFA: a type without accelerator hands out nothing else."""
    plan: NodegroupPlan | None
    """None where there is none."""
    faults: tuple[Finding, ...] = ()

    @property
    def mechanisms(self) -> dict[DeviceType, Mechanism]:
        """The default mechanism of each device that such a group has."""
        return {one.device_type: one.mechanism for one in self.plan.devices} if self.plan else {}

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What is worth knowing before such a group is deployed."""
        findings = self.plan.findings if self.plan else self.faults
        return tuple(one for one in findings if one.severity is not Severity.INFO)


def defaults(instance: AcceleratedInstanceType) -> Defaults:
    """What a node group of this type gets on the newest Kubernetes minor and AL2023."""
    version, needs_efa = newest_minor(), instance.accelerator is None
    spec = NodegroupSpec(
        name=instance.family,
        instance_type=instance.name,
        capacity=_some_capacity(instance),
        efa=True if needs_efa else None,
        max_size=1,
    )
    try:
        plan = plan_nodegroup(spec, kubernetes_version=version)
    except EksDevicesError as error:
        return Defaults(
            kubernetes_version=version, needs_efa=needs_efa, plan=None, faults=error.faults
        )
    return Defaults(kubernetes_version=version, needs_efa=needs_efa, plan=plan)


def published(instance: AcceleratedInstanceType) -> tuple[PublishedValue, ...]:
    """What selectors can read of such a node's devices where DRA hands them out; nothing else."""
    # The list of all types is there sooner without.
    from eks_devices.feasibility.telling.published_values import published_values  # noqa: PLC0415

    spec = NodegroupSpec(
        name=instance.family,
        instance_type=instance.name,
        capacity=_some_capacity(instance),
        mechanism=Mechanism.DRA,
        efa=True if default_efa_count(instance) else None,
        max_size=1,
    )
    try:
        return published_values(plan_nodegroup(spec, kubernetes_version=newest_minor()))
    except EksDevicesError:
        # The verdicts say why there is no such group.
        return ()


def _some_capacity(instance: AcceleratedInstanceType) -> Capacity:
    """A purchase option that EC2 offers for the type; no mechanism depends on it."""
    if CapacityKind.ON_DEMAND in instance.usage_classes:
        return Capacity.on_demand()
    return Capacity.block(_SOME_RESERVATION)


def verdicts(
    instance: AcceleratedInstanceType,
) -> list[tuple[DeviceType, Mechanism, OperatingSystem, Support]]:
    """What the sources say of each device, mechanism and system on managed node groups."""
    return [
        (device, mechanism, system, _support(instance, device, mechanism, system))
        for device in _device_types(instance)
        for mechanism in Mechanism
        for system in SYSTEMS
    ]


def _device_types(instance: AcceleratedInstanceType) -> list[DeviceType]:
    """The kinds of devices that nodes of this type can hand out, the accelerator first."""
    found = [instance.device_type] if instance.device_type else []
    found += [DeviceType.COMPUTE_DOMAIN] if instance.nvlink_domain else []
    found += [DeviceType.EFA] if default_efa_count(instance) else []
    return found


def _support(
    instance: AcceleratedInstanceType,
    device: DeviceType,
    mechanism: Mechanism,
    system: OperatingSystem,
) -> Support:
    return device_support(
        device_type=device,
        mechanism=mechanism,
        operating_system=system,
        instance_type=instance.name,
    )


def efa_layout(instance: AcceleratedInstanceType) -> tuple[NetworkInterface, ...]:
    """The interfaces of a node with its usual number of EFAs."""
    return efa_interfaces(instance, count=default_efa_count(instance))
