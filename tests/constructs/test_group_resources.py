"""What a node group brings beside its template: placement, schedules, tags, security groups."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, ClassVar

import aws_cdk as cdk
import jsii
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Annotations, Match

from eks_device_constructs import AcceleratedCluster, AcceleratedNodegroup, ClusterReference
from eks_devices import Capacity, NodeRepair, UpdateConfig

START = datetime(2026, 12, 5, 11, 30, tzinfo=UTC)
RESERVATION = "cr-0123456789abcdef0"
TEMPLATE, GROUP = "AWS::EC2::LaunchTemplate", "AWS::EKS::Nodegroup"


def add(world: Any, name: str = "P5", **options: Any) -> AcceleratedNodegroup:
    given = {
        "instance_type": "p5.48xlarge",
        "subnet": world.vpc.private_subnets[0],
        "max_size": 4,
    }
    group: AcceleratedNodegroup = world.cluster.add_nodegroup(name, **(given | options))
    return group


def data_of(world: Any) -> dict[str, Any]:
    data: dict[str, Any] = world.only(TEMPLATE)["Properties"]["LaunchTemplateData"]
    return data


def kinds(world: Any) -> list[str]:
    return [one["Type"] for one in world.template().to_json()["Resources"].values()]


def test_nodes_with_efa_are_placed_together(make_world):
    world = make_world()

    add(world)

    group = world.only("AWS::EC2::PlacementGroup")
    assert group["Properties"] == {"Strategy": "cluster"}
    assert set(data_of(world)["Placement"]["GroupName"]) == {"Ref"}


@pytest.mark.parametrize(
    "options",
    [
        {"placement_group": False},
        {"capacity": Capacity.reservation(RESERVATION)},
        {"capacity": Capacity.block(RESERVATION)},
        {"efa": False},
    ],
)
def test_no_placement_group_where_none_helps(make_world, options):
    world = make_world()

    add(world, **options)

    assert "AWS::EC2::PlacementGroup" not in kinds(world)
    assert "Placement" not in data_of(world)


def test_a_placement_group_that_exists_is_named(make_world):
    world = make_world()

    add(world, placement_group="reserved-here", capacity=Capacity.reservation(RESERVATION))

    assert data_of(world)["Placement"] == {"GroupName": "reserved-here"}
    assert "AWS::EC2::PlacementGroup" not in kinds(world)


def test_a_block_gets_its_nodes_when_it_starts(make_world):
    world = make_world()
    hour_ahead = START.astimezone(timezone(timedelta(hours=1)))

    add(world, capacity=Capacity.block(RESERVATION, start=hour_ahead), desired_size=4)

    group = world.only(GROUP)["Properties"]
    assert group["ScalingConfig"] == {"MinSize": 0, "MaxSize": 4}
    schedule = world.only("AWS::Scheduler::Schedule")
    assert schedule["Properties"]["ScheduleExpression"] == "at(2026-12-05T11:30:00)"
    assert schedule["Properties"]["ScheduleExpressionTimezone"] == "UTC"
    target = schedule["Properties"]["Target"]
    assert target["Arn"]["Fn::Join"][1][-1].endswith(
        ":scheduler:::aws-sdk:eks:updateNodegroupConfig"
    )
    text = json.dumps(target["Input"]).replace("\\", "")
    assert '"ScalingConfig":{"MinSize":0,"DesiredSize":4,"MaxSize":4}' in text
    assert group["NodegroupName"] in text
    assert any("P5" in one for one in schedule["DependsOn"])


def test_schedules_of_a_cluster_share_a_role_that_may_only_resize_its_groups(make_world):
    world = make_world()
    for number in range(2):
        capacity = Capacity.block(f"cr-0123456789abcdef{number}", start=START)
        add(world, f"P5{number}", capacity=capacity, desired_size=1)

    template = world.template().to_json()["Resources"]
    roles = [
        one["Properties"]
        for one in template.values()
        if one["Type"] == "AWS::IAM::Role" and "scheduler.amazonaws.com" in json.dumps(one)
    ]

    (role,) = roles
    (statement,) = role["Policies"][0]["PolicyDocument"]["Statement"]
    assert statement["Action"] == "eks:UpdateNodegroupConfig"
    assert statement["Effect"] == "Allow"
    assert ":nodegroup/" in json.dumps(statement["Resource"])
    assert json.dumps(statement["Resource"]).count('"*"') == 0


def test_a_start_without_nodes_is_refused(make_world, faults_of):
    capacity = Capacity.block(RESERVATION, start=START)

    assert faults_of(add, make_world(), capacity=capacity) == {
        ("StartWithoutNodes", "nodegroups.P5.desired_size")
    }


def test_tags_of_a_group_reach_its_instances_and_volumes(make_world):
    world = make_world()
    cdk.Tags.of(world.stack).add("team", "research")

    group = add(world, tags={"cost": "42"})
    cdk.Tags.of(group).add("job", "train")

    for one in data_of(world)["TagSpecifications"]:
        assert {"Key": "Name", "Value": "P5"} in one["Tags"]
        for key, value in (("team", "research"), ("cost", "42"), ("job", "train")):
            assert {"Key": key, "Value": value} in one["Tags"]
    assert [one["ResourceType"] for one in data_of(world)["TagSpecifications"]] == [
        "instance",
        "volume",
    ]
    # CloudFormation updates them together with the launch template in no deployment.
    assert "Tags" not in world.only(GROUP)["Properties"]


def test_tags_of_scopes_count_with_those_of_the_group(make_world):
    world = make_world()
    group = add(world, tags={"cost": "42", "stack0": "mine"})
    for number in range(48):
        cdk.Tags.of(world.stack).add(f"stack{number}", "")
    # With the name they are fifty: one key is of both.
    assert {len(one["Tags"]) for one in data_of(world)["TagSpecifications"]} == {50}

    cdk.Tags.of(group).add("one", "more")

    with pytest.raises(RuntimeError) as raised:
        world.app.synth(force=True)
    told = [line for line in str(raised.value).splitlines() if "TooManyTags" in line]
    assert len(told) == 1
    assert "nodegroups.P5.tags" in told[0]
    assert "got 51; allowed: 50 at most" in told[0]


def test_tags_that_scopes_add_are_counted_with_those_of_the_user_s_template(make_world):
    world = make_world()
    tags = [{"Key": str(number), "Value": ""} for number in range(48)]
    own = [{"ResourceType": "volume", "Tags": tags}]
    add(world, launch_template_overrides={"TagSpecifications": own})
    for key in ("one", "two"):
        cdk.Tags.of(world.stack).add(key, "more")

    with pytest.raises(RuntimeError, match="TooManyTags"):
        world.app.synth()


def test_tag_specifications_of_a_user_win_over_tags_of_scopes(make_world):
    world = make_world()
    cdk.Tags.of(world.stack).add("a", "stack")
    own = [
        {"ResourceType": kind, "Tags": [{"Key": "a", "Value": "b"}]}
        for kind in ("network-interface", "volume")
    ]

    add(world, tags={"cost": "42"}, launch_template_overrides={"TagSpecifications": own})

    found = {one["ResourceType"]: one["Tags"] for one in data_of(world)["TagSpecifications"]}
    assert found["network-interface"] == [{"Key": "a", "Value": "b"}]
    assert {"Key": "cost", "Value": "42"} in found["volume"]
    assert {"Key": "a", "Value": "stack"} in found["instance"]
    assert {"Key": "a", "Value": "b"} in found["volume"]
    assert len(found["volume"]) == 3


def test_overrides_are_merged_into_the_launch_template(make_world):
    world = make_world()
    plain = make_world()
    add(plain)

    add(world, launch_template_overrides={"MetadataOptions": {"HttpPutResponseHopLimit": 2}})

    before, after = data_of(plain), data_of(world)
    assert after["MetadataOptions"] == {"HttpTokens": "required", "HttpPutResponseHopLimit": 2}
    assert {**after, "MetadataOptions": before["MetadataOptions"]} == before


@jsii.implements(cdk.IStableAnyProducer)
class Produced:
    """What a user makes lazily."""

    def produce(self) -> Any:
        return {"Ref": "Parameter"}


@jsii.implements(cdk.IResolvable)
class Resolved:
    """A token of a user's own."""

    @property
    def creation_stack(self) -> list[str]:
        return []

    @property
    def type_hint(self) -> None:
        return None

    def resolve(self, _context: cdk.IResolveContext) -> Any:
        return {"Ref": "Parameter"}

    def to_string(self) -> str:
        return "a token"


def test_a_leaf_of_overrides_may_be_any_token_of_the_cdk(make_world):
    world = make_world()
    tokens = [
        cdk.CfnParameter(world.stack, "Parameter").value_as_string,
        cdk.CfnResource(world.stack, "Topic", type="AWS::SNS::Topic").get_att("TopicName"),
        cdk.Token.as_any({"Ref": "Parameter"}),
        cdk.Lazy.any(Produced()),
        cdk.Fn.condition_if("Condition", "a", "b"),
        Resolved(),
    ]

    for number, token in enumerate(tokens):
        add(world, f"P5-{number}", launch_template_overrides={"KeyName": token})

    found = world.template().find_resources(TEMPLATE).values()
    names = [one["Properties"]["LaunchTemplateData"]["KeyName"] for one in found]
    assert sorted(next(iter(one)) for one in names) == ["Fn::GetAtt", "Fn::If", *4 * ["Ref"]]


class Lookalike:
    """It has the methods of a token, and jsii does not know it."""

    creation_stack: ClassVar = ["here"]

    def resolve(self, _context: Any) -> str:
        return "x"


@pytest.mark.parametrize(
    "value",
    [Lookalike(), {"Ref": float("nan")}, {"Fn::If": ["Condition", Lookalike(), 1]}, {"Ref": 5}],
)
def test_what_the_cdk_could_not_write_is_refused_and_leaves_nothing(make_world, faults_of, value):
    world = make_world()

    found = faults_of(add, world, launch_template_overrides={"KeyName": value})

    assert {path for _, path in found} == {"nodegroups.P5.launch_template_overrides.KeyName"}
    assert world.cluster.node.try_find_child("P5") is None
    assert len(kinds(world)) == len(kinds(make_world()))


def test_a_security_group_of_the_user_gets_what_efa_needs(make_world):
    world = make_world()
    own = ec2.SecurityGroup(world.stack, "Own", vpc=world.vpc)

    add(world, "A", security_group=own)
    add(world, "B", security_group=own)

    resources = world.template().to_json()["Resources"]
    (name,) = [
        key for key, one in resources.items()
        if one["Type"] == "AWS::EC2::SecurityGroup" and key.startswith("Own")
    ]  # fmt: skip
    itself = {"Fn::GetAtt": [name, "GroupId"]}
    rules = {
        one["Type"]: one["Properties"]
        for one in resources.values()
        if one["Type"].startswith("AWS::EC2::SecurityGroup")
        and one["Properties"].get("GroupId") == itself
    }
    assert rules["AWS::EC2::SecurityGroupIngress"]["SourceSecurityGroupId"] == itself
    assert rules["AWS::EC2::SecurityGroupEgress"]["DestinationSecurityGroupId"] == itself
    assert {one["IpProtocol"] for one in rules.values()} == {"-1"}
    for template in world.template().find_resources(TEMPLATE).values():
        for one in template["Properties"]["LaunchTemplateData"]["NetworkInterfaces"]:
            assert itself in one["Groups"]
            assert len(one["Groups"]) == 2
    assert not any("ClusterEfa" in key for key in resources)


def test_an_imported_security_group_is_left_alone_and_told(make_world):
    world = make_world()
    own = ec2.SecurityGroup.from_security_group_id(world.stack, "Own", "sg-0123456789abcdef0")

    add(world, security_group=own)

    assert "AWS::EC2::SecurityGroupIngress" not in kinds(world)
    Annotations.from_stack(world.stack).has_warning(
        "*", Match.string_like_regexp("eks-devices:EfaRulesDemanded")
    )


def test_without_efa_a_security_group_of_the_user_needs_no_rules(make_world):
    world = make_world()
    own = ec2.SecurityGroup.from_security_group_id(world.stack, "Own", "sg-0123456789abcdef0")

    add(world, efa=False, security_group=own)

    assert data_of(world)["SecurityGroupIds"][1] == "sg-0123456789abcdef0"
    Annotations.from_stack(world.stack).has_no_warning("*", Match.string_like_regexp("EfaRules"))


def test_all_groups_share_one_security_group_for_efa(make_world):
    world = make_world()
    for number in range(3):
        add(world, f"P5{number}")

    groups = [one for one in kinds(world) if one == "AWS::EC2::SecurityGroup"]
    rules = [one for one in kinds(world) if one == "AWS::EC2::SecurityGroupEgress"]
    assert len(groups) == 2  # the control plane's, and EFA's
    assert len(rules) == 1


def test_a_group_takes_a_node_role_of_the_user(make_world):
    world = make_world()
    arn = "arn:aws:iam::111122223333:role/nodes"
    role = iam.Role.from_role_arn(world.stack, "Role", arn)

    add(world, node_role=role)

    assert world.only(GROUP)["Properties"]["NodeRole"] == arn


@pytest.mark.parametrize(
    ("name", "value"), [("security_group", "sg-1"), ("node_role", "nodes"), ("subnet", "subnet-1")]
)
def test_texts_are_no_constructs(make_world, faults_of, name, value):
    found = faults_of(add, make_world(), **{name: value})

    assert ("WrongType", f"nodegroups.P5.{name}") in found


def test_nodes_are_repaired_and_updated_as_the_user_says(make_world):
    world = make_world()

    add(
        world,
        node_repair=NodeRepair(max_parallel=2),
        update=UpdateConfig(max_unavailable_percentage=33),
    )

    group = world.only(GROUP)["Properties"]
    assert group["NodeRepairConfig"] == {"Enabled": True, "MaxParallelNodesRepairedCount": 2}
    assert group["UpdateConfig"] == {"MaxUnavailablePercentage": 33}
    assert "ForceUpdateEnabled" not in group


def test_node_repair_is_switched_off_by_word(make_world):
    world = make_world()

    add(world, node_repair=False)

    assert world.only(GROUP)["Properties"]["NodeRepairConfig"] == {"Enabled": False}


def test_reserved_nodes_are_repaired_one_at_a_time(make_world):
    world = make_world()

    add(world, capacity=Capacity.reservation(RESERVATION))

    group = world.only(GROUP)["Properties"]
    assert group["NodeRepairConfig"]["MaxParallelNodesRepairedCount"] == 1
    actions = {
        one["NodeUnhealthyReason"]: one["RepairAction"]
        for one in group["NodeRepairConfig"]["NodeRepairConfigOverrides"]
    }
    assert actions
    assert all("DCGM" in reason for reason in actions)
    assert {*actions.values()} == {"NoAction"}
    assert group["UpdateConfig"] == {"MaxUnavailable": 1, "UpdateStrategy": "MINIMAL"}


def test_several_types_stand_in_the_node_group(make_world):
    world = make_world()

    world.cluster.add_nodegroup(
        "G5",
        instance_type="g5.xlarge",
        alternative_instance_types=["g5.2xlarge", "g5.4xlarge"],
        capacity=Capacity.spot(),
        max_size=4,
    )

    assert world.only(GROUP)["Properties"]["InstanceTypes"] == [
        "g5.xlarge",
        "g5.2xlarge",
        "g5.4xlarge",
    ]
    assert "InstanceType" not in data_of(world)


def test_an_image_of_the_user_brings_complete_user_data(make_world):
    world = make_world(service_ipv4_cidr="172.20.0.0/16")

    add(world, ami_id="ami-0123456789abcdef0")

    group = world.only(GROUP)["Properties"]
    assert {"AmiType", "Version", "ReleaseVersion"}.isdisjoint(group)
    data = data_of(world)
    assert data["ImageId"] == "ami-0123456789abcdef0"
    text = json.dumps(data["UserData"]["Fn::Base64"])
    for part in ("Endpoint", "CertificateAuthorityData", "172.20.0.0/16", "register-with-taints"):
        assert part in text


def test_a_reference_tells_the_range_of_services_of_a_cluster_that_is_deployed(make_world):
    world = make_world(cluster_name="own")
    known = ClusterReference(
        name="own",
        version="1.34",
        security_group="sg-0123456789abcdef0",
        service_ipv4_cidr="172.20.0.0/16",
    )

    AcceleratedNodegroup(
        world.stack,
        "G6e",
        cluster=known,
        instance_type="g6e.12xlarge",
        max_size=1,
        ami_id="ami-0123456789abcdef0",
    )

    assert "172.20.0.0/16" in json.dumps(data_of(world)["UserData"])
    cluster = world.only("AWS::EKS::Cluster")["Properties"]
    assert "KubernetesNetworkConfig" not in cluster or "ServiceIpv4Cidr" not in json.dumps(cluster)


def test_an_image_of_the_user_needs_the_range_of_services(make_world, faults_of):
    assert faults_of(add, make_world(), ami_id="ami-0123456789abcdef0") == {
        ("ClusterAccessNeeded", "nodegroups.P5.ami_id")
    }


def test_too_many_addresses_for_a_subnet_are_told(make_world):
    world = make_world()
    small = ec2.Subnet(
        world.stack,
        "Small",
        availability_zone="us-east-2a",
        cidr_block="10.0.255.0/26",
        vpc_id=world.vpc.vpc_id,
    )

    add(world, subnet=small)

    Annotations.from_stack(world.stack).has_warning(
        "*", Match.string_like_regexp("10.0.255.0/26 has 59.*eks-devices:IpBudget")
    )


def test_a_hundred_groups_of_the_widest_type_fit_into_a_template(tmp_path, kubectl):
    app = cdk.App(outdir=str(tmp_path))
    region = cdk.Environment(region="us-east-2")
    stack = cdk.Stack(app, "Training", env=region, suppress_template_indentation=True)
    vpc, version = ec2.Vpc(stack, "Vpc", max_azs=2), eks.KubernetesVersion.V1_34
    cluster = AcceleratedCluster(
        stack, "Cluster", vpc=vpc, version=version, delivery=kubectl(stack)
    )
    cluster.add_system_nodegroup()
    for number in range(100):
        cluster.add_nodegroup(
            f"P5-{number}",
            instance_type="p5.48xlarge",
            subnet=vpc.private_subnets[0],
            max_size=4,
            capacity=Capacity.block(f"cr-{number:017x}"),
        )

    assembly = app.synth()

    artifact = assembly.get_stack_by_name("Training")
    assert Path(artifact.template_full_path).stat().st_size < 1_000_000
    assert any(
        "Template size is approaching limit" in str(one.entry.data) for one in artifact.messages
    )
    groups = [one for one in artifact.template["Resources"].values() if one["Type"] == GROUP]
    assert len({one["Properties"]["NodegroupName"] for one in groups}) == 101
