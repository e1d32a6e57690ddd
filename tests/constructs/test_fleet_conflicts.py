"""Managers that must not meet, in the groups of one cluster: what is refused, and what is mixed."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_lambda as lambda_
from tests.short_names import BOTTLEROCKET, DRA, EFA, GPU, NEURON, PLUGIN

from eks_device_charts import ImageSource
from eks_device_constructs import (
    AcceleratedNodegroup,
    ClusterReference,
    Delivery,
    DeviceDrivers,
    ExternalDrivers,
)
from eks_devices import Capacity, NeuronInstallation, UserData

EXTENDED = NeuronInstallation(scheduler_extension=True)
REFUSED = "SchedulerExtensionNeedsPlugin"
SECOND = "SecondNeuronPlugin"
TRN2: dict[str, Any] = {
    "instance_type": "trn2.48xlarge",
    "capacity": Capacity.block("cr-0123456789abcdef0"),
    "max_size": 1,
}
HOST_EFA = "[settings.kubelet-dra-drivers.net]\nenabled = true\n"


# The scheduler extension, whichever stack its groups are in


@pytest.mark.parametrize("beside", [True, False])
def test_the_groups_of_all_stacks_decide_on_the_extension(make_served, tmp_path, beside):
    world = make_served(neuron=EXTENDED, delivery=lambda _: Delivery.gitops(str(tmp_path / "m")))
    later = cdk.Stack(world.app, "Later", env=cdk.Environment(region="us-east-2"))
    world.add_trn2(mechanism=DRA)
    AcceleratedNodegroup(
        later,
        "Other",
        cluster=world.cluster,
        subnet=world.vpc.private_subnets[1],
        mechanism=PLUGIN if beside else DRA,
        **TRN2 | {"capacity": Capacity.block("cr-0123456789abcdef1")},
    )

    if beside:
        world.app.synth()
        return
    with pytest.raises(RuntimeError, match=REFUSED) as raised:
        world.app.synth()
    assert str(raised.value).count(REFUSED) == 1


@pytest.mark.parametrize(("keep", "is_refused"), [({}, True), ({NEURON: (PLUGIN,)}, False)])
def test_the_extension_on_a_cluster_of_others_counts_groups_of_all_stacks(
    tmp_path, keep, is_refused
):
    app = cdk.App(outdir=str(tmp_path / "out"))
    stack, later = cdk.Stack(app, "Drivers"), cdk.Stack(app, "Workers")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=2)
    theirs = ClusterReference(
        name="theirs", version="1.36", security_group="sg-0123456789abcdef0", vpc=vpc
    )
    delivery = Delivery.gitops(str(tmp_path / "manifests"))
    drivers = DeviceDrivers(
        stack,
        "Drivers",
        cluster=theirs,
        images=ImageSource(region="us-east-2", partition="aws"),
        delivery=delivery,
        keep=keep,
        neuron=EXTENDED,
    )
    AcceleratedNodegroup(
        later,
        "Trn2",
        cluster=theirs,
        drivers=drivers,
        subnet=vpc.private_subnets[0],
        mechanism=DRA,
        **TRN2,
    )

    if not is_refused:
        app.synth()
        return
    with pytest.raises(RuntimeError, match=REFUSED):
        app.synth()


# What a scope uses of the default installation, and a group that goes again


def test_a_group_whose_removal_takes_what_a_scope_uses_is_told_at_synth(make_served, tmp_path):
    delivery = Delivery.gitops(str(tmp_path / "m"))
    world = make_served(delivery=lambda _: delivery)
    l4: dict[str, Any] = {"instance_type": "g6.xlarge", "max_size": 1, "mechanism": PLUGIN}
    world.cluster.add_nodegroup("First", **l4)
    team = DeviceDrivers(
        world.stack, "Team", cluster=world.cluster, delivery=delivery, scope_name="team"
    )
    world.cluster.add_nodegroup("Second", drivers=team, **l4)
    world.cluster.node.try_remove_child("First")

    with pytest.raises(RuntimeError, match="ScopeWithoutDefault") as raised:
        world.app.synth()
    told = str(raised.value)
    assert "Validation failed" in told
    assert told.count("ScopeWithoutDefault") == 1


# A second manager of a device type on a node


@pytest.mark.parametrize("mechanism", [DRA, PLUGIN])
def test_efa_has_one_manager_on_a_node_of_a_scope_beside_the_default(
    make_served, tmp_path, mechanism
):
    world = make_served(keep={EFA: (DRA, PLUGIN), NEURON: (DRA, PLUGIN)})
    scope = DeviceDrivers(
        world.stack,
        "Team",
        cluster=world.cluster,
        delivery=Delivery.gitops(str(tmp_path / "team")),
        scope_name="team",
    )
    world.add_trn2("A", mechanism=mechanism)
    group = world.add_trn2("B", mechanism=mechanism, drivers=scope)

    managers = [one for one in group.plan.devices if one.device_type is EFA]
    assert [one.mechanism for one in managers] == [mechanism]
    labels = dict(group.plan.labels)
    assert labels["eks-devices/efa"] == str(mechanism)
    assert labels["eks-devices/efa-manager"].startswith("team-")


def test_a_driver_of_the_host_beside_the_efa_plugin_is_refused(make_served, faults_of):
    world = make_served()
    own = UserData.bottlerocket(HOST_EFA)
    options = TRN2 | {"operating_system": BOTTLEROCKET, "mechanism": PLUGIN, "user_data": own}
    found = faults_of(
        world.cluster.add_nodegroup, "Trn2", subnet=world.vpc.private_subnets[0], **options
    )

    assert {code for code, _ in found} == {"UserDataConflict"}


@pytest.mark.parametrize("option", ["eks-devices/neuron", "eks-devices/neuron-manager"])
def test_a_label_that_would_bring_a_second_manager_is_refused(make_served, faults_of, option):
    world = make_served()
    found = faults_of(
        world.cluster.add_nodegroup,
        "Trn2",
        subnet=world.vpc.private_subnets[0],
        labels={option: "device-plugin"},
        mechanism=DRA,
        **TRN2,
    )

    assert len(found) == 1


def add_cdk_group(world: Any, instance_type: str) -> None:
    world.cluster.cluster.add_nodegroup_capacity(
        "Own", instance_types=[ec2.InstanceType(instance_type)]
    )


@pytest.mark.parametrize("mechanism", [DRA, PLUGIN])
def test_the_old_plugin_of_the_cdk_is_refused_on_nodes_that_it_would_serve(make_served, mechanism):
    world = make_served()
    world.cluster.add_nodegroup(
        "Inf2", instance_type="inf2.48xlarge", max_size=1, mechanism=mechanism
    )
    add_cdk_group(world, "inf2.xlarge")

    with pytest.raises(RuntimeError, match=SECOND) as raised:
        world.app.synth()
    assert "nodegroups.Inf2.instance_type" in str(raised.value)


def test_the_old_plugin_of_the_cdk_is_refused_on_clusters_of_the_cdk_too(tmp_path):
    app = cdk.App(outdir=str(tmp_path / "out"))
    stack = cdk.Stack(app, "Stack", env=cdk.Environment(region="us-east-2"))
    theirs = eks.Cluster(
        stack,
        "Theirs",
        version=eks.KubernetesVersion.V1_34,
        default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
        default_capacity_instance=ec2.InstanceType("inf2.xlarge"),
        kubectl_provider_options=eks.KubectlProviderOptions(
            kubectl_layer=lambda_.LayerVersion.from_layer_version_arn(
                stack, "Layer", "arn:aws:lambda:us-east-2:111122223333:layer:kubectl:1"
            )
        ),
    )
    AcceleratedNodegroup(
        stack,
        "Inf2",
        cluster=theirs,
        drivers=ExternalDrivers(),
        instance_type="inf2.48xlarge",
        max_size=1,
    )

    with pytest.raises(RuntimeError, match=SECOND):
        app.synth()


@pytest.mark.parametrize(
    ("ours", "theirs"), [("trn2.48xlarge", "inf2.xlarge"), ("inf2.48xlarge", "m7i.large")]
)
def test_nodes_of_the_cdk_that_bring_nothing_to_ours_are_taken(make_served, ours, theirs):
    world = make_served()
    world.cluster.add_nodegroup(
        "Ours",
        instance_type=ours,
        max_size=1,
        subnet=world.vpc.private_subnets[0],
        **({"capacity": TRN2["capacity"]} if ours.startswith("trn") else {}),
    )
    add_cdk_group(world, theirs)

    world.app.synth()


def test_mechanisms_may_be_mixed_in_a_cluster(make_served):
    world = make_served(neuron=EXTENDED)
    world.add_trn2("A", mechanism=DRA)
    world.add_trn2("B", mechanism=PLUGIN)
    world.add_trn2("C", mechanism={NEURON: DRA, EFA: PLUGIN})
    world.cluster.add_nodegroup("G6e", instance_type="g6e.12xlarge", max_size=1, mechanism=PLUGIN)
    world.cluster.add_nodegroup(
        "P5",
        instance_type="p5.48xlarge",
        max_size=1,
        mechanism=DRA,
        subnet=world.vpc.private_subnets[0],
    )

    world.app.synth()
    drivers = {(one.device_type, one.mechanism) for one in world.cluster.plan.drivers}
    assert drivers == {(kind, how) for kind in (NEURON, EFA, GPU) for how in (DRA, PLUGIN)}
