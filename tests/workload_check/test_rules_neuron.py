"""Neuron devices and cores."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cluster_plans import cluster_of
from tests.rule_pods import (
    NEURON,
    codes,
    container,
    env,
    findings,
    limits,
    listing,
    of_template,
    pod,
    request,
    template,
)

from eks_devices import Mechanism, NeuronInstallation

TRN2 = {"instance_type": "trn2.48xlarge"}
PLUGIN = {"mechanism": Mechanism.DEVICE_PLUGIN}
DRA = cluster_of(TRN2)
PLUGINS = cluster_of({**TRN2, **PLUGIN})
LNC_1 = cluster_of({**TRN2, **PLUGIN, "logical_neuron_cores": 1})
WITH_EXTENSION = cluster_of({**TRN2, **PLUGIN}, neuron=NeuronInstallation(scheduler_extension=True))


def taking(name: str = "NEURON_RT_NUM_CORES", value: str = "64", **amounts: Any) -> dict[str, Any]:
    return pod(container(resources=limits(**amounts), env=env(**{name: value})))


def claiming(value: str) -> dict[str, Any]:
    one = container(resources=listing("neurons"), env=env(NEURON_RT_NUM_CORES=value))
    return pod(one, resourceClaims=[of_template("neurons")])


def neurons(*requests: dict[str, Any], **devices: Any) -> dict[str, Any]:
    return template(*requests, name="neurons", **devices)


@pytest.mark.parametrize(
    ("amounts", "value", "is_wrong"),
    [
        ({"neuron": 16}, "64", False),
        ({"neuron": 16}, "65", True),
        ({"neuron": 1}, "4", False),
        ({"neuron": 1}, "5", True),
        ({"neuroncore": 4}, "4", False),
        ({"neuroncore": 2}, "4", True),
        ({"neuron": 1}, "0", False),
        ({"neuron": 1}, "all", False),
        ({}, "64", False),
    ],
)
def test_more_cores_than_a_container_has_are_a_warning(
    amounts: dict[str, Any], value: str, is_wrong: bool
) -> None:
    found = codes(taking(value=value, **amounts), plan=PLUGINS)

    assert found == (["TooManyNeuronCores"] if is_wrong else [])


@pytest.mark.parametrize(
    ("value", "is_wrong"),
    [
        ("0-3", False),
        ("0-4", True),
        ("0,1,2,3", False),
        ("12-15", False),
        ("7", False),
        ("x", False),
    ],
)
def test_cores_that_are_named_are_counted(value: str, is_wrong: bool) -> None:
    found = codes(taking("NEURON_RT_VISIBLE_CORES", value, neuron=1), plan=PLUGINS)

    assert found == (["TooManyNeuronCores"] if is_wrong else [])


def test_logical_cores_of_one_are_twice_as_many() -> None:
    assert codes(taking(value="128", neuron=16), plan=LNC_1) == []
    assert codes(taking(value="128", neuron=16), plan=PLUGINS) == ["TooManyNeuronCores"]


@pytest.mark.parametrize(
    ("asked", "value", "is_wrong"),
    [
        (request(device_class=NEURON, count=4), "16", False),
        (request(device_class=NEURON, count=4), "17", True),
        (request(device_class=NEURON, allocationMode="All"), "64", False),
        (request(device_class=NEURON, allocationMode="All"), "65", True),
        (request(device_class="other.example.com"), "65", False),
    ],
)
def test_the_cores_of_a_claim_are_counted(
    asked: dict[str, Any], value: str, is_wrong: bool
) -> None:
    found = codes(neurons(asked), claiming(value), plan=DRA)

    assert found == (["TooManyNeuronCores"] if is_wrong else [])


@pytest.mark.parametrize(("second", "is_wrong"), [(1, True), (None, True), ("many", False)])
def test_a_number_that_cannot_be_read_may_be_any(second: Any, is_wrong: bool) -> None:
    asked = [
        request("first", device_class=NEURON, count=1),
        request("second", device_class=NEURON, count=second),
    ]

    found = codes(neurons(*asked), claiming("12"), plan=DRA)

    assert ("TooManyNeuronCores" in found) is is_wrong


def test_a_claim_says_how_large_its_logical_cores_are() -> None:
    parameters = {"apiVersion": "neuron.aws.com/v1", "kind": "NeuronConfig", "logicalNeuronCore": 1}
    config = [{"opaque": {"driver": NEURON, "parameters": parameters}}]
    asked = request(device_class=NEURON, count=1)

    assert codes(neurons(asked, config=config), claiming("8"), plan=DRA) == []
    assert codes(neurons(asked), claiming("8"), plan=DRA) == ["TooManyNeuronCores"]


def test_a_whole_host_of_an_ultraserver_is_one_device_with_all_cores() -> None:
    selector = {
        "cel": {"expression": "device.attributes['neuron.aws.com'].resourceType == 'neuron_node'"}
    }
    asked = request(device_class=NEURON, count=1, selectors=[selector])

    assert codes(neurons(asked), claiming("64"), plan=DRA) == []


def test_devices_and_cores_of_one_container_are_a_warning() -> None:
    spec = pod(container(resources=limits(neuron=16, neuroncore=4)))
    apart = pod(
        container("a", resources=limits(neuron=1)), container("b", resources=limits(neuroncore=4))
    )

    assert codes(spec, plan=PLUGINS) == ["NeuronDevicesAndCores"]
    assert codes(apart, plan=PLUGINS) == []


@pytest.mark.parametrize(
    ("amounts", "is_wrong"),
    [
        ({"neuron": 1}, False),
        ({"neuron": 4}, True),
        ({"neuron": 16}, False),
        ({"neuroncore": 4}, False),
        ({"neuroncore": 8}, True),
        ({"neuroncore": 64}, False),
    ],
)
def test_part_of_a_node_by_the_device_plugin_may_be_apart(
    amounts: dict[str, Any], is_wrong: bool
) -> None:
    spec = pod(container(resources=limits(**amounts)))
    named = pod(container(resources=limits(**amounts)), schedulerName="neuron-scheduler")

    assert codes(spec, plan=PLUGINS) == (["NeuronDevicesApart"] if is_wrong else [])
    assert codes(named, plan=WITH_EXTENSION) == []


def test_a_scheduler_that_nobody_installs_is_a_warning() -> None:
    spec = pod(container(resources=limits(neuron=4)), schedulerName="neuron-scheduler")

    assert codes(spec, plan=PLUGINS) == ["SchedulerNotInstalled"]


def test_a_number_of_devices_that_the_scheduler_never_gives_is_a_warning() -> None:
    six = pod(container(resources=limits(neuron=6)), schedulerName="neuron-scheduler")
    own = pod(container(resources=limits(neuron=6)), schedulerName="my-scheduler")
    four = pod(container(resources=limits(neuron=4)), schedulerName="my-scheduler")

    assert codes(six, plan=WITH_EXTENSION) == ["NeuronCountNotAllowed"]
    assert codes(own, plan=PLUGINS) == ["NeuronCountNotAllowed"]
    assert codes(four, plan=PLUGINS) == []


def test_a_claim_needs_no_scheduler_of_its_own() -> None:
    plan = cluster_of({**TRN2, **PLUGIN}, TRN2, neuron=NeuronInstallation(scheduler_extension=True))
    spec = pod(
        container(resources=listing("neurons")),
        resourceClaims=[of_template("neurons")],
        schedulerName="neuron-scheduler",
    )
    found = findings(neurons(request(device_class=NEURON)), spec, plan=plan)

    assert [(one.code, one.severity) for one in found] == [("SchedulerForPluginOnly", "info")]
