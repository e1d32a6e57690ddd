"""Amounts of resources that the API server refuses, and resources that nobody offers."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cluster_plans import cluster_of
from tests.rule_pods import codes, container, deployment, findings, limits, place, pod, remarks

from eks_devices import Mechanism

PLUGIN = cluster_of({"instance_type": "p5.48xlarge", "mechanism": Mechanism.DEVICE_PLUGIN})


def of(limits: Any, requests: Any) -> dict[str, Any]:
    return pod(container(resources={"limits": limits, "requests": requests}))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (({"nvidia.com/gpu": 2}, {"nvidia.com/gpu": 1}), ["RequestNotEqualToLimit"]),
        (({}, {"nvidia.com/gpu": 1}), ["RequestNotEqualToLimit"]),
        (({"nvidia.com/gpu": "1.5"}, {}), ["MalformedQuantity"]),
        (({"nvidia.com/gpu": 2}, {"nvidia.com/gpu": "2"}), []),
        (({"nvidia.com/gpu": 2}, {}), []),
        (({"memory": "2Gi"}, {"memory": "1Gi"}), []),
        (({"nvidia.com/gpu": "${Token[A.1]}"}, {"nvidia.com/gpu": 1}), []),
    ],
)
def test_a_request_for_devices_is_its_limit(given: Any, wanted: list[str]) -> None:
    assert codes(of(*given), plan=PLUGIN) == wanted


def test_the_place_of_an_amount_is_told() -> None:
    (found,) = remarks(of({"nvidia.com/gpu": 2}, {"nvidia.com/gpu": 1}), plan=PLUGIN)

    assert found.steps[-2:] == ("requests", "nvidia.com/gpu")
    assert place(found) == 1


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (({"hugepages-2Mi": "4Mi", "memory": "1Gi"}, {"hugepages-2Mi": "2Mi"}), "NotEqual"),
        (({"memory": "1Gi"}, {"hugepages-2Mi": "2Mi"}), "NotEqual"),
        (({"hugepages-2Mi": "4Mi"}, {}), "NeedMemory"),
        (({"hugepages-2Mi": "3Mi", "memory": "1Gi"}, {}), "MalformedQuantity"),
        (({"hugepages-2Mi": "256", "memory": "1Gi"}, {}), "MalformedQuantity"),
        (({"hugepages-1Gi": "512Mi", "memory": "1Gi"}, {}), "MalformedQuantity"),
    ],
)
def test_huge_pages_that_the_api_server_refuses_are_an_error(given: Any, wanted: str) -> None:
    (found,) = findings(of(*given))

    assert wanted in found.code
    assert found.severity == "error"


@pytest.mark.parametrize(
    "given",
    [
        ({"hugepages-2Mi": "4Mi", "cpu": "1"}, {}),
        ({"hugepages-2Mi": "4Mi"}, {"memory": "1Gi"}),
        ({"hugepages-1Gi": "2Gi", "memory": "1Gi"}, {"hugepages-1Gi": "2048Mi"}),
    ],
)
def test_huge_pages_that_the_api_server_takes_are_told_nothing(given: Any) -> None:
    assert codes(of(*given)) == []


def test_the_retired_name_of_neuron_devices_is_an_error() -> None:
    resources = {"limits": {"aws.amazon.com/neurondevice": 1}}
    found = findings(pod(container(resources=resources)))

    assert [(one.code, one.severity) for one in found] == [("RetiredResource", "error")]


def test_a_resource_that_no_group_offers_because_dra_serves_the_devices_is_a_warning() -> None:
    old = cluster_of({"instance_type": "p5.48xlarge"}, kubernetes_version="1.35")
    (found,) = remarks(pod(container(resources=limits(gpu=1))), plan=old)

    assert found.finding.code == "ExtendedResourceOnDra"
    assert place(found) == 1


@pytest.mark.parametrize(
    ("resource", "version", "is_wrong"),
    [
        ("nvidia.com/gpu", "1.36", False),
        ("nvidia.com/gpu", "1.35", True),
        ("nvidia.com/gpu.shared", "1.36", True),
        ("nvidia.com/mig-1g.10gb", "1.36", True),
        ("vpc.amazonaws.com/efa", "1.36", True),
        ("vpc.amazonaws.com/pod-eni", "1.36", False),
        ("deviceclass.resource.kubernetes.io/efa.networking.k8s.aws", "1.36", False),
        ("deviceclass.resource.kubernetes.io/efa.networking.k8s.aws", "1.35", True),
        ("aws.amazon.com/neuron", "1.36", False),
    ],
)
def test_only_resources_of_devices_that_dra_alone_serves_are_told(
    resource: str, version: str, is_wrong: bool
) -> None:
    plan = cluster_of({"instance_type": "p5.48xlarge"}, kubernetes_version=version)
    found = codes(pod(container(resources={"limits": {resource: 1}})), plan=plan)

    assert ("ExtendedResourceOnDra" in found) is is_wrong


def test_a_class_of_the_manifests_that_stands_for_a_resource_serves_it() -> None:
    device_class = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "part"},
        "spec": {"extendedResourceName": "nvidia.com/mig-1g.10gb"},
    }
    asking = pod(container(resources={"limits": {"nvidia.com/mig-1g.10gb": 1}}))

    assert codes(device_class, asking) == []


def test_a_group_with_the_device_plugin_serves_the_resource() -> None:
    plan = cluster_of(
        {"instance_type": "p5.48xlarge"},
        {"instance_type": "p4d.24xlarge", "mechanism": Mechanism.DEVICE_PLUGIN},
        kubernetes_version="1.35",
    )

    assert codes(deployment(pod(container(resources=limits(gpu=1)))), plan=plan) == []
