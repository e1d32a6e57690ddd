"""Node groups that EC2 or EKS would refuse: what is bought, started and placed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from tests.hostile import TOKEN, Hostile, UncomparedText
from tests.short_names import BOTTLEROCKET

from eks_devices import (
    Capacity,
    EksDevicesError,
    NodegroupPlan,
    NodegroupSpec,
    plan_cluster,
    plan_nodegroup,
)
from eks_devices.findings import shown

RESERVATION = "cr-0123456789abcdef0"
BLOCK, ODCR = Capacity.block(RESERVATION), Capacity.reservation(RESERVATION)
ARN = "arn:aws:resource-groups:us-east-2:111122223333:group/gpus"
ULTRA = Capacity.ultraserver_block(RESERVATION, nodes=18)
START = datetime(2026, 12, 5, 11, 30, tzinfo=UTC)
AMI = "ami-0123456789abcdef0"
G5: dict[str, Any] = {"instance_type": "g5.xlarge"}
P5: dict[str, Any] = {"instance_type": "p5.48xlarge"}
P6E: dict[str, Any] = {"instance_type": "p6e-gb200.36xlarge", "max_size": 18}


def group(name: str = "a", **options: Any) -> NodegroupSpec:
    given: dict[str, Any] = {"instance_type": "g6e.12xlarge", "max_size": 2}
    return NodegroupSpec(name=name, **(given | options))


def planned(version: str = "1.35", **options: Any) -> NodegroupPlan:
    return plan_nodegroup(group(**options), kubernetes_version=version)


def faults_of(**options: Any) -> list[str]:
    with pytest.raises(EksDevicesError) as caught:
        planned(**options)
    for one in caught.value.faults:
        assert one.got
        assert one.allowed
        assert one.fix
    return [f"{one.code} {one.path.removeprefix('nodegroups.a.')}" for one in caught.value.faults]


def codes_of(**options: Any) -> list[str]:
    return [one.code for one in planned(**options).findings]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # Capacity
        ({"instance_type": "g5.xlarge", "capacity": BLOCK}, "CapacityNotOffered capacity"),
        (P6E | {"capacity": Capacity.on_demand()}, "CapacityNotOffered capacity"),
        (P6E | {"capacity": Capacity.spot()}, "CapacityNotOffered capacity"),
        (P6E | {"capacity": ODCR}, "CapacityNotOffered capacity"),
        ({"instance_type": "trn2u.48xlarge", "capacity": Capacity.spot()},
         "CapacityNotOffered capacity"),
        (P5 | {"capacity": ULTRA}, "CapacityNotOffered capacity"),
        (P6E | {"capacity": Capacity.ultraserver_block(RESERVATION, nodes=12)},
         "UltraServerSize capacity.nodes"),
        ({"instance_type": "trn2u.48xlarge",
          "capacity": Capacity.ultraserver_block(RESERVATION, nodes=2)},
         "UltraServerSize capacity.nodes"),
        (P5 | {"capacity": Capacity.block(RESERVATION, start=START)},
         "StartWithoutNodes desired_size"),
        # Images
        ({"ami_id": "ami-xyz"}, "MalformedAmiId ami_id"),
        ({"ami_id": "resolve:ssm:/golden"}, "MalformedAmiId ami_id"),
        ({"ami_id": 5}, "WrongType ami_id"),
        ({"ami_id": AMI, "release_version": "1.35.2-20261023"},
         "ReleaseWithOwnImage release_version"),
        # Types
        (G5 | {"alternative_instance_types": "g5.2xlarge"},
         "WrongType alternative_instance_types"),
        (G5 | {"alternative_instance_types": [TOKEN]},
         "TokenNotAllowed alternative_instance_types[0]"),
        # Comparing a value with a name may raise.
        (G5 | {"alternative_instance_types": [Hostile(), "g5.2xlarge"]},
         "WrongType alternative_instance_types[0]"),
        (G5 | {"alternative_instance_types": ["g5.3xlarge"]},
         "UnknownInstanceType alternative_instance_types[0]"),
        (G5 | {"alternative_instance_types": ["g5.2xlarge", "g5.2xlarge"]},
         "RepeatedInstanceType alternative_instance_types[1]"),
        (G5 | {"alternative_instance_types": ["g5.xlarge"]},
         "RepeatedInstanceType alternative_instance_types[0]"),
        (G5 | {"alternative_instance_types": ["g6.xlarge"]},
         "InstanceTypesDiffer alternative_instance_types[0]"),
        (G5 | {"alternative_instance_types": ["g5.12xlarge"]},
         "InstanceTypesDiffer alternative_instance_types[0]"),
        (G5 | {"alternative_instance_types": ["g5g.xlarge"]},
         "InstanceTypesDiffer alternative_instance_types[0]"),
        (P5 | {"alternative_instance_types": ["p5e.48xlarge"]},
         "InstanceTypesDiffer alternative_instance_types[0]"),
        ({"instance_type": "trn1.32xlarge", "alternative_instance_types": ["trn1n.32xlarge"]},
         "InstanceTypesDiffer alternative_instance_types[0]"),
        ({"instance_type": "g5.8xlarge", "efa": 1, "alternative_instance_types": ["g5.4xlarge"]},
         "InstanceTypesDiffer alternative_instance_types[0]"),
        ({"instance_type": "g6.xlarge", "alternative_instance_types": ["g6f.xlarge"]},
         "InstanceTypesDiffer alternative_instance_types[0]"),
        ({"instance_type": "g5.xlarge", "alternative_instance_types": ["g5.2xlarge"],
          "capacity": ODCR}, "OneTypeInReservation alternative_instance_types"),
        # Placement
        (P5 | {"placement_group": True, "capacity": BLOCK},
         "PlacementGroupWithBlock placement_group"),
        (P5 | {"placement_group": "mine", "capacity": BLOCK},
         "PlacementGroupWithBlock placement_group"),
        ({"placement_group": ""}, "MalformedPlacementGroup placement_group"),
        ({"placement_group": "a" * 256}, "MalformedPlacementGroup placement_group"),
        ({"placement_group": 1}, "WrongType placement_group"),
        ({"placement_group": True, "subnet_count": 2}, "SubnetRequired subnet"),
        (P5 | {"subnet_count": 3}, "SubnetRequired subnet"),
        # Disks, Pods, memory
        ({"instance_type": "inf2.xlarge", "instance_store": True},
         "NoInstanceStore instance_store"),
        ({"instance_store": "RAID0"}, "WrongType instance_store"),
        ({"vpc_cni": False}, "MaxPodsNeeded max_pods"),
        ({"vpc_cni": "cilium"}, "WrongType vpc_cni"),
        (G5 | {"hugepages_2mi": 8192}, "HugePagesAboveMemory hugepages_2mi"),
        ({"hugepages_2mi": -1}, "OutOfRange hugepages_2mi"),
        # Tags
        ({"tags": ["a"]}, "WrongType tags"),
        ({"tags": {"aws:team": "a"}}, "ReservedTag tags[aws:team]"),
        ({"tags": {"a" * 129: "b"}}, f"MalformedTag tags['{'a' * 116}...]"),
        ({"tags": {"a": "b" * 257}}, "MalformedTag tags[a]"),
        ({"tags": {"a": 5}}, "WrongType tags[a]"),
        ({"tags": {str(n): "a" for n in range(51)}}, "TooManyTags tags"),
        # What constructs know
        ({"subnet_cidrs": "10.0.0.0/18"}, "WrongType subnet_cidrs"),
        ({"subnet_cidrs": ["10.0.0.0"]}, "MalformedCidr subnet_cidrs[0]"),
        ({"subnet_cidrs": ["10.0.0.0/18", "10.0.64.0/99"]}, "MalformedCidr subnet_cidrs[1]"),
        ({"subnet_cidrs": ["999.0.0.0/8"]}, "MalformedCidr subnet_cidrs[0]"),
        ({"subnet_cidrs": [10]}, "WrongType subnet_cidrs[0]"),
        ({"subnet_cidrs": [TOKEN]}, "TokenNotAllowed subnet_cidrs[0]"),
        ({"pool": 5}, "WrongType pool"),
        ({"pool": TOKEN}, "TokenNotAllowed pool"),
        ({"pool": "a b/xxxx"}, "MalformedLabelValue pool"),
        ({"pool": ""}, "MalformedLabelValue pool"),
        ({"pool": "a" * 64}, "MalformedLabelValue pool"),
        ({"scope_address": None}, "WrongType scope_address"),
    ],
)  # fmt: skip
def test_what_would_be_refused_is_a_fault(options: dict[str, Any], expected: str):
    assert faults_of(**options) == [expected]


def test_all_faults_of_a_group_come_together():
    found = faults_of(
        instance_type="g5.xlarge",
        capacity=BLOCK,
        ami_id="ami-xyz",
        placement_group=5,
        tags={"aws:a": "b"},
        hugepages_2mi=10_000,
        instance_store="yes",
        vpc_cni=False,
        kubelet={"maxPods": 5},
        launch_template_overrides={"UserData": "x"},
        user_data="#!/bin/bash",
        node_repair="yes",
        update=5,
    )

    options = {one.split()[1].partition(".")[0].partition("[")[0] for one in found}
    assert options == {
        "capacity", "ami_id", "placement_group", "tags", "hugepages_2mi", "instance_store",
        "max_pods", "kubelet", "launch_template_overrides", "user_data", "node_repair", "update",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("types", "limit"),
    [(["g5.2xlarge", "g5.4xlarge"], "g5.xlarge"), (["g5.16xlarge", "g5.8xlarge"], "g5.xlarge")],
)
def test_types_that_are_alike_share_a_group(types: list[str], limit: str):
    plan = planned(instance_type=limit, alternative_instance_types=types)

    assert plan.instance_types == (limit, *types)
    alone = planned(instance_type=limit)
    assert plan.devices == alone.devices
    assert plan.max_pods == alone.max_pods
    assert plan.replace_key != alone.replace_key


def test_another_order_of_types_is_a_new_group():
    one = planned(
        instance_type="g5.xlarge", alternative_instance_types=["g5.2xlarge", "g5.4xlarge"]
    )
    two = planned(
        instance_type="g5.xlarge", alternative_instance_types=["g5.4xlarge", "g5.2xlarge"]
    )

    assert one.replace_key != two.replace_key


def test_a_resource_group_of_reservations_may_hold_several_types():
    capacity = Capacity.reservation_group(ARN)

    plan = planned(
        instance_type="g5.xlarge", alternative_instance_types=["g5.2xlarge"], capacity=capacity
    )

    assert len(plan.instance_types) == 2


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (P5, True),
        (P5 | {"capacity": Capacity.spot()}, True),
        (P5 | {"efa": False}, False),
        (P5 | {"capacity": ODCR}, False),
        (P5 | {"capacity": BLOCK}, False),
        ({"instance_type": "g6e.12xlarge"}, False),
        ({"instance_type": "g6e.12xlarge", "efa": 1}, True),
        (P5 | {"placement_group": False}, False),
        (P5 | {"placement_group": "mine", "capacity": ODCR}, "mine"),
        ({"instance_type": "g6e.12xlarge", "placement_group": True}, True),
        (P6E | {"capacity": ULTRA}, False),
    ],
)
def test_placement_groups_are_made_where_they_help(options: dict[str, Any], expected: object):
    assert planned(**options).placement_group == expected


def test_a_new_placement_group_for_what_is_reserved_elsewhere_is_warned_of():
    assert "PlacementGroupWithReservation" in codes_of(**P5, capacity=ODCR, placement_group=True)
    assert "PlacementGroupWithReservation" not in codes_of(
        **P5, capacity=ODCR, placement_group="mine"
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (P5, True),
        (P5 | {"instance_store": False}, False),
        (P5 | {"operating_system": BOTTLEROCKET}, False),
        (P5 | {"operating_system": BOTTLEROCKET, "instance_store": True}, True),
        ({"instance_type": "inf2.xlarge"}, False),
    ],
)
def test_local_disks_are_used_where_there_are_some(options: dict[str, Any], expected: bool):
    assert planned(**options).instance_store is expected


def test_nodes_come_when_the_reservation_starts():
    plan = planned(
        **P5, capacity=Capacity.block(RESERVATION, start=START), min_size=1, desired_size=2
    )

    assert plan.scheduled_size is not None
    assert plan.scheduled_size.to_dict() == {
        "at": "2026-12-05T11:30:00",
        "sizes": {"min": 1, "desired": 2, "max": 2},
    }
    assert (plan.min_size, plan.desired_size, plan.max_size) == (0, None, 2)
    assert "CapacityBlockWithNodes" not in [one.code for one in plan.findings]


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        ({"autoscaled": True}, True),
        (P5 | {"capacity": Capacity.block(RESERVATION, start=START), "desired_size": 1}, True),
        (P5 | {"capacity": BLOCK}, False),
    ],
)
def test_a_desired_size_that_is_left_out_is_warned_of(options: dict[str, Any], warned: bool):
    found = codes_of(**options)

    assert ("DesiredSizeLeftOut" in found) is warned


def test_a_start_and_an_ultraserver_change_no_identity():
    plain = planned(**P6E, capacity=BLOCK)
    named = planned(
        **P6E,
        desired_size=18,
        capacity=Capacity.ultraserver_block(RESERVATION, nodes=18, start=START),
    )

    assert plain.replace_key == named.replace_key


def test_an_ultraserver_that_is_not_named_is_told():
    assert "UltraServerNotNamed" in codes_of(**P6E, capacity=BLOCK)
    assert "UltraServerNotNamed" not in codes_of(**P6E, capacity=ULTRA)


def test_more_nodes_than_the_ultraserver_has_are_warned_of():
    nine = Capacity.ultraserver_block(RESERVATION, nodes=9)

    assert "BeyondUltraServer" in codes_of(**P6E, capacity=nine)
    assert "BeyondUltraServer" not in codes_of(**P6E, capacity=ULTRA)


@pytest.mark.parametrize(("size", "warned"), [(64, False), (65, True)])
def test_more_nodes_than_a_block_can_have_are_warned_of(size: int, warned: bool):
    found = codes_of(**P5, capacity=BLOCK, max_size=size)

    assert ("CapacityBlockLimit" in found) is warned


@pytest.mark.parametrize(("size", "warned"), [(51, False), (52, True)])
def test_more_instances_in_blocks_than_a_day_allows_are_warned_of(size: int, warned: bool):
    specs = [
        group(f"g{n}", **P5, max_size=size, capacity=Capacity.block(f"cr-0123456789abcdef{n}"))
        for n in range(5)
    ]

    plan = plan_cluster(kubernetes_version="1.35", nodegroups=specs)

    assert ("CapacityBlocksADay" in [one.code for one in plan.findings]) is warned


def test_groups_on_one_block_do_not_add_up():
    specs = [group(f"g{n}", **P5, max_size=60, capacity=BLOCK) for n in range(5)]

    plan = plan_cluster(kubernetes_version="1.35", nodegroups=specs)

    assert "CapacityBlocksADay" not in [one.code for one in plan.findings]


@pytest.mark.parametrize(("size", "warned"), [(450, False), (451, True)])
def test_more_nodes_than_the_quota_are_warned_of(size: int, warned: bool):
    assert ("ManyNodes" in codes_of(max_size=size)) is warned


@pytest.mark.parametrize(("count", "warned"), [(30, False), (31, True)])
def test_the_31st_group_is_warned_of(count: int, warned: bool):
    specs = [group(f"g{n}") for n in range(count)]

    plan = plan_cluster(kubernetes_version="1.35", nodegroups=specs)
    told = [one for one in plan.findings if one.code == "ManyNodegroups"]

    assert bool(told) is warned
    assert all(one.path == "nodegroups.g30" for one in told)


@pytest.mark.parametrize(
    ("options", "quota", "vcpus"),
    [
        (P5 | {"max_size": 4}, "Running On-Demand P instances", 768),
        (P5 | {"max_size": 4, "capacity": Capacity.spot()}, "All P Spot Instance Requests", 768),
        (P5 | {"max_size": 1, "capacity": ODCR}, "Running On-Demand P instances", 192),
        (G5 | {"max_size": 2}, "Running On-Demand G and VT instances", 8),
        ({"instance_type": "trn1.2xlarge"}, "Running On-Demand Trn instances", 16),
        ({"instance_type": "inf2.xlarge"}, "Running On-Demand Inf instances", 8),
        (G5 | {"max_size": 1, "alternative_instance_types": ["g5.4xlarge"]},
         "Running On-Demand G and VT instances", 16),
    ],
)  # fmt: skip
def test_the_quota_that_nodes_count_against_is_told(
    options: dict[str, Any], quota: str, vcpus: int
):
    (told,) = [one for one in planned(**options).findings if one.code == "VcpuQuota"]

    assert f"{vcpus} vCPUs" in told.message
    assert quota in told.message


def test_blocks_count_against_no_quota():
    assert "VcpuQuota" not in codes_of(**P5, capacity=BLOCK)


@pytest.mark.parametrize(
    ("options", "addresses"),
    [
        # 49 Pods with addresses of their own on the one interface that has some, and its own.
        (P5, 50),
        (P5 | {"high_ip_bandwidth": True}, 57),
        (P5 | {"max_pods": 20, "vpc_cni": False}, 1),
        (P5 | {"high_ip_bandwidth": True, "max_pods": 20, "vpc_cni": False}, 8),
        # 108 Pods on interfaces of 15 addresses, of which one is the interface's.
        ({"instance_type": "g5.xlarge", "max_pods": 58}, 60),
    ],
)
def test_a_node_takes_an_address_for_each_interface_and_pod(
    options: dict[str, Any], addresses: int
):
    assert planned(**options).addresses == addresses


@pytest.mark.parametrize(("size", "warned"), [(5, False), (6, True)])
def test_more_addresses_than_a_subnet_has_are_warned_of(size: int, warned: bool):
    options = P5 | {"max_size": size, "subnet_cidrs": ["10.0.0.0/24"], "subnet_count": 1}

    plan = plan_cluster(kubernetes_version="1.35", nodegroups=[group(**options)])
    told = [one for one in plan.findings if one.code == "IpBudget"]

    assert bool(told) is warned
    assert all("has 251" in one.message for one in told)


def test_groups_in_one_subnet_share_its_addresses():
    specs = [
        group(f"g{n}", **P5, max_size=3, subnet_cidrs=["10.0.0.0/24"], subnet_count=1)
        for n in range(2)
    ]

    plan = plan_cluster(kubernetes_version="1.35", nodegroups=specs)

    (told,) = [one for one in plan.findings if one.code == "IpBudget"]
    assert "g0, g1" in told.message


def test_subnets_whose_range_is_unknown_are_not_judged():
    plan = plan_cluster(kubernetes_version="1.35", nodegroups=[group(**P5, max_size=400)])

    assert "IpBudget" not in [one.code for one in plan.findings]


def test_pods_under_another_cni_need_no_addresses_of_the_interfaces():
    found = codes_of(**P5, vpc_cni=False, max_pods=200)

    assert "MaxPodsAboveAddresses" not in found
    assert "VpcCniFloor" not in found
    assert "MaxPodsAboveAddresses" in codes_of(**P5, max_pods=200)


def test_what_is_on_an_image_of_the_user_is_not_judged():
    plan = planned(instance_type="g7.12xlarge", ami_id=AMI)

    assert plan.ami_type == "CUSTOM"
    codes = [one.code for one in plan.findings]
    assert "OwnImage" in codes
    assert "AmiDriverGap" not in codes


@pytest.mark.parametrize("name", ["al2", "AL2_x86_64_GPU", "amazon-linux-2"])
def test_amazon_linux_2_is_refused_with_the_reason(name: Any):
    with pytest.raises(EksDevicesError) as caught:
        planned(operating_system=name)

    (one,) = caught.value.faults
    assert one.code == "AmazonLinux2"
    assert "1.33" in one.message


def test_an_image_may_be_a_token():
    assert planned(ami_id=TOKEN).ami_id == TOKEN
    assert planned(ami_id=TOKEN).to_dict()["ami_id"] == "a token"


def test_a_pool_has_a_label_that_its_groups_share():
    first, second = (planned(name=name, pool="trn2") for name in ("trn2-may", "trn2-june"))

    assert first.labels["eks-devices/nodegroup-pool"] == "trn2"
    assert second.labels["eks-devices/nodegroup-pool"] == "trn2"
    assert "eks-devices/nodegroup-pool" not in planned().labels


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda make: make.block(RESERVATION, start=START.replace(tzinfo=None)),
         "WrongType capacity.start"),
        (lambda make: make.block(RESERVATION, start="2026-12-05"), "WrongType capacity.start"),
        (lambda make: make.reservation(RESERVATION, start=5), "WrongType capacity.start"),
        (lambda make: make.ultraserver_block("x", nodes=9),
         "MalformedReservation capacity.reservation_id"),
        (lambda make: make.ultraserver_block(RESERVATION, nodes="9"), "WrongType capacity.nodes"),
        (lambda make: make.ultraserver_block(RESERVATION, nodes=True), "WrongType capacity.nodes"),
        (lambda make: make.ultraserver_block(RESERVATION, nodes=0), "OutOfRange capacity.nodes"),
    ],
)  # fmt: skip
def test_a_wrong_capacity_is_told_where_it_is_made(make: Any, expected: str):
    with pytest.raises(EksDevicesError) as caught:
        make(Capacity)

    assert [f"{one.code} {one.path}" for one in caught.value.faults] == [expected]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"instance_type": "g6.16xlarge", "max_pods": 200,
          "alternative_instance_types": ["g6.xlarge"]}, "OutOfRange"),
        ({"instance_type": "trn2.48xlarge", "capacity": Capacity.spot(), "efa": True,
          "alternative_instance_types": ["trn2u.48xlarge"]}, "CapacityNotOffered"),
        ({"instance_type": "c6id.32xlarge", "efa": True, "instance_store": True,
          "alternative_instance_types": ["c6i.32xlarge"]}, "NoInstanceStore"),
        ({"instance_type": "g5.16xlarge", "hugepages_2mi": 20_000,
          "alternative_instance_types": ["g5.xlarge"]}, "HugePagesAboveMemory"),
    ],
)  # fmt: skip
def test_alternative_types_are_judged_as_the_first_is(options: dict[str, Any], code: str):
    assert faults_of(**options) == [f"{code} alternative_instance_types[0]"]


def test_the_smallest_alternative_bounds_the_pods():
    options: dict[str, Any] = {"instance_type": "g6.16xlarge", "max_pods": 60}

    assert "MaxPodsAboveAddresses" not in codes_of(**options)
    assert "MaxPodsAboveAddresses" in codes_of(**options, alternative_instance_types=["g6.xlarge"])


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        (Capacity.block(RESERVATION), Capacity.block(RESERVATION, key="may"), True),
        (Capacity.block(RESERVATION, key="a"),
         Capacity.block("cr-0123456789abcdef1", key="a"), False),
        (Capacity.block(TOKEN, key="a"), Capacity.block("${Token[TOKEN.8]}", key="a"), True),
        (Capacity.block(TOKEN, key="a"), Capacity.block(TOKEN, key="b"), False),
    ],
)  # fmt: skip
def test_groups_share_a_reservation_by_its_id(first: Capacity, second: Capacity, shared: bool):
    specs = [group(name, **P5, capacity=one) for name, one in (("a", first), ("b", second))]

    plan = plan_cluster(kubernetes_version="1.35", nodegroups=specs)

    assert ("SharedReservation" in [one.code for one in plan.findings]) is shared


@pytest.mark.parametrize(
    "start",
    [
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
        datetime(9999, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=-12))),
    ],
)
def test_a_start_that_utc_has_no_time_for_is_refused(start: datetime):
    with pytest.raises(EksDevicesError) as caught:
        Capacity.block(RESERVATION, start=start)

    assert [one.path for one in caught.value.faults] == ["capacity.start"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"ultraserver": "no"}, "WrongType capacity.ultraserver"),
        ({"nodes": 4}, "ReservationNotUsed capacity.nodes"),
    ],
)
def test_a_capacity_made_by_hand_is_judged_whole(values: dict[str, Any], expected: str):
    any_capacity: Any = Capacity
    capacity = any_capacity(kind=BLOCK.kind, reservation_id=RESERVATION, **values)

    assert faults_of(**P5, capacity=capacity) == [expected]


def test_a_value_of_many_values_is_shown_by_its_size():
    bomb: Any = {}
    for _ in range(40):
        bomb = {"a": bomb, "b": bomb}

    assert shown(bomb) == "a dict of many values"


def test_lists_and_options_of_another_kind_of_text_are_the_texts():
    options = {"instance_type": "g5.xlarge", "max_size": 1}
    types, cidrs = ["g5.2xlarge"], ["10.0.0.0/18"]
    plain = NodegroupSpec.from_options(
        "a", options | {"alternative_instance_types": types}, subnet_cidrs=cidrs
    )
    odd = NodegroupSpec.from_options(
        "a",
        options | {UncomparedText("alternative_instance_types"): (UncomparedText(types[0]),)},
        subnet_cidrs=tuple(map(UncomparedText, cidrs)),
    )

    assert plan_nodegroup(odd, kubernetes_version="1.35") == plan_nodegroup(
        plain, kubernetes_version="1.35"
    )
