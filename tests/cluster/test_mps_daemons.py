"""The daemons that NVIDIA's DRA driver makes for MPS, tried on a real server with its Pods' tokens.

Its account may make Deployments, and a Deployment can run anything, anywhere.
"""

from __future__ import annotations

from functools import partial

import pytest

from eks_device_operations.control_plane import ApiError, wait_for
from eks_device_operations.control_plane.kubelet import pod_token
from eks_devices import GpuDriver

DRIVER = "dra-driver-nvidia-gpu-kubelet-plugin"
DEPLOYMENTS = "/apis/apps/v1/namespaces/nvidia/deployments"
DRY = {"dryRun": "All"}
OWN_NODE_ONLY = "may change Deployments for its own node only"
OWN_ACCOUNT_ONLY = "may run daemons with its own or the default account only"
NO_SECRET = "may run daemons with folders of the node and no Secret only"


@pytest.fixture(scope="module")
def drivers(shared, every_manager, manifests, planned, spec):
    """The Pods of a driver that makes MPS daemons, on two nodes, beside every other manager."""
    gated = GpuDriver(feature_gates={"MPSSupport": True})
    plan = planned(spec("mps", "g6e.xlarge", gpu_driver=gated))
    more = [one for one in manifests(plan) if one not in every_manager]
    shared.install(*every_manager, *more)
    shared.join(plan.nodegroups[0], 2)
    shared.settle()
    name = f"app.kubernetes.io/name={DRIVER}"
    return shared.api.list("v1", "Pod", labelSelector=name)


@pytest.fixture(scope="module")
def ask(shared, drivers):
    """What a driver's request comes to: nothing, or what the policy says against it."""
    driver = shared.api.with_token(pod_token(shared.api, drivers[0]))

    def request(method, item, **options):
        shared.tally["requests that policies judged"] += 1
        path = DEPLOYMENTS if method == "POST" else shared.api.path(item)
        try:
            driver.request(method, path, item if method == "POST" else None, **options)
        except ApiError as error:
            return error.message
        return ""

    wrong = daemon(drivers[1]["spec"]["nodeName"])
    wait_for(lambda: request("POST", wrong, query=DRY), "the policy at work", seconds=10)
    return request


@pytest.fixture
def there(shared):
    """Puts a Deployment into the cluster, by an administrator and without Pods."""
    made = []

    def put(item):
        made.append(item)
        return shared.api.create(item | {"spec": item["spec"] | {"replicas": 0}})

    yield put
    for item in made:
        shared.api.delete(item)


def daemon(node, **pod):
    """A Deployment as the driver makes it, and whatever its Pod has besides."""
    labels = {"app": "mps-control-daemon-tried"}
    container = {
        "name": "mps-control-daemon",
        "image": "example.com/driver:1",
        "securityContext": {"privileged": True},
        "env": [{"name": "CUDA_VISIBLE_DEVICES", "value": "GPU-0"}],
        "volumeMounts": [{"name": "driver-root", "mountPath": "/driver-root"}],
    }
    root = {"name": "driver-root", "hostPath": {"path": "/"}}
    own = {"nodeName": node, "hostPID": True, "containers": [container], "volumes": [root]}
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": own | pod},
    }
    meta = {"name": labels["app"], "namespace": "nvidia", "labels": labels}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}


def nodes_of(drivers):
    here, there = (one["spec"]["nodeName"] for one in drivers)
    assert here != there
    return here, there


def test_a_driver_starts_and_ends_a_daemon_on_its_node(shared, drivers, ask):
    here, _ = nodes_of(drivers)
    item = daemon(here)

    assert ask("POST", item) == ""
    wait_for(lambda: ready(shared.api.get(item)), "the daemon ready", seconds=20)
    (pod,) = shared.api.list("v1", "Pod", labelSelector="app=mps-control-daemon-tried")
    assert (pod["spec"]["nodeName"], pod["spec"]["serviceAccountName"]) == (here, "default")
    # As the driver does, so that the Pods go first.
    assert ask("DELETE", item, query={"propagationPolicy": "Foreground"}) == ""
    wait_for(lambda: shared.api.get(item) is None, "the daemon gone", seconds=20)


def ready(item):
    return item["status"].get("readyReplicas") == 1


def test_a_driver_starts_no_daemon_elsewhere(drivers, ask):
    _, there = nodes_of(drivers)

    assert OWN_NODE_ONLY in ask("POST", daemon(there), query=DRY)
    # The scheduler would find a node.
    assert OWN_NODE_ONLY in ask("POST", daemon(""), query=DRY)


def test_a_driver_ends_no_daemon_of_another_node(shared, drivers, ask, there):
    _, elsewhere = nodes_of(drivers)
    item = daemon(elsewhere)
    there(item)

    assert OWN_NODE_ONLY in ask("DELETE", item)
    assert shared.api.get(item) is not None


def test_a_driver_does_not_end_the_controller_of_compute_domains(every_manager, ask):
    (controller,) = (one for one in every_manager if one["kind"] == "Deployment")

    assert controller["metadata"]["namespace"] == "nvidia"
    assert OWN_NODE_ONLY in ask("DELETE", controller, query=DRY)


@pytest.mark.parametrize("field", ["serviceAccountName", "serviceAccount"])
def test_a_daemon_has_no_stronger_account(drivers, ask, field):
    """The second name is the first one's old name, and the API server takes either."""
    here, _ = nodes_of(drivers)
    own = drivers[0]["spec"]["serviceAccountName"]
    start = partial(ask, "POST", query=DRY)

    assert own.startswith(f"{DRIVER}-")
    for account in (own, "default", ""):
        assert start(daemon(here, **{field: account})) == ""
    for account in ("dra-driver-nvidia-gpu-controller", DRIVER, f"{DRIVER}-0123abcd"):
        assert OWN_ACCOUNT_ONLY in start(daemon(here, **{field: account}))


def test_a_daemon_whose_account_is_no_more_can_be_ended(drivers, ask, there):
    here, _ = nodes_of(drivers)
    item = daemon(here, serviceAccountName=f"{DRIVER}-0123abcd")
    there(item)

    assert ask("DELETE", item, query=DRY) == ""


FROM_SECRET = {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "tls", "key": "tls.key"}}}
TRIED = {"name": "tried", "image": "example.com/driver:1"}


@pytest.mark.parametrize(
    "pod",
    [
        {"volumes": [{"name": "driver-root", "secret": {"secretName": "tls"}}]},
        {"imagePullSecrets": [{"name": "registry"}]},
        {"initContainers": [TRIED | {"env": [FROM_SECRET]}]},
        {"initContainers": [TRIED | {"envFrom": [{"secretRef": {"name": "tls"}}]}]},
    ],
    ids=["volume", "registry", "variable", "variables"],
)
def test_a_daemon_brings_no_secret_to_its_node(drivers, ask, pod):
    here, _ = nodes_of(drivers)

    assert NO_SECRET in ask("POST", daemon(here, **pod), query=DRY)


def test_a_token_of_no_pod_starts_no_daemon(shared, drivers, ask):
    """Such as one that somebody made by hand."""
    here, _ = nodes_of(drivers)
    account = drivers[0]["spec"]["serviceAccountName"]
    path = f"/api/v1/namespaces/nvidia/serviceaccounts/{account}/token"
    token = shared.api.request("POST", path, {"spec": {}})["status"]["token"]

    assert ask("POST", daemon(here), query=DRY) == ""
    with pytest.raises(ApiError, match=OWN_NODE_ONLY):
        shared.api.with_token(token).request("POST", DEPLOYMENTS, daemon(here), query=DRY)


def test_deployments_of_anybody_else_are_not_judged(shared, drivers, ask):
    _, elsewhere = nodes_of(drivers)
    item = daemon(elsewhere, serviceAccountName="dra-driver-nvidia-gpu-controller")
    user = f"system:serviceaccount:nvidia:{DRIVER}x"

    assert OWN_NODE_ONLY in ask("POST", item, query=DRY)
    for api in (shared.api, shared.api.as_user(user, "system:masters")):
        assert api.request("POST", DEPLOYMENTS, item, query=DRY)["kind"] == "Deployment"
