"""What runs on nodes without devices: whether a cluster of ours is told that it has none."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from tests.annotations import infos, warnings
from tests.short_names import DOMAIN, DRA, GPU, NEURON, PLUGIN

from eks_device_constructs import ExternalDrivers
from eks_devices import (
    ClaimWebhook,
    NeuronInstallation,
    NvidiaInstallation,
)

EXTENDED = NeuronInstallation(scheduler_extension=True)
OPERATED = NeuronInstallation(ultraserver_operator=True)
CHECKED = NvidiaInstallation(claim_webhook=ClaimWebhook.cert_manager())
G6E = {"instance_type": "g6e.12xlarge", "max_size": 1, "mechanism": DRA}


def told(stack: cdk.Stack) -> list[str]:
    return warnings(stack, "every node group has devices")


def informed(stack: cdk.Stack) -> list[str]:
    return infos(stack, "CoreDNS waits for a node")


def test_schedulers_without_a_node_are_told_of_once(make_served):
    world = make_served(neuron=EXTENDED)
    world.add_trn2("A", mechanism=PLUGIN)
    world.add_trn2("B", mechanism=PLUGIN)

    (text,) = told(world.stack)
    assert "scheduler extension" in text
    assert "ComputeDomains" not in text
    assert "add_system_nodegroup()" in text
    assert informed(world.stack) == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"nvidia": CHECKED}, "webhook"),
        ({"keep": {DOMAIN: (DRA,)}}, "controller of ComputeDomains"),
        ({"neuron": OPERATED, "keep": {NEURON: (DRA,)}}, "UltraServer operator"),
    ],
)
def test_each_part_that_waits_is_named(make_served, options, expected):
    world = make_served(**options)
    world.cluster.add_nodegroup("G6e", **G6E)

    (text,) = told(world.stack)
    assert expected in text
    assert "scheduler" not in text


def test_nothing_is_told_where_nothing_waits(make_served, make_world):
    plain, idle, unserved = make_served(), make_served(neuron=EXTENDED), make_world()
    plain.add_trn2(mechanism=PLUGIN)
    unserved.add_trn2(mechanism=PLUGIN)

    assert [told(one.stack) for one in (plain, idle, unserved)] == [[], [], []]


@pytest.mark.parametrize("make", ["make_served", "make_world"])
def test_dns_without_a_node_is_told_once(make, request):
    world = request.getfixturevalue(make)()
    world.add_trn2("A")
    world.cluster.add_nodegroup("B", **G6E)

    (text,) = informed(world.stack)
    assert "add_system_nodegroup()" in text


@pytest.mark.parametrize(
    ("taints", "expected"),
    [([], 0), (["team=a:PreferNoSchedule"], 0), (None, 1)],
)
def test_dns_runs_on_nodes_with_devices_that_have_no_taint(make_served, taints, expected):
    world = make_served()
    world.add_trn2()
    world.cluster.add_nodegroup("Open", **G6E | {"taints": taints})

    assert len(informed(world.stack)) == expected


def add_own(world: Any) -> None:
    world.cluster.cluster.add_nodegroup_capacity(
        "Own", instance_types=[ec2.InstanceType("m7i.large")]
    )


def add_fargate(world: Any) -> None:
    eks.FargateProfile(
        world.cluster.cluster,
        "Fargate",
        cluster=world.cluster.cluster,
        selectors=[eks.Selector(namespace="kube-system")],
    )


@pytest.mark.parametrize(
    "add", [lambda world: world.cluster.add_system_nodegroup(), add_own, add_fargate]
)
def test_nodes_that_are_added_after_the_groups_count(make_served, add):
    world, plain = make_served(neuron=EXTENDED), make_served()
    for one in (world, plain):
        one.add_trn2(mechanism=PLUGIN)
        add(one)

    assert told(world.stack) == []
    assert informed(plain.stack) == []


def test_nobody_knows_the_nodes_of_the_app_that_holds_the_default_installation(make_world):
    world = make_world()
    world.add_trn2(drivers=ExternalDrivers())

    assert informed(world.stack) == []


def test_system_nodes_that_were_removed_again_do_not_count(make_served):
    world = make_served(neuron=EXTENDED)
    world.add_trn2(mechanism=PLUGIN)
    world.cluster.add_system_nodegroup("Gone")
    assert world.cluster.node.try_remove_child("Gone")

    assert len(told(world.stack)) == 1


def test_the_plan_for_the_command_line_has_it_too(make_served):
    world = make_served(neuron=EXTENDED)
    world.add_trn2(mechanism=PLUGIN)
    before = [one.code for one in world.cluster.plan.findings]
    world.cluster.add_system_nodegroup()
    after = [one.code for one in world.cluster.plan.findings]

    assert "NoOrdinaryNodes" in before
    assert "NoOrdinaryNodes" not in after


def test_nobody_knows_the_nodes_of_a_cluster_of_others(cluster_of_others):
    stack, install = cluster_of_others
    install(neuron=EXTENDED, keep={NEURON: (PLUGIN,), GPU: (DRA,)})

    assert told(stack) == informed(stack) == []
