"""Findings that tell a user what a plan does not show: reservations, releases, empty groups."""

from __future__ import annotations

from typing import Any

import pytest

from eks_devices import (
    Capacity,
    DeviceType,
    EksDevicesError,
    Mechanism,
    NodegroupSpec,
    OperatingSystem,
    device_support,
    plan_cluster,
    plan_nodegroup,
)
from eks_devices.kubernetes import gate_is_on
from eks_devices.vocabulary import Feature, Verdict

BLOCK = Capacity.block("cr-0123456789abcdef0")
BOTTLEROCKET = OperatingSystem.BOTTLEROCKET


def group(name: str = "a", **options: Any) -> NodegroupSpec:
    given: dict[str, Any] = {"instance_type": "g6e.12xlarge", "max_size": 2}
    return NodegroupSpec(name=name, **(given | options))


def codes(version: str = "1.34", **options: Any) -> set[str]:
    plan = plan_nodegroup(group(**options), kubernetes_version=version)
    return {finding.code for finding in plan.findings}


def faults(version: str = "1.34", **options: Any) -> set[str]:
    with pytest.raises(EksDevicesError) as raised:
        plan_nodegroup(group(**options), kubernetes_version=version)
    return {one.code for one in raised.value.faults}


def test_groups_that_share_a_reservation_are_told():
    specs = [group(name, instance_type="p5.48xlarge", capacity=BLOCK) for name in "ab"]
    other = group("c", instance_type="p5.48xlarge", capacity=Capacity.block("cr-0123456789abcdef1"))

    plan = plan_cluster(kubernetes_version="1.34", nodegroups=[*specs, other])
    (told,) = [one for one in plan.findings if one.code == "SharedReservation"]

    assert told.path == "nodegroups.b.capacity"
    assert "groups a, b" in told.message


def test_a_block_with_nodes_from_the_start_is_told():
    options: dict[str, Any] = {"instance_type": "p5.48xlarge", "capacity": BLOCK}

    assert "CapacityBlockWithNodes" in codes(**options, min_size=1)
    assert "CapacityBlockWithNodes" in codes(**options, desired_size=1)
    assert "CapacityBlockWithNodes" not in codes(**options)
    assert "CapacityBlockWithNodes" not in codes(min_size=1)


def test_efa_on_a_plain_al2023_ami_is_not_certain():
    options: dict[str, Any] = {"instance_type": "c5n.18xlarge", "efa": True}

    assert "AmiDriverGap" in codes(**options)
    assert "AmiDriverGap" not in codes(**options, operating_system=BOTTLEROCKET)
    assert "AmiDriverGap" not in codes(instance_type="p5.48xlarge")


def test_a_release_whose_nodes_report_no_huge_pages_is_warned_of():
    options: dict[str, Any] = {
        "version": "1.33",
        "instance_type": "p5.48xlarge",
        "mechanism": Mechanism.DEVICE_PLUGIN,
    }

    assert "ReleaseToAvoid" in codes(**options, release_version="1.33.1-20250807")
    assert "ReleaseToAvoid" not in codes(**options, release_version="1.33.1-20250808")


def test_a_pinned_release_settles_the_warning_that_asks_for_it():
    options: dict[str, Any] = {"operating_system": BOTTLEROCKET, "mechanism": Mechanism.DRA}

    assert "GpuDraBottlerocket" in codes(**options)
    assert "GpuDraBottlerocket" not in codes(**options, release_version="1.63.0-0a1b2c3d")
    assert faults(**options, release_version="1.62.9-0a1b2c3d") == {"ReleaseTooOld"}


def test_another_manager_needs_a_bottlerocket_whose_plugin_can_be_off():
    options: dict[str, Any] = {
        "operating_system": BOTTLEROCKET,
        "mechanism": Mechanism.DEVICE_PLUGIN,
        "external": {DeviceType.GPU},
    }

    assert "ReleaseFloor" in codes(**options)
    assert "ReleaseFloor" not in codes(**options, release_version="1.63.0-0a1b2c3d")
    assert "ReleaseFloor" not in codes(**{**options, "external": ()})


def test_an_empty_group_of_compute_domains_is_not_sent_to_a_device_plugin():
    options: dict[str, Any] = {
        "instance_type": "p6e-gb200.36xlarge",
        "capacity": BLOCK,
        "autoscaled": True,
    }
    plan = plan_nodegroup(group(**options), kubernetes_version="1.34")

    (told,) = [one for one in plan.findings if one.code == "DraGroupAtZero"]

    assert told.fix == "use min_size=1 or a scheduled action"


def test_an_autoscaled_group_that_keeps_a_node_needs_no_warning():
    told = codes(autoscaled=True, mechanism=Mechanism.DRA, min_size=1)

    assert not told & {"DraGroupAtZero", "DeclaredAgainstDra"}


def test_every_fault_of_a_mapping_of_mechanisms_comes_at_once():
    mapping = {
        DeviceType.COMPUTE_DOMAIN: Mechanism.DEVICE_PLUGIN,
        DeviceType.NEURON: Mechanism.DRA,
        DeviceType.GPU: Mechanism.DRA,
    }

    assert faults("1.33", mechanism=mapping) == {
        "ComputeDomainNeedsDra",
        "DeviceNotOnNodegroup",
        "DraBelow134",
    }


def test_an_unknown_option_hides_no_fault_of_a_known_one():
    options = {"instance_type": "g6e.12xlarge", "max_size": 2, "efa2": 1, "efa": 99}

    with pytest.raises(EksDevicesError) as raised:
        plan_nodegroup(NodegroupSpec.from_options("a", options), kubernetes_version="1.34")

    assert [one.code for one in raised.value.faults] == ["UnknownOption", "TooManyEfaInterfaces"]


@pytest.mark.parametrize(
    ("feature", "device", "gate"),
    [
        (Feature.EXTENDED_RESOURCE, DeviceType.GPU, "DRAExtendedResource"),
        (Feature.DYNAMIC_MIG, DeviceType.GPU, "DRAPartitionableDevices"),
        (Feature.HEALTH_TAINTS, DeviceType.GPU, "DRADeviceTaints"),
        (Feature.HEALTH_TAINTS, DeviceType.NEURON, "DRADeviceTaints"),
        (Feature.DEVICE_TAINT_RULE, DeviceType.GPU, "DRADeviceTaintRules"),
    ],
)
@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36", "1.37"])
def test_a_feature_is_refused_exactly_while_its_gate_is_off(
    feature: Feature, device: DeviceType, gate: str, version: str
):
    support = device_support(
        device_type=device,
        mechanism=Mechanism.DRA,
        kubernetes_version=version,
        feature=feature,
    )

    assert (support.verdict is not Verdict.NO) == gate_is_on(gate, version)


def test_a_refusal_says_what_would_be_allowed():
    for version, options, allowed in (
        ("1.34", {"instance_type": "inf1.xlarge", "mechanism": Mechanism.DRA}, "DEVICE_PLUGIN"),
        ("1.33", {"mechanism": Mechanism.DRA}, "Mechanism.DEVICE_PLUGIN"),
    ):
        with pytest.raises(EksDevicesError) as raised:
            plan_nodegroup(group(**options), kubernetes_version=version)
        (fault,) = raised.value.faults
        assert allowed in fault.allowed
        assert fault.got == "'dra'"


@pytest.mark.parametrize("key", ["nvidia.com/gpu.clique", "resource.nvidia.com/computeDomain"])
def test_labels_of_the_driver_are_its_own_where_it_writes_them_only(key):
    joined: dict[str, Any] = {"instance_type": "p6e-gb200.36xlarge", "capacity": BLOCK}
    labels = {key: "a.0"}
    elsewhere = [
        {},
        joined | {"compute_domains": False},
        joined | {"external": {DeviceType.COMPUTE_DOMAIN}, "mechanism": Mechanism.DRA},
    ]

    assert faults(**joined, labels=labels) == {"LabelOfDriver"}
    for options in elsewhere:
        plan = plan_nodegroup(group(**options, labels=labels), kubernetes_version="1.34")
        assert plan.labels[key] == "a.0"


@pytest.mark.parametrize(
    ("options", "lacking"),
    [
        ({"instance_type": "trn2.48xlarge", "external": {DeviceType.GPU}}, ["gpu"]),
        ({"external": {DeviceType.GPU, DeviceType.EFA}}, ["efa"]),
        ({"external": {DeviceType.GPU, DeviceType.COMPUTE_DOMAIN}}, ["compute-domain"]),
        ({"external": {DeviceType.GPU}}, []),
        ({"external": {DeviceType.GPU, DeviceType.EFA}, "efa": 1}, []),
    ],
)
def test_a_foreign_device_type_that_a_group_lacks_is_told(options, lacking):
    given = group(mechanism=Mechanism.DRA, **options)
    plan = plan_nodegroup(given, kubernetes_version="1.34")

    found = [one for one in plan.findings if one.code == "ExternalDeviceNotOnNodegroup"]
    assert [(str(one.severity), one.path) for one in found] == [
        ("info", "nodegroups.a.external") for _ in lacking
    ]
    assert all(f"no {name}," in one.message for name, one in zip(lacking, found, strict=True))


NEURON_DRA = {DeviceType.NEURON: Mechanism.DRA, DeviceType.EFA: Mechanism.DEVICE_PLUGIN}
EFA_DRA = {DeviceType.NEURON: Mechanism.DEVICE_PLUGIN, DeviceType.EFA: Mechanism.DRA}
GPU_DRA = {DeviceType.GPU: Mechanism.DRA, DeviceType.EFA: Mechanism.DEVICE_PLUGIN}


@pytest.mark.parametrize(
    ("instance_type", "options", "expected"),
    [
        ("trn2.48xlarge", {"mechanism": NEURON_DRA}, 1),
        ("trn2.48xlarge", {"mechanism": EFA_DRA}, 1),
        ("p5.48xlarge", {"mechanism": GPU_DRA}, 1),
        ("trn2.48xlarge", {}, 0),
        ("trn2.48xlarge", {"mechanism": Mechanism.DEVICE_PLUGIN}, 0),
        ("trn2.48xlarge", {"mechanism": EFA_DRA, "operating_system": BOTTLEROCKET}, 0),
        ("trn2.48xlarge", {"mechanism": {DeviceType.NEURON: Mechanism.DRA}, "efa": False}, 0),
    ],
)
def test_efa_by_another_mechanism_than_the_accelerator_is_told_once(
    instance_type, options, expected
):
    spec = group(instance_type=instance_type, capacity=BLOCK, **options)
    told = plan_nodegroup(spec, kubernetes_version="1.36").findings

    found = [one for one in told if one.code == "EfaByOtherMechanism"]
    assert [(one.path, str(one.severity)) for one in found] == [
        ("nodegroups.a.mechanism", "info")
    ] * expected
