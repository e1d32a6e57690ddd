"""Huge pages that the API server refuses, and a resource that nobody offers any more."""

from __future__ import annotations

from typing import Any

import pytest
from tests.rule_pods import codes, container, findings, pod


def of(limits: Any, requests: Any) -> dict[str, Any]:
    return pod(container(resources={"limits": limits, "requests": requests}))


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


def test_what_is_no_amount_is_left_to_others() -> None:
    assert codes(of({"hugepages-2Mi": "many", "memory": "1Gi"}, {})) == []
