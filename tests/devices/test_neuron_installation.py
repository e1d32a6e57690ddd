"""What a cluster has once of Neuron's managers, and which clusters it is for."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from typing import Any

import pytest
from tests.cluster_plans import cluster_of
from tests.hostile import NUMBER_TOKEN, TOKEN, HostileText, Untouchable
from tests.short_names import DRA, NEURON, PLUGIN

from eks_devices import (
    EksDevicesError,
    NeuronHealth,
    NeuronInstallation,
    NvidiaInstallation,
)

EXTENDED = NeuronInstallation(scheduler_extension=True)
BY_PLUGIN: dict[str, Any] = {"instance_type": "trn1.32xlarge", "mechanism": PLUGIN, "efa": False}
BY_DRA = BY_PLUGIN | {"mechanism": DRA}
GPUS: dict[str, Any] = {"instance_type": "g6e.12xlarge"}
CODES = {"NeuronOptionWithoutEffect", "SchedulerExtensionNeedsPlugin"}
any_installation: Any = NeuronInstallation
plan = partial(cluster_of, neuron=EXTENDED)


def faults(*groups: dict[str, Any], **options: Any) -> list[tuple[str, str]]:
    with pytest.raises(EksDevicesError) as caught:
        plan(*groups, **options)
    return [(one.code, one.path) for one in caught.value.faults]


def told(*groups: dict[str, Any], **options: Any) -> list[str]:
    return [one.code for one in plan(*groups, **options).findings if one.code in CODES]


def test_nothing_is_asked_for_by_default():
    plain = plan(BY_PLUGIN, neuron=None).neuron

    assert plain == NeuronInstallation()
    assert not any(getattr(plain, one.name) for one in dataclasses.fields(plain))


WRONG = [None, 1, "yes", TOKEN, NUMBER_TOKEN, HostileText(), Untouchable()]


@pytest.mark.parametrize("value", WRONG, ids=range(len(WRONG)))
def test_a_switch_is_on_or_off(value):
    with pytest.raises(EksDevicesError) as caught:
        any_installation(scheduler_extension=value, ultraserver_operator=value)

    assert [one.path for one in caught.value.faults] == [
        "neuron.scheduler_extension",
        "neuron.ultraserver_operator",
    ]


@pytest.mark.parametrize("value", [True, {"scheduler_extension": True}, NvidiaInstallation(), "a"])
def test_another_type_of_options_is_told_beside_the_other_faults(value):
    assert faults(BY_PLUGIN, neuron=value, nvidia=EXTENDED) == [
        ("WrongType", "nvidia"),
        ("WrongType", "neuron"),
    ]


@pytest.mark.parametrize(
    "groups",
    [
        [BY_PLUGIN],
        [BY_PLUGIN, BY_DRA],
        [BY_DRA, GPUS, BY_PLUGIN],
        [{"instance_type": "inf1.xlarge"}],
    ],
)
def test_it_serves_clusters_with_neuron_devices_by_plugin(groups):
    assert told(*groups) == []


def test_a_cluster_with_neuron_devices_by_dra_alone_is_refused():
    expected = [("SchedulerExtensionNeedsPlugin", "neuron.scheduler_extension")]

    assert faults(BY_DRA) == expected
    assert faults(BY_DRA, GPUS) == expected
    assert faults(keep={NEURON: (DRA,)}) == expected


def test_it_is_refused_beside_the_other_faults_of_the_groups_together():
    scoped = GPUS | {"mechanism": DRA, "scope": "lab"}

    assert faults(BY_DRA, scoped) == [
        ("ScopeWithoutDefault", "nodegroups.g1.scope"),
        ("SchedulerExtensionNeedsPlugin", "neuron.scheduler_extension"),
    ]


def test_a_plugin_that_is_kept_for_groups_of_other_apps_will_do():
    assert told(BY_DRA, keep={NEURON: (PLUGIN,)}) == []
    assert told(keep={NEURON: (DRA, PLUGIN)}) == []


def test_a_cluster_without_neuron_devices_is_told():
    assert told(GPUS) == ["NeuronOptionWithoutEffect"]
    assert told() == []


def test_a_cluster_that_does_not_ask_hears_nothing():
    assert told(BY_DRA, neuron=NeuronInstallation()) == []
    assert told(GPUS, neuron=None) == []


def test_groups_are_planned_alike_with_it_and_without():
    with_it, without = plan(BY_PLUGIN), plan(BY_PLUGIN, neuron=None)

    assert with_it.nodegroups == without.nodegroups
    assert with_it.drivers == without.drivers


@pytest.mark.parametrize("asked", [True, False])
def test_a_plan_tells_of_it_in_json(asked):
    neuron = NeuronInstallation(scheduler_extension=asked)

    assert json.loads(plan(BY_PLUGIN, neuron=neuron).to_json())["neuron"] == {
        "scheduler_extension": asked,
        "health": None,
        "ultraserver_operator": False,
    }


def test_health_is_told_in_json_and_warned_of_where_nothing_is_watched():
    watched = NeuronInstallation(health=NeuronHealth(recovery=True))
    found = json.loads(plan(BY_PLUGIN, neuron=watched).to_json())

    assert found["neuron"]["health"]["recovery"] is True

    for groups, expected in (([BY_PLUGIN], False), ([BY_DRA], False), ([GPUS], True), ([], False)):
        codes = {one.code for one in plan(*groups, neuron=watched).findings}
        assert ("NeuronHealthWithoutEffect" in codes) == expected


def test_health_of_another_type_is_refused():
    wrong: Any = {"recovery": True}

    with pytest.raises(EksDevicesError) as raised:
        NeuronInstallation(health=wrong)

    assert [(one.code, one.path) for one in raised.value.faults] == [("WrongType", "neuron.health")]
