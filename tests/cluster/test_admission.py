"""What managers may write, tried on a real server with the tokens of their Pods."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import pytest

from eks_device_operations.control_plane import Api, ApiError, wait_for
from eks_device_operations.control_plane.kubelet import pod_token

DOMAIN_PLUGIN = "dra-driver-nvidia-gpu-compute-domain-plugin"
# What each driver is called in its slices, by the name of its Pods.
DRIVERS = {
    "aws-dranet": "dra.net",
    DOMAIN_PLUGIN: "compute-domain.nvidia.com",
    "dra-driver-nvidia-gpu-kubelet-plugin": "gpu.nvidia.com",
    "neuron-dra-driver-kubelet-plugin": "neuron.aws.com",
}
CONTROLLER = "system:serviceaccount:nvidia:dra-driver-nvidia-gpu-controller"
# How each manager that may change Node objects does so.
NODE_WRITES = [
    (DOMAIN_PLUGIN, "PUT", ""),
    (DOMAIN_PLUGIN, "PATCH", ""),
    ("neuron-dra-driver-kubelet-plugin", "PUT", ""),
    ("neuron-dra-driver-kubelet-plugin", "PATCH", ""),
    ("neuron-dra-driver-kubelet-plugin", "PATCH", "/status"),
    ("neuron-device-plugin", "PUT", "/status"),
    ("neuron-device-plugin", "PATCH", "/status"),
]
# It is not documented what they write to nodes, so their policies of these only warn.
TOLD = {"neuron-dra-driver-kubelet-plugin", "neuron-device-plugin"}
NODE, SLICES = "/api/v1/nodes/{}", "/apis/resource.k8s.io/v1/resourceslices"
OWN_NODE_ONLY = "may change the Node that it runs on only"
OWN_SLICES_ONLY = "may change the ResourceSlices of its own node only"


class Manager(NamedTuple):
    """A Pod of a manager that the DaemonSet controller placed, and its token."""

    name: str
    account: str
    node: str
    other: str
    api: Api

    @property
    def unwanted(self):
        """What becomes of a change of a node that its policy does not want."""
        return "told" if self.name in TOLD else "refused"


@pytest.fixture(scope="module")
def pods(shared, every_manager, planned, spec):
    """The Pods of managers, each on two nodes at least, as the server has them, by their names."""
    shared.install(*every_manager)
    types = ("p6e-gb200.36xlarge", "trn2.48xlarge", "inf2.48xlarge")
    for group in planned(*(spec(name[:3], name) for name in types)).nodegroups:
        shared.join(group, 2)
    shared.settle()
    found: dict[str, list[dict[str, Any]]] = {}
    for pod in shared.api.list("v1", "Pod"):
        found.setdefault(pod["metadata"]["labels"]["app.kubernetes.io/name"], []).append(pod)
    return found


@pytest.fixture(scope="module")
def manager(shared, pods):
    """One of the managers."""

    def find(name):
        here, there = pods[name][:2]
        node, space = here["spec"]["nodeName"], here["metadata"]["namespace"]
        token = pod_token(shared.api, here)
        account = f"system:serviceaccount:{space}:{here['spec']['serviceAccountName']}"
        other = there["spec"]["nodeName"]
        return Manager(name, account, node, other, shared.api.with_token(token))

    return find


@pytest.fixture(scope="module")
def verdict(shared):
    """What becomes of a request: it passes, with or without a word, or a policy refuses it."""

    def ask(api, method, path, body=None, *, because="", **options):
        shared.tally["requests that policies judged"] += 1
        before = len(api.warnings)
        try:
            api.request(method, path, body, **options)
            words, found = api.warnings[before:], "told"
        except ApiError as error:
            words, found = [error.message], "refused"
        assert all("ValidatingAdmissionPolicy" in one and because in one for one in words), words
        return found if words else "passed"

    return ask


@pytest.fixture(scope="module")
def driver(manager, verdict):
    """One of the DRA drivers, once the policy of its slices is at work."""

    def find(name):
        found = manager(name)
        wrong = slice_of(found, "first", allNodes=True)
        ask = partial(verdict, found.api, "POST", SLICES, wrong, query={"dryRun": "All"})
        wait_for(lambda: ask() != "passed", f"the policy of {name} at work", seconds=10)
        return found

    return find


@pytest.fixture(scope="module")
def node_writer(manager, verdict):
    """One of the managers that change nodes, once the policy of that is at work."""

    def find(name):
        found = manager(name)
        method, part = next(write[1:] for write in NODE_WRITES if write[0] == name)
        ask = partial(write_node, verdict, found.api, method, found.other, part, dry=True)
        wait_for(lambda: ask() != "passed", f"the policy of {name} at work", seconds=10)
        return found

    return find


def slice_of(manager, name, driver="", **where):
    """A slice of the manager's own, unless told otherwise."""
    where = where or {"nodeName": manager.node}
    pool = {"name": f"{name}-pool", "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": "one"}]
    spec = {"driver": driver or DRIVERS[manager.name], "pool": pool, "devices": devices, **where}
    meta = {"name": f"{manager.node}-{name}"}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": meta,
        "spec": spec,
    }


def changed(item):
    return item | {"spec": item["spec"] | {"devices": [{"name": "one"}, {"name": "two"}]}}


@pytest.mark.parametrize("name", DRIVERS)
def test_a_driver_makes_changes_and_deletes_slices_of_its_node(shared, driver, verdict, name):
    found = driver(name)
    item = slice_of(found, "own")
    path = shared.api.path(item)

    assert verdict(found.api, "POST", SLICES, item) == "passed"
    assert verdict(found.api, "PUT", path, changed(shared.api.get(item))) == "passed"
    assert len(shared.api.get(item)["spec"]["devices"]) == 2
    assert verdict(found.api, "DELETE", path) == "passed"
    assert shared.api.get(item) is None


SELECTOR = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}


@pytest.mark.parametrize("name", DRIVERS)
def test_a_driver_publishes_for_no_other_node(shared, driver, verdict, name):
    found = driver(name)
    for where in ({"nodeName": found.other}, {"allNodes": True}, {"nodeSelector": SELECTOR}):
        item = slice_of(found, "wide", **where)
        assert verdict(found.api, "POST", SLICES, item, because=OWN_SLICES_ONLY) == "refused"
        assert shared.api.get(item) is None


@pytest.mark.parametrize("name", DRIVERS)
def test_a_driver_publishes_for_no_other_driver(shared, driver, verdict, name):
    found = driver(name)
    because = f"may change ResourceSlices of {DRIVERS[name]} only"
    for other in {*DRIVERS.values(), "example.com"} - {DRIVERS[name]}:
        item = slice_of(found, "foreign", other)
        assert verdict(found.api, "POST", SLICES, item, because=because) == "refused"
        assert shared.api.get(item) is None


@pytest.mark.parametrize("name", DRIVERS)
def test_a_driver_leaves_slices_of_other_nodes_alone(shared, driver, verdict, name):
    found = driver(name)
    item = slice_of(found, "others", nodeName=found.other)
    path = shared.api.path(item)
    shared.api.create(item)
    ask = partial(verdict, found.api, because=OWN_SLICES_ONLY)

    assert ask("PUT", path, changed(shared.api.get(item))) == "refused"
    assert ask("DELETE", path) == "refused"
    shared.api.delete(item)


@pytest.mark.parametrize("name", DRIVERS)
def test_a_driver_without_a_node_publishes_nothing(shared, driver, verdict, name):
    """Such as one with a token that somebody made by hand, or stole from elsewhere."""
    found = driver(name)
    api = shared.api.with_token(loose_token(shared.api, found.account))
    item = slice_of(found, "loose")

    assert verdict(api, "POST", SLICES, item, because=OWN_SLICES_ONLY) == "refused"


def loose_token(api, account):
    """A token that is bound to no Pod."""
    *_, space, name = account.split(":")
    path = f"/api/v1/namespaces/{space}/serviceaccounts/{name}/token"
    return api.request("POST", path, {"spec": {}})["status"]["token"]


def test_slices_of_anybody_else_are_not_judged(shared, driver, verdict):
    for name in DRIVERS:
        found = driver(name)
        wide = slice_of(found, "anybody", allNodes=True)
        for api in (shared.api, *strangers(shared.api, found.account)):
            assert verdict(api, "POST", SLICES, wide) == "passed"
            assert verdict(api, "DELETE", shared.api.path(wide)) == "passed"
        node = shared.api.as_user(f"system:node:{found.node}", "system:nodes")
        item = slice_of(found, "host")
        assert verdict(node, "POST", SLICES, item) == "passed"
        # The node's authorizer takes a moment to know a slice as the node's.
        shared.api.delete(item)


def strangers(api, account):
    """Accounts that look like another, and may do everything."""
    *_, space, name = account.split(":")
    names = (f"{account}x", f"system:serviceaccount:default:{name}", f"{space}:{name}")
    return [api.as_user(one, "system:masters") for one in names]


def write_node(verdict, api, method, node, part, *, dry=False, value="tried"):
    """What becomes of a new label on a node; a status brings it along."""
    query = {"dryRun": "All"} if dry else {}
    path = NODE.format(node) + part
    change = {"metadata": {"labels": {"example.com/tried": value}}}
    ask = partial(verdict, api, method, path, because=OWN_NODE_ONLY, query=query)
    if method == "PATCH":
        return ask(change, content_type="application/merge-patch+json")
    item = {"apiVersion": "v1", "kind": "Node"} | api.request("GET", NODE.format(node))
    item["metadata"]["labels"] |= change["metadata"]["labels"]
    # Without a version nobody else's change is in the way.
    del item["metadata"]["resourceVersion"]
    return ask(item)


def label_of(shared, node):
    return shared.api.request("GET", NODE.format(node))["metadata"]["labels"]["example.com/tried"]


@pytest.mark.parametrize("write", NODE_WRITES, ids=" ".join)
def test_a_manager_changes_its_own_node(shared, node_writer, verdict, write):
    name, method, part = write
    found = node_writer(name)
    value = f"{method}-by-{name}"[:60]

    assert write_node(verdict, found.api, method, found.node, part, value=value) == "passed"
    assert label_of(shared, found.node) == value


@pytest.mark.parametrize("write", NODE_WRITES, ids=" ".join)
def test_a_manager_changes_no_other_node(shared, node_writer, verdict, write):
    name, method, part = write
    found = node_writer(name)
    loose = shared.api.with_token(loose_token(shared.api, found.account))
    write_node(verdict, shared.api, "PATCH", found.other, "", value="as-it-was")

    assert write_node(verdict, found.api, method, found.other, part) == found.unwanted
    kept = "as-it-was" if found.unwanted == "refused" else "tried"
    assert label_of(shared, found.other) == kept
    assert write_node(verdict, loose, method, found.node, part) == found.unwanted


def test_nodes_are_anybody_elses_to_change(shared, node_writer, verdict):
    controller = shared.api.as_user(CONTROLLER)
    for name in dict.fromkeys(write[0] for write in NODE_WRITES):
        found = node_writer(name)
        node = shared.api.as_user(f"system:node:{found.other}", "system:nodes")
        assert write_node(verdict, controller, "PUT", found.other, "") == "passed"
        assert write_node(verdict, node, "PATCH", found.other, "/status") == "passed"
        for api in (shared.api, *strangers(shared.api, found.account)):
            assert write_node(verdict, api, "PATCH", found.other, "") == "passed"


def test_a_daemon_of_a_compute_domain_changes_its_own_pod_only(shared, pods, verdict):
    """Its account may patch Pods of its namespace, and other managers there are privileged."""
    assert pods[DOMAIN_PLUGIN]
    names = ("domain-daemon-a", "domain-daemon-b")
    for name in names:
        shared.api.create(daemon_pod(name))
    own, other = (shared.api.get(daemon_pod(name)) for name in names)
    daemon = shared.api.with_token(pod_token(shared.api, {"apiVersion": "v1"} | own))

    def ask(pod, because=""):
        change = {"metadata": {"labels": {"resource.nvidia.com/computeDomain.cliqueID": "a"}}}
        path = f"/api/v1/namespaces/nvidia/pods/{pod['metadata']['name']}"
        media = "application/merge-patch+json"
        return verdict(daemon, "PATCH", path, change, because=because, content_type=media)

    wait_for(lambda: ask(other) != "passed", "the policy of the daemons at work", seconds=10)
    assert ask(own) == "passed"
    assert ask(other, because="may change the Pod that it runs in only") == "refused"
    plugin = pods[DOMAIN_PLUGIN][0]
    if plugin["metadata"]["namespace"] == "nvidia":
        assert ask(plugin) == "refused"
    for name in names:
        shared.api.delete(daemon_pod(name), gracePeriodSeconds=0)


def daemon_pod(name):
    account = "compute-domain-daemon-service-account"
    spec = {
        "serviceAccountName": account,
        "containers": [{"name": "daemon", "image": "example.com/daemon:1"}],
        # Nowhere: only its token matters here.
        "nodeSelector": {"example.com/nowhere": "true"},
    }
    meta = {"name": name, "namespace": "nvidia"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
