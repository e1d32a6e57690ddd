"""What Neuron's managers have once, in a stack: the scheduler extension, and health."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from tests.annotations import infos, warnings
from tests.short_names import DRA, NEURON, PLUGIN

from eks_device_charts import ImageSource
from eks_device_constructs import (
    AcceleratedNodegroup,
    ClusterReference,
    Delivery,
    DeviceDrivers,
    ExternalDrivers,
)
from eks_devices import Component, EksDevicesError, NeuronHealth, NeuronInstallation
from eks_devices.components import ComponentRelease

MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"
EXTENDED = NeuronInstallation(scheduler_extension=True)
SCHEDULERS = {"k8s-neuron-scheduler", "neuron-scheduler"}
REFUSED = "SchedulerExtensionNeedsPlugin"


def manifests(world) -> dict[str, dict[str, Any]]:
    return dict(world.template().find_resources(MANIFEST))


def deployments(world) -> list[str]:
    return sorted(
        item["metadata"]["name"]
        for resource in manifests(world).values()
        for item in json.loads(resource["Properties"]["Manifest"])
        if item["kind"] == "Deployment"
    )


def told(world) -> list[str]:
    return warnings(world.stack, "NeuronOptionWithoutEffect")


def test_both_schedulers_are_sent_once_and_before_the_plugin(make_served):
    world = make_served(neuron=EXTENDED)
    world.add_trn2("A", mechanism=PLUGIN)
    world.add_trn2("B", mechanism=PLUGIN)

    assert deployments(world) == sorted(SCHEDULERS)
    found = manifests(world)
    (sent,) = (name for name, one in found.items() if "Deployment" in one["Properties"]["Manifest"])
    (plugin,) = (
        one
        for one in found.values()
        if '"DaemonSet"' in one["Properties"]["Manifest"]
        and "neuron-device-plugin" in one["Properties"]["Manifest"]
    )
    assert sent in plugin["DependsOn"]


def test_nothing_of_it_is_sent_unless_asked_for(make_served):
    world = make_served()
    world.add_trn2(mechanism=PLUGIN)

    assert deployments(world) == []


def test_groups_by_dra_may_stand_beside_one_by_plugin_in_any_order(make_served):
    for mechanisms in ((DRA, PLUGIN), (PLUGIN, DRA)):
        world = make_served(neuron=EXTENDED)
        for index, mechanism in enumerate(mechanisms):
            world.add_trn2(f"G{index}", mechanism=mechanism)

        world.app.synth()
        assert deployments(world) == sorted(SCHEDULERS)


def test_a_cluster_with_neuron_devices_by_dra_alone_is_refused_at_synth(make_served):
    world = make_served(neuron=EXTENDED)
    world.add_trn2(mechanism=DRA)

    with pytest.raises(RuntimeError, match=REFUSED) as raised:
        world.app.synth()
    assert len([line for line in str(raised.value).splitlines() if REFUSED in line]) == 1


def test_a_group_that_was_removed_again_does_not_count(make_served):
    world = make_served(neuron=EXTENDED)
    world.add_trn2("Gone", mechanism=PLUGIN)
    world.add_trn2("Stays", mechanism=DRA)
    assert world.cluster.node.try_remove_child("Gone")

    with pytest.raises(RuntimeError, match=REFUSED):
        world.app.synth()


def test_what_is_kept_for_groups_of_other_apps_counts(make_served):
    world = make_served(neuron=EXTENDED, keep={NEURON: (PLUGIN,)})
    world.add_trn2(mechanism=DRA)

    world.app.synth()
    assert deployments(world) == sorted(SCHEDULERS)


def test_a_cluster_without_neuron_devices_is_told_once_groups_exist(make_served):
    waiting, idle = make_served(neuron=EXTENDED), make_served(neuron=EXTENDED)
    idle.cluster.add_nodegroup("G6e", instance_type="g6e.12xlarge", max_size=1)

    assert [len(told(world)) for world in (waiting, idle)] == [0, 1]


def test_a_scope_has_the_options_of_the_default_installation(make_served, faults_of):
    world = make_served(neuron=EXTENDED)
    options: dict[str, Any] = {
        "cluster": world.cluster,
        "delivery": Delivery.gitops("x"),
        "scope_name": "team",
    }

    assert faults_of(
        DeviceDrivers, world.stack, "Other", neuron=NeuronInstallation(), **options
    ) == {("NeuronInstallationDiffers", "neuron")}
    assert DeviceDrivers(world.stack, "Same", neuron=EXTENDED, **options).scope_name == "team"


@pytest.mark.parametrize(
    ("scope_name", "neuron", "expected"),
    [
        ("team", EXTENDED, 1),
        ("team", NeuronInstallation(health=NeuronHealth()), 1),
        ("team", NeuronInstallation(), 0),
        ("team", None, 0),
        (None, EXTENDED, 0),
    ],
)
def test_a_scope_tells_that_it_installs_no_options_of_a_default_one_that_is_unknown_here(
    cluster_of_others, scope_name, neuron, expected
):
    stack, install = cluster_of_others
    install(scope_name=scope_name, neuron=neuron)

    assert len(warnings(stack, "NeuronOptionsOfDefault", at="/Stack/Drivers")) == expected


@pytest.fixture
def unknown(monkeypatch):
    """A minor that no release of the scheduler is known of yet, as with every new one at first."""
    find = ComponentRelease.of
    released = find(Component.KUBE_SCHEDULER)
    tags = {minor: tag for minor, tag in released.tags.items() if minor != "1.37"}
    before = replace(released, tags=tags)

    def of(component):
        return before if component is Component.KUBE_SCHEDULER else find(component)

    monkeypatch.setattr(ComponentRelease, "of", of)


@pytest.mark.usefixtures("unknown")
def test_a_version_without_a_known_scheduler_is_refused_where_the_group_is_added(make_served):
    world = make_served(neuron=EXTENDED, version="1.37")

    with pytest.raises(EksDevicesError) as caught:
        world.add_trn2(mechanism=PLUGIN)

    assert {one.code for one in caught.value.faults} == {"NoRelease"}


@pytest.mark.usefixtures("unknown")
def test_a_version_without_a_known_scheduler_is_refused_where_the_plugin_is_kept(
    make_served, faults_of
):
    options: dict[str, Any] = {
        "neuron": EXTENDED,
        "version": "1.37",
        "keep": {NEURON: (PLUGIN,)},
    }
    own = ImageSource(overrides={Component.KUBE_SCHEDULER: "example.com/kube-scheduler:v1.37.0"})

    assert faults_of(make_served, **options) == {("NoRelease", "images.overrides")}
    assert deployments(make_served(images=own, **options)) == sorted(SCHEDULERS)


def test_the_plan_file_tells_of_it(make_served):
    world = make_served(neuron=EXTENDED)
    world.add_trn2(mechanism=PLUGIN)

    folder = Path(world.app.synth().directory)
    (file,) = folder.glob("*.eks-devices.json")
    (cluster,) = json.loads(file.read_text(encoding="utf-8"))["clusters"]

    assert cluster["plan"]["neuron"] == {
        "scheduler_extension": True,
        "health": None,
        "ultraserver_operator": False,
    }


ASSOCIATION = "AWS::EKS::PodIdentityAssociation"
WATCHED = NeuronInstallation(health=NeuronHealth())
RECOVERED = NeuronInstallation(health=NeuronHealth(recovery=True))


def detectors(world) -> list[dict[str, Any]]:
    return [
        one
        for one in manifests(world).values()
        if '"name":"node-problem-detector"' in one["Properties"]["Manifest"]
        and '"DaemonSet"' in one["Properties"]["Manifest"]
    ]


def recovery_roles(world) -> list[str]:
    found = world.template().find_resources(ASSOCIATION)
    return [name for name in found if "NeuronRecovery" in name]


def test_devices_are_watched_once_whichever_mechanisms_there_are(make_served):
    world = make_served(neuron=WATCHED)
    world.add_trn2("A", mechanism=DRA)
    world.add_trn2("B", mechanism=PLUGIN)

    assert len(detectors(world)) == 1
    assert recovery_roles(world) == []


def test_pods_that_recover_are_made_after_their_role(make_served):
    world = make_served(neuron=RECOVERED)
    world.add_trn2("A", mechanism=DRA)
    world.add_trn2("B", mechanism=PLUGIN)

    (detector,), (role,) = detectors(world), recovery_roles(world)
    assert role in detector["DependsOn"]


def test_nothing_is_watched_unless_asked_for(make_served):
    world = make_served()
    world.add_trn2()

    assert detectors(world) == []


@pytest.mark.parametrize(("addons", "expected"), [(None, 0), ((), 1)])
def test_a_role_that_nothing_serves_is_warned_of(make_served, addons, expected):
    world = make_served(neuron=RECOVERED, addons=addons)
    world.add_trn2()

    assert len(warnings(world.stack, "RoleNotServed")) == expected


def test_gitops_that_does_not_wait_for_the_role_is_told_once(make_served, tmp_path):
    files = str(tmp_path / "manifests")
    worlds = [
        make_served(neuron=RECOVERED, delivery=lambda _: Delivery.gitops(files)),
        make_served(neuron=RECOVERED),
    ]
    for world in worlds:
        world.add_trn2("A", mechanism=DRA)
        world.add_trn2("B", mechanism=PLUGIN)

    assert [len(infos(one.stack, "RoleBeforePods")) for one in worlds] == [1, 0]


def test_recovery_beside_node_repair_is_warned_of(make_served):
    world = make_served(neuron=RECOVERED)
    world.add_trn2()

    assert len(warnings(world.stack, "NeuronRepairedTwice")) == 1


def advised(stack) -> list[str]:
    return infos(stack, "some that are not connected")


def test_the_extension_is_advised_once_for_all_groups(make_served):
    world = make_served()
    world.add_trn2("A", mechanism=PLUGIN)
    world.add_trn2("B", mechanism=PLUGIN)

    (text,) = advised(world.stack)
    assert "(A, B)" in text


def test_nothing_is_advised_where_another_app_holds_the_default_installation(tmp_path):
    stack = cdk.Stack(cdk.App(outdir=str(tmp_path / "out")), "Stack")
    theirs = ClusterReference(name="theirs", version="1.36", security_group="sg-0123456789abcdef0")
    AcceleratedNodegroup(
        stack,
        "Inf2",
        cluster=theirs,
        subnet=ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-0123456789abcdef0"),
        drivers=ExternalDrivers(),
        instance_type="inf2.48xlarge",
        max_size=1,
    )

    assert advised(stack) == []


OPERATED = NeuronInstallation(ultraserver_operator=True)
OPERATOR = "neuron-ultraserver-operator"
KINDS = {"neuronultraservers.neuron.aws.com", "neuronultraserverworkloads.neuron.aws.com"}


def sent(world, *words: str) -> list[str]:
    """The manifests with an object whose kind and name these are, by their logical names."""
    kind, name = words
    return [
        logical
        for logical, one in manifests(world).items()
        for item in json.loads(one["Properties"]["Manifest"])
        if (item["kind"], item["metadata"]["name"]) == (kind, name)
    ]


def test_the_ultraserver_operator_is_sent_once_after_its_kinds_and_before_the_driver(make_served):
    world = make_served(neuron=OPERATED)
    world.add_trn2("A", mechanism=DRA)
    world.add_trn2("B", mechanism=DRA)

    assert deployments(world) == [OPERATOR]
    found = manifests(world)
    (operator,) = sent(world, "Deployment", OPERATOR)
    (driver,) = sent(world, "DaemonSet", "neuron-dra-driver-kubelet-plugin")
    kinds = {logical for name in KINDS for logical in sent(world, "CustomResourceDefinition", name)}
    assert len(kinds) == 2
    assert kinds | set(sent(world, "Namespace", "neuron-dra-driver")) <= set(
        found[operator]["DependsOn"]
    )
    assert operator in found[driver]["DependsOn"]
    for name in kinds:
        # Users' workloads outlive the operator.
        assert found[name]["DeletionPolicy"] == "Retain"
    assert found[operator].get("DeletionPolicy") != "Retain"


def test_nothing_of_the_ultraserver_operator_is_sent_unless_asked_for(make_served):
    world = make_served(neuron=EXTENDED, keep={NEURON: (PLUGIN,)})
    world.add_trn2(mechanism=DRA)

    assert OPERATOR not in deployments(world)
    for name in KINDS:
        assert sent(world, "CustomResourceDefinition", name) == []


def test_the_ultraserver_operator_beside_the_plugin_alone_is_refused_at_synth(make_served):
    world = make_served(neuron=OPERATED)
    world.add_trn2(mechanism=PLUGIN)

    with pytest.raises(RuntimeError, match="UltraServerOperatorNeedsDra"):
        world.app.synth()


def test_a_cluster_without_ultraservers_that_the_operator_serves_is_told_once(make_served):
    world = make_served(neuron=OPERATED)
    world.add_trn2("A", mechanism=DRA)
    world.add_trn2("B", mechanism=DRA)

    assert len(warnings(world.stack, "UltraServerOperatorWithoutEffect")) == 1
