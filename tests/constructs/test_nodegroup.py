"""What a node group's launch template and node group say, against EC2's and EKS's rules."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Annotations, Match
from constructs import Construct
from tests.template_order import needed

from eks_device_charts import ImageSource
from eks_device_constructs import AcceleratedNodegroup
from eks_device_constructs.host_registry import host_of
from eks_devices import (
    Capacity,
    DeviceType,
    Mechanism,
    OperatingSystem,
    Taint,
)

NODEGROUP = "AWS::EKS::Nodegroup"
TEMPLATE = "AWS::EC2::LaunchTemplate"
BLOCK = "cr-0123456789abcdef0"


def launch_data(world):
    return world.only(TEMPLATE)["Properties"]["LaunchTemplateData"]


def decoded(world):
    return base64.b64decode(launch_data(world)["UserData"]).decode()


def test_trn2_gets_sixteen_efa_interfaces_beside_the_primary_one(make_world):
    world = make_world()
    world.add_trn2()

    interfaces = launch_data(world)["NetworkInterfaces"]
    places = [
        (one["NetworkCardIndex"], one["DeviceIndex"], one["InterfaceType"]) for one in interfaces
    ]

    assert places == [
        (0, 0, "interface"),
        (0, 1, "efa-only"),
        *[(card, 0, "efa-only") for card in range(1, 16)],
    ]


def test_every_interface_carries_the_cluster_group_and_the_efa_group(make_world):
    world = make_world()
    world.add_trn2()

    data = launch_data(world)
    (efa_group,) = [
        logical_id
        for logical_id in world.template().find_resources("AWS::EC2::SecurityGroup")
        if "Efa" in logical_id
    ]

    for interface in data["NetworkInterfaces"]:
        groups = json.dumps(interface["Groups"])
        assert "ClusterSecurityGroupId" in groups
        assert efa_group in groups
        assert interface["DeleteOnTermination"] is True
        assert "SubnetId" not in interface
    assert "SecurityGroupIds" not in data


def test_the_efa_group_lets_traffic_to_and_from_itself_pass(make_world):
    world = make_world()
    world.add_trn2()

    for kind, other in (
        ("AWS::EC2::SecurityGroupIngress", "SourceSecurityGroupId"),
        ("AWS::EC2::SecurityGroupEgress", "DestinationSecurityGroupId"),
    ):
        rules = world.template().find_resources(kind).values()
        own = [rule for rule in rules if "Efa" in json.dumps(rule["Properties"]["GroupId"])]
        assert [rule["Properties"]["GroupId"] for rule in own] == [
            rule["Properties"][other] for rule in own
        ]
        assert [rule["Properties"]["IpProtocol"] for rule in own] == ["-1"]


def test_a_capacity_block_says_so_in_all_three_places(make_world):
    world = make_world()
    world.add_trn2()

    data = launch_data(world)
    group = world.only(NODEGROUP)

    assert data["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    assert data["CapacityReservationSpecification"] == {
        "CapacityReservationTarget": {"CapacityReservationId": BLOCK}
    }
    assert data["InstanceType"] == "trn2.48xlarge"
    assert group["Properties"]["CapacityType"] == "CAPACITY_BLOCK"
    assert "InstanceTypes" not in group["Properties"]
    assert (group["UpdateReplacePolicy"], group["DeletionPolicy"]) == ("Retain", "Delete")


def test_a_reservation_is_no_capacity_block(make_world):
    world = make_world()
    world.add_trn2(
        instance_type="p5.48xlarge", capacity=Capacity.reservation("cr-0123456789abcdef1")
    )

    data = launch_data(world)

    assert "InstanceMarketOptions" not in data
    assert data["CapacityReservationSpecification"]["CapacityReservationTarget"] == {
        "CapacityReservationId": "cr-0123456789abcdef1"
    }
    assert world.only(NODEGROUP)["Properties"]["CapacityType"] == "ON_DEMAND"


def test_a_group_of_reservations_never_spills_into_on_demand_instances(make_world):
    arn = "arn:aws:resource-groups:us-east-2:111122223333:group/p5"
    world = make_world()
    world.add_trn2(instance_type="p5.48xlarge", capacity=Capacity.reservation_group(arn))

    assert launch_data(world)["CapacityReservationSpecification"] == {
        "CapacityReservationPreference": "capacity-reservations-only",
        "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": arn},
    }


def test_a_token_for_a_group_of_reservations_is_drawn_as_one(make_world):
    world = make_world()
    parameter = cdk.CfnParameter(world.stack, "Group")
    capacity = Capacity.reservation_group(parameter.value_as_string, key="group")
    world.add_trn2(instance_type="p5.48xlarge", capacity=capacity)

    target = launch_data(world)["CapacityReservationSpecification"]["CapacityReservationTarget"]

    assert target == {"CapacityReservationResourceGroupArn": {"Ref": "Group"}}


def test_nodes_get_the_ami_labels_and_taint_of_the_plan(make_world):
    world = make_world()
    world.add_trn2(labels={"team": "training"})

    properties = world.only(NODEGROUP)["Properties"]

    assert properties["AmiType"] == "AL2023_x86_64_NEURON"
    assert properties["Labels"] == {
        "team": "training",
        "eks-devices/nodegroup": "Trn2",
        "eks-devices/neuron": "dra",
        "eks-devices/neuron-manager": "default",
        "eks-devices/efa": "dra",
        "eks-devices/efa-manager": "default",
    }
    assert properties["Taints"] == [
        {"Key": "aws.amazon.com/neuron", "Value": "present", "Effect": "NO_SCHEDULE"}
    ]


def test_max_pods_are_what_the_primary_card_has_addresses_for(make_world):
    world = make_world()
    world.add_trn2()

    text = decoded(world)

    assert "/etc/eks/nodeadm.d/50-eks-devices.json" in text
    config, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    assert config["kind"] == "NodeConfig"
    assert config["spec"]["kubelet"]["config"] == {"maxPods": 51}


def test_logical_neuron_cores_are_set_at_boot_for_the_device_plugin(make_world):
    world = make_world()
    world.add_trn2(mechanism=Mechanism.DEVICE_PLUGIN, logical_neuron_cores=1)

    text = decoded(world)

    assert "echo NEURON_LOGICAL_NC_CONFIG=1 > /opt/aws/neuron/logical_nc_config" in text
    assert text.endswith("--EKS-DEVICES--\n")


def test_bottlerocket_user_data_is_toml_with_the_settings_of_the_plan(make_world):
    import tomllib

    world = make_world()
    world.cluster.add_nodegroup(
        "G6e",
        instance_type="g6e.12xlarge",
        operating_system=OperatingSystem.BOTTLEROCKET,
        mechanism=Mechanism.DRA,
        max_size=2,
    )

    settings = tomllib.loads(decoded(world))["settings"]

    assert settings["kubelet-device-plugins"]["nvidia"]["enabled"] is False
    assert isinstance(settings["kubernetes"]["max-pods"], int)
    assert world.only(NODEGROUP)["Properties"]["AmiType"] == "BOTTLEROCKET_x86_64_NVIDIA"


def test_a_group_without_efa_leaves_interfaces_to_ec2_and_uses_every_private_subnet(make_world):
    world = make_world()
    world.cluster.add_nodegroup("G6e", instance_type="g6e.12xlarge", max_size=2)

    data = launch_data(world)

    assert "NetworkInterfaces" not in data
    assert len(data["SecurityGroupIds"]) == 1
    assert len(world.only(NODEGROUP)["Properties"]["Subnets"]) == 2
    assert world.only(NODEGROUP)["Properties"]["AmiType"] == "AL2023_x86_64_NVIDIA"
    assert not [
        one for one in world.template().find_resources("AWS::EC2::SecurityGroup") if "Efa" in one
    ]


def test_gb200_gets_its_own_layout_and_an_arm_ami(make_world):
    world = make_world()
    world.add_trn2("Gb200", instance_type="p6e-gb200.36xlarge", max_size=18)

    interfaces = launch_data(world)["NetworkInterfaces"]

    assert [(one["NetworkCardIndex"], one["InterfaceType"]) for one in interfaces] == [
        (0, "interface"),
        (1, "efa-only"),
        (5, "efa-only"),
        (9, "efa-only"),
        (13, "efa-only"),
    ]
    assert world.only(NODEGROUP)["Properties"]["AmiType"] == "AL2023_ARM_64_NVIDIA"


def test_an_autoscaled_group_leaves_the_desired_size_out(make_world):
    world = make_world()
    world.add_trn2(autoscaled=True, min_size=1)

    assert world.only(NODEGROUP)["Properties"]["ScalingConfig"] == {"MinSize": 1, "MaxSize": 4}


def test_taints_are_written_in_the_spelling_of_the_eks_api(make_world):
    world = make_world()
    world.add_trn2(taints=[Taint(key="dedicated"), "team=ml:NoExecute"])

    assert world.only(NODEGROUP)["Properties"]["Taints"] == [
        {"Key": "dedicated", "Effect": "NO_SCHEDULE"},
        {"Key": "team", "Value": "ml", "Effect": "NO_EXECUTE"},
    ]


def test_a_pinned_release_reaches_the_group(make_world):
    world = make_world()
    world.add_trn2(release_version="1.34.4-20261023")

    assert world.only(NODEGROUP)["Properties"]["ReleaseVersion"] == "1.34.4-20261023"


def group_name(make_world, **options):
    world = make_world()
    world.add_trn2(**options)
    return world.only(NODEGROUP)["Properties"]["NodegroupName"]


REPLACING = {
    "mechanism": {"mechanism": Mechanism.DEVICE_PLUGIN},
    "type": {"instance_type": "trn1.32xlarge"},
    "reservation": {"capacity": Capacity.block("cr-0123456789abcdef1")},
    "operating system": {"operating_system": OperatingSystem.BOTTLEROCKET},
}
IN_PLACE = {
    "sizes": {"min_size": 1, "max_size": 8},
    "labels": {"labels": {"team": "ml"}},
    "taints": {"taints": ()},
    "release": {"release_version": "1.34.4-20261023"},
    "interfaces": {"efa": 8},
}


@pytest.mark.parametrize("change", REPLACING.values(), ids=REPLACING)
def test_a_change_that_needs_new_nodes_gives_a_new_name(make_world, change):
    assert group_name(make_world) != group_name(make_world, **change)


def test_another_subnet_gives_a_new_name(make_world):
    world = make_world()
    world.add_trn2(subnet=world.vpc.private_subnets[1])

    assert group_name(make_world) != world.only(NODEGROUP)["Properties"]["NodegroupName"]


@pytest.mark.parametrize("change", IN_PLACE.values(), ids=IN_PLACE)
def test_a_change_that_eks_makes_in_place_keeps_the_name(make_world, change):
    assert group_name(make_world) == group_name(make_world, **change)


def test_another_role_of_the_nodes_gives_a_new_name(make_world):
    world = make_world()
    host = host_of(world.cluster)
    assert host is not None
    host.node_role = iam.Role(
        world.stack, "Other", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com")
    )
    world.add_trn2()

    assert group_name(make_world) != world.only(NODEGROUP)["Properties"]["NodegroupName"]


def test_another_release_of_a_driver_keeps_the_name(make_served):
    overrides = {(DeviceType.NEURON, Mechanism.DRA): "registry.example.com/neuron:9.9.9"}
    names = [
        group_name(make_served),
        group_name(
            lambda: make_served(images=ImageSource(region="us-east-2", overrides=overrides))
        ),
    ]

    assert names[0] == names[1]


def test_compute_domains_have_no_device_plugin(make_world, faults_of):
    mechanism = {DeviceType.COMPUTE_DOMAIN: Mechanism.DEVICE_PLUGIN}
    options = {"mechanism": mechanism, "max_size": 0, "labels": {"eks-devices/gpu": "mine"}}

    found = faults_of(make_world().add_trn2, instance_type="p6e-gb200.36xlarge", **options)

    assert {code for code, _ in found} >= {"ComputeDomainNeedsDra", "OwnLabel"}


def test_other_groups_do_not_move_a_name(make_world):
    world = make_world()
    world.cluster.add_nodegroup("G6e", instance_type="g6e.12xlarge", max_size=2)
    world.add_trn2()

    names = [
        one["Properties"]["NodegroupName"]
        for one in world.template().find_resources(NODEGROUP).values()
    ]

    assert group_name(make_world) in names


def test_a_name_fits_into_63_characters(make_world):
    world = make_world()
    world.add_trn2("A" + "b" * 61 + "c")

    name = world.only(NODEGROUP)["Properties"]["NodegroupName"]

    assert len(name) == 63
    assert re.fullmatch(r"Ab{53}-[0-9a-f]{8}", name)


def test_a_token_reservation_is_drawn_and_its_key_names_the_group(make_world):
    world = make_world()
    parameter = cdk.CfnParameter(world.stack, "Block")
    group = world.add_trn2(capacity=Capacity.block(parameter.value_as_string, key="may"))

    target = launch_data(world)["CapacityReservationSpecification"]["CapacityReservationTarget"]

    assert target == {"CapacityReservationId": {"Ref": "Block"}}
    assert group.plan.to_dict()["capacity"]["reservation"] == "may"


def test_an_imported_subnet_stands_in_the_name_by_its_id(make_world):
    names = []
    for subnet_id in ("subnet-0aaa", "subnet-0bbb", "subnet-0aaa"):
        world = make_world()
        subnet = ec2.Subnet.from_subnet_id(world.stack, "Imported", subnet_id)
        world.add_trn2(subnet=subnet)
        names.append(world.only(NODEGROUP)["Properties"]["NodegroupName"])

    assert names[0] == names[2] != names[1]


def test_findings_become_annotations_that_can_be_acknowledged(make_world):
    world = make_world()
    group = world.add_trn2(
        instance_type="trn1.32xlarge", capacity=Capacity.on_demand(), desired_size=1
    )

    annotations = Annotations.from_stack(world.stack)

    annotations.has_warning(
        "/Training/Cluster/Trn2", Match.string_like_regexp(r".*\[NeuronDraTrn1\].*")
    )
    # What only tells stands once for all groups, a line for each.
    annotations.has_info(
        "/Training/Cluster/Cluster", Match.string_like_regexp(r".*Trn2.*\[MechanismChosen\].*")
    )
    assert not annotations.find_error("*", Match.any_value())
    assert [device.device_type for device in group.plan.devices] == [
        DeviceType.NEURON,
        DeviceType.EFA,
    ]


def test_an_imported_token_subnet_stands_in_the_name_by_what_it_imports(make_world):
    names = []
    for export in ("SubnetA", "SubnetB", "SubnetA"):
        world = make_world()
        subnet = ec2.Subnet.from_subnet_id(world.stack, "Imported", cdk.Fn.import_value(export))
        world.add_trn2(subnet=subnet)
        names.append(world.only(NODEGROUP)["Properties"]["NodegroupName"])

    assert names[0] == names[2] != names[1]


def test_nodes_start_after_the_rules_of_their_security_group(make_world):
    world = make_world()
    world.add_trn2()
    resources = world.template().to_json()["Resources"]
    rules = [
        name
        for kind in ("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress")
        for name in world.template().find_resources(kind)
        if "Efa" in name
    ]

    (group,) = world.template().find_resources(NODEGROUP)

    assert len(rules) == 2
    assert set(rules) <= needed(resources, group)


def test_a_group_waits_by_name_for_nothing_that_comes_first_anyway(make_served):
    world = make_served()
    world.add_trn2()
    resources = world.template().to_json()["Resources"]
    (group,) = world.template().find_resources(NODEGROUP)

    direct = resources[group]["DependsOn"]

    for name in direct:
        others = [needed(resources, other) for other in direct if other != name]
        assert not any(name in one for one in others)
    first = {resources[name]["Properties"].get("AddonName") for name in needed(resources, group)}
    assert {"eks-pod-identity-agent", "vpc-cni", "kube-proxy"} <= first
    # A template is small enough for a hundred groups only if each says little.
    assert len(direct) <= 5
    assert group not in needed(resources, group)


def test_efa_needs_one_subnet(make_world, faults_of):
    world = make_world()

    found = faults_of(world.add_trn2, subnet=None)

    assert found == {("SubnetRequired", "nodegroups.Trn2.subnet")}


def test_every_fault_of_a_call_comes_at_once(make_world, faults_of):
    world = make_world()

    found = faults_of(
        world.cluster.add_nodegroup,
        "Bad",
        instance_type="p5.48xlarge",
        max_sise=3,
        min_size=-1,
        efa=33,
        labels={"eks-devices/gpu": "mine"},
    )

    assert found == {
        ("UnknownOption", "nodegroups.Bad.max_sise"),
        ("MissingOption", "nodegroups.Bad.max_size"),
        ("OutOfRange", "nodegroups.Bad.min_size"),
        ("TooManyEfaInterfaces", "nodegroups.Bad.efa"),
        ("OwnLabel", "nodegroups.Bad.labels['eks-devices/gpu']"),
        ("SubnetRequired", "nodegroups.Bad.subnet"),
    }


def test_a_refused_group_leaves_nothing_in_the_stack(make_world, faults_of):
    world = make_world()

    faults_of(world.add_trn2, instance_type="trn9.48xlarge")
    world.add_trn2()

    assert [one.name for one in world.cluster.plan.nodegroups] == ["Trn2"]
    world.template().resource_count_is(NODEGROUP, 1)


@pytest.mark.parametrize("subnet", [["x"], "subnet-1", ec2.SubnetSelection()])
def test_what_is_no_subnet_is_refused_and_nothing_is_left_behind(make_world, subnet, faults_of):
    world = make_world()

    found = faults_of(world.add_trn2, subnet=subnet, max_size=0)
    world.add_trn2()

    assert found == {
        ("WrongType", "nodegroups.Trn2.subnet"),
        ("OutOfRange", "nodegroups.Trn2.max_size"),
    }


@pytest.mark.parametrize("name", ["Cluster", "NodeRole", "Trn2"])
def test_an_id_that_is_taken_is_told(make_world, name, faults_of):
    world = make_world()
    world.add_trn2()

    found = faults_of(world.add_trn2, name)

    assert ("RepeatedId", f"nodegroups.{name}") in found


def test_a_group_may_have_any_other_id(make_world):
    world = make_world()
    world.add_trn2("Efa")
    world.add_trn2("Resource", capacity=Capacity.block("cr-0123456789abcdef1"))

    world.template().resource_count_is(NODEGROUP, 2)


def test_two_groups_of_one_name_are_refused_in_other_scopes_too(make_world, faults_of):
    world = make_world()
    world.add_trn2()
    other = Construct(world.stack, "Other")
    options: Any = {
        "instance_type": "g6e.12xlarge",
        "max_size": 1,
    }

    found = faults_of(AcceleratedNodegroup, other, "Trn2", cluster=world.cluster, **options)

    assert found == {("RepeatedName", "nodegroups.Trn2.name")}
    assert other.node.try_find_child("Trn2") is None


def test_a_group_needs_a_cluster(make_world, faults_of):
    anything: Any = AcceleratedNodegroup

    found = faults_of(
        anything, make_world().stack, "G", cluster="c", instance_type="g6e.12xlarge", max_size=1
    )

    assert found == {("WrongType", "nodegroups.G.cluster")}


def test_a_reservation_needs_the_subnet_of_its_zone(make_world, faults_of):
    world = make_world()

    found = faults_of(
        world.add_trn2,
        instance_type="g6e.12xlarge",
        capacity=Capacity.reservation("cr-0123456789abcdef1"),
        subnet=None,
    )

    assert found == {("SubnetRequired", "nodegroups.Trn2.subnet")}


def test_nodes_follow_the_cluster_to_its_kubernetes_version(make_world):
    world = make_world(version="1.35")
    world.add_trn2()

    assert world.only("AWS::EKS::Nodegroup")["Properties"]["Version"] == "1.35"


def test_an_update_on_reserved_capacity_ends_a_node_before_it_starts_one(make_world):
    world = make_world()
    world.add_trn2()
    world.cluster.add_nodegroup("G6e", instance_type="g6e.12xlarge", max_size=1)

    groups = world.template().find_resources("AWS::EKS::Nodegroup").values()

    found = {one["Properties"]["AmiType"]: one["Properties"].get("UpdateConfig") for one in groups}
    assert found == {
        "AL2023_x86_64_NEURON": {"MaxUnavailable": 1, "UpdateStrategy": "MINIMAL"},
        "AL2023_x86_64_NVIDIA": None,
    }
