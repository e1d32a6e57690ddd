"""What node groups are given as roles, subnets and security groups."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Annotations, Match

from eks_device_constructs import AcceleratedNodegroup
from eks_devices import Capacity, EksDevicesError

INGRESS, EGRESS = "AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"
TEMPLATE = "AWS::EC2::LaunchTemplate"


class Raising:
    """Raises for the one attribute that a role has."""

    @property
    def role_arn(self) -> str:
        raise RuntimeError


@pytest.fixture
def world(make_world):
    return make_world()


def interfaces_of(world: Any) -> list[Any]:
    data = world.only(TEMPLATE)["Properties"]["LaunchTemplateData"]
    return list(data["NetworkInterfaces"])


def subnet_with(world: Any, cidr: str) -> ec2.ISubnet:
    return ec2.Subnet.from_subnet_attributes(
        world.stack, "Theirs", subnet_id="subnet-0123456789abcdef2", ipv4_cidr_block=cidr
    )


NO_NODE = {"node": None}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("node_role", iam.Role),
        ("node_role", SimpleNamespace(role_arn=None)),
        ("node_role", Raising()),
        ("subnet", ec2.Subnet),
        ("subnet", SimpleNamespace(subnet_id="subnet-0123456789abcdef0", **NO_NODE)),
        ("subnet", SimpleNamespace(subnet_id=None, **NO_NODE)),
        ("security_group", ec2.SecurityGroup),
        ("security_group", SimpleNamespace(security_group_id="sg-1", **NO_NODE)),
        ("security_group", SimpleNamespace(security_group_id=None, **NO_NODE)),
    ],
)
def test_what_only_looks_right_is_told_and_leaves_nothing(world, faults_of, option, value):
    assert ("WrongType", f"nodegroups.Trn2.{option}") in faults_of(
        world.add_trn2, **{option: value}
    )
    assert world.add_trn2().plan.name == "Trn2"


def test_an_id_must_be_a_text(world, faults_of):
    for option, name in (("subnet", "subnet_id"), ("security_group", "security_group_id")):
        value = SimpleNamespace(**{name: None, "node": world.stack.node})

        assert ("WrongType", f"nodegroups.Trn2.{option}") in faults_of(
            world.add_trn2, **{option: value}
        )


def test_the_rules_of_efa_stand_beside_constructs_of_the_user(world):
    own = ec2.SecurityGroup(world.stack, "Own", vpc=world.vpc)
    for name in ("EfaIngress", "EfaEgress"):
        cdk.CfnResource(own, name, type="Custom::Mine")

    world.add_trn2(security_group=own)

    for kind in (INGRESS, EGRESS):
        (rule,) = [
            one["Properties"]
            for one in world.template().find_resources(kind).values()
            if one["Properties"]["Description"].startswith("EFA")
        ]
        assert "GroupId" in rule


@pytest.mark.parametrize("gone", ["EksDevicesEfaIngress", "EksDevicesEfaEgress"])
def test_a_rule_of_efa_that_was_removed_comes_again(world, gone):
    own = ec2.SecurityGroup(world.stack, "Own", vpc=world.vpc)
    world.add_trn2("A", security_group=own)
    own.node.try_remove_child(gone)

    world.add_trn2("B", security_group=own, capacity=Capacity.block("cr-0123456789abcdef1"))

    for kind in (INGRESS, EGRESS):
        assert len(world.template().find_resources(kind)) == 1


def test_the_efa_group_of_the_cluster_gets_no_rule_twice(world):
    world.add_trn2("A")
    children = world.cluster.cluster.node.children
    (shared,) = [one for one in children if one.node.id.startswith("Efa")]

    world.cluster.add_nodegroup(
        "P5",
        instance_type="p5.48xlarge",
        max_size=1,
        subnet=world.vpc.private_subnets[0],
        security_group=shared,
    )

    for kind in (INGRESS, EGRESS):
        assert len(world.template().find_resources(kind)) == 1


@pytest.mark.parametrize("by_id", [True, False])
def test_the_security_group_of_the_cluster_stands_in_an_interface_once(world, by_id):
    cluster = world.cluster.cluster
    group = cluster.cluster_security_group
    if by_id:
        id_ = cluster.cluster_security_group_id
        group = ec2.SecurityGroup.from_security_group_id(world.stack, "Theirs", id_)

    world.add_trn2(security_group=group)

    # The nodes still need the rules of EFA, which the shared group has.
    for one in interfaces_of(world):
        assert [list(group) for group in one["Groups"]] == [["Fn::GetAtt"], ["Ref"]]


@pytest.mark.parametrize("is_import", [True, False])
def test_a_cluster_of_another_service_is_none(world, is_import, faults_of):
    given: Any = ecs.Cluster(world.stack, "Ecs", vpc=world.vpc)
    if is_import:
        given = ecs.Cluster.from_cluster_attributes(
            world.stack, "Imported", cluster_name="theirs", vpc=world.vpc
        )

    found = faults_of(
        AcceleratedNodegroup, world.stack, "Gpus", cluster=given, instance_type="g6e.12xlarge"
    )

    assert ("WrongType", "nodegroups.Gpus.cluster") in found
    assert "ClusterSecurityGroupNeeded" not in {code for code, _ in found}


@pytest.mark.parametrize("cidr", ["2001:db8::/64", "junk", " 10.0.0.0/24"])
def test_a_range_that_is_none_of_ipv4_is_not_known(world, cidr):
    group = world.add_trn2(subnet=subnet_with(world, cidr), max_size=50)

    assert group.plan.subnet_cidrs == ()
    Annotations.from_stack(world.stack).has_no_warning("*", Match.string_like_regexp("IpBudget"))


def test_a_range_of_ipv4_is_known(world):
    group = world.add_trn2(subnet=subnet_with(world, "10.0.0.0/24"))

    assert group.plan.subnet_cidrs == ("10.0.0.0/24",)


def test_a_public_subnet_is_named_by_its_path(world):
    with pytest.raises(EksDevicesError) as caught:
        world.add_trn2(subnet=world.vpc.public_subnets[0])

    (one,) = caught.value.faults
    assert (one.code, one.got) == ("PublicSubnet", "'Training/Vpc/PublicSubnet1'")
