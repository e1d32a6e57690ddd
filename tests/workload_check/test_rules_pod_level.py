"""Resources of a Pod as a whole, and requests beside limits, as API servers of 1.34 take them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workload_manifests import G6E, checked, codes, message, plan_of, pod, verdict

GPU = {"nvidia.com/gpu": 1}
PLAN = plan_of(G6E)


def told(*, of_pod: Any = None, **of_container: Any) -> list[str]:
    given = {"limits": {**GPU, **of_container.get("limits", {})}}
    resources = {**of_container, **given}
    container = {"name": "main", "image": "x", "resources": resources}
    spec = {} if of_pod is None else {"resources": of_pod}
    return codes(checked(PLAN, pod(containers=[container], **spec)))


@pytest.mark.parametrize(
    "of_pod",
    [
        {"limits": {"cpu": 2, "memory": "1Gi"}},
        {"requests": {"cpu": "500m"}, "limits": {"cpu": 1}},
        {"requests": {}},
        {},
    ],
)
def test_a_pod_may_have_cpus_memory_and_huge_pages(of_pod: Any) -> None:
    assert told(of_pod=of_pod) == []


@pytest.mark.parametrize("field", ["limits", "requests"])
@pytest.mark.parametrize("name", ["nvidia.com/gpu", "vpc.amazonaws.com/efa", "ephemeral-storage"])
def test_a_pod_as_a_whole_has_no_devices(field: str, name: str) -> None:
    assert "PodLevelResource" in told(of_pod={field: {name: 1}})


def test_pods_with_devices_as_a_whole_are_served_by_none() -> None:
    plain = [{"name": "main", "image": "x"}]
    asked = pod(containers=plain, resources={"limits": GPU})
    assert verdict(PLAN, asked) == {"g6e": ("infeasible", "PodRefused")}
    assert "the container that uses it" in message(checked(PLAN, asked), "PodLevelResource")


@pytest.mark.parametrize(
    ("field", "code"),
    [("claims", "MisplacedClaimField"), ("limit", "UnknownField"), ("gpus", "UnknownField")],
)
def test_other_fields_of_it_are_told(field: str, code: str) -> None:
    assert told(of_pod={field: []}) == [code]


@pytest.mark.parametrize("name", ["cpu", "memory", "ephemeral-storage"])
@pytest.mark.parametrize(("request_", "is_right"), [("1", True), ("2", True), ("2001m", False)])
def test_a_request_is_at_most_its_limit(name: str, request_: str, is_right: bool) -> None:
    found = told(limits={name: "2"}, requests={name: request_})
    assert found == ([] if is_right else ["RequestAboveLimit"])


def test_a_request_of_the_pod_is_at_most_its_limit_too() -> None:
    assert told(of_pod={"limits": {"cpu": 1}, "requests": {"cpu": 2}}) == ["RequestAboveLimit"]


def test_a_container_has_no_more_than_its_pod() -> None:
    assert told(of_pod={"limits": {"cpu": 4}}, limits={"cpu": 5}) == ["RequestAboveLimit"]
    assert told(of_pod={"limits": {"cpu": 5}}, limits={"cpu": 5}) == []


def test_a_pod_asks_for_as_much_as_its_containers() -> None:
    assert told(of_pod={"requests": {"cpu": 1}}, requests={"cpu": 2}) == ["PodLevelResource"]
    assert told(of_pod={"requests": {"cpu": 2}}, requests={"cpu": 2}) == []


def test_huge_pages_of_a_pod_are_those_of_its_containers_at_least() -> None:
    memory, four = {"memory": "1Gi"}, {"hugepages-2Mi": "4Mi"}
    for pages, is_right in (("4Mi", True), ("8Mi", False)):
        found = told(of_pod={"limits": memory | four}, limits=memory | {"hugepages-2Mi": pages})
        assert ("PodLevelResource" not in found) is is_right


def test_what_a_pod_asks_for_as_a_whole_is_what_counts() -> None:
    plan = plan_of(G6E)
    container = {"name": "main", "image": "x", "resources": {"limits": GPU}}
    for cpus, expected in ((48, "feasible"), (49, "infeasible")):
        asked = pod(containers=[container], resources={"requests": {"cpu": cpus}})
        assert verdict(plan, asked)["g6e"][0] == expected
