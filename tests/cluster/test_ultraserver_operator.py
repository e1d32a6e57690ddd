"""Neuron's UltraServer operator as a real API server sees it: its kinds, account and policy."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from eks_device_operations.control_plane import ApiError, wait_for
from eks_device_operations.control_plane.kubelet import pod_token
from eks_device_operations.control_plane.pods import make_namespace
from eks_devices import FailureStrategy, NeuronInstallation, ultraserver_workload
from eks_devices.names import NEURON_CLASS

NAME, SPACE, USERS = "neuron-ultraserver-operator", "neuron-dra-driver", "train"
DRIVER = "neuron-dra-driver-kubelet-plugin"
API, TYPE = "neuron.aws.com/v1beta1", "trn3pds.48xlarge"
LABEL = "topology.k8s.aws/capacity-block-id"
CLOUD_CONTROLLER = "eks:cloud-controller-manager"
POLICY = "protect-capacity-block-id-label"
NODE = "/api/v1/nodes/{}"
MEDIA = "application/merge-patch+json"


@pytest.fixture(scope="module")
def items(planned, manifests, spec):
    """The operator and the driver, and a group of UltraServers that can be planned today."""
    plan = planned(
        spec("Ultra", "trn2u.48xlarge"), neuron=NeuronInstallation(ultraserver_operator=True)
    )
    return plan, manifests(plan)


@pytest.fixture(scope="module")
def pods(shared, items):
    """The Pods of operator and driver, by the names of their apps."""
    plan, objects = items
    shared.install(*objects)
    shared.join_other("system")
    shared.join(plan.nodegroups[0])
    shared.settle()
    make_namespace(shared.api, USERS)

    def placed() -> dict[str, Any] | None:
        found = {
            one["metadata"]["labels"]["app.kubernetes.io/name"]: one
            for one in shared.api.list("v1", "Pod", SPACE)
            if one["spec"].get("nodeName")
        }
        return found if {NAME, DRIVER} <= found.keys() else None

    return wait_for(placed, "both Pods placed")


@pytest.fixture(scope="module")
def operator(shared, pods):
    """The API as the operator sees it."""
    return shared.api.with_token(pod_token(shared.api, pods[NAME]))


@pytest.fixture(scope="module")
def driver(shared, pods):
    """The API as the driver sees it."""
    return shared.api.with_token(pod_token(shared.api, pods[DRIVER]))


def code(request, *given, **options) -> int:
    """How the server answers a request."""
    try:
        request(*given, **options)
    except ApiError as error:
        return error.code
    return 200


def said(request, *given) -> str:
    """What the server says of a request that it does not take."""
    with pytest.raises(ApiError) as caught:
        request(*given)
    assert caught.value.code == 422, caught.value
    return caught.value.message


# --- its kinds ---


def server_of(name="us-0", **spec):
    node = {"nodeName": "a", "nodeId": 0, "linkStatusHorizontal": "up", "linkStatusVertical": "up"}
    return {
        "apiVersion": API,
        "kind": "NeuronUltraServer",
        "metadata": {"name": name, "namespace": SPACE},
        "spec": {"instanceType": TYPE, "topology": [node]} | spec,
    }


@pytest.fixture
def server(shared, operator):
    """An UltraServer that the operator found."""
    item = server_of()
    yield operator.create(item)
    shared.api.delete(item)


@pytest.fixture
def workload(shared, pods):
    """A workload of a user's."""
    assert pods
    item = ultraserver_workload(name="job", namespace=USERS, instance_type=TYPE, server_count=2)
    yield shared.api.create(item)
    shared.api.delete(item)


@pytest.mark.parametrize("strategy", FailureStrategy)
def test_a_workload_of_the_core_is_taken_as_it_is(shared, pods, strategy):
    assert pods
    item = ultraserver_workload(
        name="whole",
        namespace=USERS,
        instance_type=TYPE,
        server_count=2,
        topology_size=2,
        logical_neuron_cores=1,
        failure_strategy=strategy,
        claim_template="nodes",
    )

    assert shared.api.create(item)["spec"] == item["spec"]
    shared.api.delete(item)


def test_what_a_workload_leaves_open_is_filled_in(shared, pods):
    assert pods
    item = ultraserver_workload(name="open", namespace=USERS, instance_type=TYPE)
    spec = item["spec"] | {"config": {}, "allocationPolicy": {}}

    made = shared.api.create(item | {"spec": spec})

    assert made["spec"] == item["spec"] | {
        "config": {"logicalNeuronCore": 2},
        "allocationPolicy": {"failureStrategy": "NoOp"},
    }
    shared.api.delete(item)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"serverCount": 0}, "spec.serverCount"),
        ({"serverCount": "two"}, "spec.serverCount"),
        ({"topologySize": 0}, "spec.topologySize"),
        ({"topologySize": 5}, "spec.topologySize"),
        ({"config": {"logicalNeuronCore": 3}}, "spec.config.logicalNeuronCore"),
        ({"resourceClaimTemplate": {}}, "spec.resourceClaimTemplate.name: Required"),
        ({"instanceType": None}, "spec.instanceType"),
    ],
)
def test_a_workload_that_makes_no_sense_is_refused(shared, workload, change, path):
    assert path in said(shared.api.merge, shared.api.path(workload), {"spec": change})


def test_the_status_of_a_workload_is_one_of_its_states(operator, workload):
    path = operator.path(workload) + "/status"

    assert "status.state" in said(operator.merge, path, {"status": {"state": "Bound"}})
    made = operator.merge(path, {"status": {"state": "Allocated"}, "spec": {"serverCount": 9}})
    assert made["status"] == {"state": "Allocated"}
    assert made["spec"] == workload["spec"]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"instanceType": ""}, "spec.instanceType"),
        ({"instanceType": "-"}, "spec.instanceType"),
        ({"instanceType": "a" * 254}, "spec.instanceType"),
        ({"topology": [{"nodeName": "a"}]}, "spec.topology[0]"),
        ({"topology": None}, "spec.topology"),
    ],
)
def test_an_ultraserver_that_makes_no_sense_is_refused(operator, pods, change, path):
    assert pods
    assert path in said(operator.create, server_of("senseless", **change))


def test_the_type_of_an_ultraserver_stays(operator, server):
    path = operator.path(server)

    words = said(operator.merge, path, {"spec": {"instanceType": "trn3pd98.48xlarge"}})

    assert "the instance type of an UltraServer cannot change" in words
    assert operator.merge(path, {"spec": {"topology": []}})["spec"]["topology"] == []
    operator.merge(f"{path}/status", {"status": {"state": "Ready"}})


def test_short_names_find_both(shared, pods):
    assert pods
    found = shared.api.request("GET", f"/apis/{API}")["resources"]

    assert {one["name"]: one["shortNames"] for one in found if "shortNames" in one} == {
        "neuronultraservers": ["nus"],
        "neuronultraserverworkloads": ["nusw"],
    }


# --- its account ---


def test_it_runs_on_a_node_without_devices(pods):
    assert pods[NAME]["spec"]["nodeName"] == "system"
    assert pods[DRIVER]["spec"]["nodeName"] == "ultra-0"


def lease_in(space):
    meta = {"name": "leader", "namespace": space}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta}


def test_it_leads_by_a_lease_of_its_own_namespace_only(shared, operator):
    assert operator.create(lease_in(SPACE))["metadata"]["namespace"] == SPACE
    operator.merge(operator.path(lease_in(SPACE)), {"spec": {"holderIdentity": "me"}})
    shared.api.delete(lease_in(SPACE))

    for space in ("kube-system", "kube-node-lease", USERS):
        assert code(operator.create, lease_in(space)) == 403
    assert code(operator.request, "GET", "/apis/coordination.k8s.io/v1/leases") == 403


def template_in(space):
    """A template as the operator makes it for a workload."""
    request = {"name": "node", "exactly": {"deviceClassName": NEURON_CLASS}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "job", "namespace": space},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }


def test_it_makes_templates_where_the_workloads_are(shared, operator, workload):
    assert workload["metadata"]["namespace"] == USERS
    owner = {
        "apiVersion": API,
        "kind": workload["kind"],
        "name": workload["metadata"]["name"],
        "uid": workload["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    item = template_in(USERS)
    item["metadata"]["ownerReferences"] = [owner]

    assert operator.create(item)["metadata"]["ownerReferences"] == [owner]
    shared.api.delete(item)


def test_it_evicts_pods_of_users(shared, operator):
    """As the strategies for failures do, but for the one that does nothing."""
    meta = {"name": "worker", "namespace": USERS}
    spec = {"containers": [{"name": "main", "image": "example.com/main:1"}], "nodeName": "nowhere"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
    shared.api.create(pod)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta}

    path = f"{shared.api.path(pod)}/eviction"
    assert code(operator.request, "POST", path, eviction, query={"dryRun": "All"}) == 200
    assert code(operator.request, "DELETE", shared.api.path(pod)) == 403
    shared.api.delete(pod, gracePeriodSeconds=0)


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/secrets",
        "/api/v1/configmaps",
        f"/api/v1/namespaces/{SPACE}/serviceaccounts",
        "/apis/resource.k8s.io/v1/resourceclaims",
        "/apis/apps/v1/daemonsets",
    ],
)
def test_it_reads_nothing_else(operator, path):
    assert code(operator.request, "GET", path) == 403


def test_the_driver_watches_ultraservers_and_writes_none(driver, server):
    path = driver.path(server)

    assert driver.request("GET", path)["metadata"]["name"] == "us-0"
    assert code(driver.request, "GET", f"/apis/{API}/neuronultraservers") == 200
    assert code(driver.merge, path, {"metadata": {"labels": {"a": "b"}}}) == 403
    assert code(driver.request, "GET", f"/apis/{API}/neuronultraserverworkloads") == 403


# --- its policy ---


@pytest.fixture(scope="module")
def label(shared, pods):
    """Writes the label of the node with devices, once the policy is at work."""
    node = pods[DRIVER]["spec"]["nodeName"]

    def write(api, value, part="", **query):
        change = {"metadata": {"labels": {LABEL: value, "example.com/beside": "tried"}}}
        path = NODE.format(node) + part
        shared.tally["requests that policies judged"] += 1
        words = ""
        try:
            api.request("PATCH", path, change, content_type=MEDIA, query=query)
        except ApiError as error:
            words = error.message
        assert not words or POLICY in words, words
        return "refused" if words else "passed"

    refused = partial(write, shared.api, "first", dryRun="All")
    wait_for(lambda: refused() == "refused", "the policy of the label at work", seconds=10)
    return write


def by(shared, name):
    return shared.api.as_user(name, "system:masters")


def test_eks_alone_labels_nodes(shared, label):
    controller, other = by(shared, CLOUD_CONTROLLER), by(shared, f"x{CLOUD_CONTROLLER}")
    kubelet = shared.api.as_user("system:node:ultra-0", "system:nodes")

    assert label(other, "cr-a") == "refused"
    assert label(controller, "cr-a") == "passed"
    for api in (shared.api, other):
        assert label(api, "cr-a") == "passed"
        for value in ("cr-b", "", None):
            assert label(api, value) == "refused"
            assert label(api, value, "/status") == "refused"
    assert label(kubelet, "cr-b", "/status") == "refused"
    assert label(kubelet, "cr-a", "/status") == "passed"
    assert label(controller, None) == "passed"
    assert label(shared.api, "") == "refused"


def test_a_node_brings_the_label_when_it_joins(shared, label):
    assert label
    name = shared.join_other("labelled", **{LABEL: "cr-a"})

    found = shared.api.request("GET", NODE.format(name))
    assert found["metadata"]["labels"][LABEL] == "cr-a"


def test_the_policy_reads_what_is_there(shared, items):
    (policy,) = (
        one
        for one in items[1]
        if one["metadata"]["name"] == POLICY and "Binding" not in one["kind"]
    )

    def checked():
        found = shared.api.get(policy)
        status = found.get("status", {})
        return (
            status if status.get("observedGeneration") == found["metadata"]["generation"] else None
        )

    assert wait_for(checked, "the policy checked").get("typeChecking", {}) == {}
