"""What watches Neuron devices, as a real API server, scheduler and authorizer see it."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from eks_device_charts import ImageSource
from eks_device_charts.manifests.neuron_health import ACCOUNT, NAMESPACE, health_objects
from eks_device_operations.control_plane import ApiError, delete_all, wait_for
from eks_device_operations.control_plane.kubelet import pod_token
from eks_devices import DeviceType, Mechanism, NeuronError, NeuronHealth

from .test_objects import lost

IMAGES = ImageSource()
PLUGIN = Mechanism.DEVICE_PLUGIN
HEALTHS = {
    "watched": NeuronHealth(),
    "recovered": NeuronHealth(recovery=True, recovers_from=[NeuronError.DMA]),
}
STATUS, EVENTS = "/api/v1/nodes/{}/status", "/api/v1/namespaces/default/events"


@pytest.fixture(scope="module")
def nodes(shared, planned, manifests, spec):
    """A node of each group, with what its manager is; the detector is there before the nodes."""
    plan = planned(
        spec("dra", "trn2.48xlarge"),
        spec("plugin", "trn2.48xlarge", mechanism=PLUGIN),
        spec("inf2", "inf2.48xlarge"),
        spec("foreign", "trn2.48xlarge", mechanism=PLUGIN, external={DeviceType.NEURON}),
        spec("gpus", "g6e.12xlarge"),
        spec("efa", "hpc7a.96xlarge", efa=True),
    )
    shared.install(*manifests(plan), *health_objects(HEALTHS["recovered"], IMAGES))
    taints = [{"key": "dedicated", "value": "team", "effect": "NoExecute"}]
    found = {one.name: shared.join(one, taints=taints)[0] for one in plan.nodegroups}
    shared.join_other("system")
    shared.settle()
    return found


@pytest.fixture(scope="module")
def detectors(shared, nodes):
    """The Pods of the detector by the names of their nodes."""
    assert nodes
    return {pod["spec"]["nodeName"]: pod for pod in shared.api.list("v1", "Pod", NAMESPACE)}


@pytest.fixture(scope="module")
def detector(shared, nodes, detectors):
    """The API as a detector sees it, once the policy of nodes is at work."""
    api = shared.api.with_token(pod_token(shared.api, detectors[nodes["dra"]]))
    refused = partial(refusal, api, nodes["plugin"], dryRun="All")
    wait_for(refused, "the policy of nodes at work", seconds=10)
    return api


def condition(reason):
    return {"type": "NeuronHealth", "status": "True", "reason": reason, "message": "of a test"}


def refusal(api, node, **query):
    """What a policy says to a new condition of a node; empty if it is taken."""
    patch = {"status": {"conditions": [condition("NeuronHasError_DMA_ERROR")]}}
    try:
        api.request(
            "PATCH",
            STATUS.format(node),
            patch,
            content_type="application/strategic-merge-patch+json",
            query=query,
        )
    except ApiError as error:
        return error.message
    return ""


@pytest.mark.parametrize("health", HEALTHS)
def test_it_is_taken_whole_and_may_be_sent_again(world, health):
    items = health_objects(HEALTHS[health], IMAGES)

    first = world.install(*items)
    again = world.install(*items)

    for sent, made, same in zip(items, first, again, strict=True):
        assert lost(sent, made) == []
        assert made["metadata"].get("generation") == same["metadata"].get("generation")
    delete_all(world.api, [one for one in items if one["kind"] != "Namespace"])


def test_each_node_with_neuron_devices_has_one_and_no_other_node_has(nodes, detectors, shared):
    wanted = {nodes[name] for name in ("dra", "plugin", "inf2", "foreign")}

    assert detectors.keys() == wanted
    pods = shared.api.list("v1", "Pod", NAMESPACE)
    assert Counter(pod["spec"]["nodeName"] for pod in pods) == Counter(wanted)


def test_it_changes_the_condition_of_its_own_node_only(shared, nodes, detector):
    before = shared.api.request("GET", f"/api/v1/nodes/{nodes['dra']}")["status"]["conditions"]

    assert refusal(detector, nodes["dra"]) == ""
    assert "may change the Node that it runs on only" in refusal(detector, nodes["plugin"])

    after = shared.api.request("GET", f"/api/v1/nodes/{nodes['dra']}")["status"]["conditions"]
    assert {one["type"] for one in after} == {one["type"] for one in before} | {"NeuronHealth"}


def test_it_reads_its_node_and_writes_events(nodes, detector):
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "neuron-health", "namespace": "default"},
        "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": nodes["dra"]},
        "reason": "NeuronHasError_DMA_ERROR",
        "message": "of a test",
        "type": "Warning",
    }

    assert detector.request("GET", f"/api/v1/nodes/{nodes['dra']}")
    assert detector.request("POST", EVENTS, event)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/secrets"),
        ("GET", "/api/v1/pods"),
        ("GET", "/api/v1/nodes"),
        ("GET", f"/api/v1/namespaces/{NAMESPACE}/configmaps"),
        ("GET", "/apis/resource.k8s.io/v1/resourceslices"),
        ("DELETE", "/api/v1/nodes/system"),
    ],
)
def test_it_may_do_no_more(detector, method, path):
    with pytest.raises(ApiError) as error:
        detector.request(method, path)

    assert f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}" in error.value.message
