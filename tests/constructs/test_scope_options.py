"""Options that a cluster has once, where a scope is made before the default installation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Annotations, Match

from eks_device_constructs import (
    AcceleratedNodegroup,
    ClusterReference,
    Delivery,
    DeviceDrivers,
)
from eks_devices import (
    Capacity,
    DeviceType,
    DranetBuild,
    EfaInstallation,
    Mechanism,
    NeuronHealth,
    NeuronInstallation,
    NvidiaInstallation,
)

UPSTREAM = EfaInstallation(build=DranetBuild.UPSTREAM)
EXTENDED = NeuronInstallation(scheduler_extension=True)
CRASHING = NvidiaInstallation(compute_domain_gates={"CrashOnNVLinkFabricErrors": False})
FEW = NvidiaInstallation(nodes_per_imex_domain=4)
KEPT = {
    DeviceType.NEURON: (Mechanism.DEVICE_PLUGIN,),
    DeviceType.COMPUTE_DOMAIN: (Mechanism.DRA,),
    DeviceType.GPU: (Mechanism.DRA,),
    DeviceType.EFA: (Mechanism.DRA,),
}


class Theirs:
    """A cluster that something else made, in an app with one stack."""

    def __init__(self, folder: Any) -> None:
        self.app = cdk.App(outdir=str(folder / "out"))
        self.stack = cdk.Stack(self.app, "Stack", env=cdk.Environment(region="us-east-2"))
        self.vpc = ec2.Vpc(self.stack, "Vpc", max_azs=2)
        self.cluster = ClusterReference(
            name="theirs",
            version="1.36",
            security_group="sg-0123456789abcdef0",
            vpc=self.vpc,
        )
        self.delivery = Delivery.gitops(str(folder / "manifests"))

    def drivers(self, name: str, **options: Any) -> DeviceDrivers:
        return DeviceDrivers(
            self.stack, name, cluster=self.cluster, delivery=self.delivery, **options
        )

    def group(self, drivers: DeviceDrivers) -> AcceleratedNodegroup:
        return AcceleratedNodegroup(
            self.stack,
            "P6e",
            cluster=self.cluster,
            drivers=drivers,
            instance_type="p6e-gb200.36xlarge",
            subnet=self.vpc.private_subnets[0],
            capacity=Capacity.ultraserver_block("cr-0123456789abcdef0", nodes=9),
            max_size=9,
        )

    def told(self) -> list[str]:
        found = Annotations.from_stack(self.stack).find_warning(
            "*", Match.string_like_regexp(r".*NeuronOptionsOfDefault.*")
        )
        return [one.id for one in found]


@pytest.fixture
def theirs(tmp_path) -> Theirs:
    return Theirs(tmp_path)


def test_a_default_installation_that_comes_later_takes_the_options_over(theirs):
    theirs.drivers("Team", scope_name="team", neuron=EXTENDED)
    theirs.drivers("Default", neuron=EXTENDED)

    assert theirs.told() == []


def test_each_scope_is_told_once_while_no_default_installation_comes(theirs):
    theirs.drivers("A", scope_name="a", neuron=EXTENDED)
    theirs.drivers("B", scope_name="b", neuron=NeuronInstallation(health=NeuronHealth()))
    theirs.drivers("C", scope_name="c")
    theirs.app.synth()

    assert theirs.told() == ["/Stack/A", "/Stack/B"]


def test_a_scope_that_was_removed_again_is_told_nothing(theirs):
    theirs.drivers("Team", scope_name="team", neuron=EXTENDED)
    theirs.drivers("Stays", scope_name="stays")
    theirs.stack.node.try_remove_child("Team")

    assert theirs.told() == []


@pytest.mark.parametrize("neuron", [None, NeuronInstallation(health=NeuronHealth())])
def test_a_default_installation_with_other_options_than_a_scope_is_refused(
    theirs, faults_of, neuron
):
    theirs.drivers("Team", scope_name="team", neuron=EXTENDED)

    assert faults_of(theirs.drivers, "Default", neuron=neuron) == {
        ("NeuronInstallationDiffers", "neuron")
    }


def test_options_of_another_type_are_a_fault_of_their_own(theirs, faults_of):
    theirs.drivers("Team", scope_name="team", neuron=EXTENDED)

    assert faults_of(theirs.drivers, "Default", neuron=FEW) == {("WrongType", "neuron")}


def test_a_scope_without_groups_takes_the_options_of_a_later_default(theirs):
    scope = theirs.drivers("Team", scope_name="team")
    theirs.drivers("Default", nvidia=CRASHING, keep=KEPT)
    theirs.group(scope)
    theirs.app.synth()

    files = Path(theirs.app.outdir).glob("eks-devices/**/*compute-domain*team*.yaml")
    (text,) = (one.read_text() for one in files)
    assert "CrashOnNVLinkFabricErrors=false" in text


def test_a_default_installation_after_groups_of_a_scope_with_other_options_is_refused(
    theirs, faults_of
):
    theirs.group(theirs.drivers("Team", scope_name="team"))

    assert faults_of(theirs.drivers, "Default", nvidia=CRASHING, keep=KEPT) == {
        ("GroupsBeforeDrivers", "nvidia.compute_domain_gates")
    }
    assert faults_of(theirs.drivers, "Default", efa=UPSTREAM, keep=KEPT) == {
        ("GroupsBeforeDrivers", "efa.build")
    }
    # What DaemonSets do not read may come later.
    default = theirs.drivers("Default", neuron=EXTENDED, nvidia=FEW, keep=KEPT)
    assert default.scope_name is None


# A default installation that was removed again


def test_what_a_removed_default_installation_had_is_not_that_of_the_next_one(make_world, tmp_path):
    world = make_world(version="1.36")
    delivery = Delivery.gitops(str(tmp_path / "manifests"))
    given: dict[str, Any] = {"cluster": world.cluster, "delivery": delivery}
    DeviceDrivers(world.stack, "First", neuron=EXTENDED, efa=UPSTREAM, keep=KEPT, **given)
    assert world.cluster.plan.drivers
    world.stack.node.try_remove_child("First")
    none_left = world.cluster.plan
    DeviceDrivers(world.stack, "Second", nvidia=FEW, **given)
    second = world.cluster.plan

    assert (none_left.drivers, second.drivers) == ((), ())
    for plan in (none_left, second):
        assert (plan.neuron, plan.efa) == (NeuronInstallation(), EfaInstallation())
    assert second.nvidia == FEW


def test_groups_of_a_scope_keep_the_next_default_installation_to_what_they_run(theirs, faults_of):
    theirs.drivers("First", efa=UPSTREAM, keep=KEPT)
    theirs.group(theirs.drivers("Team", scope_name="team"))
    theirs.stack.node.try_remove_child("First")

    assert faults_of(theirs.drivers, "Second", keep=KEPT) == {("GroupsBeforeDrivers", "efa.build")}
    second = theirs.drivers("Second", efa=UPSTREAM, keep=KEPT)
    assert second.options.efa == UPSTREAM


def test_a_scope_on_a_cluster_of_others_needs_no_default_that_was_removed(theirs):
    theirs.drivers("First", keep={DeviceType.NEURON: (Mechanism.DEVICE_PLUGIN,)})
    theirs.stack.node.try_remove_child("First")

    group = theirs.group(theirs.drivers("Team", scope_name="team"))
    assert {one.owner for one in group.plan.devices} != {"default"}


def test_what_scopes_are_warned_of_stands_in_the_plan_file_once(tmp_path):
    theirs = Theirs(tmp_path)
    scope = theirs.drivers("Scope", scope_name="team", efa=UPSTREAM)
    AcceleratedNodegroup(
        theirs.stack,
        "Trn2",
        cluster=theirs.cluster,
        drivers=scope,
        instance_type="trn2.48xlarge",
        subnet=theirs.vpc.private_subnets[0],
        max_size=2,
    )

    theirs.app.synth()
    theirs.app.synth()

    (file,) = Path(theirs.app.outdir).glob("*.eks-devices.json")
    (cluster,) = json.loads(file.read_text())["clusters"]
    codes = [one["code"] for one in cluster["plan"]["findings"]]
    assert codes.count("EfaBuildOfDefault") == 1
