"""What the scheduler says of Pods without a node, told by group, and where it is left alone."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.cluster_plans import cluster_of

from eks_device_operations.rehearse.affinity import selects
from eks_device_operations.rehearse.fleet import node_objects, nodes_of
from eks_device_operations.rehearse.standing import NodeFacts, obstacles, requests_of
from eks_device_operations.rehearse.words import by_group
from eks_devices import Mechanism

TOLERANT = {"tolerations": [{"operator": "Exists"}]}
PLAN = cluster_of(
    {"instance_type": "p5.48xlarge", "mechanism": Mechanism.DRA},
    {"instance_type": "g6e.12xlarge", "mechanism": Mechanism.DEVICE_PLUGIN},
    kubernetes_version="1.34",
)
FLEET = nodes_of(PLAN, {"g0": 2, "g1": 2, "ordinary": 1})


@pytest.fixture
def nodes():
    made = [
        (each.name, node)
        for each in FLEET
        for node, *_ in node_objects(each, kubelet_version="v1.34.9")
    ]
    return {node["metadata"]["name"]: NodeFacts.of(node, name) for name, node in made}


def pod(*limits, **spec):
    containers = [{"name": "c", "resources": {"limits": one}} for one in limits or ({},)]
    return {"containers": containers, **spec}


def told(message, spec, nodes, used=None):
    return dict(by_group(obstacles(message, spec, nodes, used or {}), FLEET))


def test_taints_selectors_and_resources_are_told_by_group(nodes):
    spec = pod(
        {"nvidia.com/gpu": "8"},
        tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}],
        nodeSelector={"eks-devices/nodegroup": "g1"},
    )
    message = (
        "0/5 nodes are available: 2 Insufficient nvidia.com/gpu, "
        "3 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, "
        "preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling."
    )

    assert told(message, spec, nodes) == {
        "g0": "the Pod selects other nodes",
        "g1": "even an empty node has too little nvidia.com/gpu",
        "ordinary": "the Pod selects other nodes",
    }


def test_a_resource_of_a_group_by_dra_is_said_to_be_for_claims(nodes):
    spec = pod({"nvidia.com/gpu": "4"}, **TOLERANT)
    message = "0/5 nodes are available: 5 Insufficient nvidia.com/gpu."
    used = {name: {"nvidia.com/gpu": Fraction(1)} for name in ("g1-0", "g1-1")}

    found = told(message, spec, nodes, used)

    assert "its devices are for claims (DRA)" in found["g0"]
    assert found["g1"] == "other Pods leave too little nvidia.com/gpu"
    assert found["ordinary"] == "a node has no nvidia.com/gpu"


def test_a_resource_that_dra_serves_is_left_to_the_claims(nodes):
    spec = pod({"nvidia.com/gpu": "9"}, **TOLERANT)
    message = (
        "0/5 nodes are available: 2 Insufficient nvidia.com/gpu, 3 cannot allocate all claims."
    )

    found = obstacles(message, spec, nodes, {}, by_claims={"nvidia.com/gpu"})

    assert dict(by_group(found, FLEET)) == {
        "g0": "cannot allocate all claims",
        "g1": "even an empty node has too little nvidia.com/gpu",
        "ordinary": "cannot allocate all claims",
    }


def test_a_node_that_is_full_of_pods_is_told(nodes):
    spec = pod(nodeSelector={"eks-devices/nodegroup": "g1"}, **TOLERANT)
    message = (
        "0/5 nodes are available: 2 Too many pods, 3 node(s) didn't match Pod's node "
        "affinity/selector."
    )
    limits = {"pods": nodes["g1-0"].allocatable["pods"]}
    used = {"g1-0": limits, "g1-1": limits}

    assert told(message, spec, nodes, used)["g1"] == "a node has as many Pods as it may have"


def test_nodes_of_a_group_that_differ_are_counted(nodes):
    spec = pod({"nvidia.com/gpu": "4"}, **TOLERANT)
    message = (
        "0/5 nodes are available: 1 node(s) didn't match pod anti-affinity rules, "
        "4 Insufficient nvidia.com/gpu."
    )
    used = {"g1-0": {"nvidia.com/gpu": Fraction(4)}}

    assert told(message, spec, nodes, used)["g1"] == (
        "1 node: other Pods leave too little nvidia.com/gpu; "
        "1 node: node(s) didn't match pod anti-affinity rules"
    )


def test_claims_are_told_of_the_nodes_that_are_left(nodes):
    message = (
        "0/5 nodes are available: 1 cannot allocate all claims, "
        "4 node(s) had untolerated taint {nvidia.com/gpu: present}. still not schedulable, "
        "preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling."
    )

    assert told(message, pod(), nodes) == {
        "g0": "the Pod does not tolerate nvidia.com/gpu=present:NoSchedule",
        "g1": "the Pod does not tolerate nvidia.com/gpu=present:NoSchedule",
        "ordinary": "cannot allocate all claims",
    }


@pytest.mark.parametrize(
    "message",
    [
        "0/5 nodes are available: 5 Insufficient cpu.",
        "0/4 nodes are available: 4 cannot allocate all claims.",
        "0/5 nodes are available: 5 node(s) had untolerated taint(s).",
        "0/5 nodes are available: 3 node(s) had untolerated taint(s).",
        "selector #0: CEL runtime error: no such key: numaNode",
        "",
    ],
)
def test_a_message_that_does_not_add_up_is_left_alone(nodes, message):
    assert obstacles(message, pod(), nodes, {}) == ()


def test_requests_are_counted_as_the_scheduler_counts_them():
    def container(restart=None, **limits):
        found = {"resources": {"limits": limits, "requests": {}}}
        return found | ({"restartPolicy": restart} if restart else {})

    spec = {
        "initContainers": [
            container(cpu="1", gpu="1"),
            container("Always", cpu="500m"),
            container(cpu="3"),
        ],
        "containers": [container(cpu="1", gpu="1"), container(cpu="1")],
        "overhead": {"cpu": "250m"},
    }

    assert requests_of(spec) == {"cpu": Fraction(15, 4), "gpu": 1, "pods": 1}


def test_a_request_counts_before_a_limit():
    resources = {"requests": {"cpu": "1"}, "limits": {"cpu": "9"}}

    assert requests_of({"containers": [{"resources": resources}]})["cpu"] == 1


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ({"key": "a", "operator": "In", "values": ["1", "5"]}, True),
        ({"key": "b", "operator": "In", "values": ["5"]}, False),
        ({"key": "a", "operator": "NotIn", "values": ["5"]}, False),
        ({"key": "b", "operator": "NotIn", "values": ["5"]}, True),
        ({"key": "a", "operator": "Exists"}, True),
        ({"key": "b", "operator": "DoesNotExist"}, True),
        ({"key": "a", "operator": "Gt", "values": ["4"]}, True),
        ({"key": "a", "operator": "Lt", "values": ["4"]}, False),
        ({"key": "b", "operator": "Gt", "values": ["4"]}, False),
        ({"key": "a", "operator": "Gt", "values": ["x"]}, False),
        ({"key": "a", "operator": "New"}, False),
    ],
)
def test_affinity_is_read_as_kubernetes_reads_it(expression, holds):
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}, {}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}

    assert selects({"affinity": affinity}, {"a": "5"}, "n") is holds
