"""Device managers in a stack: which are installed, once each, in what order, and by which way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Annotations, Match

from eks_device_charts import ImageSource
from eks_device_constructs import Delivery, DeviceDrivers, ExternalDrivers
from eks_devices import (
    Capacity,
    DeviceType,
    EksDevicesError,
    GpuSharing,
    Mechanism,
    OperatingSystem,
)

MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"
NODEGROUP = "AWS::EKS::Nodegroup"
G6E: dict[str, Any] = {"instance_type": "g6e.12xlarge", "max_size": 1}
PLUGIN = Mechanism.DEVICE_PLUGIN


def objects_of(world) -> dict[tuple[str, str], dict[str, Any]]:
    """Every Kubernetes object of the stack by kind and name, each of which is there once."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for resource in world.template().find_resources(MANIFEST).values():
        for item in json.loads(resource["Properties"]["Manifest"]):
            key = item["kind"], item["metadata"]["name"]
            assert key not in found
            found[key] = item
    return found


def daemon_sets(world) -> set[str]:
    return {name for kind, name in objects_of(world) if kind == "DaemonSet"}


def needed_by(world, name: str) -> set[str]:
    """The logical ids of what a resource waits for, directly or not."""
    resources = world.template().to_json()["Resources"]
    found: set[str] = set()
    waiting = [name]
    while waiting:
        needed = set(resources[waiting.pop()].get("DependsOn", [])) - found
        found |= needed
        waiting += needed
    return found


def logical_id(world, kind: str, part: str) -> str:
    (found,) = [str(name) for name in world.template().find_resources(kind) if part in name]
    return found


def test_a_cluster_installs_what_its_groups_need_and_each_manager_once(make_served):
    world = make_served()
    world.add_trn2()
    world.add_trn2("More", capacity=Capacity.block("cr-0123456789abcdef1"))
    world.cluster.add_nodegroup("G6e", mechanism=PLUGIN, **G6E)

    assert daemon_sets(world) == {
        "neuron-dra-driver-kubelet-plugin",
        "aws-dranet",
        "nvdp-nvidia-device-plugin",
    }


def test_groups_wait_for_their_managers_and_no_manager_for_a_group(make_served):
    world = make_served()
    world.add_trn2()
    world.cluster.add_nodegroup("G6e", mechanism=PLUGIN, **G6E)

    trn2 = needed_by(world, logical_id(world, NODEGROUP, "Trn2"))
    g6e = needed_by(world, logical_id(world, NODEGROUP, "G6e"))

    assert logical_id(world, MANIFEST, "neurondradefault") in trn2
    assert logical_id(world, MANIFEST, "efadradefault") in trn2
    assert logical_id(world, MANIFEST, "gpudeviceplugindefault") in g6e
    for manifest in world.template().find_resources(MANIFEST):
        needed = needed_by(world, manifest)
        assert not needed & set(world.template().find_resources(NODEGROUP))


def test_a_manager_waits_for_its_namespace_permissions_and_the_marker(make_served):
    world = make_served()
    world.add_trn2()

    needed = needed_by(world, logical_id(world, MANIFEST, "neurondradefault"))

    for part in ("Marker", "Namespaceneurondradriver", "neurondra"):
        assert any(part in name for name in needed)


def test_adding_a_group_changes_the_text_of_no_other_object(make_served):
    before, after = make_served(), make_served()
    before.add_trn2()
    after.cluster.add_nodegroup("G6e", mechanism=PLUGIN, **G6E)
    after.add_trn2()

    old, new = objects_of(before), objects_of(after)

    assert {key: new[key] for key in old} == old


def test_logical_ids_of_managers_do_not_depend_on_the_order_of_groups(make_served):
    worlds = [make_served(), make_served()]
    worlds[0].add_trn2()
    worlds[0].cluster.add_nodegroup("G6e", **G6E)
    worlds[1].cluster.add_nodegroup("G6e", **G6E)
    worlds[1].add_trn2()

    ids = [set(world.template().find_resources(MANIFEST)) for world in worlds]

    assert ids[0] == ids[1]


def test_at_most_five_custom_resources_are_in_flight(make_served):
    world = make_served()
    world.add_trn2()
    world.cluster.add_nodegroup("G6e", **G6E)
    world.cluster.add_nodegroup("Plugin", mechanism=PLUGIN, **G6E)

    manifests = set(world.template().find_resources(MANIFEST))
    needs = {name: needed_by(world, name) & manifests for name in manifests}
    alone = [
        {other for other in manifests if other not in needs[name] and name not in needs[other]}
        for name in manifests
    ]

    assert len(manifests) > 5
    assert max(len(together) for together in alone) <= 9
    assert all(
        resource["Properties"]["ServiceTimeout"] == "900"
        for resource in world.template().find_resources(MANIFEST).values()
    )


def test_only_the_marker_may_not_exist_yet(make_served):
    world = make_served()
    world.add_trn2()

    fresh = [
        name
        for name, resource in world.template().find_resources(MANIFEST).items()
        if not resource["Properties"]["Overwrite"]
    ]

    assert len(fresh) == 1
    assert "Marker" in fresh[0]


def test_a_host_service_installs_nothing(make_served):
    world = make_served()
    world.cluster.add_nodegroup("G6e", operating_system=OperatingSystem.BOTTLEROCKET, **G6E)

    assert daemon_sets(world) == set()


def test_a_shared_gpu_has_a_manager_of_its_own_beside_the_default_one(make_served):
    world = make_served()
    world.cluster.add_nodegroup("Plain", mechanism=PLUGIN, **G6E)
    world.cluster.add_nodegroup("Shared", gpu_sharing=GpuSharing.time_slicing(replicas=4), **G6E)

    found = daemon_sets(world)

    assert len(found) == 2
    assert "nvdp-nvidia-device-plugin" in found


def test_what_is_kept_is_installed_without_a_group(make_served):
    world = make_served(keep={DeviceType.EFA: (Mechanism.DRA, PLUGIN)})

    assert daemon_sets(world) == {"aws-dranet", "efa-aws-efa-k8s-device-plugin"}


def test_a_group_that_nothing_serves_warns(make_world):
    world = make_world()
    world.add_trn2()

    Annotations.from_stack(world.stack).has_warning(
        "/Training/Cluster/Trn2", Match.string_like_regexp(r".*neuron by dra.*\[NoDrivers\].*")
    )


@pytest.mark.parametrize("external", [ExternalDrivers(), ExternalDrivers(foreign={DeviceType.GPU})])
def test_an_installation_elsewhere_is_trusted(make_world, external):
    world = make_world()
    group = world.cluster.add_nodegroup("G6e", drivers=external, mechanism=PLUGIN, **G6E)

    told = Annotations.from_stack(world.stack).find_warning(
        "*", Match.string_like_regexp(r".*NoDrivers.*")
    )

    assert told == []
    owner = "external" if external.foreign else "default"
    assert group.plan.labels["eks-devices/gpu-manager"] == owner


@pytest.mark.parametrize(
    ("option", "value", "instead"),
    [
        ("external", {DeviceType.GPU}, "drivers=ExternalDrivers(foreign={DeviceType.GPU})"),
        ("subnet_count", 1, "subnet=..."),
    ],
)
def test_what_a_plan_calls_otherwise_is_told_in_words_of_the_constructs(
    make_world, option, value, instead
):
    options: dict[str, Any] = {option: value}
    with pytest.raises(EksDevicesError) as raised:
        make_world().cluster.add_nodegroup("G6e", **options, **G6E)

    (found,) = raised.value.faults
    assert (found.code, found.path) == ("UnknownOption", f"nodegroups.G6e.{option}")
    assert instead in found.fix


def test_a_scoped_installation_has_daemon_sets_only(make_served):
    world = make_served(keep={DeviceType.GPU: (PLUGIN,)})
    other = cdk.Stack(world.app, "Other", env=cdk.Environment(region="us-east-2"))
    scoped = DeviceDrivers(
        other,
        "Drivers",
        cluster=world.cluster,
        delivery=Delivery.gitops("unused"),
        scope_name="team",
    )

    group = world.cluster.add_nodegroup("G6e", drivers=scoped, mechanism=PLUGIN, **G6E)
    owner = group.plan.labels["eks-devices/gpu-manager"]
    folder = Path(world.app.synth().directory)
    (text,) = [path.read_text() for path in folder.rglob("*.yaml")]

    assert owner.startswith("team-")
    assert text.count("kind: DaemonSet") == 1
    assert owner in text
    assert text.count("\nkind: ") + text.startswith("kind: ") == 1


def test_a_second_default_installation_is_refused(make_served, faults_of):
    world = make_served()
    options: dict[str, Any] = {"cluster": world.cluster, "delivery": Delivery.gitops("x")}

    found = faults_of(DeviceDrivers, world.stack, "Second", **options)

    assert found == {("SecondDefaultInstallation", "drivers")}
    assert world.stack.node.try_find_child("Second") is None


def test_a_scope_whose_managers_the_default_lacks_is_refused(make_served, faults_of):
    world = make_served()
    scoped = DeviceDrivers(
        world.stack,
        "Team",
        cluster=world.cluster,
        delivery=Delivery.gitops("x"),
        scope_name="team",
    )

    found = faults_of(world.cluster.add_nodegroup, "G6e", drivers=scoped, mechanism=PLUGIN, **G6E)

    assert found == {("ScopeWithoutDefault", "nodegroups.G6e.scope")}


def test_a_scope_has_a_name_of_its_own(make_served, faults_of):
    world = make_served()
    options: dict[str, Any] = {
        "cluster": world.cluster,
        "delivery": Delivery.gitops("x"),
        "scope_name": "team",
    }
    DeviceDrivers(world.stack, "Team", **options)

    assert faults_of(DeviceDrivers, world.stack, "Again", **options) == {
        ("RepeatedScope", "drivers.scope_name")
    }


def test_an_image_of_eks_needs_a_literal_region(make_served, faults_of):
    world = make_served(region=None)

    found = faults_of(world.add_trn2)

    assert found == {("RegionNeeded", "images.region")}


def test_an_image_that_does_not_serve_the_types_of_a_group_is_refused(make_served, faults_of):
    old = ImageSource(overrides={(DeviceType.EFA, PLUGIN): "a.io/efa:v0.5.9"})
    world = make_served(images=old)
    options: dict[str, Any] = {
        "mechanism": PLUGIN,
        "subnet": world.vpc.private_subnets[0],
        "max_size": 1,
    }
    world.cluster.add_nodegroup("P5", instance_type="p5.48xlarge", **options)

    found = faults_of(
        world.cluster.add_nodegroup, "B200", instance_type="p6-b200.48xlarge", **options
    )

    assert found == {("ImageToAvoid", "images.overrides[efa by device-plugin]")}
