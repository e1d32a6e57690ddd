"""The instance catalogue: what each accelerated or EFA-capable EC2 type is made of.

Facts come from EC2's DescribeInstanceTypes, corrected where it lacks or mistakes something.
Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from . import instance_records as records
from ._instance_refusals import refusal
from .findings import EksDevicesError, Finding
from .typecheck import plain_text
from .vocabulary import DeviceType


class CpuArchitecture(StrEnum):
    """The processor architecture that node images must match."""

    X86_64 = "x86_64"
    ARM64 = "arm64"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """The accelerators of one instance, all alike.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_GpuDeviceInfo.html
    """

    device_type: DeviceType
    """DeviceType.GPU or DeviceType.NEURON."""
    vendor: str
    name: str
    """The model in the API's spelling: `H100`, `Trainium2`."""
    count: int
    """Devices that an instance shows; a fraction of a GPU counts as one."""
    memory_mib: int | None
    """Memory of one device (of the fraction, for a fractional GPU); None when not published."""
    cores_per_device: int | None
    """Physical NeuronCores of one device; None for GPUs."""
    core_version: int | None
    """NeuronCore generation; None for GPUs."""
    partition: float = 1.0
    """The fraction of a physical GPU that one device is: 0.125 is an eighth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkCard:
    """A network card of an instance.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_NetworkCardInfo.html
    """

    index: int
    interface_types: tuple[str, ...]
    """What may be attached: `interface`, `efa`, `efa-only`."""
    max_interfaces: int
    bandwidth_gbps: float | None
    """Baseline bandwidth in gigabits a second; None when not published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratedInstanceType:
    """An EC2 instance type that has accelerators, EFA, or both.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html
    """

    name: str
    family: str
    """The part of the name before the dot."""
    architecture: CpuArchitecture
    vcpus: int
    memory_mib: int
    accelerator: Accelerator | None
    """None for a type whose only device for Pods is EFA."""
    other_accelerator: str = ""
    """An accelerator that no driver or plugin of ours serves; empty when there is none."""
    network_cards: tuple[NetworkCard, ...]
    max_efa_interfaces: int
    """The most EFAs that EC2 attaches; 0 without EFA support."""
    ipv4_addresses_per_interface: int | None
    """None when not published."""
    usage_classes: frozenset[str]
    """Ways to buy: `on-demand`, `spot`, `capacity-block`."""
    placement_strategies: tuple[str, ...]
    """Placement group strategies; empty when none is published."""
    hypervisor: str
    """`nitro` or `xen`; empty for bare metal and when not published."""
    bare_metal: bool
    instance_store_gb: int
    """Local disks together, in gigabytes; 0 without local disks."""
    ultraserver_sizes: tuple[int, ...] = ()
    """Numbers of instances that are handed out as one UltraServer, or as a part of one."""
    ultraserver_block_sizes: tuple[int, ...] = ()
    """Numbers of instances that a Capacity Block for UltraServers may hold; empty: not sold so."""
    multi_node_training: bool = False
    """Made for jobs over several instances: EFA is on unless a node group says otherwise."""
    nvlink_domain: bool = False
    """NVLink reaches over instances: ComputeDomains are useful."""
    unverified: str = ""
    """What of this entry is from weaker sources than the API; empty when nothing is."""
    efa_layouts: tuple[tuple[int, ...], ...] = ()
    """Cards that carry an EFA where the general rule fails, fewest first; empty: the rule."""
    high_ip_cards: tuple[int, ...] = ()
    """Cards that take one more ENA interface for IP bandwidth; empty when not documented."""
    logical_core_sizes: tuple[int, ...] = ()
    """Physical NeuronCores that may form a logical one; empty when they are not grouped."""
    default_logical_core_size: int = 1

    def __hash__(self) -> int:
        """By name: hashing every card would cost more than the lookups it serves."""
        return hash(self.name)

    @property
    def device_type(self) -> DeviceType | None:
        """GPU or NEURON; None for a type whose only device for Pods is EFA."""
        return self.accelerator.device_type if self.accelerator else None

    @classmethod
    def of(cls, name: str) -> Self:
        """The type of this name.

        Args:
            name: An EC2 API name, such as `trn2.48xlarge`.

        Raises:
            EksDevicesError: The name is unknown, only announced, a token, or not a string.
        """
        found = lookup(name, "instance_type")
        if isinstance(found, Finding):
            raise EksDevicesError((found,))
        return found  # type: ignore[return-value]  # the catalogue has one class

    @classmethod
    def all(cls) -> tuple[AcceleratedInstanceType, ...]:
        """Every type with accelerators and data, sorted by name."""
        return tuple(map(cls.of, records.accelerated_names()))

    @classmethod
    def efa_only(cls) -> tuple[AcceleratedInstanceType, ...]:
        """Every type that has EFA and no accelerator of ours, sorted by name."""
        return tuple(map(cls.of, records.efa_only_names()))

    @classmethod
    def announced(cls) -> tuple[str, ...]:
        """Types that are names without data so far, sorted; they cannot be planned yet."""
        return tuple(sorted(records.announced()))


def lookup(name: object, path: str) -> AcceleratedInstanceType | Finding:
    """The type of this name, or the fault that says why there is none.

    Args:
        name: What the user gave.
        path: Names the input in the fault: `nodegroups.trn2.instance_type`.
    """
    name = plain_text(name)
    found = _find(name) if isinstance(name, str) else None
    return refusal(name, path) if found is None else found


_ARCHITECTURES = {each.value: each for each in CpuArchitecture}
_BUILT: dict[str, AcceleratedInstanceType] = {}


def _find(name: str) -> AcceleratedInstanceType | None:
    found = _BUILT.get(name)
    if found is None:
        record = records.accelerated_record(name) or records.efa_only_record(name)
        if record is None:
            return None
        found = _BUILT[name] = built(record)
    return found


def built(record: records.Record) -> AcceleratedInstanceType:
    """The type that a record with overrides describes.

    Raises:
        CatalogueError: The record has no processor architecture that node images exist for.
    """
    name, network = record["InstanceType"], record["NetworkInfo"]
    accelerator = _gpu(record) or _neuron(record)
    return AcceleratedInstanceType(
        name=name,
        family=name.partition(".")[0],
        architecture=_architecture(record),
        vcpus=record["VCpuInfo"]["DefaultVCpus"],
        memory_mib=record["MemoryInfo"]["SizeInMiB"],
        accelerator=accelerator,
        other_accelerator="" if accelerator else _other_accelerator(record),
        network_cards=tuple(map(_card, network["NetworkCards"])),
        max_efa_interfaces=network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        ipv4_addresses_per_interface=network.get("Ipv4AddressesPerInterface"),
        usage_classes=frozenset(record.get("SupportedUsageClasses", ())),
        placement_strategies=tuple(
            record.get("PlacementGroupInfo", {}).get("SupportedStrategies", ())
        ),
        hypervisor=record.get("Hypervisor", ""),
        bare_metal=record.get("BareMetal", False),
        instance_store_gb=record.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0),
        **records.extra_facts(name),
    )


def _architecture(record: records.Record) -> CpuArchitecture:
    supported = record["ProcessorInfo"]["SupportedArchitectures"]
    for name in supported:
        if name in _ARCHITECTURES:  # others stand beside it: `i386`
            return _ARCHITECTURES[name]
    raise records.CatalogueError(
        f"{record['InstanceType']}: ProcessorInfo.SupportedArchitectures has none of "
        f"{', '.join(_ARCHITECTURES)}: {supported!r:.80}"
    )


def _gpu(record: records.Record) -> Accelerator | None:
    for gpu in records.managed_gpus(record):
        return Accelerator(
            device_type=DeviceType.GPU,
            vendor=gpu["Manufacturer"],
            name=gpu["Name"],
            # A fractional GPU has Count 0: it is one logical device.
            count=gpu["Count"] or gpu.get("LogicalGpuCount", 0),
            memory_mib=gpu.get("MemoryInfo", {}).get("SizeInMiB"),
            cores_per_device=None,
            core_version=None,
            partition=gpu.get("GpuPartitionSize", 1.0),
        )
    return None


def _neuron(record: records.Record) -> Accelerator | None:
    for device in records.neuron_devices(record):
        return Accelerator(
            device_type=DeviceType.NEURON,
            vendor="AWS",
            name=device["Name"],
            count=device["Count"],
            memory_mib=device.get("MemoryInfo", {}).get("SizeInMiB"),
            cores_per_device=device["CoreInfo"]["Count"],
            core_version=device["CoreInfo"]["Version"],
        )
    return None


def _card(card: dict[str, Any]) -> NetworkCard:
    return NetworkCard(
        index=card["NetworkCardIndex"],
        interface_types=tuple(card["InterfaceTypes"]),
        max_interfaces=card["MaximumNetworkInterfaces"],
        bandwidth_gbps=card.get("BaselineBandwidthInGbps"),
    )


def _other_accelerator(record: records.Record) -> str:
    for info, devices in records.OTHER_ACCELERATORS.items():
        for device in record.get(info, {}).get(devices, ()):
            vendor, name = device.get("Manufacturer", ""), str(device["Name"])
            return name if name.startswith(vendor) else f"{vendor} {name}"
    return ""
