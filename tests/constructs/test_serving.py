"""Who serves a node group, and what is said before anything of a wrong one is made."""

from __future__ import annotations

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk.assertions import Annotations, Match
from tests.hostile import Hostile, HostileSet, Untouchable

from eks_device_charts import ImageSource
from eks_device_constructs import (
    AcceleratedCluster,
    AcceleratedNodegroup,
    Delivery,
    DeviceDrivers,
    ExternalDrivers,
)
from eks_devices import Capacity, DeviceType, EksDevicesError, GpuDriver, Mechanism

# pytest, too, asks a value for its name.
UNTOUCHABLE = pytest.param(Untouchable(), id="untouchable")
MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"
DRA, PLUGIN = Mechanism.DRA, Mechanism.DEVICE_PLUGIN
GPU_BY_DRA = {DeviceType.GPU: (DRA,)}
G6E: dict[str, Any] = {"instance_type": "g6e.12xlarge", "max_size": 1}
P5: dict[str, Any] = {
    "instance_type": "p5.48xlarge",
    "mechanism": DRA,
    "max_size": 1,
    "capacity": Capacity.reservation("cr-0123456789abcdef0"),
}


def other_stack(world, **options: Any) -> tuple[cdk.Stack, AcceleratedCluster]:
    stack = cdk.Stack(world.app, "Other", env=cdk.Environment(region="us-east-2"))
    cluster = AcceleratedCluster(
        stack,
        "Cluster",
        vpc=ec2.Vpc(stack, "Vpc", max_azs=2),
        version=eks.KubernetesVersion.V1_34,
        **options,
    )
    return stack, cluster


def daemon_sets(world) -> set[str]:
    return {
        item["metadata"]["name"]
        for resource in world.template().find_resources(MANIFEST).values()
        for item in json.loads(resource["Properties"]["Manifest"])
        if item["kind"] == "DaemonSet"
    }


def test_what_is_not_foreign_is_served_by_the_default(make_served):
    world = make_served()
    foreign = ExternalDrivers(foreign={DeviceType.GPU})

    world.cluster.add_nodegroup("P5", subnet=world.vpc.private_subnets[0], drivers=foreign, **P5)

    assert daemon_sets(world) == {"aws-dranet"}


def test_what_is_not_foreign_is_served_by_nobody_without_a_default(make_world):
    world = make_world()
    foreign = ExternalDrivers(foreign={DeviceType.GPU})

    world.cluster.add_nodegroup("P5", subnet=world.vpc.private_subnets[0], drivers=foreign, **P5)

    Annotations.from_stack(world.stack).has_warning("*", Match.string_like_regexp("efa by dra"))


def test_groups_of_several_types_share_what_names_the_foreign_devices_of_one(make_served):
    world = make_served()
    foreign = ExternalDrivers(foreign={DeviceType.GPU})

    world.cluster.add_nodegroup("P5", subnet=world.vpc.private_subnets[0], drivers=foreign, **P5)
    trn2 = world.add_trn2(drivers=foreign)

    assert trn2.plan.labels["eks-devices/neuron-manager"] == "default"
    assert daemon_sets(world) == {"aws-dranet", "neuron-dra-driver-kubelet-plugin"}


def test_the_default_is_in_this_app_or_in_another_one(make_served, faults_of):
    world = make_served()

    assert faults_of(world.cluster.add_nodegroup, "G6e", drivers=ExternalDrivers(), **G6E) == {
        ("SecondDefaultInstallation", "nodegroups.G6e.drivers")
    }


def test_a_scope_waits_for_what_the_default_holds(make_served):
    world = make_served(keep=GPU_BY_DRA)
    scoped = DeviceDrivers(
        world.stack,
        "Team",
        cluster=world.cluster,
        delivery=world.cluster.node.find_child("Drivers").delivery,
        scope_name="team",
    )

    world.cluster.add_nodegroup("G6e", mechanism=DRA, drivers=scoped, **G6E)

    resources = world.template().find_resources(MANIFEST)
    ((_, own),) = [(name, one) for name, one in resources.items() if name.startswith("Team")]
    kinds = {
        item["kind"]
        for name in own["DependsOn"]
        if name in resources
        for item in json.loads(resources[name]["Properties"]["Manifest"])
    }
    assert {"Namespace", "ServiceAccount", "ClusterRole", "DeviceClass"} <= kinds


def test_an_installation_comes_before_its_groups(make_served, faults_of):
    world = make_served(delivery=None)
    world.cluster.add_nodegroup("G6e", **G6E)

    found = faults_of(
        DeviceDrivers, world.stack, "D", cluster=world.cluster, delivery=Delivery.gitops("x")
    )

    assert found == {("GroupsBeforeDrivers", "drivers")}


def test_drivers_of_another_cluster_are_refused(make_served, faults_of):
    world = make_served()
    _, cluster = other_stack(world)
    drivers = world.cluster.node.find_child("Drivers")

    assert faults_of(cluster.add_nodegroup, "G6e", drivers=drivers, **G6E) == {
        ("WrongType", "nodegroups.G6e.drivers")
    }
    assert cluster.node.try_find_child("G6e") is None


def test_drivers_in_a_stack_that_waits_for_the_cluster_are_refused(make_served, faults_of):
    world = make_served(keep=GPU_BY_DRA)
    stack = cdk.Stack(world.app, "Other", env=cdk.Environment(region="us-east-2"))
    drivers = DeviceDrivers(
        stack,
        "Team",
        cluster=world.cluster,
        delivery=world.cluster.node.find_child("Drivers").delivery,
        scope_name="team",
    )
    options = {"mechanism": DRA, "drivers": drivers, **G6E}

    assert faults_of(world.cluster.add_nodegroup, "G6e", **options) == {
        ("DriversInAnotherStack", "nodegroups.G6e.drivers")
    }


@pytest.mark.parametrize("drivers", ["x", 5, [], False, ExternalDrivers, Hostile(), UNTOUCHABLE])
def test_drivers_have_a_type(make_world, drivers, faults_of):
    world = make_world()

    assert faults_of(world.cluster.add_nodegroup, "G6e", drivers=drivers, **G6E) == {
        ("WrongType", "nodegroups.G6e.drivers")
    }


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"delivery": "x"}, "drivers.delivery"),
        ({"foreign": None}, "drivers.foreign"),
        ({"foreign": 5}, "drivers.foreign"),
        ({"foreign": DeviceType.GPU}, "drivers.foreign"),
        ({"foreign": ["gpu"]}, "drivers.foreign"),
        ({"foreign": HostileSet({DeviceType.GPU})}, "drivers.foreign"),
        ({"foreign": [Hostile()]}, "drivers.foreign"),
        ({"delivery": Untouchable()}, "drivers.delivery"),
    ],
)
def test_external_drivers_are_judged_where_they_are_made(options, path, faults_of):
    assert faults_of(ExternalDrivers, **options) == {("WrongType", path)}


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"delivery": "x"}, {("WrongType", "delivery")}),
        ({"delivery": []}, {("WrongType", "delivery")}),
        ({"images": "x"}, {("WrongType", "images")}),
        ({"images": {}}, {("WrongType", "images")}),
        ({"keep": 3}, {("WrongType", "keep")}),
        ({"scope_name": 5}, {("WrongType", "drivers.scope_name")}),
        ({"scope_name": "default"}, {("MalformedScope", "drivers.scope_name")}),
        ({"scope_name": "Team A"}, {("MalformedScope", "drivers.scope_name")}),
        ({"scope_name": "a", "keep": GPU_BY_DRA}, {("KeepInScope", "keep")}),
        ({"scope_name": "a", "keep": Hostile()}, {("WrongType", "keep")}),
        ({"keep": Untouchable()}, {("WrongType", "keep")}),
        ({"images": Untouchable()}, {("WrongType", "images")}),
        ({"delivery": Untouchable()}, {("WrongType", "delivery")}),
        ({"scope_name": Hostile()}, {("WrongType", "drivers.scope_name")}),
    ],
)
def test_every_fault_of_an_installation_leaves_nothing(make_world, options, found, faults_of):
    world = make_world()
    given = {"cluster": world.cluster, "delivery": Delivery.gitops("x")} | options

    assert faults_of(DeviceDrivers, world.stack, "Drivers", **given) == found
    assert world.stack.node.try_find_child("Drivers") is None


def test_a_refused_scope_may_be_corrected(make_served):
    world = make_served(keep=GPU_BY_DRA)
    given: dict[str, Any] = {"cluster": world.cluster, "scope_name": "team"}
    with pytest.raises(EksDevicesError):
        DeviceDrivers(world.stack, "T", keep=3, delivery=Delivery.gitops("x"), **given)  # type: ignore[arg-type]

    assert DeviceDrivers(world.stack, "T", delivery=Delivery.gitops("x"), **given).scope_name


@pytest.mark.parametrize("options", [{"images": ImageSource(region="us-east-2")}, {"keep": {}}])
def test_what_says_what_to_install_needs_a_delivery(make_world, options, faults_of):
    assert faults_of(make_world, **options) == {("DeliveryNeeded", "delivery")}


@pytest.mark.parametrize("delivery", ["gitops", 5, [], True])
def test_a_delivery_of_a_cluster_has_a_type(make_world, delivery, faults_of):
    world = make_world()

    found = faults_of(other_stack, world, delivery=delivery)

    assert found == {("WrongType", "delivery")}


def test_kubectl_needs_a_cluster_made_with_it(make_world, faults_of, kubectl):
    world = make_world()
    external = ExternalDrivers(delivery=kubectl(world.stack))

    assert faults_of(world.cluster.add_nodegroup, "G6e", drivers=external, **G6E) == {
        ("NoKubectlProvider", "delivery")
    }


def test_a_group_without_images_leaves_nothing_and_may_be_corrected(make_served, faults_of):
    world = make_served(region=None)

    assert faults_of(world.add_trn2) == {("RegionNeeded", "images.region")}
    assert world.cluster.plan.nodegroups == ()
    world.add_trn2(efa=False)
    world.template().resource_count_is("AWS::EKS::Nodegroup", 1)


def test_a_release_without_a_gate_is_told_at_the_group(make_served, faults_of):
    """A gate that a release does not know ends the driver at its start."""
    old = {(DeviceType.GPU, Mechanism.DRA): "example.com/driver:v0.4.1"}
    world = make_served(images=ImageSource(overrides=old), version="1.36")
    driver = GpuDriver(consumable_shares=2)

    found = faults_of(world.cluster.add_nodegroup, "S", gpu_driver=driver, **G6E)

    assert found == {("FeatureGateNeedsRelease", "images.overrides[gpu by dra]")}


def test_a_mirror_keeps_the_region_of_the_stack(make_served):
    mirror = "111122223333.dkr.ecr.us-east-2.amazonaws.com/mirror"
    world = make_served(images=ImageSource(registries={"public.ecr.aws": mirror}))

    world.add_trn2()

    assert "aws-dranet" in daemon_sets(world)


def test_what_is_kept_is_read_once(make_served):
    keep: Any = {DeviceType.EFA: iter([DRA])}
    world = make_served(keep=keep)
    keep[DeviceType.GPU] = [DRA]

    assert daemon_sets(world) == {"aws-dranet"}
    assert [one.device_type for one in world.cluster.plan.drivers] == [DeviceType.EFA]


def test_a_reservation_of_two_groups_is_a_warning_of_the_cluster(make_served):
    world = make_served()
    world.add_trn2("First")
    world.add_trn2("Second")

    found = Annotations.from_stack(world.stack).find_warning(
        "*", Match.string_like_regexp("SharedReservation")
    )

    (one,) = found
    assert one.id == "/Training/Cluster/Cluster"
    assert "First, Second" in str(one.entry.data)


def test_a_group_may_be_removed_and_added_again(make_served):
    world = make_served()
    world.add_trn2()
    world.cluster.node.try_remove_child("Trn2")

    world.add_trn2(max_size=7)

    (group,) = world.cluster.plan.nodegroups
    assert group.max_size == 7


def test_nodes_with_several_interfaces_go_to_no_public_subnet(make_served, faults_of):
    world = make_served()
    public = world.vpc.public_subnets[0]

    assert faults_of(world.add_trn2, subnet=public) == {("PublicSubnet", "nodegroups.Trn2.subnet")}
    world.cluster.add_nodegroup("G6e", subnet=public, **G6E)


@pytest.mark.parametrize("served", [False, True])
def test_a_scope_needs_a_default_installation_somewhere(make_world, faults_of, served):
    world = make_world()
    elsewhere = ExternalDrivers() if served else None
    world.cluster.add_nodegroup("First", mechanism=PLUGIN, drivers=elsewhere, **G6E)
    scoped = DeviceDrivers(
        world.stack,
        "Team",
        cluster=world.cluster,
        delivery=Delivery.gitops("x"),
        scope_name="team",
    )
    options = {"mechanism": PLUGIN, "drivers": scoped, **G6E}

    if served:
        assert world.cluster.add_nodegroup("Second", **options).plan.name == "Second"
    else:
        assert faults_of(world.cluster.add_nodegroup, "Second", **options) == {
            ("ScopeWithoutDefault", "nodegroups.Second.drivers")
        }
        assert world.cluster.node.try_find_child("Second") is None


def test_a_default_elsewhere_leaves_no_room_for_one_here(make_world, faults_of):
    world = make_world()
    world.cluster.add_nodegroup("G6e", drivers=ExternalDrivers(), **G6E)

    found = faults_of(
        DeviceDrivers, world.stack, "D", cluster=world.cluster, delivery=Delivery.gitops("x")
    )

    assert found == {("SecondDefaultInstallation", "drivers")}


@pytest.mark.parametrize("subnet", ["x", [], ec2.SubnetSelection(), Hostile(), UNTOUCHABLE])
def test_a_subnet_has_a_type(make_world, faults_of, subnet):
    assert faults_of(make_world().add_trn2, subnet=subnet) == {
        ("WrongType", "nodegroups.Trn2.subnet")
    }


@pytest.mark.parametrize(
    ("region", "options", "code"),
    [
        ("us-east-2", {"delivery": Delivery.gitops("taken")}, "SharedDirectory"),
        (
            None,
            {"delivery": Delivery.gitops("x"), "keep": {DeviceType.EFA: (DRA,)}},
            "RegionNeeded",
        ),
    ],
)
def test_a_refused_cluster_leaves_nothing(make_world, faults_of, region, options, code):
    world = make_world(delivery=lambda _: Delivery.gitops("taken"))
    stack = cdk.Stack(world.app, "Other", env=cdk.Environment(region=region))
    given: dict[str, Any] = {
        "vpc": ec2.Vpc(stack, "Vpc", max_azs=2),
        "version": eks.KubernetesVersion.V1_34,
    }

    found = faults_of(AcceleratedCluster, stack, "Cluster", **given, **options)

    assert {one for one, _ in found} == {code}
    assert stack.node.try_find_child("Cluster") is None
    AcceleratedCluster(stack, "Cluster", **given)


def test_an_installation_may_be_removed_and_made_again(make_served):
    world = make_served()
    delivery = world.cluster.node.find_child("Drivers").delivery
    world.add_trn2()
    for child in ("Trn2", "Drivers"):
        world.cluster.node.try_remove_child(child)

    DeviceDrivers(world.stack, "Drivers", cluster=world.cluster, delivery=delivery)
    world.add_trn2()

    resources = world.template().to_json()["Resources"]
    needed = {name for one in resources.values() for name in one.get("DependsOn", [])}
    assert needed <= {*resources}
    assert "aws-dranet" in daemon_sets(world)


def test_a_group_in_another_stage_is_refused(make_served, faults_of):
    world = make_served()
    stage = cdk.Stage(world.app, "Prod", env=cdk.Environment(region="us-east-2"))
    stack = cdk.Stack(stage, "Stack")

    found = faults_of(AcceleratedNodegroup, stack, "G6e", cluster=world.cluster, **G6E)

    assert found == {("AnotherStage", "nodegroups.G6e.cluster")}


def test_the_plan_says_that_nothing_serves_a_group(make_world):
    world = make_world()
    world.cluster.add_nodegroup("G6e", **G6E)

    found = [one.path for one in world.cluster.plan.findings if one.code == "NoDrivers"]

    assert found == ["nodegroups.G6e.drivers"]


def make_scoped(world, **options: Any) -> DeviceDrivers:
    given = {"cluster": world.cluster, "scope_name": "team"} | options
    return DeviceDrivers(world.stack, "Team", **given)


def test_a_scope_may_be_removed_and_made_again(make_served, faults_of):
    world = make_served(keep=GPU_BY_DRA)
    delivery = world.cluster.node.find_child("Drivers").delivery
    gone = make_scoped(world, delivery=delivery)
    options = {"mechanism": DRA, **G6E}
    world.cluster.add_nodegroup("G6e", drivers=gone, **options)
    world.cluster.node.try_remove_child("G6e")
    world.stack.node.try_remove_child("Team")

    assert faults_of(world.cluster.add_nodegroup, "G6e", drivers=gone, **options) == {
        ("WrongType", "nodegroups.G6e.drivers")
    }
    world.cluster.add_nodegroup("G6e", drivers=make_scoped(world, delivery=delivery), **options)

    resources = world.template().to_json()["Resources"]
    needed = {name for one in resources.values() for name in one.get("DependsOn", [])}
    assert needed <= {*resources}
    assert [name for name in daemon_sets(world) if "team" in name]


def test_a_default_may_be_replaced_beside_a_scope_that_stays(make_served):
    world = make_served(keep=GPU_BY_DRA)
    delivery = world.cluster.node.find_child("Drivers").delivery
    scoped = make_scoped(world, delivery=delivery)
    options = {"mechanism": DRA, "drivers": scoped, **G6E}
    world.cluster.add_nodegroup("One", **options)
    world.cluster.node.try_remove_child("Drivers")
    DeviceDrivers(world.stack, "D", cluster=world.cluster, delivery=delivery, keep=GPU_BY_DRA)

    world.cluster.add_nodegroup("Two", **options)

    assert len([name for name in daemon_sets(world) if "team" in name]) == 1


def test_a_default_replaced_under_a_group_is_refused(make_served, faults_of):
    world = make_served()
    delivery = world.cluster.node.find_child("Drivers").delivery
    world.cluster.add_nodegroup("G6e", **G6E)
    world.cluster.node.try_remove_child("Drivers")

    found = faults_of(DeviceDrivers, world.stack, "D", cluster=world.cluster, delivery=delivery)

    assert found == {("GroupsBeforeDrivers", "drivers")}
