"""What users of accelerated nodes reported, each as the behaviour that would have spared them.

tests/contract/user_reports.toml says which report each test is for. Expected values are written by
hand from the reports and the vendors' pages, not read from the library's data.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.hostile import TOKEN

from eks_devices import (
    AcceleratedInstanceType,
    Capacity,
    CapacityKind,
    DeviceType,
    DriverRelease,
    EksDevicesError,
    Finding,
    Mechanism,
    NodegroupOptions,
    NodegroupPlan,
    NodegroupSpec,
    OperatingSystem,
    plan_cluster,
    plan_nodegroup,
)
from eks_devices.addons import addon_faults

ID = "cr-0123456789abcdef0"
ARN = "arn:aws:resource-groups:us-east-2:111122223333:group/training"
BLOCK = Capacity.block(ID)
TYPES = AcceleratedInstanceType.all()
WITH_EFA = [one for one in TYPES if one.max_efa_interfaces]
P5: dict[str, Any] = {"instance_type": "p5.48xlarge"}
# Values that no signature would let pass.
any_capacity: Any = Capacity


def group(**options: Any) -> NodegroupSpec:
    given: dict[str, Any] = {"name": "a", "instance_type": "g6e.12xlarge", "max_size": 2}
    return NodegroupSpec(**(given | options))


def planned(**options: Any) -> NodegroupPlan:
    return plan_nodegroup(group(**options), kubernetes_version="1.35")


def of_type(name: str, **options: Any) -> NodegroupPlan:
    """A group of a type, bought in a way that EC2 sells it."""
    capacity = BLOCK if name.startswith("p6e") else Capacity.on_demand()
    return planned(instance_type=name, capacity=capacity, **options)


def faults_of(call: Callable[[], object]) -> list[Finding]:
    with pytest.raises(EksDevicesError) as caught:
        call()
    assert all(one.message and one.got and one.allowed and one.fix for one in caught.value.faults)
    return list(caught.value.faults)


def codes(call: Callable[[], object]) -> list[str]:
    return [one.code for one in faults_of(call)]


# EFA interfaces


@pytest.mark.parametrize(
    ("name", "cards", "efas"),
    [
        ("p5.48xlarge", 32, 32),
        ("p6-b200.48xlarge", 8, 8),
        ("p6-b300.48xlarge", 17, 16),
        ("p6e-gb200.36xlarge", 17, 4),
        ("i7ie.48xlarge", 2, 1),
    ],
)
def test_the_number_of_efas_is_that_of_the_type_and_not_of_its_cards(
    name: str, cards: int, efas: int
):
    plan = of_type(name, efa=True)
    kinds = [one.interface_type for one in plan.network_interfaces]

    assert len(AcceleratedInstanceType.of(name).network_cards) == cards
    assert sum(kind != "interface" for kind in kinds) == efas


@pytest.mark.parametrize("name", ["p9.48xlarge", "p6-b200.96xlarge", "m7i.large"])
def test_a_type_whose_interfaces_are_not_known_is_refused(name: str):
    assert codes(lambda: planned(instance_type=name)) == ["UnknownInstanceType"]


def test_interfaces_are_derived_and_cannot_be_written_by_hand():
    places = [
        (one.network_card_index, one.device_index, one.interface_type)
        for one in of_type("p4d.24xlarge").network_interfaces
    ]
    own = {"NetworkInterfaces": [{"NetworkCardIndex": 1, "DeviceIndex": 0}]}
    overrides = {"launch_template_overrides": own}

    assert places == [
        (0, 0, "interface"),
        (0, 1, "efa-only"),
        (1, 0, "efa-only"),
        (2, 0, "efa-only"),
        (3, 0, "efa-only"),
    ]
    words = ("index", "card", "interface")
    assert not [name for name in NodegroupOptions.__annotations__ if any(w in name for w in words)]
    (told,) = faults_of(lambda: planned(instance_type="p4d.24xlarge", **overrides))
    assert (told.code, told.path.rpartition(".")[2]) == (
        "ForbiddenTemplateField",
        "NetworkInterfaces",
    )


def test_the_primary_interface_is_plain_and_efas_take_no_address():
    for each in WITH_EFA:
        first, *others = of_type(each.name, efa=True).network_interfaces

        assert (first.network_card_index, first.device_index) == (0, 0)
        assert first.interface_type == "interface"
        assert {one.interface_type for one in others} == {"efa-only"}


def test_a_user_may_have_fewer_efas_than_all():
    for count in (1, 2, 8, 31):
        kinds = [one.interface_type for one in planned(**P5, efa=count).network_interfaces]

        assert kinds.count("efa-only") == count
    assert len(planned(**P5).network_interfaces) == 1 + 32


# The accelerators of each pair are the same.
@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("g6e.12xlarge", "g6e.24xlarge"),
        ("trn1.32xlarge", "trn1n.32xlarge"),
        ("p5e.48xlarge", "p5en.48xlarge"),
    ],
)
def test_types_of_different_interfaces_do_not_share_a_group(name: str, other: str):
    options: dict[str, Any] = {"instance_type": name, "alternative_instance_types": [other]}

    assert codes(lambda: planned(**options, efa=True)) == ["InstanceTypesDiffer"]
    assert planned(**options, efa=False).instance_types == (name, other)


def test_a_vpc_cni_that_gives_pods_addresses_of_efas_is_refused_and_the_floor_told():
    (told,) = [one for one in planned(**P5).findings if one.code == "VpcCniFloor"]

    assert "1.18.5" in told.fix
    assert "VpcCniFloor" not in [one.code for one in planned(**P5, efa=False).findings]
    assert [one.code for one in addon_faults({"vpc-cni": "v1.18.4-eksbuild.1"})] == ["AddonTooOld"]
    assert [*addon_faults({"vpc-cni": "v1.18.5-eksbuild.1"})] == []


# Reservations, placement, zones


@pytest.mark.parametrize(
    "make",
    [
        lambda: Capacity.block(""),
        lambda: Capacity.reservation(""),
        lambda: Capacity.reservation_group(""),
        lambda: Capacity.ultraserver_block("", nodes=9),
        lambda: planned(**P5, capacity=any_capacity(kind=CapacityKind.CAPACITY_BLOCK)),
        lambda: planned(**P5, capacity=any_capacity(kind=CapacityKind.RESERVATION)),
    ],
)
def test_a_reservation_without_a_target_is_refused(make: Callable[[], object]):
    assert codes(make) == ["MalformedReservation"]


@pytest.mark.parametrize("name", ["Capacity", "capacityReservation", "capacity_reservation_id"])
def test_a_reservation_under_a_wrong_name_is_never_dropped(name: str):
    options = {"instance_type": "p5.48xlarge", "max_size": 2, name: BLOCK}
    call = lambda: plan_nodegroup(  # noqa: E731
        NodegroupSpec.from_options("a", options), kubernetes_version="1.35"
    )

    (told,) = faults_of(call)
    assert (told.code, told.path) == ("UnknownOption", f"nodegroups.a.{name}")


def test_a_reservation_is_named_by_its_id_or_its_group_and_not_by_both():
    both = any_capacity(kind=CapacityKind.RESERVATION, reservation_id=ID, resource_group_arn=ARN)

    assert {*codes(lambda: planned(**P5, capacity=both))} == {"ReservationNotUsed"}
    assert planned(**P5, capacity=Capacity.reservation(ID)).capacity.reservation_id == ID
    by_group = planned(**P5, capacity=Capacity.reservation_group(ARN)).capacity
    assert (by_group.reservation_id, by_group.resource_group_arn) == ("", ARN)


@pytest.mark.parametrize(
    "options",
    [
        P5,
        {"instance_type": "g6e.12xlarge", "efa": 1},
        {"instance_type": "g6e.12xlarge", "placement_group": True},
        {"instance_type": "g6e.12xlarge", "capacity": Capacity.reservation(ID)},
    ],
)
def test_nodes_that_cannot_leave_a_zone_must_name_its_subnet(options: dict[str, Any]):
    assert codes(lambda: planned(**options, subnet_count=2)) == ["SubnetRequired"]
    assert planned(**options, subnet_count=1).name == "a"


# Images and drivers

FAMILIES = {
    "AL2023_x86_64_NEURON": "inf1 inf2 trn1 trn1n trn2 trn2u",
    "AL2023_ARM_64_NVIDIA": "g5g p6e-gb200",
    "AL2023_x86_64_NVIDIA": (
        "g4dn g5 g6 g6e g6f g7 g7e gr6 gr6f p3 p3dn p4d p4de p5 p5e p5en p6-b200 p6-b300"
    ),
}
AMI_OF = {family: ami for ami, families in FAMILIES.items() for family in families.split()}


@pytest.mark.parametrize("each", TYPES, ids=lambda each: each.name)
def test_every_type_gets_the_image_with_the_driver_of_its_accelerator(
    each: AcceleratedInstanceType,
):
    assert of_type(each.name).ami_type == AMI_OF[each.name.partition(".")[0]]


@pytest.mark.parametrize(
    ("name", "ami_type"),
    [
        ("g6e.12xlarge", "BOTTLEROCKET_x86_64_NVIDIA"),
        ("g5g.xlarge", "BOTTLEROCKET_ARM_64_NVIDIA"),
        # The plain variant has Neuron's driver.
        ("inf2.xlarge", "BOTTLEROCKET_x86_64"),
    ],
)
def test_bottlerocket_comes_in_the_variant_with_the_driver(name: str, ami_type: str):
    plan = of_type(name, operating_system=OperatingSystem.BOTTLEROCKET)

    assert plan.ami_type == ami_type


def test_nobody_gets_amazon_linux_2():
    for each in TYPES:
        plan = of_type(each.name)

        assert plan.operating_system is OperatingSystem.AL2023
        assert plan.ami_type.startswith("AL2023_")


# Managers


def test_the_pinned_efa_plugin_is_new_enough_for_every_type():
    # Before 0.5.10 two NVLink devices of p6-b200 counted as EFAs; p6e-gb200 needs 0.5.14.
    release = DriverRelease.of(device_type=DeviceType.EFA, mechanism=Mechanism.DEVICE_PLUGIN)
    found = re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)(-eksbuild\.\d+)?", release.tag)

    assert found is not None
    assert tuple(map(int, found.groups()[:3])) >= (0, 5, 14)


def test_only_nodes_with_efas_carry_the_label_of_an_efa_manager():
    without = ["g6e.4xlarge", "g5.xlarge", "inf2.48xlarge", "trn1.2xlarge"]
    plans = [of_type(name) for name in without]
    plans += [of_type(each.name, efa=False) for each in WITH_EFA]

    assert not [key for plan in plans for key in plan.labels if "efa" in key]
    for each in WITH_EFA:
        labels = of_type(each.name, efa=1).labels
        assert {"eks-devices/efa", "eks-devices/efa-manager"} <= labels.keys()


@pytest.mark.parametrize("name", ["trn2.48xlarge", "p5.48xlarge", "p6-b300.48xlarge"])
def test_nodes_can_be_without_efa_where_their_hardware_has_none(name):
    plan = of_type(name, efa=False)

    assert {one.interface_type for one in plan.network_interfaces} <= {"interface"}
    assert DeviceType.EFA not in {one.device_type for one in plan.devices}
    whole = plan_cluster(
        kubernetes_version="1.35",
        nodegroups=[NodegroupSpec(name="a", instance_type=name, max_size=2, efa=False)],
    )
    assert DeviceType.EFA not in {one.device_type for one in whole.drivers}


def test_nodes_with_gpus_say_so_without_node_feature_discovery():
    for each in TYPES:
        labels = of_type(each.name).labels
        expected = "true" if each.device_type is DeviceType.GPU else None

        assert labels.get("nvidia.com/gpu.present") == expected


def test_a_cluster_gets_no_manager_of_devices_that_no_group_has():
    for name, kinds in {
        "inf2.xlarge": {"neuron"},
        "trn2.48xlarge": {"neuron", "efa"},
        "g6e.12xlarge": {"gpu"},
        "p5.48xlarge": {"gpu", "efa"},
    }.items():
        plan = plan_cluster(kubernetes_version="1.35", nodegroups=[group(instance_type=name)])

        assert {str(one.device_type) for one in plan.drivers} == kinds
    assert plan_cluster(kubernetes_version="1.35", nodegroups=[]).drivers == ()


@pytest.mark.parametrize("external", [(), {DeviceType.GPU}])
def test_dra_is_refused_on_a_bottlerocket_that_cannot_switch_its_own_plugin_off(external: Any):
    options: dict[str, Any] = {
        "operating_system": OperatingSystem.BOTTLEROCKET,
        "mechanism": Mechanism.DRA,
        "external": external,
    }

    assert codes(lambda: planned(**options, release_version="1.62.9-0a1b2c3d")) == ["ReleaseTooOld"]
    plan = planned(**options, release_version="1.63.0-0a1b2c3d")
    assert plan.bottlerocket_settings["settings.kubelet-device-plugins.nvidia.enabled"] is False


# CloudFormation


def test_a_type_that_is_known_at_deployment_only_is_refused_with_what_to_do():
    (told,) = faults_of(lambda: planned(instance_type=TOKEN))

    assert (told.code, told.path) == ("TokenNotAllowed", "nodegroups.a.instance_type")
    assert "literal" in f"{told.message} {told.allowed} {told.fix}"


@pytest.mark.parametrize(
    "sizes",
    [
        {"min_size": 3},
        {"desired_size": 3},
        {"min_size": 2, "desired_size": 1},
        {"min_size": 3, "autoscaled": True},
    ],
)
def test_sizes_that_eks_would_refuse_are_refused(sizes: dict[str, Any]):
    assert codes(lambda: planned(max_size=2, **sizes))[0] == "SizesOutOfOrder"


@pytest.mark.parametrize(
    ("instance_type", "subnets", "told"),
    [("inf2.48xlarge", 2, True), ("inf2.48xlarge", 1, False), ("g6e.12xlarge", 2, False)],
)
def test_a_type_of_few_zones_in_several_subnets_is_told(
    instance_type: str, subnets: int, told: bool
):
    spec = NodegroupSpec(name="a", instance_type=instance_type, max_size=1, subnet_count=subnets)

    plan = plan_nodegroup(spec, kubernetes_version="1.34")

    assert ("SeveralZones" in [one.code for one in plan.findings]) is told
