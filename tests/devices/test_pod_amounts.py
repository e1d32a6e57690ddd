"""Amounts of devices that the API server refuses, in every helper that takes a Pod spec."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.hostile import NUMBER_TOKEN, TOKEN, Hostile
from tests.pod_specs import box, codes, pod

from eks_devices import (
    ComputeDomain,
    compute_domain_claim,
    hide_gpus,
    same_nvlink_partition,
    ultraserver_workers,
    use_efa,
    use_neuron_scheduler,
)

EFA, NEURON = "vpc.amazonaws.com/efa", "aws.amazon.com/neuron"
# What lets every helper take the Pod; the amounts stand in another container.
MAIN = box("main", resources={"limits": {EFA: 1, NEURON: 1, "nvidia.com/gpu": 1, "cpu": 1}})
BARE = box("main", resources={"limits": {"cpu": 1}})
HELPERS: dict[str, tuple[dict[str, Any], Callable[[Any], Any]]] = {
    "hide_gpus": (MAIN, hide_gpus),
    "hide_gpus, named": (BARE, lambda spec: hide_gpus(spec, containers=["main"])),
    "same_nvlink_partition": (MAIN, lambda spec: same_nvlink_partition(spec, labels={"a": "b"})),
    "compute_domain_claim": (
        MAIN,
        lambda spec: compute_domain_claim(spec, ComputeDomain(name="a", nodes=2)),
    ),
    "use_efa": (MAIN, lambda spec: use_efa(spec, containers=["main"])),
    "use_neuron_scheduler": (MAIN, use_neuron_scheduler),
    "ultraserver_workers": (
        BARE,
        lambda spec: ultraserver_workers(spec, name="a", claim="node", containers=["main"]),
    ),
}
RESOURCES = [
    EFA,
    NEURON,
    "aws.amazon.com/neuroncore",
    "nvidia.com/gpu",
    "nvidia.com/gpu.shared",
    "nvidia.com/mig-1g.10gb",
]


@pytest.fixture(params=HELPERS.values(), ids=list(HELPERS))
def helper(request):
    main, function = request.param
    return lambda **resources: function(pod(main, box("other", resources=resources)))


def found(helper: Callable[..., Any], **resources: Any) -> list[tuple[str, str]]:
    """The faults, but that an UltraServer's Pods have no Neuron devices of the plugin."""
    every = codes(lambda: helper(**resources))
    return [one for one in every if one[0] != "DevicesOfTwoManagers"]


@pytest.mark.parametrize("resource", RESOURCES)
@pytest.mark.parametrize("limit", [None, 1, "3"])
def test_a_request_needs_an_equal_limit(helper, resource, limit):
    limits = {} if limit is None else {resource: limit}

    assert found(helper, limits=limits, requests={resource: 2}) == [
        ("RequestNotEqualToLimit", f"pod_spec.containers[1].resources.requests['{resource}']")
    ]


@pytest.mark.parametrize("resource", RESOURCES)
@pytest.mark.parametrize(
    ("amount", "code"),
    [
        ("500m", "MalformedQuantity"),
        ("1.5", "MalformedQuantity"),
        (-1, "MalformedQuantity"),
        ("two", "MalformedQuantity"),
        (0.5, "MalformedQuantity"),
        (True, "WrongType"),
        ([1], "WrongType"),
    ],
)
def test_devices_are_counted_in_whole_numbers(helper, resource, amount, code):
    assert found(helper, limits={resource: amount}, requests={resource: amount}) == [
        (code, f"pod_spec.containers[1].resources.limits['{resource}']")
    ]


@pytest.mark.parametrize(
    "resources",
    [
        {"limits": {"example.com/a": 2}, "requests": {"example.com/a": "2"}},
        {"limits": {"example.com/a": "0.002k"}},
        {"limits": {"example.com/a": TOKEN}, "requests": {"example.com/a": 1}},
        {"limits": {"example.com/a": NUMBER_TOKEN}},
        {"limits": {"example.com/a": Hostile()}},
        {"limits": {"example.com/a": None}, "requests": None},
        {"limits": {"cpu": "500m", "memory": 1.5}, "requests": {"cpu": 0.25}},
        {"requests": {"deviceclass.resource.kubernetes.io/gpu.nvidia.com": 1}},
        {"requests": {5: 1}},
    ],
)
def test_what_the_api_server_takes_or_nobody_can_read_stays(helper, resources):
    assert helper(**resources)
