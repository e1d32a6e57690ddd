"""The second scheduler: a real one, with our configuration and account, asks a played extension.

Neuron's extension is closed, so what it does is that of its description: it filters nodes, notes
on Pod and node which devices a Pod has, and binds the Pod.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from functools import partial
from http.client import HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from eks_device_charts import device_manifests
from eks_device_operations.control_plane import Api, ApiError, wait_for
from eks_device_operations.control_plane.kubelet import pod_token
from eks_device_operations.control_plane.pods import (
    make_namespace,
    pod,
    remove,
    wait_bound,
    wait_decided,
    wait_offered,
)
from eks_device_operations.control_plane.processes import Process, free_ports
from eks_devices import Mechanism, NeuronInstallation, plan_cluster
from eks_devices.names import NEURON_SCHEDULER

from .conftest import IMAGES, MINOR, World

EXTENSION = "k8s-neuron-scheduler"
NEURON = "aws.amazon.com/neuron"
SPACE = "train"
LOOPBACK = "127.0.0.1"
NOTED = {"NEURON_IDS": "0,1,2,3"}


class Extension:
    """Plays the extension: takes every node unless told to refuse, and binds with its account."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.refuses = ""

    def answer(self, verb: str, question: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((verb, question))
        if verb == "bind":
            return self._bind(question)
        nodes = question["Nodes"]["items"]
        if self.refuses:
            failed = {one["metadata"]["name"]: self.refuses for one in nodes}
            return {"Nodes": {"items": []}, "FailedNodes": failed}
        return {"Nodes": {"items": nodes}}

    def _bind(self, question: dict[str, Any]) -> dict[str, Any]:
        name, node = question["PodName"], question["Node"]
        path = f"/api/v1/namespaces/{question['PodNamespace']}/pods/{name}"
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        noted = {"metadata": {"annotations": NOTED}}
        self.api.merge(path, noted)
        self.api.merge(f"/api/v1/nodes/{node}/status", noted)
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
        self.api.request("POST", f"{path}/binding", body)
        return {"Error": ""}

    def verbs_for(self, name: str) -> list[str]:
        """What it was asked about a Pod, in order."""
        return [verb for verb, question in self.asked if named(question) == name]


def named(question: dict[str, Any]) -> str:
    return str(question.get("PodName") or question["Pod"]["metadata"]["name"])


def handler(extension: Extension) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(extension.answer(self.path.strip("/"), question)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@pytest.fixture(scope="module")
def plan(spec):
    group = spec("Plugin", "trn1.32xlarge", mechanism=Mechanism.DEVICE_PLUGIN, efa=False)
    neuron = NeuronInstallation(scheduler_extension=True)
    return plan_cluster(kubernetes_version=MINOR, nodegroups=[group], neuron=neuron)


@pytest.fixture(scope="module")
def items(plan):
    return device_manifests(plan, images=IMAGES)


@pytest.fixture(scope="module")
def pods(shared: World, plan, items) -> dict[str, Any]:
    """The Pods of both Deployments, beside a node with devices and a system node."""
    shared.install(*items)
    shared.join_other("system")
    wait_offered(shared.api, {shared.join(plan.nodegroups[0])[0]: plan.nodegroups[0]})
    make_namespace(shared.api, SPACE)
    return {
        name: wait_for(partial(placed, shared.api, name), f"a node for {name}")
        for name in (EXTENSION, NEURON_SCHEDULER)
    }


def placed(api: Api, name: str) -> dict[str, Any] | None:
    found = api.list("v1", "Pod", "kube-system", labelSelector=f"app.kubernetes.io/name={name}")
    return next((one for one in found if one["spec"].get("nodeName")), None)


@pytest.fixture(scope="module")
def extension(shared: World, pods) -> Iterator[tuple[Extension, str]]:
    """The played extension, and its address."""
    played = Extension(shared.api.with_token(pod_token(shared.api, pods[EXTENSION])))
    server = ThreadingHTTPServer((LOOPBACK, 0), handler(played))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield played, f"http://{LOOPBACK}:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def scheduler(shared: World, binaries, items, pods, extension):
    """The real scheduler with our configuration: only addresses and its proof are of here."""
    folder, (port,) = shared.plane.folder / "second-scheduler", free_ports(1)
    folder.mkdir()
    kubeconfig = folder / "kubeconfig"
    proof = {"token": pod_token(shared.api, pods[NEURON_SCHEDULER])}
    kubeconfig.write_text(json.dumps(with_token(shared.plane.kubeconfig, proof)), encoding="utf-8")
    told = configuration(items) | {"clientConnection": {"kubeconfig": str(kubeconfig)}}
    told["extenders"][0]["urlPrefix"] = extension[1]
    file = folder / "scheduler.json"
    file.write_text(json.dumps(told), encoding="utf-8")
    process = Process(
        "second kube-scheduler",
        [
            binaries.path("kube-scheduler"),
            f"--config={file}",
            f"--bind-address={LOOPBACK}",
            f"--secure-port={port}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            *arguments(items),
        ],
        folder / "log",
    )
    wait_for(lambda: page(port, "/readyz") == "ok", "the second scheduler is ready")
    yield process, port
    process.stop()


def with_token(kubeconfig, proof: dict[str, str]) -> dict[str, Any]:
    content = json.loads(kubeconfig.read_text(encoding="utf-8"))
    content["users"][0]["user"] = proof
    return dict(content)


def configuration(items) -> dict[str, Any]:
    (found,) = (one for one in items if one["kind"] == "ConfigMap")
    (text,) = found["data"].values()
    return dict(json.loads(text))


def arguments(items) -> list[str]:
    """What the container says beside the place of its configuration."""
    (found,) = (
        one
        for one in items
        if one["kind"] == "Deployment" and one["metadata"]["name"] == NEURON_SCHEDULER
    )
    (container,) = found["spec"]["template"]["spec"]["containers"]
    return [one for one in container["command"][1:] if not one.startswith("--config=")]


def page(port: int, path: str) -> str:
    """A page of the second scheduler, as a kubelet asks for it: without proof or trust."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = HTTPSConnection(LOOPBACK, port, timeout=2, context=context)
    try:
        connection.request("GET", path)
        return connection.getresponse().read().decode()
    except OSError:
        return ""
    finally:
        connection.close()


@pytest.fixture
def run(shared: World, plan, scheduler, extension):
    """Makes a Pod, which goes when the test is over."""
    made = []

    def make(name: str, *, limits: dict[str, int] | None = None, **options: Any) -> dict[str, Any]:
        given = {"schedulerName": NEURON_SCHEDULER} | options
        item = pod(name, namespace=SPACE, group=plan.nodegroups[0], limits=limits, **given)
        made.append(item)
        shared.api.create(item)
        return item

    yield make
    assert not scheduler[0].has_ended()
    extension[0].refuses = ""
    remove(shared.api, *made)


def test_both_run_on_a_node_without_devices(pods):
    assert {one["spec"]["nodeName"] for one in pods.values()} == {"system"}


def test_the_scheduler_is_alive_and_ready_for_whoever_asks(scheduler):
    assert [page(scheduler[1], path) for path in ("/livez", "/readyz")] == ["ok", "ok"]


def test_metrics_are_for_those_who_may_read_them(scheduler):
    assert "forbidden" in page(scheduler[1], "/metrics")


def test_a_pod_gets_the_devices_that_the_extension_chose(shared, run, extension):
    played, _ = extension

    item = run("some", limits={NEURON: 4})

    assert wait_bound(shared.api, item) == "plugin-0"
    assert played.verbs_for("some") == ["filter", "bind"]
    (asked,) = (one for verb, one in played.asked if verb == "filter" and named(one) == "some")
    assert [one["metadata"]["name"] for one in asked["Nodes"]["items"]] == ["plugin-0"]
    found = shared.api.get(item)
    assert found["metadata"]["annotations"] == NOTED
    node = shared.api.find("/api/v1/nodes/plugin-0")
    assert node["metadata"]["annotations"].items() >= NOTED.items()


def test_cores_are_chosen_too(shared, run, extension):
    item = run("cores", limits={"aws.amazon.com/neuroncore": 2})

    assert wait_bound(shared.api, item) == "plugin-0"
    assert extension[0].verbs_for("cores") == ["filter", "bind"]


def test_a_pod_waits_for_what_the_extension_cannot_give(shared, run, extension):
    extension[0].refuses = "no 4 connected devices are free"

    item = run("waits", limits={NEURON: 4})
    (found,) = wait_decided(shared.api, item)

    assert found.reason == "Unschedulable"
    assert "no 4 connected devices are free" in found.message
    assert "bind" not in extension[0].verbs_for("waits")


def test_a_pod_without_devices_asks_nobody(shared, run, extension):
    item = run("plain")

    assert wait_bound(shared.api, item)
    assert extension[0].verbs_for("plain") == []


def test_pods_of_the_default_scheduler_ask_nobody(shared, run, extension):
    item = run("default", limits={NEURON: 1}, schedulerName="default-scheduler")

    assert wait_bound(shared.api, item) == "plugin-0"
    assert extension[0].verbs_for("default") == []


@pytest.mark.usefixtures("scheduler")
def test_it_holds_a_lease_of_its_own(shared):
    leases = {
        one["metadata"]["name"]: one["spec"].get("holderIdentity")
        for one in shared.api.list("coordination.k8s.io/v1", "Lease", "kube-system")
    }

    assert leases[NEURON_SCHEDULER]


def test_nothing_that_it_wanted_was_forbidden(run, shared, scheduler):
    wait_bound(shared.api, run("last", limits={NEURON: 1}))

    log = scheduler[0].log.read_text(encoding="utf-8")

    assert "Successfully bound pod" in log
    assert "forbidden" not in log


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/configmaps",
        "/api/v1/namespaces/kube-system/configmaps",
        "/api/v1/secrets",
        "/apis/coordination.k8s.io/v1/leases",
    ],
)
def test_its_account_reads_no_more_than_a_scheduler_does(shared, pods, path):
    api = shared.api.with_token(pod_token(shared.api, pods[NEURON_SCHEDULER]))

    with pytest.raises(ApiError) as refused:
        api.request("GET", path)
    assert refused.value.code == 403


def test_the_lease_of_a_controller_is_not_its_own(shared, pods):
    api = shared.api.with_token(pod_token(shared.api, pods[NEURON_SCHEDULER]))
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/other"

    with pytest.raises(ApiError) as refused:
        api.request("PUT", path, lease | {"metadata": {"name": "other"}})
    assert refused.value.code == 403
