"""NetworkPolicies let Pods of NVIDIA's managers reach what they need, and nothing else."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest
from tests.driver_plans import driver_plan

from eks_device_charts.manifests import (
    compute_domain_controller,
    compute_domain_driver,
    nvidia_claim_webhook,
    nvidia_device_plugin,
    nvidia_gpu_driver,
)
from eks_device_charts.manifests.nvidia_network_policies import (
    api_client_policy,
    compute_domain_daemon_policy,
    silent_policy,
    webhook_policy,
)
from eks_devices import Mechanism
from eks_devices.claim_webhook import ClaimWebhook

IMAGE = "example.com/image:1"
DOMAIN = "resource.nvidia.com/computeDomain"
GPU = driver_plan(Mechanism.DRA, {}, owner="lab-0123abcd")
SHARED = driver_plan(
    Mechanism.DEVICE_PLUGIN, {"sharing": "mps", "replicas": 2, "feature-discovery": True}
)
WEBHOOK = nvidia_claim_webhook.webhook_objects(IMAGE, certificate=ClaimWebhook.cert_manager())


def workloads(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for item in items if item["kind"] in ("DaemonSet", "Deployment")]


def name(item: dict[str, Any]) -> str:
    return str(item["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/name"])


def env(item: dict[str, Any]) -> dict[str, Any]:
    (container,) = item["spec"]["template"]["spec"]["containers"]
    return {one["name"]: one.get("value") for one in container["env"]}


# Those that ask the API server.
CLIENTS = [
    *workloads(nvidia_gpu_driver.driver_objects(GPU, IMAGE)),
    *workloads(compute_domain_driver.driver_objects(GPU, IMAGE)),
    *workloads(compute_domain_controller.controller_objects(GPU, IMAGE)),
]
SILENT = workloads(nvidia_device_plugin.driver_objects(SHARED, IMAGE))
ASKED = workloads(WEBHOOK)
POLICIES = [
    *(api_client_policy(name(one), metrics_port=8080) for one in CLIENTS),
    *(silent_policy(name(one)) for one in SILENT),
    *(webhook_policy(name(one), port=8443) for one in ASKED),
    compute_domain_daemon_policy(),
]


def allowed(rules: list[dict[str, Any]]) -> list[tuple[Any, list[int]]]:
    """Each rule as whom it names, None for anybody, and the TCP ports."""
    found = []
    for rule in rules:
        assert {one["protocol"] for one in rule["ports"]} == {"TCP"}
        (peers,) = {"from", "to"} & rule.keys() or {""}
        found.append((rule.get(peers), [one["port"] for one in rule["ports"]]))
    return found


@pytest.mark.parametrize("policy", POLICIES, ids=lambda one: one["metadata"]["name"])
def test_a_policy_fits_its_schema_and_rules_both_directions(policy, version):
    kubernetes_validate.validate(policy, version, strict=True)

    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert policy["metadata"]["namespace"] == "nvidia"


def test_each_policy_has_a_name_of_its_own():
    assert len({one["metadata"]["name"] for one in POLICIES}) == len(POLICIES) == 8


@pytest.mark.parametrize("item", [*CLIENTS, *SILENT, *ASKED], ids=name)
def test_one_policy_selects_the_pods_of_a_workload(item):
    labels = item["spec"]["template"]["metadata"]["labels"].items()
    chosen = [
        policy["metadata"]["name"]
        for policy in POLICIES
        if policy["spec"]["podSelector"].get("matchLabels", {None: None}).items() <= labels
    ]

    assert chosen == [name(item)]


@pytest.mark.parametrize("item", CLIENTS, ids=name)
def test_a_client_reaches_the_api_server_and_tells_its_metrics(item):
    port = int(env(item)["HTTP_ENDPOINT"].removeprefix(":"))
    spec = api_client_policy(name(item), metrics_port=port)["spec"]

    assert allowed(spec["egress"]) == [(None, [443])]
    assert allowed(spec["ingress"]) == [(None, [port])]


@pytest.mark.parametrize("item", SILENT, ids=name)
def test_pods_without_a_token_talk_to_nobody(item):
    spec = silent_policy(name(item))["spec"]

    assert item["spec"]["template"]["spec"]["automountServiceAccountToken"] is False
    assert spec["ingress"] == spec["egress"] == []


def test_the_webhook_is_asked_where_it_listens():
    (item,) = ASKED
    (container,) = item["spec"]["template"]["spec"]["containers"]
    (port,) = (one["containerPort"] for one in container["ports"])
    spec = webhook_policy(nvidia_claim_webhook.NAME, port=nvidia_claim_webhook.PORT)["spec"]

    assert allowed(spec["ingress"]) == [(None, [port])]
    assert spec["egress"] == []


def test_daemons_of_domains_talk_among_themselves_and_to_the_api_server():
    spec = compute_domain_daemon_policy()["spec"]
    daemons = {"matchExpressions": [{"key": DOMAIN, "operator": "Exists"}]}

    assert spec["podSelector"] == daemons
    assert allowed(spec["ingress"]) == [([{"podSelector": daemons}], [50000, 50005])]
    assert allowed(spec["egress"]) == [
        ([{"podSelector": daemons}], [50000, 50005]),
        (None, [443]),
    ]
