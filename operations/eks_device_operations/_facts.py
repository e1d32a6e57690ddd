"""What the catalogue and the rules say of one instance type, in the words of a report."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass

from eks_devices import (
    AcceleratedInstanceType,
    Capacity,
    CapacityKind,
    DeviceType,
    EksDevicesError,
    Finding,
    Mechanism,
    NetworkCard,
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
from eks_devices.network import efa_counts, efa_interfaces

_MIB_PER_GIB = 1024
_SOME_RESERVATION = f"cr-{0:017d}"
SYSTEMS = (OperatingSystem.AL2023, OperatingSystem.BOTTLEROCKET)


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """The plan of a node group that names nothing but the type; None where there is none."""

    kubernetes_version: str
    plan: NodegroupPlan | None
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
    spec = NodegroupSpec(
        name=instance.family,
        instance_type=instance.name,
        capacity=_some_capacity(instance),
        efa=None if instance.accelerator else True,
        max_size=1,
    )
    try:
        plan = plan_nodegroup(spec, kubernetes_version=newest_minor())
    except EksDevicesError as error:
        return Defaults(kubernetes_version=newest_minor(), plan=None, faults=error.faults)
    return Defaults(kubernetes_version=newest_minor(), plan=plan)


def _some_capacity(instance: AcceleratedInstanceType) -> Capacity:
    """A purchase option that EC2 offers for the type; no mechanism depends on it."""
    if CapacityKind.ON_DEMAND in instance.usage_classes:
        return Capacity.on_demand()
    return Capacity.block(_SOME_RESERVATION)


def device_types(instance: AcceleratedInstanceType) -> tuple[DeviceType, ...]:
    """The kinds of devices that nodes of this type can hand out, the accelerator first."""
    found = [instance.device_type] if instance.device_type else []
    found += [DeviceType.COMPUTE_DOMAIN] if instance.nvlink_domain else []
    found += [DeviceType.EFA] if efa_counts(instance) else []
    return tuple(found)


def verdicts(
    instance: AcceleratedInstanceType,
) -> list[tuple[DeviceType, Mechanism, OperatingSystem, Support]]:
    """What the sources say of each device, mechanism and system on managed node groups."""
    return [
        (device, mechanism, system, _support(instance, device, mechanism, system))
        for device in device_types(instance)
        for mechanism in Mechanism
        for system in SYSTEMS
    ]


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


@functools.cache
def efa_layout(instance: AcceleratedInstanceType) -> tuple[NetworkInterface, ...]:
    """The interfaces of a node with its usual number of EFAs."""
    return efa_interfaces(instance, count=efa_counts(instance))


def chips(instance: AcceleratedInstanceType) -> str:
    """`16 x Trainium2`, or `1/8 x L4` for a fraction of a GPU."""
    found = instance.accelerator
    if found is None:
        return ""
    count = str(found.count) if found.partition == 1 else f"1/{round(1 / found.partition)}"
    return f"{count} x {found.name}"


def gib(mib: int | None) -> str:
    """Memory in GiB, rounded to a tenth; empty where none is published."""
    return "" if mib is None else f"{round(mib / _MIB_PER_GIB, 1):g} GiB"


def number(count: int | None) -> str:
    """A number; empty for none at all and where it is not known."""
    return str(count) if count else ""


def ranges(numbers: Iterable[int]) -> str:
    """Sorted whole numbers in short: `0,2-15`."""
    spans: list[list[int]] = []
    for each in numbers:
        if spans and each == spans[-1][1] + 1:
            spans[-1][1] = each
        else:
            spans.append([each, each])
    return ",".join(f"{low}-{high}" if high > low else f"{low}" for low, high in spans)


def interface_ranges(interfaces: Iterable[NetworkInterface]) -> str:
    """Interfaces as card/device:type, alike ones together: `0/0:interface 1-15/0:efa-only`."""
    cards: dict[tuple[int, str], list[int]] = {}
    for each in interfaces:
        alike = (each.device_index, each.interface_type)
        cards.setdefault(alike, []).append(each.network_card_index)
    return " ".join(f"{ranges(on)}/{device}:{kind}" for (device, kind), on in cards.items())


def card_ranges(instance: AcceleratedInstanceType) -> list[str]:
    """The network cards, alike ones together: index, places, what they take, bandwidth."""
    cards: dict[str, list[int]] = {}
    for card in instance.network_cards:
        cards.setdefault(_card(card), []).append(card.index)
    return [f"{ranges(indexes)}: {text}" for text, indexes in cards.items()]


def _card(card: NetworkCard) -> str:
    places = f"{card.max_interfaces} interface{'s' if card.max_interfaces > 1 else ''}"
    speed = "" if card.bandwidth_gbps is None else f", {card.bandwidth_gbps:g} Gbps"
    return f"{places} ({', '.join(card.interface_types)}){speed}"
