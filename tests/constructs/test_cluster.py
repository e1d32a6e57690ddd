"""The cluster: its version, its plan, and the plan files of an assembly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk.assertions import Annotations, Match, Template
from tests.hostile import Hostile, Untouchable

from eks_device_constructs import AcceleratedCluster, Delivery, DeviceDrivers
from eks_devices import DeviceType, EksDevicesError, Mechanism


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36", "1.37"])
def test_every_minor_that_serves_dra_makes_a_cluster(make_world, version):
    world = make_world(version=version)
    world.add_trn2()

    properties = world.only("AWS::EKS::Cluster")["Properties"]

    assert properties["Version"] == version
    assert world.cluster.plan.kubernetes_version == version


@pytest.mark.parametrize(
    ("version", "code"),
    [
        ("1.33", "DraBelow134"),
        ("1.32", "UnsupportedKubernetesVersion"),
        ("1.99", "UnsupportedKubernetesVersion"),
        ("1.34.2", "UnsupportedKubernetesVersion"),
    ],
)
def test_other_versions_are_refused_before_anything_is_made(make_world, version, code):
    with pytest.raises(EksDevicesError) as raised:
        make_world(version=version)

    (fault,) = raised.value.faults
    assert (fault.code, fault.path) == (code, "version")


def test_the_support_dates_of_the_version_are_told(make_world):
    world = make_world()

    Annotations.from_stack(world.stack).has_info(
        "/Training/Cluster", Match.string_like_regexp(r".*ends 2026-12-02.*")
    )


def test_a_cluster_has_no_nodes_of_its_own(make_world):
    world = make_world()

    world.template().resource_count_is("AWS::EKS::Nodegroup", 0)
    assert world.cluster.plan.nodegroups == ()


def test_the_plan_holds_the_groups_and_the_managers_they_need(make_world):
    world = make_world()
    world.add_trn2()
    world.cluster.add_nodegroup(
        "G6e", instance_type="g6e.12xlarge", mechanism=Mechanism.DEVICE_PLUGIN, max_size=2
    )

    plan = world.cluster.plan

    assert [group.name for group in plan.nodegroups] == ["Trn2", "G6e"]
    assert [(one.device_type, one.mechanism, one.nodegroups) for one in plan.drivers] == [
        (DeviceType.NEURON, Mechanism.DRA, ("Trn2",)),
        (DeviceType.GPU, Mechanism.DEVICE_PLUGIN, ("G6e",)),
        (DeviceType.EFA, Mechanism.DRA, ("Trn2",)),
    ]


def test_the_plan_is_written_into_the_assembly(make_world):
    world = make_world()
    trn2 = world.add_trn2()

    folder = Path(world.app.synth().directory)
    content = json.loads((folder / "Training.eks-devices.json").read_text(encoding="utf-8"))

    assert content["schema"] == "eks-devices/plan-file/v1"
    assert content["clusters"] == [
        {
            "path": "Training/Cluster",
            "plan": world.cluster.plan.to_dict(),
            "nodegroup_names": {"Trn2": trn2.nodegroup.nodegroup_name},
            "claims": [],
            "delivery": [],
        }
    ]


def test_the_plan_file_tells_each_way_of_delivery_once(make_served, tmp_path):
    world, files = make_served(), str(tmp_path / "manifests")
    lab = DeviceDrivers(
        world.stack,
        "Lab",
        cluster=world.cluster,
        delivery=Delivery.gitops(files),
        scope_name="lab",
    )
    g6e: dict[str, Any] = {"instance_type": "g6e.12xlarge", "max_size": 1}
    world.cluster.add_nodegroup("Default", **g6e)
    world.cluster.add_nodegroup("InLab", drivers=lab, **g6e)

    folder = Path(world.app.synth().directory)
    content = json.loads((folder / "Training.eks-devices.json").read_text(encoding="utf-8"))

    (cluster,) = content["clusters"]
    assert cluster["delivery"] == [
        {"kind": "kubectl"},
        {"kind": "gitops", "directory": files},
    ]


def test_two_clusters_of_a_stack_share_its_plan_file(make_world):
    world = make_world()
    AcceleratedCluster(
        world.stack, "Another", vpc=world.vpc, version=eks.KubernetesVersion.of("1.36")
    )

    folder = Path(world.app.synth().directory)
    content = json.loads((folder / "Training.eks-devices.json").read_text(encoding="utf-8"))

    assert [(one["path"], one["plan"]["kubernetes_version"]) for one in content["clusters"]] == [
        ("Training/Another", "1.36"),
        ("Training/Cluster", "1.34"),
    ]


def test_the_plan_of_a_stage_stands_in_the_stage_s_own_assembly(tmp_path):
    app = cdk.App(outdir=str(tmp_path))
    stack = cdk.Stack(cdk.Stage(app, "Prod"), "Training")
    AcceleratedCluster(
        stack, "Cluster", vpc=ec2.Vpc(stack, "Vpc"), version=eks.KubernetesVersion.V1_34
    )
    app.synth()

    (found,) = tmp_path.rglob("*.eks-devices.json")

    assert found.parent.name == "assembly-Prod"
    assert found.name == f"{stack.artifact_id}.eks-devices.json"


def test_a_second_synth_tells_only_what_is_new(make_world):
    world = make_world()
    told = []
    for name in ("A", "B"):
        world.add_trn2(name)
        world.app.synth(force=True)
        infos = Annotations.from_stack(world.stack).find_info("*", Match.any_value())
        told.append([str(one.entry.data) for one in infos])

    first, second = ([text for text in texts if "nodegroups.A" in text] for texts in told)
    assert first
    assert second == first
    assert len([text for text in told[1] if "nodegroups.B" in text]) == len(first)


def test_two_synths_are_byte_identical(make_world):
    folders = []
    for _ in range(2):
        world = make_world()
        world.add_trn2()
        folders.append(Path(world.app.synth().directory))

    for name in ("Training.template.json", "Training.eks-devices.json"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


def test_adding_a_group_changes_no_other_resource(make_world):
    before = make_world()
    before.add_trn2()
    after = make_world()
    after.cluster.add_nodegroup("G6e", instance_type="g6e.12xlarge", max_size=2)
    after.add_trn2()

    old = before.template().to_json()["Resources"]
    new = after.template().to_json()["Resources"]

    assert {name: new[name] for name in old} == old
    assert {new[name]["Type"] for name in set(new) - set(old)} == {
        "AWS::EC2::LaunchTemplate",
        "AWS::EKS::Nodegroup",
    }


def test_a_cluster_in_a_nested_stack_stands_in_the_file_of_its_parent(tmp_path):
    app = cdk.App(outdir=str(tmp_path))
    parent = cdk.Stack(app, "Parent")
    nested = cdk.NestedStack(parent, "Nested")
    cluster = AcceleratedCluster(
        nested, "Cluster", vpc=ec2.Vpc(nested, "Vpc"), version=eks.KubernetesVersion.V1_34
    )
    cluster.add_nodegroup("G6e", instance_type="g6e.12xlarge", max_size=1)
    app.synth()

    (found,) = tmp_path.glob("*.eks-devices.json")
    content = json.loads(found.read_text(encoding="utf-8"))

    assert found.name == "Parent.eks-devices.json"
    assert [one["path"] for one in content["clusters"]] == ["Parent/Nested/Cluster"]


def test_what_was_removed_again_is_not_in_the_plan(make_world):
    world = make_world()
    world.add_trn2()
    world.cluster.add_nodegroup("G6e", instance_type="g6e.12xlarge", max_size=1)

    world.cluster.node.try_remove_child("G6e")

    assert [one.name for one in world.cluster.plan.nodegroups] == ["Trn2"]


@pytest.mark.parametrize("kind", ["PRIVATE_WITH_EGRESS", "PRIVATE_ISOLATED"])
def test_a_network_without_public_subnets_is_enough(tmp_path, kind):
    stack = cdk.Stack(cdk.App(outdir=str(tmp_path)), "Training")
    subnets = [ec2.SubnetConfiguration(name="Nodes", subnet_type=getattr(ec2.SubnetType, kind))]
    vpc = ec2.Vpc(stack, "Vpc", nat_gateways=0, subnet_configuration=subnets)
    cluster = AcceleratedCluster(stack, "Cluster", vpc=vpc, version=eks.KubernetesVersion.V1_34)

    cluster.add_nodegroup("G6e", instance_type="g6e.12xlarge", max_size=1)

    assert [one.name for one in cluster.plan.nodegroups] == ["G6e"]


def test_an_imported_network_is_enough(tmp_path):
    stack = cdk.Stack(cdk.App(outdir=str(tmp_path)), "Training")
    vpc = ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-0123",
        availability_zones=["us-east-2a", "us-east-2b"],
        private_subnet_ids=["subnet-0aaa", "subnet-0bbb"],
    )
    cluster = AcceleratedCluster(stack, "Cluster", vpc=vpc, version=eks.KubernetesVersion.V1_34)
    cluster.add_nodegroup("G6e", instance_type="g6e.12xlarge", max_size=1)

    (group,) = Template.from_stack(stack).find_resources("AWS::EKS::Nodegroup").values()

    assert group["Properties"]["Subnets"] == ["subnet-0aaa", "subnet-0bbb"]


def test_a_public_network_is_refused(tmp_path):
    stack = cdk.Stack(cdk.App(outdir=str(tmp_path)), "Training")
    subnets = [ec2.SubnetConfiguration(name="Nodes", subnet_type=ec2.SubnetType.PUBLIC)]
    vpc = ec2.Vpc(stack, "Vpc", subnet_configuration=subnets)

    with pytest.raises(EksDevicesError) as raised:
        AcceleratedCluster(stack, "Cluster", vpc=vpc, version=eks.KubernetesVersion.V1_34)

    assert [(one.code, one.path) for one in raised.value.faults] == [("NoSubnets", "vpc")]


@pytest.mark.parametrize(
    ("vpc", "version"),
    [
        (None, "1.34"),
        ("vpc-1", None),
        (Hostile(), 5),
        pytest.param(Untouchable(), Hostile(), id="untouchable"),
    ],
)
def test_wrong_types_are_told_together_before_anything_is_made(tmp_path, vpc, version):
    stack = cdk.Stack(cdk.App(outdir=str(tmp_path)), "Training")
    anything: Any = AcceleratedCluster

    with pytest.raises(EksDevicesError) as raised:
        anything(stack, "Cluster", vpc=vpc, version=version)

    assert [(one.code, one.path) for one in raised.value.faults] == [
        ("WrongType", "version"),
        ("WrongType", "vpc"),
    ]
    assert stack.node.try_find_child("Cluster") is None


def test_the_kubectl_handler_may_use_the_cluster_until_every_manifest_is_deleted(make_served):
    world = make_served()
    world.add_trn2()
    found = world.template().to_json()["Resources"]
    (entry,) = (name for name, one in found.items() if one["Type"] == "AWS::EKS::AccessEntry")
    manifests = [name for name, one in found.items() if one["Type"].endswith("KubernetesResource")]

    # CloudFormation deletes what a resource depends on after the resource itself.
    assert manifests
    for name in manifests:
        assert entry in _needed(found, name)


def _needed(resources: dict[str, Any], name: str) -> set[str]:
    """What a resource depends on, and what that depends on in turn."""
    needed: set[str] = set()
    waiting = [name]
    while waiting:
        for one in resources[waiting.pop()].get("DependsOn", ()):
            if one not in needed:
                needed.add(one)
                waiting.append(one)
    return needed
