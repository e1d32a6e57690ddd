"""What is worth saying of a group whose mechanisms are chosen: faults, warnings, infos."""

from __future__ import annotations

from collections.abc import Iterator

from ._data import read_toml
from .ami_releases import release_findings
from .amis import ami_findings
from .findings import Finding, fault, info, warning
from .gpu_rules import gpu_findings
from .instance_types import AcceleratedInstanceType
from .interfaces import group_instances, group_interfaces
from .kubernetes import floors
from .labels import driver_label_faults
from .mechanisms import Choice, choice_findings
from .mig_rules import mig_findings
from .network import eni_limited_max_pods
from .placement import placement_findings, placement_group
from .purchase import purchase_findings
from .spec import NodegroupSpec
from .template_overrides import override_findings
from .user_data.kubelet_gates import kubelet_gate_faults
from .vocabulary import DeviceType, Mechanism, OperatingSystem

_AUTOSCALER = "https://github.com/kubernetes/autoscaler/issues/7724"
_EFA_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html"


def group_findings(
    spec: NodegroupSpec,
    instance: AcceleratedInstanceType,
    version: str,
    choices: dict[DeviceType, Choice],
) -> Iterator[Finding]:
    """Every finding of a group on a Kubernetes version, in the order of its parts."""
    mechanisms = {device: choice.mechanism for device, choice in choices.items()}
    yield from ami_findings(spec, instance)
    for device, choice in choices.items():
        yield from choice_findings(spec, device, choice, instance.family, version)
        if choice.automatic:
            text = f"{device} by {choice.mechanism}: {choice.reason}"
            yield info(
                "MechanismChosen",
                f"{spec.path}.mechanism",
                text,
                fix="name the mechanism to keep it across releases",
            )
    yield from _external_findings(spec, mechanisms)
    yield from _apart_findings(spec, mechanisms)
    if spec.ami_id is not None and mechanisms.get(DeviceType.EFA) is Mechanism.DRA:
        yield _nri_needed(spec)
    if DeviceType.GPU in choices:
        yield from gpu_findings(spec, instance, version, choices[DeviceType.GPU])
        yield from mig_findings(spec, instance, version, choices[DeviceType.GPU])
    yield from release_findings(spec, instance, version, mechanisms)
    yield from _instance_findings(spec, instance)
    yield from _pod_findings(spec, instance)
    yield from _subnet_faults(spec, instance)
    yield from _zone_findings(spec, instance)
    yield from _efa_only_findings(spec, instance)
    yield from purchase_findings(spec, instance)
    yield from placement_findings(spec, instance)
    yield from override_findings(spec)
    yield from driver_label_faults(spec, mechanisms)
    yield from _logical_core_faults(spec, mechanisms)
    by_claims = Mechanism.DRA in mechanisms.values()
    yield from kubelet_gate_faults(spec, version, by_claims=by_claims)
    if by_claims:
        yield from _dra_findings(spec, version, mechanisms)


def _external_findings(
    spec: NodegroupSpec, mechanisms: dict[DeviceType, Mechanism]
) -> Iterator[Finding]:
    """Foreign device types that a group lacks: no fault, since groups may share what names them."""
    for device in spec.external:
        if device not in mechanisms:
            yield info(
                "ExternalDeviceNotOnNodegroup",
                f"{spec.path}.external",
                f"nodes of this group have no {device}, so it does not matter here who serves it",
                fix="leave the device type out, unless it is meant for other groups",
            )


def _apart_findings(
    spec: NodegroupSpec, mechanisms: dict[DeviceType, Mechanism]
) -> Iterator[Finding]:
    """EFA by another mechanism than the accelerator; on Bottlerocket plugins align nothing."""
    efa = mechanisms.get(DeviceType.EFA)
    if efa is None or spec.operating_system is OperatingSystem.BOTTLEROCKET:
        return
    for device in (DeviceType.GPU, DeviceType.NEURON):
        if mechanisms.get(device, efa) is not efa:
            yield info(
                "EfaByOtherMechanism",
                f"{spec.path}.mechanism",
                f"{device} by {mechanisms[device]} and EFA by {efa}: no claim takes both, and "
                "nothing gives a Pod the EFAs that are near its devices",
                fix="name one mechanism for both, as without a name EFA has it",
                source=_EFA_GUIDE,
            )


def _nri_needed(spec: NodegroupSpec) -> Finding:
    row = read_toml("amis.toml")["own_image_nri"]
    told = {"fix": row["fix"], "source": row["source"]}
    return info("NriOnOwnImage", f"{spec.path}.ami_id", row["message"], **told)


def _instance_findings(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    path = f"{spec.path}.instance_type"
    if instance.unverified:
        yield warning(
            "UnverifiedInstanceType",
            path,
            f"{instance.name}: {instance.unverified}",
            fix="compare with DescribeInstanceTypes before you deploy",
        )
    if instance.other_accelerator:
        yield warning(
            "UnmanagedAccelerator",
            path,
            f"no manager here serves {instance.other_accelerator} of {instance.name}",
            fix="install its vendor's device plugin yourself",
        )


def _pod_findings(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    if not spec.vpc_cni or spec.max_pods is None:
        return
    limits = (
        eni_limited_max_pods(one, group_interfaces(spec, one))
        for one in group_instances(spec, instance)
    )
    addresses = min((one for one in limits if one is not None), default=None)
    if addresses is not None and spec.max_pods > addresses:
        yield warning(
            "MaxPodsAboveAddresses",
            f"{spec.path}.max_pods",
            f"the interfaces have addresses for {addresses} Pods, and {spec.max_pods} are "
            "allowed: the rest waits for an address",
            fix="turn prefix delegation of the VPC CNI on, or lower max_pods",
        )


def _subnet_faults(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    if spec.subnet_count in (None, 1):
        return
    if group_interfaces(spec, instance):
        yield _subnet_required(spec, "EFA does not leave an Availability Zone")
    elif spec.capacity.reservation_id:
        yield _subnet_required(spec, "a reservation is for one Availability Zone")
    elif placement_group(spec, instance):
        yield _subnet_required(spec, "a cluster placement group is in one Availability Zone")


def _zone_findings(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Types for training are offered in few zones, and EKS makes a group in all or none."""
    several = type(spec.subnet_count) is int and spec.subnet_count > 1
    if several and (instance.multi_node_training or instance.device_type is DeviceType.NEURON):
        yield info(
            "SeveralZones",
            f"{spec.path}.subnet",
            f"the subnets of the group may be in zones where EC2 does not offer {instance.name}: "
            "the group then fails as a whole",
            fix="look at DescribeInstanceTypeOfferings, and pass one subnet where it is offered",
            source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-discovery.html",
        )


def _efa_only_findings(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    if spec.vpc_cni and group_interfaces(spec, instance):
        row = read_toml("limits.toml")["vpc_cni"]
        fix = f"keep the VPC CNI add-on at {row['oldest']} or later"
        yield info("VpcCniFloor", f"{spec.path}.efa", row["message"], fix=fix, source=row["source"])


def _subnet_required(spec: NodegroupSpec, why: str) -> Finding:
    return fault(
        "SubnetRequired",
        f"{spec.path}.subnet",
        f"{why}, so the group must be in one subnet",
        got=f"{spec.subnet_count} subnets",
        allowed="one private subnet",
        fix="pass subnet=..., for example vpc.private_subnets[0]; with a reservation, a subnet of "
        "its Availability Zone",
        source=_EFA_GUIDE,
    )


def _logical_core_faults(
    spec: NodegroupSpec, mechanisms: dict[DeviceType, Mechanism]
) -> Iterator[Finding]:
    if spec.logical_neuron_cores and spec.operating_system is OperatingSystem.BOTTLEROCKET:
        yield fault(
            "LogicalCoresOnBottlerocket",
            f"{spec.path}.logical_neuron_cores",
            "Bottlerocket has no setting for logical NeuronCores, and no shell at boot",
            got=spec.logical_neuron_cores,
            allowed="None on Bottlerocket",
            fix="use operating_system=OperatingSystem.AL2023, or set it in claims under DRA",
            source="https://docs.aws.amazon.com/eks/latest/userguide/device-management-neuron.html",
        )
    elif spec.logical_neuron_cores and mechanisms.get(DeviceType.NEURON) is Mechanism.DRA:
        yield fault(
            "LogicalCoresPerClaim",
            f"{spec.path}.logical_neuron_cores",
            "under DRA each claim sets its logical NeuronCores",
            got=spec.logical_neuron_cores,
            allowed="None under DRA",
            fix="set it in the claim, or use mechanism=Mechanism.DEVICE_PLUGIN",
            source="https://docs.aws.amazon.com/eks/latest/userguide/device-management-neuron.html",
        )


def _dra_findings(
    spec: NodegroupSpec, version: str, mechanisms: dict[DeviceType, Mechanism]
) -> Iterator[Finding]:
    others = [one for device, one in mechanisms.items() if device is not DeviceType.COMPUTE_DOMAIN]
    or_plugin = ", or the device plugin" if Mechanism.DRA in others else ""
    floor = floors()["dra-node"]
    patch = floor.patches.get(version, 0)
    if patch and spec.release_version is None:
        yield info(
            "NodePatchFloor",
            f"{spec.path}.release_version",
            f"DRA needs nodes of {version}.{patch} or later: {floor.why}",
            fix="leave the release to the newest, or pin one at or above the floor",
            source=floor.source,
        )
    if spec.autoscaled and spec.min_size == 0:
        yield warning(
            "DraGroupAtZero",
            f"{spec.path}.min_size",
            "an empty group publishes no ResourceSlices, so Cluster Autoscaler never adds "
            "its first node",
            source=_AUTOSCALER,
            fix=f"use min_size=1 or a scheduled action{or_plugin}",
        )
    elif not spec.autoscaled and not (spec.desired_size or spec.min_size):
        yield info(
            "DraGroupAtZero",
            f"{spec.path}.desired_size",
            "the group starts without nodes, and Pods with claims wait until it has one",
            source=_AUTOSCALER,
            fix="raise desired_size, by hand or by a scheduled action, when you need nodes",
        )
