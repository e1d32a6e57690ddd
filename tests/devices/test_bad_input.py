"""Bad input: each one gives exactly its faults, and no other exception than EksDevicesError."""

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.hostile import (
    LIST_TOKEN,
    NUMBER_TOKEN,
    TOKEN,
    Hostile,
    HostileMapping,
    HostileSet,
    HostileTuple,
)
from tests.hostile import HostileText as Text
from tests.short_names import BOTTLEROCKET, DOMAIN, DRA, EFA, GPU, NEURON, PLUGIN

from eks_devices import (
    Capacity,
    CapacityKind,
    DeviceListStrategy,
    DeviceType,
    EksDevicesError,
    Feature,
    Finding,
    GpuDriver,
    GpuPlugin,
    GpuSharing,
    Mechanism,
    Mig,
    MigStrategy,
    NodegroupPlan,
    NodegroupSpec,
    OperatingSystem,
    Severity,
    Taint,
    device_support,
    plan_cluster,
    plan_nodegroup,
)
from eks_devices.spec import NodegroupOptions

BLOCK = Capacity.block("cr-0123456789abcdef0")
P6E: dict[str, Any] = {"instance_type": "p6e-gb200.36xlarge", "capacity": BLOCK}
TRN2: dict[str, Any] = {"instance_type": "trn2.48xlarge"}
PLAIN: dict[str, Any] = {"name": "a", "instance_type": "g6e.12xlarge", "max_size": 2}
HUGE = 10**6000
# Values of wrong types on purpose: a type checker must not look.
any_capacity: Any = Capacity
any_sharing: Any = GpuSharing
any_taint: Any = Taint
any_support: Any = device_support


def from_options(name: Any, options: Any) -> Any:
    """Plan the group that a mapping of options asks for."""
    spec = NodegroupSpec.from_options(name, options)
    return plan_nodegroup(spec, kubernetes_version="1.34")


CODES = frozenset({
    "AnnouncedInstanceType",
    "BottlerocketGb200",
    "CapacityNotOffered",
    "ComputeDomainNeedsDra",
    "ComputeDomainNeedsNvlinkDomain",
    "DeclaredAgainstDra",
    "DesiredSizeWithAutoscaler",
    "DeviceNotOnNodegroup",
    "BottlerocketMigIsUniform",
    "DraBelow134",
    "DynamicMigNeedsHopper",
    "EfaNotSupported",
    "FeatureGateNeedsBareMetal",
    "FeatureGateNeedsKubernetes",
    "FeatureGatesExclude",
    "GpuDynamicMigBelow136",
    "GpuHealthTaintsBelow136",
    "GpuMigGb200",
    "GpuStaticMigDraBottlerocket",
    "HighIpBandwidthNeedsEfa",
    "HighIpBandwidthNotDocumented",
    "HostServiceNeedsBottlerocket",
    "LabelOfDriver",
    "LogicalCoresNotSupported",
    "LogicalCoresOnBottlerocket",
    "LogicalCoresPerClaim",
    "MalformedKey",
    "MalformedLabelKey",
    "MalformedLabelValue",
    "MalformedName",
    "MalformedReleaseVersion",
    "MalformedReservation",
    "MalformedScope",
    "MalformedTaint",
    "MalformedTaintKey",
    "MechanismRequired",
    "MigLayoutDoesNotFit",
    "MigNotSupported",
    "MissingOption",
    "NeuronDraInf1",
    "NoDevices",
    "NoNodegroupInAutoMode",
    "NoSubnets",
    "NodePatchBelowFloor",
    "OptionOfDaemonSet",
    "OptionOfExternalManager",
    "OptionOfOtherAccelerator",
    "OptionOfOtherMechanism",
    "OutOfRange",
    "OwnLabel",
    "ReleaseOfOtherMinor",
    "ReleaseTooOld",
    "RepeatedName",
    "RepeatedTaint",
    "ReservationKeyMissing",
    "ReservationNotUsed",
    "ReservedLabel",
    "ScopeWithoutDefault",
    "SharingOfPartitions",
    "SizesOutOfOrder",
    "SubnetRequired",
    "TokenNotAllowed",
    "TooManyEfaInterfaces",
    "TooManyMpsClients",
    "TooManyTaints",
    "UnknownInstanceType",
    "UnknownMigProfile",
    "UnknownOption",
    "UnsupportedKubernetesVersion",
    "ValueNotOnBottlerocket",
    "WrongType",
})  # fmt: skip
# Codes of options that have tables of their own, which hostile values may give as well.
OTHER_CODES = CODES | {
    "AmazonLinux2", "EmptyUserData", "ForbiddenTemplateField", "HugePagesAboveMemory",
    "InstanceTypesDiffer", "KubeletFieldOwned", "MalformedAmiId", "MalformedPlacementGroup",
    "MalformedTag", "MalformedUserData", "MaxPodsNeeded", "MissingTemplateField",
    "MalformedCidr", "NoInstanceStore", "OneTypeInReservation", "PlacementGroupWithBlock",
    "ReleaseWithOwnImage", "RepeatedInstanceType", "RepeatedTemplateEntry", "ReservedTag",
    "TooManyInstanceTypes", "UnknownKubeletField", "UnknownTemplateField", "UnknownTemplateValue",
}  # fmt: skip


def bad(case: str, *faults: str, version: object = "1.35", **options: Any) -> Any:
    """A group `a`, plain but for `options`, and its faults as `Code option`."""
    return pytest.param(version, PLAIN | options, faults, id=case)


INSTANCE_TYPES = [
    bad("unknown type", "UnknownInstanceType instance_type", instance_type="trn2.49xlarge"),
    bad("unknown family", "UnknownInstanceType instance_type", instance_type="zz9.large"),
    bad("a type without accelerators", "UnknownInstanceType instance_type",
        instance_type="m5.large"),
    bad("an empty type", "UnknownInstanceType instance_type", instance_type=""),
    bad("a type in upper case", "UnknownInstanceType instance_type",
        instance_type="TRN2.48XLARGE"),
    bad("a type with a space", "UnknownInstanceType instance_type",
        instance_type="trn2.48xlarge "),
    bad("a type with a new line", "UnknownInstanceType instance_type",
        instance_type="trn2.48xlarge\n"),
    bad("a type in other letters", "UnknownInstanceType instance_type",
        instance_type="trn\uff12.48xlarge"),
    bad("an endless type", "UnknownInstanceType instance_type", instance_type="x" * 1_000_000),
    bad("a SageMaker type", "UnknownInstanceType instance_type", instance_type="ml.trn1.2xlarge"),
    bad("an announced type", "AnnouncedInstanceType instance_type", instance_type="trn3.48xlarge"),
    bad("an announced UltraServer", "AnnouncedInstanceType instance_type",
        instance_type="p6e-gb300.36xlarge"),
    bad("a token as type", "TokenNotAllowed instance_type", instance_type=TOKEN),
    bad("no type", "MissingOption instance_type", instance_type=None),
    bad("a list of types", "WrongType instance_type", instance_type=["trn2.48xlarge"]),
    bad("bytes as type", "WrongType instance_type", instance_type=b"trn2.48xlarge"),
    bad("a hostile type", "WrongType instance_type", instance_type=Hostile()),
]  # fmt: skip

NAMES = [
    bad("an empty name", "MalformedName nodegroups.''.name", name=""),
    bad("64 characters", f"MalformedName nodegroups.{'a' * 64}.name", name="a" * 64),
    bad("a trailing dash", "MalformedName nodegroups.a-.name", name="a-"),
    bad("a leading underscore", "MalformedName nodegroups._a.name", name="_a"),
    bad("a space", "MalformedName nodegroups.a b.name", name="a b"),
    bad("only a space", "MalformedName nodegroups. .name", name=" "),
    bad("a dot", "MalformedName nodegroups.a.b.name", name="a.b"),
    bad("letters of another script", "MalformedName nodegroups.gruppeß.name", name="gruppeß"),
    bad("digits of another script", "MalformedName nodegroups.a\uff11.name", name="a\uff11"),
    bad("a new line at the end", r"MalformedName nodegroups.'a\n'.name", name="a\n"),
    bad("a control character", r"MalformedName nodegroups.'a\x00b'.name", name="a\x00b"),
    bad("a text that turns around", r"MalformedName nodegroups.'a\u202eb'.name", name="a\u202eb"),
    bad("a token as name", f"TokenNotAllowed nodegroups.{TOKEN}.name", name=TOKEN),
    bad("no name", "WrongType nodegroups.None.name", name=None),
    bad("a number as name", "WrongType nodegroups.7.name", name=7),
    bad("bytes as name", "WrongType nodegroups.b'a'.name", name=b"a"),
    bad("a hostile name", "WrongType nodegroups.<Hostile>.name", name=Hostile()),
]

SIZES = [
    bad("no nodes at all", "OutOfRange max_size", max_size=0),
    bad("a negative maximum", "OutOfRange max_size", max_size=-1),
    bad("a negative minimum", "OutOfRange min_size", min_size=-1),
    bad("a negative size", "OutOfRange desired_size", desired_size=-1),
    bad("more than EKS can count", "OutOfRange max_size", max_size=2**31),
    bad("a number too long to print", "OutOfRange max_size", max_size=HUGE),
    bad("a negative one", "OutOfRange desired_size", desired_size=-HUGE),
    bad("True as maximum", "WrongType max_size", max_size=True),
    bad("False as minimum", "WrongType min_size", min_size=False),
    bad("True as size", "WrongType desired_size", desired_size=True),
    bad("a float as maximum", "WrongType max_size", max_size=2.0),
    bad("not a number", "WrongType max_size", max_size=float("nan")),
    bad("infinity", "WrongType max_size", max_size=float("inf")),
    bad("a text as size", "WrongType desired_size", desired_size="1"),
    bad("no maximum", "MissingOption max_size", max_size=None),
    bad("no minimum", "WrongType min_size", min_size=None),
    bad("a number token", "TokenNotAllowed max_size", max_size=NUMBER_TOKEN),
    bad("a number token as size", "TokenNotAllowed desired_size", desired_size=NUMBER_TOKEN),
    bad("a minimum above the maximum", "SizesOutOfOrder max_size", min_size=3),
    bad("a size above the maximum", "SizesOutOfOrder desired_size", desired_size=3),
    bad("a size below the minimum", "SizesOutOfOrder desired_size", min_size=2, desired_size=1),
    bad("all out of order", "SizesOutOfOrder max_size", "SizesOutOfOrder desired_size",
        min_size=3, desired_size=1),
    bad("a size below the minimum, and no maximum", "MissingOption max_size",
        "SizesOutOfOrder desired_size", min_size=3, desired_size=1, max_size=None),
    bad("all of a wrong type", "WrongType min_size", "WrongType max_size",
        "WrongType desired_size", min_size="0", max_size="1", desired_size="1"),
    bad("a size beside an autoscaler", "DesiredSizeWithAutoscaler desired_size",
        autoscaled=True, desired_size=1),
]  # fmt: skip

EFAS = [
    bad("EFA without EFA", "EfaNotSupported efa", instance_type="g4dn.xlarge", efa=True),
    bad("one EFA without EFA", "EfaNotSupported efa", instance_type="g4dn.xlarge", efa=1),
    bad("too many", "TooManyEfaInterfaces efa", efa=2),
    bad("17 on Trn2", "TooManyEfaInterfaces efa", **TRN2, efa=17),
    bad("9 on GB200", "TooManyEfaInterfaces efa", **P6E, efa=9),
    bad("far too many", "TooManyEfaInterfaces efa", efa=HUGE),
    bad("negative", "OutOfRange efa", efa=-1),
    bad("a text as EFA", "WrongType efa", efa="1"),
    bad("a float as EFA", "WrongType efa", efa=1.0),
    bad("a number token as EFA", "TokenNotAllowed efa", efa=NUMBER_TOKEN),
    bad("a list as EFA", "WrongType efa", efa=[1]),
    bad("a hostile EFA", "WrongType efa", instance_type="p5.48xlarge", efa=Hostile(),
        high_ip_bandwidth=True),
    bad("no devices", "NoDevices efa", instance_type="c5n.18xlarge"),
    bad("no devices, explicitly", "NoDevices efa", instance_type="c5n.18xlarge", efa=False),
    bad("no devices, as a number", "NoDevices efa", instance_type="c5n.18xlarge", efa=0),
    bad("an FPGA that nothing serves", "NoDevices efa", instance_type="f2.48xlarge"),
    bad("no such layout", "HighIpBandwidthNotDocumented high_ip_bandwidth",
        high_ip_bandwidth=True),
    bad("a layout without EFA", "HighIpBandwidthNeedsEfa high_ip_bandwidth",
        instance_type="p5.48xlarge", efa=False, high_ip_bandwidth=True),
    bad("a layout with 0 EFAs", "HighIpBandwidthNeedsEfa high_ip_bandwidth",
        instance_type="p5.48xlarge", efa=0, high_ip_bandwidth=True),
]  # fmt: skip

CAPACITIES = [
    bad("no capacity", "WrongType capacity", capacity=None),
    bad("a text as capacity", "WrongType capacity", capacity="SPOT"),
    bad("a class as capacity", "WrongType capacity", capacity=Capacity),
    bad("a kind as text", "WrongType capacity", capacity=any_capacity(kind="spot")),
    bad("a block without an id", "MalformedReservation capacity.reservation_id",
        capacity=any_capacity(kind=CapacityKind.CAPACITY_BLOCK)),
    bad("a reservation by name", "MalformedReservation capacity.reservation_id",
        capacity=any_capacity(kind=CapacityKind.RESERVATION, reservation_id="mine")),
    bad("a token without a key", "ReservationKeyMissing capacity.reservation_id",
        capacity=any_capacity(kind=CapacityKind.RESERVATION, reservation_id=TOKEN)),
    bad("a number as reservation", "WrongType capacity.reservation_id",
        capacity=any_capacity(kind=CapacityKind.RESERVATION, reservation_id=5)),
    bad("a reservation key with a space", "MalformedKey capacity.key",
        capacity=any_capacity(kind=CapacityKind.RESERVATION, reservation_id=TOKEN, key="a b")),
    bad("a key that is no text", "WrongType capacity.key",
        capacity=any_capacity(kind=CapacityKind.RESERVATION, reservation_id=TOKEN, key=[])),
    bad("spot with a reservation", "ReservationNotUsed capacity.reservation_id",
        capacity=any_capacity(kind=CapacityKind.SPOT, reservation_id="cr-0123456789abcdef0")),
    bad("on demand with a list", "ReservationNotUsed capacity.reservation_id",
        capacity=any_capacity(kind=CapacityKind.ON_DEMAND, reservation_id=[1])),
    bad("spot with a key", "ReservationNotUsed capacity.key",
        capacity=any_capacity(kind=CapacityKind.SPOT, key="k")),
    bad("id and group at once", "ReservationNotUsed capacity.reservation_id",
        "ReservationNotUsed capacity.resource_group_arn",
        capacity=any_capacity(kind=CapacityKind.RESERVATION, reservation_id="cr-0123456789abcdef0",
                              resource_group_arn="arn:aws:resource-groups:a:111122223333:group/a")),
    bad("a block of a group", "ReservationNotUsed capacity.resource_group_arn",
        capacity=any_capacity(kind=CapacityKind.CAPACITY_BLOCK, resource_group_arn="arn:x")),
    bad("a reservation in two zones", "SubnetRequired subnet", subnet_count=2,
        capacity=Capacity.reservation("cr-0123456789abcdef0")),
    bad("LNC on Bottlerocket", "LogicalCoresOnBottlerocket logical_neuron_cores",
        instance_type="trn2.48xlarge", operating_system=BOTTLEROCKET, mechanism=PLUGIN,
        logical_neuron_cores=1),
    bad("an external manager on an old Bottlerocket", "ReleaseTooOld release_version",
        operating_system=BOTTLEROCKET, mechanism=PLUGIN, external={GPU},
        release_version="1.62.0-0a1b2c3d"),
    bad("GB200 on demand", "CapacityNotOffered capacity", instance_type="p6e-gb200.36xlarge"),
    bad("GB200 as spot", "CapacityNotOffered capacity", instance_type="p6e-gb200.36xlarge",
        capacity=Capacity.spot()),
    bad("GB200 in a reservation", "CapacityNotOffered capacity",
        instance_type="p6e-gb200.36xlarge", capacity=Capacity.reservation("cr-0a1b2c3d")),
    bad("Inf1 in a block", "CapacityNotOffered capacity", instance_type="inf1.xlarge",
        capacity=BLOCK),
    bad("Trn2u as spot", "CapacityNotOffered capacity", instance_type="trn2u.48xlarge",
        capacity=Capacity.spot()),
]  # fmt: skip

MECHANISMS = [
    bad("a text as mechanism", "WrongType mechanism", mechanism="dra"),
    bad("True as mechanism", "WrongType mechanism", mechanism=True),
    bad("two mechanisms", "WrongType mechanism", mechanism=(DRA, PLUGIN)),
    bad("a device as mechanism", "WrongType mechanism", mechanism=GPU),
    bad("a token as mechanism", "TokenNotAllowed mechanism", mechanism=TOKEN),
    bad("a hostile mapping of mechanisms", "WrongType mechanism", mechanism=HostileMapping()),
    bad("a mapping by text", "WrongType mechanism", mechanism={"gpu": DRA}),
    bad("a mapping to text", "WrongType mechanism[gpu]", mechanism={GPU: "dra"}),
    bad("a mapping to None", "WrongType mechanism[gpu]", mechanism={GPU: None}),
    bad("a mapping to a list", "WrongType mechanism[gpu]", mechanism={GPU: [DRA]}),
    bad("a hostile key of a mapping", "WrongType mechanism", mechanism={Hostile(): DRA}),
    bad("a device that is not there", "DeviceNotOnNodegroup mechanism", mechanism={NEURON: DRA}),
    bad("EFA that is off", "DeviceNotOnNodegroup mechanism", mechanism={GPU: DRA, EFA: DRA}),
    bad("two that are not there", "DeviceNotOnNodegroup mechanism",
        "DeviceNotOnNodegroup mechanism", mechanism={NEURON: DRA, EFA: DRA}),
    bad("ComputeDomains by plugin", "ComputeDomainNeedsDra mechanism", **P6E,
        mechanism={DOMAIN: PLUGIN}),
    bad("ComputeDomains without NVLink", "ComputeDomainNeedsNvlinkDomain compute_domains",
        compute_domains=True),
    bad("ComputeDomains on Trn2", "ComputeDomainNeedsNvlinkDomain compute_domains", **TRN2,
        compute_domains=True),
    bad("a text for ComputeDomains", "WrongType compute_domains", compute_domains="yes"),
    bad("DRA on Inf1", "NeuronDraInf1 mechanism", instance_type="inf1.xlarge", mechanism=DRA),
    bad("DRA on Inf1 on Bottlerocket", "NeuronDraInf1 mechanism", instance_type="inf1.xlarge",
        operating_system=BOTTLEROCKET, mechanism=DRA),
    bad("cores under DRA", "DeclaredAgainstDra neuron_cores", **TRN2, mechanism=DRA,
        neuron_cores=True),
    bad("cores of a GPU", "OptionOfOtherAccelerator neuron_cores", neuron_cores=True),
    bad("LNC under DRA", "LogicalCoresPerClaim logical_neuron_cores", **TRN2,
        logical_neuron_cores=2),
    bad("LNC on Inf2", "LogicalCoresNotSupported logical_neuron_cores",
        instance_type="inf2.xlarge", logical_neuron_cores=2),
    bad("LNC on Trn1", "LogicalCoresNotSupported logical_neuron_cores",
        instance_type="trn1.32xlarge", logical_neuron_cores=1),
    bad("LNC on P5", "LogicalCoresNotSupported logical_neuron_cores",
        instance_type="p5.48xlarge", logical_neuron_cores=2),
    bad("three in a logical core", "LogicalCoresNotSupported logical_neuron_cores", **TRN2,
        mechanism=PLUGIN, logical_neuron_cores=3),
    bad("LNC 0", "OutOfRange logical_neuron_cores", **TRN2, logical_neuron_cores=0),
    bad("LNC as a text", "WrongType logical_neuron_cores", **TRN2, logical_neuron_cores="2"),
    bad("LNC as True", "WrongType logical_neuron_cores", **TRN2, logical_neuron_cores=True),
]  # fmt: skip

SHARING = [
    bad("a number as sharing", "WrongType gpu_sharing", gpu_sharing=4),
    bad("a feature as sharing", "WrongType gpu_sharing", gpu_sharing=Feature.MPS),
    bad("a mapping as sharing", "WrongType gpu_sharing", gpu_sharing={"replicas": 4}),
    bad("sharing by MIG", "WrongType gpu_sharing.feature",
        gpu_sharing=any_sharing(feature=Feature.STATIC_MIG, replicas=4)),
    bad("sharing by a list", "WrongType gpu_sharing.feature",
        gpu_sharing=any_sharing(feature=[], replicas=4)),
    bad("sharing by text", "WrongType gpu_sharing.feature",
        gpu_sharing=any_sharing(feature="mps", replicas=4)),
    bad("49 replicas", "OutOfRange gpu_sharing.replicas",
        gpu_sharing=any_sharing(feature=Feature.MPS, replicas=49)),
    bad("replicas as text", "WrongType gpu_sharing.replicas",
        gpu_sharing=any_sharing(feature=Feature.TIME_SLICING, replicas="4")),
    bad("replicas as True", "WrongType gpu_sharing.replicas",
        gpu_sharing=any_sharing(feature=Feature.TIME_SLICING, replicas=True)),
    bad("gates as GPU driver", "WrongType gpu_driver", gpu_driver={"MPSSupport": True}),
    bad("True as GPU plugin", "WrongType gpu_plugin", gpu_plugin=True),
    bad("driver options by plugin", "OptionOfOtherMechanism gpu_driver", mechanism=PLUGIN,
        gpu_driver=GpuDriver()),
    bad("driver options and autoscaling", "OptionOfOtherMechanism gpu_driver", autoscaled=True,
        gpu_driver=GpuDriver(feature_gates={"MPSSupport": True})),
    bad("plugin options by DRA", "DeclaredAgainstDra gpu_plugin", mechanism=DRA,
        gpu_plugin=GpuPlugin(gds=True)),
    bad("replicas by DRA", "DeclaredAgainstDra gpu_sharing", mechanism=DRA,
        gpu_sharing=GpuSharing.mps(replicas=2)),
    bad("GDRCopy on Bottlerocket", "OptionOfDaemonSet gpu_plugin.gdrcopy",
        "OptionOfDaemonSet gpu_plugin.health_checks", operating_system=BOTTLEROCKET,
        gpu_plugin=GpuPlugin(gdrcopy=True, health_checks=False)),
    bad("a list strategy that Bottlerocket does not know",
        "ValueNotOnBottlerocket gpu_plugin.device_list_strategy", operating_system=BOTTLEROCKET,
        gpu_plugin=GpuPlugin(device_list_strategy=DeviceListStrategy.CDI_ANNOTATIONS)),
    bad("the host's driver on AL2023", "HostServiceNeedsBottlerocket gpu_driver.host_service",
        gpu_driver=GpuDriver(host_service=True)),
    bad("health taints too early",
        "GpuHealthTaintsBelow136 gpu_driver.feature_gates[NVMLDeviceHealthCheck]",
        gpu_driver=GpuDriver(feature_gates={"NVMLDeviceHealthCheck": True})),
    bad("shares too early", "FeatureGateNeedsKubernetes gpu_driver.consumable_shares",
        gpu_driver=GpuDriver(consumable_shares="unlimited")),
    bad("lists, which EKS has off",
        "FeatureGateNeedsKubernetes gpu_driver.feature_gates[DRAListTypeAttributes]",
        version="1.37", gpu_driver=GpuDriver(feature_gates={"DRAListTypeAttributes": True})),
    bad("passthrough under a hypervisor",
        "FeatureGateNeedsBareMetal gpu_driver.feature_gates[PassthroughSupport]",
        gpu_driver=GpuDriver(feature_gates={"PassthroughSupport": True})),
    bad("passthrough with another type under a hypervisor",
        "FeatureGateNeedsBareMetal gpu_driver.feature_gates[PassthroughSupport]",
        instance_type="g5g.metal", alternative_instance_types=["g5g.16xlarge"],
        gpu_driver=GpuDriver(feature_gates={"PassthroughSupport": True})),
    bad("driver options on Trn2", "OptionOfOtherAccelerator gpu_driver",
        "OptionOfOtherAccelerator gpu_plugin", **TRN2, gpu_driver=GpuDriver(),
        gpu_plugin=GpuPlugin()),
    bad("options of somebody else's", "OptionOfExternalManager gpu_plugin", mechanism=PLUGIN,
        external={GPU}, gpu_plugin=GpuPlugin(gdrcopy=True)),
    bad("sharing on Trn2", "OptionOfOtherAccelerator gpu_sharing", **TRN2,
        gpu_sharing=GpuSharing.time_slicing(replicas=2)),
    bad("sharing without an accelerator", "OptionOfOtherAccelerator gpu_sharing",
        instance_type="c5n.18xlarge", efa=True, gpu_sharing=GpuSharing.mps(replicas=2)),
    bad("sharing by somebody else", "OptionOfExternalManager gpu_sharing", mechanism=PLUGIN,
        external={GPU}, gpu_sharing=GpuSharing.mps(replicas=2)),
    bad("MPS on an old Bottlerocket", "ReleaseTooOld release_version",
        operating_system=BOTTLEROCKET, gpu_sharing=GpuSharing.mps(replicas=2),
        release_version="1.53.0-0a1b2c3d"),
    bad("49 clients of an old GPU", "TooManyMpsClients gpu_sharing.replicas",
        instance_type="p3.2xlarge", gpu_sharing=GpuSharing.mps(replicas=48)),
    bad("partitions as text", "WrongType mig", mig="1g.10gb"),
    bad("partitions of an L40S", "MigNotSupported mig", mig=Mig.uniform("1g.10gb")),
    bad("partitions of a Trn2", "OptionOfOtherAccelerator mig", **TRN2,
        mig=Mig.uniform("1g.10gb")),
    bad("partitions of GB200", "GpuMigGb200 mig", **P6E, mig=Mig.uniform("1g.24gb")),
    bad("a profile of another GPU", "UnknownMigProfile mig.profiles[0]",
        instance_type="p4d.24xlarge", mig=Mig.uniform("1g.18gb")),
    bad("too many partitions", "MigLayoutDoesNotFit mig.profiles",
        "MigLayoutDoesNotFit mig.profiles", instance_type="p5.48xlarge",
        mig=Mig.layout("4g.40gb", "4g.40gb")),
    bad("partitions that are shared", "SharingOfPartitions gpu_sharing",
        instance_type="p5.48xlarge", mig=Mig.uniform("1g.10gb"),
        gpu_sharing=GpuSharing.time_slicing(replicas=2)),
    bad("somebody else's partitions", "OptionOfExternalManager mig", mechanism=PLUGIN,
        external={GPU}, instance_type="p5.48xlarge", mig=Mig.uniform("1g.10gb")),
    bad("partitions on request too early", "GpuDynamicMigBelow136 mig",
        instance_type="p5.48xlarge", mig=Mig.dynamic()),
    bad("partitions on request by plugin", "OptionOfOtherMechanism mig", version="1.36",
        instance_type="p5.48xlarge", mechanism=PLUGIN, mig=Mig.dynamic()),
    bad("partitions on request of an A100", "DynamicMigNeedsHopper mig", version="1.36",
        instance_type="p4d.24xlarge", mig=Mig.dynamic()),
    bad("partitions on request and MPS",
        "FeatureGatesExclude gpu_driver.feature_gates[MPSSupport]", version="1.36",
        instance_type="p5.48xlarge", mig=Mig.dynamic(),
        gpu_driver=GpuDriver(feature_gates={"MPSSupport": True})),
    bad("partitions by DRA on Bottlerocket", "GpuStaticMigDraBottlerocket mig",
        instance_type="p5.48xlarge", operating_system=BOTTLEROCKET, mechanism=DRA,
        mig=Mig.uniform("1g.10gb")),
    bad("unequal partitions on Bottlerocket", "BottlerocketMigIsUniform mig.profiles",
        instance_type="p5.48xlarge", operating_system=BOTTLEROCKET,
        mig=Mig.layout("3g.40gb", strategy=MigStrategy.SINGLE)),
    bad("partitions on an old Bottlerocket", "ReleaseTooOld release_version",
        "ReleaseTooOld release_version", instance_type="p5.48xlarge",
        operating_system=BOTTLEROCKET, mig=Mig.uniform("1g.10gb"),
        release_version="1.33.0-0a1b2c3d"),
]  # fmt: skip

SWITCHES = [
    bad(f"{value!r} for {name}", f"WrongType {name}", **{name: value})
    for name in ("autoscaled", "high_ip_bandwidth", "shared_devices", "preemption", "neuron_cores")
    for value in (None, 1, "yes")
]

SYSTEMS = [
    bad("a text as system", "WrongType operating_system", operating_system="bottlerocket"),
    bad("no system", "WrongType operating_system", operating_system=None),
    bad("Auto Mode", "NoNodegroupInAutoMode operating_system",
        operating_system=OperatingSystem.AUTO_MODE),
    bad("GB200 on Bottlerocket", "BottlerocketGb200 operating_system",
        **P6E, operating_system=BOTTLEROCKET),
    bad("EFA in two subnets", "SubnetRequired subnet", instance_type="p5.48xlarge",
        capacity=Capacity.on_demand(), subnet_count=2),
    bad("a disk without a number", "WrongType disk_gib", disk_gib="200"),
    bad("a small disk", "OutOfRange disk_gib", disk_gib=10),
    bad("a disk beyond gp3", "OutOfRange disk_gib", disk_gib=65_537),
    bad("no subnet", "NoSubnets subnet", subnet_count=0),
    bad("subnets as a list", "WrongType subnet_count", subnet_count=["subnet-1"]),
    bad("options as a list", "WrongType unknown_options", unknown_options=["a"]),
    bad("a release without form", "MalformedReleaseVersion release_version",
        release_version="latest"),
    bad("an empty release", "MalformedReleaseVersion release_version", release_version=""),
    bad("a release with a v", "MalformedReleaseVersion release_version",
        release_version="v1.35.2-20261023"),
    bad("a release with a new line", "MalformedReleaseVersion release_version",
        release_version="1.35.2-20261023\n"),
    bad("a release of AL2023 on Bottlerocket", "MalformedReleaseVersion release_version",
        operating_system=BOTTLEROCKET, release_version="1.35.2-20261023"),
    bad("a release of Bottlerocket on AL2023", "MalformedReleaseVersion release_version",
        release_version="1.66.0-0a1b2c3d"),
    bad("a number as release", "WrongType release_version", release_version=1.35),
    bad("a token as release", "TokenNotAllowed release_version", release_version=TOKEN),
    bad("a system as text with its release", "WrongType operating_system",
        operating_system="bottlerocket", release_version="1.66.0-0a1b2c3d"),
    bad("a release of another minor", "ReleaseOfOtherMinor release_version",
        release_version="1.34.2-20261023"),
    bad("1.34.1 under DRA", "NodePatchBelowFloor release_version", version="1.34",
        release_version="1.34.1-20251103"),
    bad("1.34.0 under DRA", "NodePatchBelowFloor release_version", version="1.34",
        release_version="1.34.0-20251103"),
    bad("an old AMI for GB200", "ReleaseTooOld release_version", **P6E,
        release_version="1.35.2-20251102"),
    bad("an old Bottlerocket under DRA", "ReleaseTooOld release_version",
        operating_system=BOTTLEROCKET, mechanism=DRA, release_version="1.62.9-0a1b2c3d"),
    bad("too many Pods", "OutOfRange max_pods", max_pods=251),
    bad("too many Pods of a small node", "OutOfRange max_pods", instance_type="g4dn.xlarge",
        max_pods=111),
    bad("no Pods", "OutOfRange max_pods", max_pods=0),
    bad("Pods as text", "WrongType max_pods", max_pods="58"),
    bad("a number token for Pods", "TokenNotAllowed max_pods", max_pods=NUMBER_TOKEN),
]  # fmt: skip

LABELS = [
    bad("no mapping of labels", "WrongType labels", labels=[("a", "b")]),
    bad("no labels", "WrongType labels", labels=None),
    bad("a text as labels", "WrongType labels", labels="a=b"),
    bad("hostile labels", "WrongType labels", labels=HostileMapping()),
    bad("an empty key", "MalformedLabelKey labels['']", labels={"": "b"}),
    bad("a prefix alone", "MalformedLabelKey labels['example.com/']", labels={"example.com/": "b"}),
    bad("a prefix in upper case", "MalformedLabelKey labels['Example.com/a']",
        labels={"Example.com/a": "b"}),
    bad("two slashes", "MalformedLabelKey labels['a/b/c']", labels={"a/b/c": "d"}),
    bad("a label key with a space", "MalformedLabelKey labels['a b']", labels={"a b": "c"}),
    bad("a key that ends in a dash", "MalformedLabelKey labels['a-']", labels={"a-": "c"}),
    bad("a key of 64 characters", f"MalformedLabelKey labels['{'a' * 64}']",
        labels={"a" * 64: "b"}),
    bad("a key of 64 with its prefix", f"MalformedLabelKey labels['a.example/{'a' * 54}']",
        labels={f"a.example/{'a' * 54}": "b"}),
    bad("a number as key", "WrongType labels[7]", labels={7: "b"}),
    bad("a hostile key", "WrongType labels[<Hostile>]", labels={Hostile(): "b"}),
    bad("a token as key", f"TokenNotAllowed labels['{TOKEN}']", labels={TOKEN: "b"}),
    bad("an empty value", "MalformedLabelValue labels['a']", labels={"a": ""}),
    bad("a value of 64 characters", "MalformedLabelValue labels['a']", labels={"a": "b" * 64}),
    bad("a value with a slash", "MalformedLabelValue labels['a']", labels={"a": "b/c"}),
    bad("a value that ends in a dot", "MalformedLabelValue labels['a']", labels={"a": "b."}),
    bad("a value with a new line", "MalformedLabelValue labels['a']", labels={"a": "b\n"}),
    bad("a value in another script", "MalformedLabelValue labels['a']", labels={"a": "ß"}),
    bad("True as value", "WrongType labels['a']", labels={"a": True}),
    bad("a token as value", "TokenNotAllowed labels['a']", labels={"a": TOKEN}),
    bad("key and value", "MalformedLabelKey labels['a b']", "MalformedLabelValue labels['a b']",
        labels={"a b": "c d"}),
    bad("our prefix", "OwnLabel labels['eks-devices/gpu']", labels={"eks-devices/gpu": "dra"}),
    bad("our prefix, another name", "OwnLabel labels['eks-devices/mine']",
        labels={"eks-devices/mine": "x"}),
    bad("the vendor's label", "OwnLabel labels['nvidia.com/gpu.present']",
        labels={"nvidia.com/gpu.present": "true"}),
    bad("labels of the driver", "LabelOfDriver labels['nvidia.com/gpu.clique']",
        "LabelOfDriver labels['resource.nvidia.com/computeDomain']", **P6E,
        labels={"nvidia.com/gpu.clique": "a.0", "resource.nvidia.com/computeDomain": "b"}),
    bad("a label of Kubernetes", "ReservedLabel labels['kubernetes.io/role']",
        labels={"kubernetes.io/role": "gpu"}),
    bad("a label below it", "ReservedLabel labels['node-role.kubernetes.io/gpu']",
        labels={"node-role.kubernetes.io/gpu": "x"}),
    bad("a label of k8s.io", "ReservedLabel labels['a.k8s.io/b']", labels={"a.k8s.io/b": "x"}),
    bad("a label of EKS", "ReservedLabel labels['eks.amazonaws.com/nodegroup']",
        labels={"eks.amazonaws.com/nodegroup": "x"}),
]  # fmt: skip

TAINTS = [
    bad("a text as taints", "WrongType taints", taints="a=b:NoSchedule"),
    bad("bytes as taints", "WrongType taints", taints=b"ab"),
    bad("a mapping as taints", "WrongType taints", taints={"a": "b"}),
    bad("a taint alone", "WrongType taints", taints=Taint(key="a")),
    bad("a taint without effect", "MalformedTaint taints[0]", taints=["a=b"]),
    bad("an effect of EKS", "MalformedTaint taints[0]", taints=["a=b:NO_SCHEDULE"]),
    bad("a removal", "MalformedTaint taints[0]", taints=["a=b:NoSchedule-"]),
    bad("an empty taint", "MalformedTaint taints[0]", taints=[""]),
    bad("the second of two", "MalformedTaint taints[1]", taints=["a:NoSchedule", "b"]),
    bad("a taint without key", "MalformedTaintKey taints[0]", taints=[":NoSchedule"]),
    bad("a taint with a long key", "MalformedTaintKey taints[0]",
        taints=[f"{'a' * 64}:NoSchedule"]),
    bad("two equals signs", "MalformedLabelValue taints[0]", taints=["a=b=c:NoSchedule"]),
    bad("a long value", "MalformedLabelValue taints[0]", taints=[Taint(key="a", value="b" * 64)]),
    bad("no value", "WrongType taints[0]", taints=[any_taint(key="a", value=None)]),
    bad("a hostile value", "WrongType taints[0]", taints=[any_taint(key="a", value=Hostile())]),
    bad("an effect as text", "WrongType taints[0]",
        taints=[any_taint(key="a", effect="NoSchedule")]),
    bad("a number as taint", "WrongType taints[0]", taints=[7]),
    bad("None as taint", "WrongType taints[0]", taints=[None]),
    bad("a list token", "TokenNotAllowed taints[0]", taints=[LIST_TOKEN]),
    bad("a token in a taint", "TokenNotAllowed taints[0]", taints=[f"{TOKEN}:NoSchedule"]),
    bad("the same taint twice", "RepeatedTaint taints", taints=["a=b:NoSchedule"] * 2),
    bad("one key, one effect, two values", "RepeatedTaint taints",
        taints=["a=b:NoSchedule", Taint(key="a", value="c")]),
    bad("51 taints", "TooManyTaints taints", taints=[f"a{n}:NoSchedule" for n in range(51)]),
    bad("a million taints", "TooManyTaints taints", "RepeatedTaint taints",
        taints=["a:NoSchedule"] * 1_000_000),
]  # fmt: skip

OWNERS = [
    bad("a text as external", "WrongType external", external="gpu"),
    bad("a mapping as external", "WrongType external", external={GPU: True}),
    bad("no external", "WrongType external", external=None),
    bad("an external device as text", "WrongType external", external=["gpu"]),
    bad("an unreadable set", "WrongType external", external=HostileSet({GPU})),
    *(bad(f"an unreadable tuple as {name}", f"WrongType {name}", **{name: HostileTuple((1,))})
      for name in ("external", "taints", "alternative_instance_types", "subnet_cidrs")),
    bad("an unreadable tuple of options", "WrongType unknown_options",
        unknown_options=HostileTuple((1,))),
    bad("a hostile member", "WrongType external", external=[Hostile()]),
    bad("external without a mechanism", "MechanismRequired mechanism", external={GPU}),
    bad("external EFA without a mechanism", "MechanismRequired mechanism", efa=True,
        mechanism={GPU: DRA}, external={EFA}),
    bad("the scope default", "MalformedScope scope", scope="default"),
    bad("the scope host", "MalformedScope scope", scope="host"),
    bad("the scope external", "MalformedScope scope", scope="external"),
    bad("a scope that looks like the default", "MalformedScope scope", scope="default-2"),
    bad("an empty scope", "MalformedScope scope", scope=""),
    bad("a scope of 55 characters", "MalformedScope scope", scope="a" * 55),
    bad("a scope with a slash", "MalformedScope scope", scope="team/a"),
    bad("a scope that ends in a dash", "MalformedScope scope", scope="a-"),
    bad("a number as scope", "WrongType scope", scope=1),
    bad("a token as scope", "TokenNotAllowed scope", scope=TOKEN),
]  # fmt: skip

VERSIONS = [
    bad("a float", "WrongType kubernetes_version", version=1.34),
    bad("no version", "WrongType kubernetes_version", version=None),
    bad("bytes", "WrongType kubernetes_version", version=b"1.34"),
    bad("a pair", "WrongType kubernetes_version", version=(1, 34)),
    bad("a token", "TokenNotAllowed kubernetes_version", version=TOKEN),
    bad("a hostile version", "WrongType kubernetes_version", version=Hostile()),
    *(
        bad(f"version {text!r}", "UnsupportedKubernetesVersion kubernetes_version", version=text)
        for text in ("", "1.34.2", "v1.34", "1.32", "1.9", "1.38", "2.0", " 1.34", "1.34\n",
                     "1.034", "1,34", "\uff11.34", "latest", "1.35-eks", "9" * 100_000)
    ),
    bad("a version and a group at fault", "UnsupportedKubernetesVersion kubernetes_version",
        "TooManyEfaInterfaces efa", version="1.20", efa=2),
    bad("a version and a mechanism at fault", "UnsupportedKubernetesVersion kubernetes_version",
        "NeuronDraInf1 mechanism", version="1.20", instance_type="inf1.xlarge", mechanism=DRA),
    bad("a version and a device that is not there", "DeviceNotOnNodegroup mechanism",
        "UnsupportedKubernetesVersion kubernetes_version", version="1.99",
        mechanism={NEURON: DRA}),
    bad("a version and a pinned release", "UnsupportedKubernetesVersion kubernetes_version",
        version="1.20", release_version="1.20.2-20261023"),
    bad("a version and a type at fault", "UnsupportedKubernetesVersion kubernetes_version",
        "UnknownInstanceType instance_type", version="1.20", instance_type="zz9.large"),
    bad("no default for a GPU on 1.33", "MechanismRequired mechanism", version="1.33"),
    bad("no default for Neuron and EFA on 1.33", "MechanismRequired mechanism",
        "MechanismRequired mechanism", version="1.33", **TRN2),
    bad("no default for EFA alone on 1.33", "MechanismRequired mechanism", version="1.33",
        instance_type="c5n.18xlarge", efa=True),
    bad("an empty mapping on 1.33", "MechanismRequired mechanism", version="1.33", mechanism={}),
    bad("DRA for a GPU on 1.33", "DraBelow134 mechanism", version="1.33", mechanism=DRA),
    bad("DRA for Neuron on 1.33", "DraBelow134 mechanism", version="1.33", **TRN2, mechanism=DRA),
    bad("DRA for EFA on 1.33", "DraBelow134 mechanism", version="1.33",
        instance_type="c5n.18xlarge", efa=True, mechanism=DRA),
    bad("DRA for EFA beside the plugin on 1.33", "DraBelow134 mechanism", version="1.33",
        efa=True, mechanism={GPU: PLUGIN, EFA: DRA}),
    bad("DRA on Bottlerocket on 1.33", "DraBelow134 mechanism", version="1.33",
        operating_system=BOTTLEROCKET, mechanism=DRA),
    bad("DRA on Inf1 on 1.33", "DraBelow134 mechanism", version="1.33",
        instance_type="inf1.xlarge", mechanism=DRA),
    bad("ComputeDomains on 1.33", "DraBelow134 compute_domains", version="1.33", **P6E,
        mechanism=PLUGIN),
]  # fmt: skip

TOGETHER = [
    bad("eight mistakes", "UnknownInstanceType instance_type", "WrongType capacity",
        "WrongType operating_system", "WrongType mechanism", "OutOfRange max_size",
        "ReservedLabel labels['k8s.io/a']", "MalformedTaint taints[0]", "MalformedScope scope",
        instance_type="trn2.49xlarge", capacity="spot", operating_system="al2023",
        mechanism="dra", max_size=0, labels={"k8s.io/a": "b"}, taints=["x"], scope="host"),
    bad("nine mistakes on a known type", "CapacityNotOffered capacity",
        "TooManyEfaInterfaces efa", "HighIpBandwidthNotDocumented high_ip_bandwidth",
        "OptionOfOtherAccelerator gpu_sharing", "LogicalCoresNotSupported logical_neuron_cores",
        "OutOfRange max_pods", "NeuronDraInf1 mechanism", "DeclaredAgainstDra neuron_cores",
        "ReleaseOfOtherMinor release_version",
        instance_type="inf1.24xlarge", capacity=BLOCK, efa=5, high_ip_bandwidth=True,
        gpu_sharing=GpuSharing.mps(replicas=2), logical_neuron_cores=2, max_pods=1000,
        mechanism=DRA, neuron_cores=True, release_version="1.36.0-20261023"),
    bad("every field of a wrong type", "WrongType nodegroups.None.name",
        *(f"WrongType nodegroups.None.{name}" for name in sorted(
            NodegroupSpec.__annotations__.keys() - {"name"})),
        **dict.fromkeys(NodegroupSpec.__annotations__, object)
        | {"name": None}),
]  # fmt: skip

OBJECTS = [
    bad(f"an object for {name}", f"WrongType {name}", **{name: object()})
    for name in (
        "alternative_instance_types", "ami_id", "hugepages_2mi", "instance_store", "kubelet",
        "launch_template_overrides", "node_repair", "placement_group", "pool", "scope_address",
        "subnet_cidrs", "tags", "update", "user_data", "vpc_cni",
    )
]  # fmt: skip

BAD_GROUPS = [
    *INSTANCE_TYPES, *NAMES, *SIZES, *EFAS, *CAPACITIES, *MECHANISMS, *SHARING, *SWITCHES,
    *SYSTEMS, *LABELS, *TAINTS, *OWNERS, *VERSIONS, *TOGETHER, *OBJECTS,
]  # fmt: skip


def faults_of(call: Any) -> tuple[Finding, ...]:
    with pytest.raises(EksDevicesError) as caught:
        call()
    return caught.value.faults


def told(faults: tuple[Finding, ...]) -> list[str]:
    return sorted(f"{one.code} {one.path}" for one in faults)


def assert_complete(faults: tuple[Finding, ...]) -> None:
    for one in faults:
        assert one.severity is Severity.ERROR
        assert one.message
        assert one.got
        assert one.allowed
        assert one.fix
        assert len(one.got) <= 120
        assert "\n" not in f"{one.path}{one.message}{one.got}{one.allowed}{one.fix}"


def full(fault: str) -> str:
    code, _, path = fault.partition(" ")
    if path.startswith(("nodegroups", "kubernetes_version", "keep")):
        return fault
    return f"{code} nodegroups.a.{path}"


@pytest.mark.parametrize(("version", "options", "expected"), BAD_GROUPS)
def test_a_bad_group_gives_its_faults(
    version: Any, options: dict[str, Any], expected: tuple[str, ...]
):
    group = NodegroupSpec(**options)

    alone = faults_of(lambda: plan_nodegroup(group, kubernetes_version=version))
    fleet = faults_of(lambda: plan_cluster(kubernetes_version=version, nodegroups=[group]))

    assert told(alone) == sorted(map(full, expected))
    assert told(fleet) == told(alone)
    assert_complete(alone)
    assert {one.code for one in alone} <= OTHER_CODES
    assert len(set(alone)) == len(alone)


def test_the_table_is_large_and_its_inputs_differ():
    assert len(BAD_GROUPS) + len(BAD_CALLS) + len(BAD_CLUSTERS) >= 300
    assert len({case.id for case in BAD_GROUPS}) == len(BAD_GROUPS)


def test_every_field_is_checked_for_its_type():
    named = {fault.split()[1].partition("[")[0] for *_, case in (row.values for row in BAD_GROUPS)
             for fault in case if fault.startswith("WrongType ")}  # fmt: skip

    assert {name.partition(".")[0] for name in named} >= NodegroupSpec.__annotations__.keys() - {
        "name"
    }


def _rows(*rows: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:
    """Rows of a table whose values have wrong types on purpose."""
    return rows


BAD_CALLS = [
    pytest.param(call, expected, id=case)
    for case, call, *expected in _rows(
        ("a malformed id", lambda: Capacity.block("cr-xyz"),
         "MalformedReservation capacity.reservation_id"),
        ("an id in upper case", lambda: Capacity.block("CR-0123456789ABCDEF0"),
         "MalformedReservation capacity.reservation_id"),
        ("an id with a new line", lambda: Capacity.block("cr-0123456789abcdef0\n"),
         "MalformedReservation capacity.reservation_id"),
        ("an id of 9 digits", lambda: Capacity.reservation("cr-012345678"),
         "MalformedReservation capacity.reservation_id"),
        ("another ARN", lambda: Capacity.reservation("arn:aws:ec2:us-east-2:111122223333:x/y"),
         "MalformedReservation capacity.reservation_id"),
        ("no id", lambda: Capacity.block(""), "MalformedReservation capacity.reservation_id"),
        ("None as id", lambda: any_capacity.block(None), "WrongType capacity.reservation_id"),
        ("a token without key", lambda: Capacity.block(TOKEN),
         "ReservationKeyMissing capacity.reservation_id"),
        ("an empty key", lambda: Capacity.block(TOKEN, key=""),
         "ReservationKeyMissing capacity.reservation_id"),
        ("a group without key", lambda: Capacity.reservation_group(TOKEN),
         "ReservationKeyMissing capacity.resource_group_arn"),
        ("an id as group", lambda: Capacity.reservation_group("cr-0123456789abcdef0"),
         "MalformedReservation capacity.resource_group_arn"),
        ("a group as id", lambda: Capacity.block(
            "arn:aws:resource-groups:us-east-2:111122223333:group/a"),
         "MalformedReservation capacity.reservation_id"),
        ("a key that is no word", lambda: Capacity.block("cr-0123456789abcdef0", key="a b"),
         "MalformedKey capacity.key"),
        ("a long key", lambda: Capacity.block(TOKEN, key="k" * 64), "MalformedKey capacity.key"),
        ("a token as key", lambda: Capacity.block(TOKEN, key=TOKEN),
         "TokenNotAllowed capacity.key"),
        ("a number as key", lambda: any_capacity.block(TOKEN, key=7), "WrongType capacity.key"),
        ("id and key", lambda: Capacity.block("x", key="a b"),
         "MalformedReservation capacity.reservation_id", "MalformedKey capacity.key"),
        ("1 replica", lambda: GpuSharing.time_slicing(replicas=1),
         "OutOfRange gpu_sharing.replicas"),
        ("49 slices", lambda: GpuSharing.time_slicing(replicas=49),
         "OutOfRange gpu_sharing.replicas"),
        ("0 clients", lambda: GpuSharing.mps(replicas=0), "OutOfRange gpu_sharing.replicas"),
        ("True replicas", lambda: GpuSharing.mps(replicas=True), "WrongType gpu_sharing.replicas"),
        ("2.0 replicas", lambda: any_sharing.mps(replicas=2.0), "WrongType gpu_sharing.replicas"),
        ("an option too few", lambda: from_options("a", {"max_size": 1}),
         "MissingOption nodegroups.a.instance_type"),
        ("no options", lambda: from_options("a", {}),
         "MissingOption nodegroups.a.instance_type", "MissingOption nodegroups.a.max_size"),
        ("a misspelt option",
         lambda: from_options("a", {"instance_type": "g6e.12xlarge", "maxsize": 1}),
         "UnknownOption nodegroups.a.maxsize", "MissingOption nodegroups.a.max_size"),
        ("options that the caller sets",
         lambda: from_options(
             "a", {"instance_type": "g6e.12xlarge", "max_size": 1, "name": "b", "scope": "c"}),
         "UnknownOption nodegroups.a.name", "UnknownOption nodegroups.a.scope"),
        ("an option that is no text",
         lambda: from_options("a", {"instance_type": "g6e.12xlarge", "max_size": 1, 7: 8}),
         "UnknownOption nodegroups.a.7"),
        ("a list of options", lambda: from_options("a", ["x"]),
         "WrongType nodegroups.a"),
        ("a device as text", lambda: any_support(device_type="gpu", mechanism=DRA),
         "WrongType device_type"),
        ("every value of a wrong type",
         lambda: any_support(device_type=1, mechanism=2, compute=3, operating_system=4,
                                feature=5, kubernetes_version=6, instance_type=7),
         "WrongType device_type", "WrongType mechanism", "WrongType compute",
         "WrongType operating_system", "WrongType feature", "WrongType kubernetes_version",
         "WrongType instance_type"),
        ("an empty version",
         lambda: any_support(device_type=GPU, mechanism=DRA, kubernetes_version=""),
         "UnsupportedKubernetesVersion kubernetes_version"),
        ("an unknown type",
         lambda: any_support(device_type=GPU, mechanism=DRA, instance_type="zz9.large"),
         "UnknownInstanceType instance_type"),
    )
]  # fmt: skip


@pytest.mark.parametrize(("call", "expected"), BAD_CALLS)
def test_a_bad_call_gives_its_faults(call: Any, expected: list[str]):
    faults = faults_of(call)

    assert told(faults) == sorted(expected)
    assert_complete(faults)
    assert {one.code for one in faults} <= OTHER_CODES


def group(**options: Any) -> NodegroupSpec:
    return NodegroupSpec(**(PLAIN | options))


BAD_CLUSTERS = [
    pytest.param(options, expected, id=case)
    for case, options, *expected in _rows(
        ("no list", {"nodegroups": None}, "WrongType nodegroups"),
        ("a group alone", {"nodegroups": group()}, "WrongType nodegroups"),
        ("a mapping", {"nodegroups": {"a": group()}}, "WrongType nodegroups"),
        ("a text", {"nodegroups": "abc"}, "WrongType nodegroups"),
        ("a token", {"nodegroups": TOKEN}, "TokenNotAllowed nodegroups"),
        ("a class", {"nodegroups": list}, "WrongType nodegroups"),
        ("no groups in it", {"nodegroups": [None, {"name": "a"}, "a"]},
         "WrongType nodegroups[0]", "WrongType nodegroups[1]", "WrongType nodegroups[2]"),
        ("a name twice", {"nodegroups": [group(), group(efa=True)]},
         "RepeatedName nodegroups.a.name"),
        ("a hostile name twice", {"nodegroups": [group(name=Hostile())] * 2},
         "RepeatedName nodegroups.<Hostile>.name", *["WrongType nodegroups.<Hostile>.name"] * 2),
        ("faults of several groups",
         {"nodegroups": [group(efa=2), group(name="b"), group(name="c", max_size=0)]},
         "TooManyEfaInterfaces nodegroups.a.efa", "OutOfRange nodegroups.c.max_size"),
        ("everything at once",
         {"kubernetes_version": "1.20", "keep": 5,
          "nodegroups": [group(efa=2), group(max_size=0), 7]},
         "UnsupportedKubernetesVersion kubernetes_version", "WrongType keep",
         "RepeatedName nodegroups.a.name", "TooManyEfaInterfaces nodegroups.a.efa",
         "OutOfRange nodegroups.a.max_size", "WrongType nodegroups[2]"),
        ("keep as a list", {"keep": [EFA]}, "WrongType keep"),
        ("keep as a text", {"keep": "efa"}, "WrongType keep"),
        ("an unreadable keep", {"keep": HostileMapping()}, "WrongType keep"),
        ("keep without a tuple", {"keep": {EFA: DRA}}, "WrongType keep[efa]"),
        ("keep with a text", {"keep": {EFA: ("dra",)}}, "WrongType keep[efa]"),
        ("keep by text", {"keep": {"efa": (DRA,)}}, "WrongType keep"),
        ("keep by a hostile key", {"keep": {Hostile(): (DRA,)}}, "WrongType keep"),
        ("keep with a hostile mechanism", {"keep": {EFA: [Hostile()]}}, "WrongType keep[efa]"),
        ("keep a plugin that is none", {"keep": {DOMAIN: (PLUGIN,)}},
         "ComputeDomainNeedsDra keep[compute-domain]"),
        ("keep DRA on 1.33", {"keep": {EFA: (PLUGIN, DRA)}, "kubernetes_version": "1.33"},
         "DraBelow134 keep[efa]"),
        ("a scope alone", {"nodegroups": [group(scope="team")]},
         "ScopeWithoutDefault nodegroups.a.scope"),
        ("a scope with another mechanism in the default",
         {"nodegroups": [group(scope="team", mechanism=DRA), group(name="b", mechanism=PLUGIN)]},
         "ScopeWithoutDefault nodegroups.a.scope"),
        ("a scope for two devices", {"nodegroups": [group(scope="team", efa=True)]},
         *["ScopeWithoutDefault nodegroups.a.scope"] * 2),
        ("two scopes", {"nodegroups": [group(scope="x"), group(name="b", scope="y")]},
         "ScopeWithoutDefault nodegroups.a.scope", "ScopeWithoutDefault nodegroups.b.scope"),
        ("a scope and an external group",
         {"nodegroups": [group(scope="x"), group(name="b", mechanism=DRA, external={GPU})]},
         "ScopeWithoutDefault nodegroups.a.scope"),
    )
]  # fmt: skip


@pytest.mark.parametrize(("options", "expected"), BAD_CLUSTERS)
def test_a_bad_cluster_gives_its_faults(options: dict[str, Any], expected: list[str]):
    values: dict[str, Any] = {"kubernetes_version": "1.35", "nodegroups": []} | options

    faults = faults_of(lambda: plan_cluster(**values))

    assert told(faults) == sorted(expected)
    assert_complete(faults)
    assert {one.code for one in faults} <= OTHER_CODES


def test_a_scope_is_fine_when_the_default_keeps_its_manager():
    once_only: Any = iter([DRA])

    plan = plan_cluster(
        kubernetes_version="1.35", nodegroups=[group(scope="team")], keep={GPU: once_only}
    )

    assert [driver.owner for driver in plan.drivers] == ["default", "team-ca8b67e6"]


def test_the_table_shows_every_code():
    shown = {fault.split()[0] for row in (*BAD_GROUPS, *BAD_CALLS, *BAD_CLUSTERS)
             for fault in row.values[-1]}  # fmt: skip

    assert shown == CODES


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("trn2.49xlarge", "did you mean 'trn2.48xlarge' or 'trn2.3xlarge'?"),
        ("p5.48xlrge", "did you mean 'p5.48xlarge' or 'p5.4xlarge'?"),
        ("g6e.12xlarg", "did you mean 'g6e.12xlarge' or 'g6e.2xlarge' or 'g6e.24xlarge'?"),
        ("P6E-GB200.36xlarge", "did you mean 'p6e-gb200.36xlarge'?"),
    ],
)
def test_an_unknown_type_names_the_nearest(name: str, fix: str):
    (fault,) = faults_of(
        lambda: plan_nodegroup(group(instance_type=name), kubernetes_version="1.35")
    )

    assert fault.fix == fix


def test_an_unknown_family_lists_the_families():
    (fault,) = faults_of(
        lambda: plan_nodegroup(group(instance_type="zz9.large"), kubernetes_version="1.35")
    )

    assert fault.allowed == (
        "families with accelerators: g4dn, g5, g5g, g6, g6e, g6f, g7, g7e, gr6, gr6f, inf1, inf2, "
        "p3, p3dn, p4d, p4de, p5, p5e, p5en, p6-b200, p6-b300, p6e-gb200, trn1, trn1n, trn2, "
        "trn2u; or a type with EFA"
    )


def test_a_misspelt_option_names_the_nearest():
    (fault,) = faults_of(
        lambda: from_options(
            "a", {"instance_type": "g6e.12xlarge", "max_size": 1, "operating_sytem": 1}
        )
    )

    assert fault.fix == "did you mean operating_system?"


def test_options_are_the_fields_of_a_group():
    fields = NodegroupSpec.__annotations__.keys()

    assert NodegroupOptions.__annotations__.keys() == fields - {
        "name",
        "subnet_count",
        "subnet_cidrs",
        "scope",
        "scope_address",
        "pool",
        "external",
        "unknown_options",
    }


def test_a_group_with_options_is_the_group_with_fields():
    options = {"instance_type": "g6e.12xlarge", "max_size": 2}

    assert NodegroupSpec.from_options("a", options) == group()


@pytest.mark.parametrize(
    ("options", "version"),
    [
        # The floor of nodes holds for DRA only.
        ({"release_version": "1.34.1-20251103", "mechanism": PLUGIN}, "1.34"),
        ({"release_version": "1.34.2-20251103"}, "1.34"),
        ({"release_version": "1.35.0-20261023"}, "1.35"),
        (P6E | {"release_version": "1.35.2-20251103"}, "1.35"),
        (
            {
                "operating_system": BOTTLEROCKET,
                "mechanism": DRA,
                "release_version": "1.63.0-0a1b2c3d",
            },
            "1.35",
        ),
        (
            {"operating_system": BOTTLEROCKET, "release_version": "1.30.0-0a1b2c3d"},
            "1.35",
        ),
        ({"name": "a" * 63, "scope": None, "labels": {"a" * 63: "b" * 63}}, "1.34"),
        ({"labels": {"notkubernetes.io/a": "b", "k8s.io": "c"}}, "1.34"),
        ({"taints": ["a:NoSchedule", "a:NoExecute", "a=:PreferNoSchedule"]}, "1.34"),
        ({"taints": [f"a{n}:NoSchedule" for n in range(50)]}, "1.34"),
        ({"max_size": 2**31 - 1}, "1.34"),
        ({"efa": False}, "1.34"),
        ({"mechanism": {}}, "1.34"),
        ({"mechanism": PLUGIN}, "1.33"),
        ({"mechanism": {GPU: PLUGIN}, "efa": True}, "1.33"),
        (P6E | {"mechanism": PLUGIN, "compute_domains": False}, "1.33"),
        ({"max_pods": 250}, "1.34"),
        (TRN2 | {"mechanism": PLUGIN, "logical_neuron_cores": 1}, "1.34"),
        ({"capacity": Capacity.block(TOKEN, key="july"), **TRN2}, "1.34"),
    ],
)
def test_what_is_only_near_a_fault_is_planned(options: dict[str, Any], version: str):
    plan = plan_nodegroup(group(**options), kubernetes_version=version)

    assert isinstance(plan, NodegroupPlan)


def test_other_kinds_of_text_become_plain_texts():
    options: dict[str, Any] = {
        "name": Text("a"),
        "labels": {Text("b"): Text("c")},
        "instance_type": Text("g6e.12xlarge"),
        "taints": [Text("d:NoSchedule")],
        "capacity": Capacity.reservation(Text("cr-0123456789abcdef0"), key=Text("may")),
    }

    plan = plan_cluster(
        kubernetes_version="1.35",
        nodegroups=[group(**options, scope=Text("team"), mechanism=PLUGIN)],
        keep={GPU: (PLUGIN,)},
    )

    labels = {"b": "c", "eks-devices/gpu-manager": "team-ca8b67e6", "eks-devices/nodegroup": "a"}
    assert plan.nodegroups[0].labels.items() >= labels.items()
    assert {type(text) for item in plan.nodegroups[0].labels.items() for text in item} == {str}
    assert plan.nodegroups[0].taints == (Taint(key="d"),)
    assert type(plan.nodegroups[0].capacity.name) is str


def test_an_error_of_many_faults_survives_a_process():
    with pytest.raises(EksDevicesError) as caught:
        plan_nodegroup(group(efa=2, max_size=0), kubernetes_version="1.20")

    copy = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own bytes

    assert copy.faults == caught.value.faults
    assert str(copy) == str(caught.value)
    assert str(copy).startswith("3 faults:\n  - kubernetes_version: ")


SPECIAL = (
    *Mechanism, *DeviceType, *OperatingSystem, *Feature, HUGE, -HUGE, 0, 1, 2, Hostile(), object(),
    HostileMapping(), HostileSet(), Text("a"), Text("g6e.12xlarge"), object, TOKEN, LIST_TOKEN,
    NUMBER_TOKEN, "1.34", "g6e.12xlarge", "trn2.48xlarge", "c5n.18xlarge", BLOCK, Capacity.spot(),
    GpuSharing.mps(replicas=2), Taint(key="a"), range(3), frozenset({GPU}), len, NotImplemented,
    "a" * 100_000, "a:NoSchedule", "1.35.2-20261023", float("nan"), float("-inf"),
)  # fmt: skip


def special(values: tuple[Any, ...] = SPECIAL) -> st.SearchStrategy[Any]:
    """One of some values; hypothesis would ask those of `sampled_from` for their repr."""
    return st.integers(0, len(values) - 1).map(values.__getitem__)


def once(value: Any) -> Iterator[Any]:
    yield value


ANYTHING = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(),
        st.complex_numbers(), special(), special(), special(),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(
            st.one_of(st.text(max_size=5), special((*DeviceType, Hostile()))), inner, max_size=3
        ),
        inner.map(once),
        inner.map(lambda value: lambda: value),
    ),
    max_leaves=6,
)  # fmt: skip
TYPES = st.sampled_from(
    ["g6e.12xlarge", "g4dn.xlarge", "trn2.48xlarge", "inf1.xlarge", "p5.48xlarge", "c5n.18xlarge",
     "p6e-gb200.36xlarge"]
)  # fmt: skip
FIELDS = sorted(NodegroupSpec.__annotations__.keys())


def assert_known(call: Callable[[], object]) -> None:
    """A call returns, or raises faults that we know; any other exception passes through."""
    try:
        call()
    except EksDevicesError as error:
        faults, text = error.faults, str(error)
    else:
        return
    assert faults
    assert text
    assert {one.code for one in faults} <= OTHER_CODES
    assert_complete(faults)


@settings(max_examples=1500, deadline=None)
@given(
    kept=st.fixed_dictionaries({"instance_type": TYPES}),
    values=st.dictionaries(st.sampled_from(FIELDS), ANYTHING, min_size=1, max_size=4),
    version=st.one_of(st.sampled_from(["1.33", "1.34", "1.37"]), ANYTHING),
    keep=st.one_of(st.none(), ANYTHING),
)
def test_arbitrary_values_give_a_plan_or_named_faults(
    kept: dict[str, Any], values: dict[str, Any], version: Any, keep: Any
):
    given_group = group(**(kept | values))

    for call in (
        lambda: plan_nodegroup(given_group, kubernetes_version=version).to_dict(),
        lambda: plan_cluster(
            kubernetes_version=version, nodegroups=[given_group], keep=keep
        ).to_json(),
    ):
        assert_known(call)


@pytest.mark.parametrize("field", FIELDS)
@settings(max_examples=150, deadline=None)
@given(value=ANYTHING, instance=TYPES)
def test_one_arbitrary_value_gives_a_plan_or_named_faults(field: str, value: Any, instance: str):
    given_group = group(**({"instance_type": instance} | {field: value}))

    assert_known(lambda: plan_nodegroup(given_group, kubernetes_version="1.35").to_dict())


@settings(max_examples=200, deadline=None)
@given(value=ANYTHING)
def test_arbitrary_groups_give_a_plan_or_named_faults(value: Any):
    # What an iterator of the caller raises is the caller's, and passes through.
    assume(not isinstance(value, HostileSet))
    for call in (
        lambda: plan_nodegroup(value, kubernetes_version="1.35"),
        lambda: plan_cluster(kubernetes_version="1.35", nodegroups=value),
        lambda: plan_cluster(kubernetes_version="1.35", nodegroups=[value]),
    ):
        assert_known(call)
