"""NeuronUltraServerWorkloads: what they say, and what is refused before a server takes it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.hostile import NUMBER_TOKEN, TOKEN, Hostile, HostileText, Untouchable

from eks_devices import EksDevicesError, FailureStrategy, ultraserver_workload

GIVEN: dict[str, Any] = {"name": "train", "instance_type": "trn3pds.48xlarge"}
anything: Any = ultraserver_workload


def faults(**options: Any) -> list[tuple[str, str]]:
    with pytest.raises(EksDevicesError) as caught:
        anything(**(GIVEN | options))
    for one in caught.value.faults:
        assert one.fix
        assert str(one)
    return [(one.code, one.path) for one in caught.value.faults]


def test_a_workload_says_what_is_asked_for():
    made = ultraserver_workload(
        name="train",
        namespace="jobs",
        instance_type="trn3pds.48xlarge",
        server_count=3,
        topology_size=2,
        logical_neuron_cores=1,
        failure_strategy=FailureStrategy.MIGRATE_AFFECTED,
        claim_template="nodes",
    )

    assert made == {
        "apiVersion": "neuron.aws.com/v1beta1",
        "kind": "NeuronUltraServerWorkload",
        "metadata": {"name": "train", "namespace": "jobs"},
        "spec": {
            "instanceType": "trn3pds.48xlarge",
            "serverCount": 3,
            "topologySize": 2,
            "allocationPolicy": {"failureStrategy": "MigrateAffected"},
            "config": {"logicalNeuronCore": 1},
            "resourceClaimTemplate": {"name": "nodes"},
        },
    }


def test_what_is_left_out_is_the_operators_to_choose():
    made = ultraserver_workload(**GIVEN)

    assert made["metadata"] == {"name": "train", "namespace": "default"}
    assert made["spec"] == {
        "instanceType": "trn3pds.48xlarge",
        "serverCount": 1,
        "topologySize": 4,
        "allocationPolicy": {"failureStrategy": "NoOp"},
    }


@pytest.mark.parametrize("strategy", FailureStrategy)
def test_a_manifest_is_plain_json(strategy):
    made = ultraserver_workload(**GIVEN, failure_strategy=strategy)

    assert json.loads(json.dumps(made)) == made
    assert type(made["spec"]["allocationPolicy"]["failureStrategy"]) is str


def test_the_strategies_are_those_of_the_custom_resource():
    assert {str(one) for one in FailureStrategy} == {"NoOp", "RestartAll", "MigrateAffected"}


@pytest.mark.parametrize("size", [1, 2, 4])
def test_some_or_all_nodes_of_an_ultraserver_work_together(size):
    assert ultraserver_workload(**GIVEN, topology_size=size)["spec"]["topologySize"] == size


@pytest.mark.parametrize(
    ("size", "code"),
    [(0, "OutOfRange"), (3, "UltraServerSize"), (5, "OutOfRange"), (True, "WrongType")],
)
def test_no_other_number_of_nodes_does_even_if_a_server_takes_it(size, code):
    assert faults(topology_size=size) == [(code, "topology_size")]


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("server_count", 0, "OutOfRange"),
        ("server_count", 2**31, "OutOfRange"),
        ("server_count", None, "WrongType"),
        ("logical_neuron_cores", 0, "OutOfRange"),
        ("logical_neuron_cores", 3, "OutOfRange"),
        ("logical_neuron_cores", True, "WrongType"),
        ("failure_strategy", "NoOp", "WrongType"),
        ("failure_strategy", None, "WrongType"),
        ("name", "Train", "MalformedName"),
        ("name", "a" * 254, "MalformedName"),
        ("namespace", "a.b", "MalformedName"),
        ("claim_template", "_", "MalformedName"),
        ("instance_type", "trn3pds", "MalformedInstanceType"),
        ("instance_type", "Trn3pds.48xlarge", "MalformedInstanceType"),
        ("instance_type", ".48xlarge", "MalformedInstanceType"),
        ("instance_type", "trn3pds.48xlarge\n", "MalformedInstanceType"),
        ("instance_type", "t." + "x" * 252, "MalformedInstanceType"),
        ("instance_type", None, "WrongType"),
    ],
)
def test_a_value_that_the_operator_cannot_use_is_refused(option, value, code):
    assert faults(**{option: value}) == [(code, option)]


@pytest.mark.parametrize("name", ["trn3-dev0.48xlarge", "trn3-2.metal-48xl", "t." + "x" * 251])
def test_types_that_are_not_known_here_are_taken_by_their_form(name):
    assert ultraserver_workload(name="a", instance_type=name)["spec"]["instanceType"] == name


@pytest.mark.parametrize(
    "name",
    ["trn2u.48xlarge", "trn2.48xlarge", "p5.48xlarge", "hpc7g.4xlarge", "trn2u.48xlrage"],
)
def test_types_of_known_families_that_the_operator_never_serves_are_refused(name):
    assert faults(instance_type=name) == [("TypeWithoutUltraServerOperator", "instance_type")]


def test_for_an_ultraserver_that_needs_no_operator_the_way_is_told():
    with pytest.raises(
        EksDevicesError, match=r"ultraserver_node\(\.\.\.\) with ultraserver_workers"
    ):
        ultraserver_workload(name="train", instance_type="trn2u.48xlarge")


def test_all_faults_are_told_together():
    wrong = {
        "name": "-",
        "instance_type": "x",
        "namespace": "",
        "claim_template": "",
        "server_count": 0,
        "topology_size": 3,
        "logical_neuron_cores": 9,
        "failure_strategy": "no",
    }

    assert [path for _, path in faults(**wrong)] == [
        "name",
        "instance_type",
        "namespace",
        "claim_template",
        "server_count",
        "topology_size",
        "logical_neuron_cores",
        "failure_strategy",
    ]


HOSTILE = [TOKEN, NUMBER_TOKEN, Hostile(), HostileText("train!"), Untouchable(), [], {}, 1.5]
OPTIONS = [
    "name",
    "namespace",
    "instance_type",
    "claim_template",
    "server_count",
    "topology_size",
    "logical_neuron_cores",
    "failure_strategy",
]


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_values_that_nobody_can_read_are_faults(option, value):
    assert [path for _, path in faults(**{option: value})] == [option]
