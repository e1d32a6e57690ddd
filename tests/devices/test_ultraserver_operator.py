"""Which clusters Neuron's UltraServer operator is for, and what they are told."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from typing import Any

import pytest
from tests.cluster_plans import cluster_of
from tests.short_names import DRA, EFA, NEURON, PLUGIN

from eks_devices import (
    EksDevicesError,
    NeuronInstallation,
    Severity,
)
from eks_devices.ultraserver_operator_findings import ultraserver_operator_findings

OPERATED = NeuronInstallation(ultraserver_operator=True)
BY_DRA: dict[str, Any] = {"instance_type": "trn2.48xlarge", "mechanism": DRA, "efa": False}
BY_PLUGIN = BY_DRA | {"mechanism": PLUGIN}
GPUS: dict[str, Any] = {"instance_type": "g6e.12xlarge"}
PATH = "neuron.ultraserver_operator"
BETA, IDLE = "UltraServerOperatorBeta", "UltraServerOperatorWithoutEffect"
EFA_LACKS = "UltraServersNeedEfaDriver"
CODES = {BETA, IDLE, EFA_LACKS, "NeuronOptionWithoutEffect"}
TRN3 = "trn3pd98.48xlarge"
plan = partial(cluster_of, neuron=OPERATED)


def faults(*groups: dict[str, Any], **options: Any) -> list[tuple[str, str]]:
    with pytest.raises(EksDevicesError) as caught:
        plan(*groups, **options)
    return [(one.code, one.path) for one in caught.value.faults]


def told(*groups: dict[str, Any], **options: Any) -> set[str]:
    found = [one for one in plan(*groups, **options).findings if one.code in CODES]
    assert {one.path for one in found} <= {PATH}
    return {one.code for one in found}


def of_ultraserver(*mechanisms: Any, instance_type: str = TRN3) -> list[str]:
    """What is told of a group of a type that nobody can plan yet: Neuron by DRA, EFA by these."""
    (group,) = plan(BY_DRA, neuron=None).nodegroups
    devices = [
        *group.devices,
        *(
            dataclasses.replace(group.devices[0], device_type=EFA, mechanism=one)
            for one in mechanisms
        ),
    ]
    group = dataclasses.replace(group, instance_types=(instance_type,), devices=tuple(devices))
    held = {(one.device_type, one.mechanism) for one in devices}
    return [one.code for one in ultraserver_operator_findings(OPERATED, [group], held, {})]


def test_a_cluster_with_neuron_devices_by_plugin_alone_is_refused():
    expected = [("UltraServerOperatorNeedsDra", PATH)]

    assert faults(BY_PLUGIN) == expected
    assert faults(BY_PLUGIN, GPUS) == expected
    assert faults(keep={NEURON: (PLUGIN,)}) == expected
    assert faults({"instance_type": "inf1.xlarge"}) == expected


def test_the_scheduler_extension_needs_the_other_mechanism():
    both = NeuronInstallation(scheduler_extension=True, ultraserver_operator=True)

    assert faults(BY_PLUGIN, neuron=both) == [("UltraServerOperatorNeedsDra", PATH)]
    assert faults(BY_DRA, neuron=both) == [
        ("SchedulerExtensionNeedsPlugin", "neuron.scheduler_extension")
    ]
    assert plan(BY_DRA, BY_PLUGIN, neuron=both).neuron == both


def test_a_driver_that_is_kept_for_groups_of_other_apps_will_do():
    """Nobody here knows which types those have."""
    kept = {NEURON: (DRA,), EFA: (DRA,)}

    assert told(BY_PLUGIN, keep=kept) == {BETA}
    assert told(GPUS, keep={NEURON: (DRA,)}) == {BETA, EFA_LACKS}
    assert told(keep=kept) == set()


def test_a_cluster_without_ultraservers_that_it_serves_is_warned():
    assert told(BY_DRA) == {BETA, IDLE}
    assert told(BY_DRA, BY_PLUGIN) == {BETA, IDLE}
    assert told(BY_DRA | {"instance_type": "trn2u.48xlarge"}) == {BETA, IDLE}


def test_a_cluster_without_neuron_devices_is_told_that_nothing_reads_it():
    assert told(GPUS) == {"NeuronOptionWithoutEffect"}
    assert told() == set()


def test_a_cluster_that_does_not_ask_hears_nothing():
    for neuron in (None, NeuronInstallation(), NeuronInstallation(scheduler_extension=True)):
        assert told(BY_DRA, BY_PLUGIN, neuron=neuron) == set()


@pytest.mark.parametrize(
    ("efa", "expected"),
    [
        ((), [BETA, EFA_LACKS]),
        ((PLUGIN,), [BETA, EFA_LACKS]),
        ((DRA,), [BETA]),
    ],
)
def test_ultraservers_that_work_together_need_efa_by_dra(efa, expected):
    assert of_ultraserver(*efa) == expected


@pytest.mark.parametrize(
    ("instance_type", "served"),
    [
        (TRN3, True),
        ("trn3pds.48xlarge", True),
        ("trn3.48xlarge", False),
        ("trn3p.48xlarge", False),
        ("trn3pds9.48xlarge", False),
        ("trn2u.48xlarge", False),
    ],
)
def test_the_families_that_it_serves(instance_type, served):
    assert of_ultraserver(DRA, instance_type=instance_type) == ([BETA] if served else [BETA, IDLE])


def test_the_beta_is_an_info_and_says_which_node_it_wants():
    (found,) = (one for one in plan(BY_DRA).findings if one.code == BETA)

    assert found.severity is Severity.INFO
    assert "m5.24xlarge" in found.message
    assert 'add_system_nodegroup(instance_types=["m5.24xlarge"])' in found.fix
    assert found.source.startswith("https://")


def test_groups_are_planned_alike_with_it_and_without():
    with_it, without = plan(BY_DRA), plan(BY_DRA, neuron=None)

    assert with_it.nodegroups == without.nodegroups
    assert with_it.drivers == without.drivers


@pytest.mark.parametrize("asked", [True, False])
def test_a_plan_tells_of_it_in_json(asked):
    found = plan(BY_DRA, neuron=NeuronInstallation(ultraserver_operator=asked))

    assert json.loads(found.to_json())["neuron"]["ultraserver_operator"] is asked
