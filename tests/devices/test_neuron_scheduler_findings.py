"""Who is told that Pods with some of a node's Neuron devices need the scheduler extension."""

from typing import Any

import pytest
from tests.cluster_plans import cluster_of
from tests.short_names import DRA, NEURON, PLUGIN

from eks_devices import NeuronInstallation, Severity

INF2 = {"instance_type": "inf2.48xlarge"}
TRN1 = {"instance_type": "trn1.32xlarge"}


def advised(*groups: dict[str, Any], **options: Any) -> list[str]:
    """The messages of the advice."""
    plan = cluster_of(*groups, **options)
    found = [one for one in plan.findings if one.code == "NeuronSchedulerExtensionAdvised"]
    assert {(one.severity, one.path) for one in found} <= {
        (Severity.INFO, "neuron.scheduler_extension")
    }
    return [one.message for one in found]


def test_groups_with_several_devices_by_plugin_are_named_once():
    (message,) = advised(INF2, TRN1 | {"mechanism": DRA}, TRN1 | {"mechanism": PLUGIN})

    assert "(g0, g2)" in message


@pytest.mark.parametrize(
    "groups",
    [
        [{"instance_type": "inf2.8xlarge"}],
        [{"instance_type": "trn1.2xlarge", "mechanism": PLUGIN}],
        [TRN1 | {"mechanism": DRA}],
        [{"instance_type": "p5.48xlarge", "mechanism": PLUGIN}],
        [INF2 | {"external": [NEURON], "mechanism": PLUGIN}],
        [],
    ],
)
def test_nothing_is_advised_where_no_pod_can_take_a_part_of_a_nodes_devices_from_us(groups):
    assert advised(*groups) == []


def test_nothing_is_advised_where_the_extension_is_there():
    assert advised(INF2, neuron=NeuronInstallation(scheduler_extension=True)) == []


def test_a_plugin_that_is_only_kept_has_no_known_nodes():
    assert advised(keep={NEURON: (PLUGIN,)}) == []
