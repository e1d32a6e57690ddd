"""The system node group: its template, its group, and what comes with it."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from tests.template_order import needed

from eks_device_constructs import (
    AcceleratedCluster,
    AcceleratedNodegroup,
    ClusterReference,
    ExternalDrivers,
)
from eks_device_constructs.system_nodegroup import SystemNodegroup
from eks_devices import EksDevicesError


def group_of(world: Any) -> Any:
    return world.only("AWS::EKS::Nodegroup")


def addons_of(world: Any) -> dict[str, Any]:
    found = world.template().find_resources("AWS::EKS::Addon")
    return {one["Properties"]["AddonName"]: one for one in found.values()}


def name_after(make_world: Any, **options: Any) -> str:
    """The name of a group that was made with options."""
    world = make_world()
    world.cluster.add_system_nodegroup(**options)
    name: str = group_of(world)["Properties"]["NodegroupName"]
    return name


def test_its_nodes_are_ordinary_and_take_every_pod(make_world):
    world = make_world(version="1.35")
    world.cluster.add_system_nodegroup(instance_types=["m7g.large", "m6g.large"], max_size=4)

    group = group_of(world)["Properties"]

    assert group["AmiType"] == "AL2023_ARM_64_STANDARD"
    assert group["InstanceTypes"] == ["m7g.large", "m6g.large"]
    assert group["ScalingConfig"] == {"MinSize": 2, "DesiredSize": 2, "MaxSize": 4}
    assert group["Version"] == "1.35"
    assert group["NodeRepairConfig"] == {"Enabled": True}
    assert group["Labels"] == {"eks-devices/nodegroup": "System"}
    assert "Taints" not in group
    assert "CapacityType" not in group
    assert len(group["Subnets"]) == 2
    assert world.cluster.plan.nodegroups == ()


def test_nothing_named_is_a_group_too(make_world):
    world = make_world()
    world.cluster.add_system_nodegroup()

    group = group_of(world)["Properties"]

    assert group["AmiType"] == "AL2023_x86_64_STANDARD"
    assert len(group["InstanceTypes"]) == 1
    assert group["ScalingConfig"] == {"MinSize": 2, "DesiredSize": 2, "MaxSize": 2}


def test_its_template_keeps_pods_from_the_nodes_credentials_and_encrypts_volumes(make_world):
    world = make_world()
    world.cluster.add_system_nodegroup(disk_gib=80)

    data = world.only("AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]

    assert data["MetadataOptions"] == {"HttpTokens": "required", "HttpPutResponseHopLimit": 1}
    (disk,) = data["BlockDeviceMappings"]
    assert disk["DeviceName"] == "/dev/xvda"
    assert disk["Ebs"] == {
        "VolumeSize": 80,
        "VolumeType": "gp3",
        "Encrypted": True,
        "DeleteOnTermination": True,
    }
    # Else EKS refuses types in the group, or leaves its own security group out.
    assert "InstanceType" not in data
    assert "SecurityGroupIds" not in data
    assert "NetworkInterfaces" not in data


def test_labels_tags_and_release_of_a_user_reach_the_group(make_world):
    world = make_world()
    cdk.Tags.of(world.stack).add("team", "research")
    world.cluster.add_system_nodegroup(
        labels={"tier": "platform"}, tags={"cost": "42"}, release_version="1.34.4-20261023"
    )

    group = group_of(world)["Properties"]
    data = world.only("AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]

    assert group["Labels"] == {"eks-devices/nodegroup": "System", "tier": "platform"}
    assert group["ReleaseVersion"] == "1.34.4-20261023"
    assert "Tags" not in group
    for one in data["TagSpecifications"]:
        assert {tag["Key"]: tag["Value"] for tag in one["Tags"]} == {
            "Name": "System",
            "cost": "42",
            "team": "research",
        }


def test_its_nodes_may_have_a_role_of_their_own(make_world):
    world = make_world()
    arn = "arn:aws:iam::111122223333:role/system"
    role = iam.Role.from_role_arn(world.stack, "Role", arn)
    world.cluster.add_system_nodegroup(node_role=role)

    assert group_of(world)["Properties"]["NodeRole"] == arn
    assert group_of(world)["Properties"]["NodegroupName"] != name_after(make_world)


def test_coredns_comes_with_it_and_after_its_nodes(make_world):
    world, without = make_world(), make_world()
    world.cluster.add_system_nodegroup()

    (group,) = world.template().find_resources("AWS::EKS::Nodegroup")

    assert set(addons_of(world)) - set(addons_of(without)) == {"coredns"}
    assert addons_of(world)["coredns"]["DependsOn"] == [group]


def test_coredns_waits_for_each_of_two_groups_and_is_there_once(make_world):
    world = make_world()
    world.cluster.add_system_nodegroup()
    world.cluster.add_system_nodegroup("Arm", instance_types=["m7g.large"])

    groups = set(world.template().find_resources("AWS::EKS::Nodegroup"))

    assert set(addons_of(world)["coredns"]["DependsOn"]) == groups
    assert len(groups) == 2


def test_a_coredns_that_was_named_waits_for_the_nodes_too(make_world):
    world = make_world(addons={"coredns": "v1.13.2-eksbuild.7"})
    world.cluster.add_system_nodegroup()

    (group,) = world.template().find_resources("AWS::EKS::Nodegroup")

    coredns = addons_of(world)["coredns"]
    assert coredns["DependsOn"] == [group]
    assert coredns["Properties"]["AddonVersion"] == "v1.13.2-eksbuild.7"


@pytest.mark.parametrize("addons", [(), ["vpc-cni"]])
def test_no_coredns_comes_where_addons_were_named_without_it(make_world, addons):
    world = make_world(addons=addons)
    world.cluster.add_system_nodegroup()

    assert set(addons_of(world)) == set(addons)


def test_it_comes_after_the_addons_that_nodes_need(make_world):
    world = make_world()
    world.cluster.add_system_nodegroup()
    resources = world.template().to_json()["Resources"]
    (group,) = world.template().find_resources("AWS::EKS::Nodegroup")

    first = {resources[name]["Properties"].get("AddonName") for name in needed(resources, group)}

    assert {"eks-pod-identity-agent", "vpc-cni", "kube-proxy"} <= first
    assert "coredns" not in first


@pytest.mark.parametrize("which", [lambda cluster: cluster, lambda cluster: cluster.cluster])
def test_made_directly_it_is_what_the_cluster_would_have_made(make_world, which):
    direct, method = make_world(), make_world()
    SystemNodegroup(direct.cluster, "System", cluster=which(direct.cluster))
    method.cluster.add_system_nodegroup()

    assert direct.template().to_json() == method.template().to_json()
    assert list(direct.cluster.addons) == list(method.cluster.addons)


def test_adding_it_changes_no_other_resource(make_world):
    before, after = make_world(), make_world()
    for world in (before, after):
        world.add_trn2()
    after.cluster.add_system_nodegroup()

    old = before.template().to_json()["Resources"]
    new = after.template().to_json()["Resources"]

    assert {name: new[name] for name in old} == old
    assert {new[name]["Type"] for name in set(new) - set(old)} == {
        "AWS::EC2::LaunchTemplate",
        "AWS::EKS::Addon",
        "AWS::EKS::Nodegroup",
    }


def test_its_name_is_stable_where_eks_changes_the_group_in_place(make_world):
    name = name_after(make_world)

    assert name.startswith("System-")
    for options in (
        {"max_size": 5},
        {"min_size": 1},
        {"disk_gib": 100},
        {"autoscaled": True, "max_size": 5},
        {"labels": {"tier": "platform"}, "tags": {"cost": "42"}},
        {"release_version": "1.34.4-20261023"},
    ):
        assert name_after(make_world, **options) == name


def test_its_name_changes_where_eks_makes_a_new_group(make_world):
    world = make_world()
    world.cluster.add_system_nodegroup(subnets=world.vpc.private_subnets[:1])
    other_subnets = group_of(world)["Properties"]["NodegroupName"]
    names = [
        name_after(make_world),
        name_after(make_world, instance_types=["m6i.large"]),
        name_after(make_world, instance_types=["m6i.large", "m5.large"]),
        name_after(make_world, instance_types=["m7g.large"]),
        other_subnets,
    ]

    assert len(set(names)) == len(names)


def test_an_autoscaler_has_the_desired_size_to_itself(make_world):
    world = make_world()
    world.cluster.add_system_nodegroup(autoscaled=True, max_size=6)

    assert group_of(world)["Properties"]["ScalingConfig"] == {"MinSize": 2, "MaxSize": 6}


def test_a_long_id_leaves_room_for_the_hash(make_world):
    name = name_after(make_world, id="S" * 63)

    assert len(name) == 63


def test_a_role_of_the_user_is_the_role_of_its_nodes_too(make_world):
    world = make_world()
    world.cluster.add_system_nodegroup()

    role = group_of(world)["Properties"]["NodeRole"]

    assert role == world.stack.resolve(world.cluster.node_role.role_arn)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"instance_types": ["p5.48xlarge"]}, {"AcceleratedSystemNodes instance_types[0]"}),
        ({"instance_types": ["m7g.large", "m7i.large"]}, {"MixedArchitectures instance_types"}),
        ({"min_size": 3, "max_size": 2}, {"SizesOutOfOrder max_size"}),
        ({"subnets": []}, {"WrongType subnets"}),
        ({"subnets": "subnet-1"}, {"WrongType subnets"}),
        ({"subnets": 5}, {"WrongType subnets"}),
        ({"subnets": ["subnet-1"]}, {"WrongType subnets[0]"}),
        ({"subnets": [None]}, {"WrongType subnets[0]"}),
        ({"taint": 1}, {"UnknownOption taint"}),
        ({"node_role": "nodes"}, {"WrongType node_role"}),
        ({"release_version": "1.33.4-20261023"}, {"ReleaseOfOtherMinor release_version"}),
        ({"release_version": "latest"}, {"MalformedReleaseVersion release_version"}),
        (
            {"subnets": [], "min_size": 0, "instance_types": ["a1.large"]},
            {
                "WrongType subnets",
                "OutOfRange min_size",
                "NoNodeOnInstanceType instance_types[0]",
            },
        ),
    ],
)
def test_bad_options_are_faults_together_and_make_nothing(make_world, options, expected):
    world = make_world()
    children = len(world.cluster.node.children)

    with pytest.raises(EksDevicesError) as raised:
        world.cluster.add_system_nodegroup(**options)

    found = {f"{one.code} {one.path}" for one in raised.value.faults}
    assert found == {
        f"{code} nodegroups.System.{path}" for code, path in (one.split() for one in expected)
    }
    assert len(world.cluster.node.children) == children
    assert set(addons_of(world)).isdisjoint({"coredns"})


def test_an_id_stands_in_a_cluster_once(make_world):
    world = make_world()
    world.cluster.add_system_nodegroup()

    with pytest.raises(EksDevicesError) as raised:
        world.cluster.add_system_nodegroup()

    (fault,) = raised.value.faults
    assert (fault.code, fault.path) == ("RepeatedId", "nodegroups.System")


@pytest.mark.parametrize("cluster", [None, "Cluster", object()])
def test_what_is_no_cluster_is_refused(tmp_path, cluster):
    anything: Any = SystemNodegroup
    stack = cdk.Stack(cdk.App(outdir=str(tmp_path)), "Training")

    with pytest.raises(EksDevicesError) as raised:
        anything(stack, "System", cluster=cluster, min_size=0)

    assert {one.path for one in raised.value.faults} == {
        "nodegroups.System.cluster",
        "nodegroups.System.min_size",
    }


def of_others(stack: cdk.Stack, vpc: ec2.Vpc) -> dict[str, Any]:
    """Clusters that no `AcceleratedCluster` made."""
    group = "sg-0123456789abcdef0"
    return {
        "made": eks.Cluster(stack, "Made", version=eks.KubernetesVersion.V1_34, vpc=vpc),
        "imported": eks.Cluster.from_cluster_attributes(
            stack, "Imported", cluster_name="theirs", cluster_security_group_id=group, vpc=vpc
        ),
        "referred to": ClusterReference(
            name="theirs", version="1.34", security_group=group, vpc=vpc
        ),
    }


@pytest.mark.parametrize("kind", ["made", "imported", "referred to"])
def test_a_cluster_of_others_is_refused_whether_groups_joined_it_or_not(tmp_path, kind):
    stack = cdk.Stack(cdk.App(outdir=str(tmp_path)), "Training")
    cluster = of_others(stack, ec2.Vpc(stack, "Vpc", max_azs=2))[kind]
    found = []

    for turn in range(2):
        with pytest.raises(EksDevicesError) as raised:
            SystemNodegroup(stack, "System", cluster=cluster)
        found.append(raised.value.faults)
        if turn == 0:
            AcceleratedNodegroup(
                stack,
                "G6",
                cluster=cluster,
                kubernetes_version="1.34",
                drivers=ExternalDrivers(),
                instance_type="g6e.12xlarge",
                max_size=2,
            )

    assert found[0] == found[1]
    (fault,) = found[0]
    assert (fault.code, fault.path) == ("ClusterOfOthers", "nodegroups.System.cluster")
    assert all((fault.got, fault.allowed, fault.fix, fault.source))
    assert stack.node.try_find_child("System") is None


@pytest.mark.parametrize("kind", ["none", "text", "app"])
def test_a_scope_outside_of_a_stack_is_refused(make_world, tmp_path, kind):
    anything: Any = SystemNodegroup
    app = cdk.App(outdir=str(tmp_path / "app"))
    scope = {"none": None, "text": "Training", "app": app}[kind]

    with pytest.raises(EksDevicesError) as raised:
        anything(scope, "System", cluster=make_world().cluster)

    assert [one.path for one in raised.value.faults] == ["nodegroups.System.scope"]


def two_stacks(tmp_path: Any, **options: Any) -> tuple[cdk.App, cdk.Stack, AcceleratedCluster]:
    """An app with a cluster in one stack, and another stack."""
    app = cdk.App(outdir=str(tmp_path))
    home, other = cdk.Stack(app, "Training"), cdk.Stack(app, "Nodes")
    vpc, version = ec2.Vpc(home, "Vpc"), eks.KubernetesVersion.V1_34
    return app, other, AcceleratedCluster(home, "Cluster", vpc=vpc, version=version, **options)


def test_in_another_stack_it_brings_coredns_there_after_its_nodes(tmp_path):
    app, other, cluster = two_stacks(tmp_path)
    SystemNodegroup(other, "System", cluster=cluster)

    assembly = app.synth()

    resources = assembly.get_stack_by_name("Nodes").template["Resources"]
    kinds = {one["Type"]: name for name, one in resources.items()}
    assert {*kinds} == {"AWS::EC2::LaunchTemplate", "AWS::EKS::Nodegroup", "AWS::EKS::Addon"}
    addon = resources[kinds["AWS::EKS::Addon"]]
    assert addon["Properties"]["AddonName"] == "coredns"
    assert addon["DependsOn"] == [kinds["AWS::EKS::Nodegroup"]]


@pytest.mark.parametrize("first", ["near", "far"])
def test_in_two_stacks_coredns_is_there_once(tmp_path, first):
    app, other, cluster = two_stacks(tmp_path)
    makers = {
        "near": lambda: cluster.add_system_nodegroup("Near"),
        "far": lambda: SystemNodegroup(other, "Far", cluster=cluster),
    }
    for name in sorted(makers, key=lambda name: name != first):
        makers[name]()

    assembly = app.synth()

    found = [
        (stack, one["DependsOn"])
        for stack in ("Training", "Nodes")
        for one in assembly.get_stack_by_name(stack).template["Resources"].values()
        if one["Type"] == "AWS::EKS::Addon" and one["Properties"]["AddonName"] == "coredns"
    ]
    ((stack, waits),) = found
    assert stack == {"near": "Training", "far": "Nodes"}[first]
    assert len(waits) == 1


def test_a_coredns_that_was_named_does_not_wait_for_nodes_of_another_stack(tmp_path):
    app, other, cluster = two_stacks(
        tmp_path, addons={"vpc-cni": None, "kube-proxy": None, "coredns": None}
    )
    SystemNodegroup(other, "System", cluster=cluster)

    assembly = app.synth()

    template = assembly.get_stack_by_name("Training").template
    (coredns,) = [
        one
        for one in template["Resources"].values()
        if one["Properties"].get("AddonName") == "coredns"
    ]
    assert "DependsOn" not in coredns


def test_tags_of_its_scopes_count_with_its_own(make_world):
    world = make_world()
    group = world.cluster.add_system_nodegroup(tags=dict.fromkeys(map(str, range(40)), ""))
    for number in range(9):
        cdk.Tags.of(group).add(f"scope{number}", "")
    assert len(world.template().find_resources("AWS::EKS::Nodegroup")) == 1

    cdk.Tags.of(world.stack).add("one", "more")

    with pytest.raises(RuntimeError, match="TooManyTags"):
        world.app.synth(force=True)


@pytest.mark.parametrize("is_near", [True, False])
def test_coredns_waits_for_no_nodes_that_were_removed_and_comes_with_later_ones(tmp_path, is_near):
    app, other, cluster = two_stacks(tmp_path)
    scope = cdk.Stack.of(cluster) if is_near else other
    SystemNodegroup(scope, "First", cluster=cluster)
    scope.node.try_remove_child("First")
    SystemNodegroup(scope, "Second", cluster=cluster)

    assembly = app.synth()

    resources = assembly.get_stack_by_name(scope.stack_name).template["Resources"]
    (group,) = [name for name, one in resources.items() if one["Type"] == "AWS::EKS::Nodegroup"]
    waiting = [
        one["DependsOn"]
        for one in resources.values()
        if one["Type"] == "AWS::EKS::Addon" and one["Properties"]["AddonName"] == "coredns"
    ]
    assert waiting == [[group]]
