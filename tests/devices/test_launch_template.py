"""The data of launch templates as a pure function of plans."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from eks_devices import (
    Capacity,
    EksDevicesError,
    NodegroupPlan,
    NodegroupSpec,
    OperatingSystem,
    plan_nodegroup,
)
from eks_devices.launch_template import node_data, tag_specifications, template_data

BLOCK = "cr-0123456789abcdef0"
ARN = "arn:aws:resource-groups:us-east-2:111122223333:group/p5"
GROUPS = ["sg-0", "${Token[TOKEN.3]}"]


def plan_of(**options: Any) -> NodegroupPlan:
    given: dict[str, Any] = {"name": "a", "instance_type": "p5.48xlarge", "max_size": 2}
    return plan_nodegroup(NodegroupSpec(**(given | options)), kubernetes_version="1.34")


def data_of(**options: Any) -> dict[str, Any]:
    return template_data(plan_of(**options), security_group_ids=GROUPS)


def codes(**options: Any) -> list[str]:
    with pytest.raises(EksDevicesError) as raised:
        plan_of(**options)
    return [one.code for one in raised.value.faults]


def test_security_groups_stand_in_the_interfaces_or_at_the_top_never_in_both():
    with_efa, without = data_of(), data_of(efa=False)

    assert len(with_efa["NetworkInterfaces"]) > 1
    assert all(one["Groups"] == GROUPS for one in with_efa["NetworkInterfaces"])
    assert "SecurityGroupIds" not in with_efa
    assert without["SecurityGroupIds"] == GROUPS
    assert "NetworkInterfaces" not in without


def test_one_type_stands_in_the_template_and_several_in_the_group():
    several = {"instance_type": "g5.xlarge", "alternative_instance_types": ["g5.2xlarge"]}

    assert data_of()["InstanceType"] == "p5.48xlarge"
    assert "InstanceType" not in data_of(**several)


def test_what_a_group_does_not_have_is_left_out():
    assert data_of(efa=False).keys() == {
        "InstanceType",
        "SecurityGroupIds",
        "BlockDeviceMappings",
        "MetadataOptions",
        "TagSpecifications",
    }


def test_what_only_the_construct_knows_is_drawn_as_it_is():
    image = "ami-0123456789abcdef0"
    plan = plan_of(ami_id=image)

    data = template_data(
        plan, security_group_ids=GROUPS, placement_group="near", user_data="bWluZQ=="
    )

    assert data["Placement"] == {"GroupName": "near"}
    assert data["UserData"] == "bWluZQ=="
    assert data["ImageId"] == image


@pytest.mark.parametrize(
    ("capacity", "market", "reservation"),
    [
        (Capacity.on_demand(), None, None),
        (Capacity.spot(), None, None),
        (
            Capacity.reservation(BLOCK),
            None,
            {"CapacityReservationTarget": {"CapacityReservationId": BLOCK}},
        ),
        (
            Capacity.block(BLOCK),
            {"MarketType": "capacity-block"},
            {"CapacityReservationTarget": {"CapacityReservationId": BLOCK}},
        ),
        (
            Capacity.reservation_group(ARN),
            None,
            {
                "CapacityReservationPreference": "capacity-reservations-only",
                "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": ARN},
            },
        ),
    ],
)
def test_instances_are_bought_as_the_group_says(capacity: Capacity, market: Any, reservation: Any):
    data = data_of(capacity=capacity, efa=False)

    assert data.get("InstanceMarketOptions") == market
    assert data.get("CapacityReservationSpecification") == reservation


def test_pods_are_kept_from_the_credentials_of_the_node_role():
    assert data_of()["MetadataOptions"] == {"HttpTokens": "required", "HttpPutResponseHopLimit": 1}


@pytest.mark.parametrize(
    ("system", "device"),
    [(OperatingSystem.AL2023, "/dev/xvda"), (OperatingSystem.BOTTLEROCKET, "/dev/xvdb")],
)
def test_images_have_an_encrypted_volume_of_useful_size(system: OperatingSystem, device: str):
    for size, options in ((200, {}), (500, {"disk_gib": 500})):
        data = data_of(operating_system=system, **options)

        assert data["BlockDeviceMappings"] == [
            {
                "DeviceName": device,
                "Ebs": {
                    "VolumeSize": size,
                    "VolumeType": "gp3",
                    "Encrypted": True,
                    "DeleteOnTermination": True,
                },
            }
        ]


def test_the_volume_may_be_as_large_as_its_type_allows():
    (disk,) = data_of(disk_gib=65_536)["BlockDeviceMappings"]
    smaller = {"BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeType": "gp2"}}]}

    assert disk["Ebs"]["VolumeSize"] == 65_536
    assert codes(disk_gib=65_537) == ["OutOfRange"]
    assert codes(disk_gib=16_385, launch_template_overrides=smaller) == ["OutOfRange"]


def test_instances_and_volumes_are_tagged_in_a_stable_order():
    ways = [
        data_of(tags=dict(order))["TagSpecifications"]
        for order in itertools.permutations([("team", "ml"), ("cost", "42"), ("Zone", "x")])
    ]

    assert all(one == ways[0] for one in ways)
    assert [one["ResourceType"] for one in ways[0]] == ["instance", "volume"]
    for one in ways[0]:
        assert {tag["Key"]: tag["Value"] for tag in one["Tags"]} == {
            "Name": "a",
            "team": "ml",
            "cost": "42",
            "Zone": "x",
        }


def test_a_name_of_the_user_names_the_instances():
    (instance, _) = data_of(tags={"Name": "mine"})["TagSpecifications"]

    assert instance["Tags"] == [{"Key": "Name", "Value": "mine"}]


def test_instances_have_fifty_tags_at_most_and_their_name_is_one():
    many = dict.fromkeys(map(str, range(49)), "")

    assert len(data_of(tags=many)["TagSpecifications"][0]["Tags"]) == 50
    assert len(data_of(tags={"Name": "a", **many})["TagSpecifications"][0]["Tags"]) == 50
    assert codes(tags={"49": "", **many}) == ["TooManyTags"]


def test_overrides_are_laid_over_and_the_rest_stays():
    overrides = {
        "MetadataOptions": {"HttpPutResponseHopLimit": 2},
        "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"Iops": 6000}}],
    }

    before, after = data_of(), data_of(launch_template_overrides=overrides)

    assert after["MetadataOptions"] == {"HttpTokens": "required", "HttpPutResponseHopLimit": 2}
    (disk,) = after["BlockDeviceMappings"]
    assert disk["Ebs"] == before["BlockDeviceMappings"][0]["Ebs"] | {"Iops": 6000}
    changed = {"MetadataOptions", "BlockDeviceMappings"}
    assert {key: one for key, one in after.items() if key not in changed} == {
        key: one for key, one in before.items() if key not in changed
    }


def test_tags_of_a_user_s_template_win_over_all_others():
    own = [
        {"ResourceType": "volume", "Tags": [{"Key": "cost", "Value": "7"}]},
        {"ResourceType": "network-interface", "Tags": [{"Key": "a", "Value": "b"}]},
    ]

    found = tag_specifications("a", {"cost": "42"}, {"TagSpecifications": own, "KeyName": "ops"})

    assert [one["ResourceType"] for one in found] == ["instance", "volume", "network-interface"]
    instance, volume, interface = (
        {tag["Key"]: tag["Value"] for tag in one["Tags"]} for one in found
    )
    assert instance == {"Name": "a", "cost": "42"}
    assert volume == {"Name": "a", "cost": "7"}
    assert interface == {"a": "b"}


def test_a_drawn_template_is_no_part_of_the_plan():
    own = [{"ResourceType": "volume", "Tags": [{"Key": "cost", "Value": "7"}]}]
    plan = plan_of(launch_template_overrides={"TagSpecifications": own})
    first = template_data(plan, security_group_ids=GROUPS)
    first["TagSpecifications"][1]["Tags"][0]["Value"] = "changed"

    second = template_data(plan, security_group_ids=GROUPS)

    assert second["TagSpecifications"][1]["Tags"] == [
        {"Key": "Name", "Value": "a"},
        {"Key": "cost", "Value": "7"},
    ]


def test_nodes_without_accelerators_have_the_same_disk_metadata_and_tags():
    plain = node_data("a", {"team": "ml"}, disk_device="/dev/xvda", disk_gib=200)
    accelerated = data_of(tags={"team": "ml"})

    assert plain == {name: accelerated[name] for name in plain}
    assert len(plain) == 3
