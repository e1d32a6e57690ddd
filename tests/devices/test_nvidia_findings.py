"""Options of NVIDIA's installation that nothing in a cluster reads are told of."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.short_names import BOTTLEROCKET, DOMAIN, DRA, GPU, PLUGIN

from eks_devices import Capacity, ClaimWebhook, NodegroupSpec, NvidiaInstallation, plan_cluster

CODE = "NvidiaOptionWithoutEffect"
OPTIONS: dict[str, Any] = {
    "claim_webhook": ClaimWebhook.cert_manager(),
    "compute_domain_gates": {"IMEXDaemonsWithDNSNames": True},
    "nodes_per_imex_domain": 9,
    "network_policies": True,
}
GB200: dict[str, Any] = {
    "instance_type": "p6e-gb200.36xlarge",
    "capacity": Capacity.ultraserver_block("cr-0123456789abcdef0"),
    "max_size": 9,
}
GROUPS: dict[str, dict[str, Any]] = {
    "dra": {"instance_type": "g6e.12xlarge", "mechanism": DRA},
    "plugin": {"instance_type": "g6e.12xlarge", "mechanism": PLUGIN},
    "host": {"instance_type": "g6e.12xlarge", "operating_system": BOTTLEROCKET},
    "neuron": {"instance_type": "trn1.2xlarge"},
    "gb200": GB200,
}
IDLE: dict[str, set[str]] = {
    "dra": {"compute_domain_gates", "nodes_per_imex_domain"},
    "plugin": {"claim_webhook", "compute_domain_gates", "nodes_per_imex_domain"},
    # The operating system's own driver hears none of it.
    "host": set(OPTIONS),
    "neuron": set(OPTIONS),
    "gb200": set(),
}


def told(name: str, nvidia: NvidiaInstallation, **options: Any) -> set[str]:
    """The options that a cluster with one group is told of."""
    group = NodegroupSpec(name="g", **({"max_size": 1} | GROUPS[name]))
    plan = plan_cluster(kubernetes_version="1.36", nodegroups=[group], nvidia=nvidia, **options)
    return {one.path.removeprefix("nvidia.") for one in plan.findings if one.code == CODE}


@pytest.mark.parametrize("name", GROUPS)
def test_what_no_manager_of_the_cluster_reads_is_told(name):
    assert told(name, NvidiaInstallation(**OPTIONS)) == IDLE[name]


@pytest.mark.parametrize("name", GROUPS)
def test_defaults_are_never_told_of(name):
    assert told(name, NvidiaInstallation()) == set()


def test_what_is_kept_for_groups_of_other_apps_reads_its_options():
    nvidia = NvidiaInstallation(**OPTIONS)

    assert told("neuron", nvidia, keep={DOMAIN: (DRA,)}) == {"claim_webhook"}
    assert told("neuron", nvidia, keep={GPU: (DRA,), DOMAIN: (DRA,)}) == set()


def test_an_installation_before_its_first_group_is_not_told_of():
    nvidia = NvidiaInstallation(**OPTIONS)
    plan = plan_cluster(kubernetes_version="1.36", nodegroups=[], nvidia=nvidia)

    assert [one for one in plan.findings if one.code == CODE] == []


def test_every_option_that_may_be_idle_is_tried_here():
    fields = {one.name for one in dataclasses.fields(NvidiaInstallation)}

    # Asking for GPUs by an extended resource is what the groups offer by themselves.
    assert fields - set(OPTIONS) == {"extended_resource"}
