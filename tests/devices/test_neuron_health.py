"""How Neuron devices are watched: what is taken, what is refused, and what is worth knowing."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from tests.hostile import TOKEN, Hostile, HostileList, HostileTuple, Untouchable

from eks_devices import (
    Capacity,
    DeviceType,
    EksDevicesError,
    Mechanism,
    NeuronError,
    NeuronHealth,
    NeuronInstallation,
    NodegroupSpec,
    NodeRepair,
    RepairAction,
    RepairOverride,
    plan_cluster,
)
from eks_devices.neuron_health import health_type_faults
from eks_devices.neuron_health_findings import neuron_health_findings

SRAM, NC, HBM, DMA = NeuronError
BLOCK = Capacity.block("cr-0123456789abcdef0")
HELD = [(DeviceType.NEURON, Mechanism.DRA)]
CODES = {"NeuronHealthWithoutEffect", "NeuronRepairedTwice", "RecoveryOfReserved"}
REASONS = {
    "NeuronSRAMUncorrectableError",
    "NeuronNCUncorrectableError",
    "NeuronHBMUncorrectableError",
    "NeuronDMAError",
}


def faults(**values: Any) -> list[tuple[str, str]]:
    with pytest.raises(EksDevicesError) as error:
        NeuronHealth(**values)
    assert all(one.fix and one.allowed for one in error.value.faults)
    return [(one.code, one.path) for one in error.value.faults]


def warned(health: NeuronHealth | None, *specs: NodegroupSpec) -> list[tuple[str, str]]:
    plans = plan_cluster(kubernetes_version="1.34", nodegroups=specs).nodegroups
    return [(one.code, one.path) for one in neuron_health_findings(health, plans, HELD)]


def told(health: NeuronHealth, *specs: NodegroupSpec, keep: Any = None) -> list[str]:
    """The codes of what a plan of the cluster tells of health."""
    plan = plan_cluster(
        kubernetes_version="1.34",
        nodegroups=specs,
        keep=keep,
        neuron=NeuronInstallation(health=health),
    )
    return [one.code for one in plan.findings if one.code in CODES]


def spec(name: str = "trn2", instance_type: str = "trn2.48xlarge", **options: Any) -> NodegroupSpec:
    return NodegroupSpec(name=name, instance_type=instance_type, max_size=2, **options)


GPUS = spec("g6e", "g6e.12xlarge")


def untouched(*reasons: str) -> NodeRepair:
    overrides = [
        RepairOverride(
            condition="AcceleratedHardwareReady",
            reason=reason,
            wait_minutes=10,
            action=RepairAction.NO_ACTION,
        )
        for reason in reasons
    ]
    return NodeRepair(overrides=overrides)


def test_watching_alone_replaces_nothing_and_calls_nobody():
    health = NeuronHealth()

    assert not health.recovery
    assert not health.calls_aws
    assert health.to_dict() == {
        "recovery": False,
        "recovers_from": [],
        "cloudwatch_metrics": False,
    }


@pytest.mark.parametrize("options", [{"recovery": True}, {"cloudwatch_metrics": True}])
def test_recovery_and_metrics_call_aws_for_every_error(options):
    health = NeuronHealth(**options)

    assert health.calls_aws
    assert health.counted == (SRAM, NC, HBM, DMA)
    assert health.to_dict()["cloudwatch_metrics"]


def test_recovery_from_some_errors_heeds_those():
    health = NeuronHealth(recovery=True, recovers_from=[DMA, SRAM])

    assert health.counted == (SRAM, DMA)
    assert health.to_dict()["recovers_from"] == ["SRAM_UNCORRECTABLE_ERROR", "DMA_ERROR"]


def test_the_order_and_kind_of_the_list_do_not_matter():
    values = [
        NeuronHealth(recovery=True, recovers_from=one)
        for one in ([DMA, HBM], (HBM, DMA, DMA), {HBM, DMA})
    ]

    assert len(set(values)) == 1
    assert pickle.loads(pickle.dumps(values[0])) == values[1]  # noqa: S301


def test_reasons_are_those_of_the_vendor():
    assert [one.condition_reason for one in (SRAM, NC, HBM, DMA)] == [
        "NeuronHasError_SRAM_UNCORRECTABLE_ERROR",
        "NeuronHasError_NC_UNCORRECTABLE_ERROR",
        "NeuronHasError_HBM_UNCORRECTABLE_ERROR",
        "NeuronHasError_DMA_ERROR",
    ]


@pytest.mark.parametrize("name", ["recovery", "cloudwatch_metrics"])
@pytest.mark.parametrize("value", [None, 1, "true", Hostile(), Untouchable()], ids=type)
def test_what_is_neither_on_nor_off_is_refused(name, value):
    assert faults(**{name: value}) == [("WrongType", f"neuron.health.{name}")]


@pytest.mark.parametrize(
    "value",
    [
        "DMA_ERROR",
        {DMA: True},
        DMA,
        7,
        iter([DMA]),
        HostileList(),
        HostileTuple(),
        Hostile(),
        Untouchable(),
    ],
    ids=type,
)
def test_what_is_no_list_of_errors_is_refused(value):
    path = "neuron.health.recovers_from"

    assert faults(recovery=True, recovers_from=value) == [("WrongType", path)]


@pytest.mark.parametrize("value", ["DMA_ERROR", None, Hostile(), Untouchable(), []], ids=type)
def test_what_is_no_error_is_named_by_its_place(value):
    path = "neuron.health.recovers_from[1]"

    assert faults(recovery=True, recovers_from=[DMA, value]) == [("WrongType", path)]


def test_a_token_is_refused():
    assert faults(recovery=TOKEN) == [("TokenNotAllowed", "neuron.health.recovery")]


def test_recovery_from_nothing_and_errors_without_recovery_are_refused():
    path = "neuron.health.recovers_from"

    assert faults(recovery=True, recovers_from=[]) == [("RecoversFromNothing", path)]
    assert faults(recovers_from=[DMA]) == [("NoRecovery", path)]
    assert faults(cloudwatch_metrics=True, recovers_from=[DMA]) == [("NoRecovery", path)]


def test_every_fault_is_told_at_once():
    found = faults(recovery="yes", cloudwatch_metrics=2, recovers_from=["x"])

    assert [path.removeprefix("neuron.health.") for _, path in found] == [
        "recovery",
        "cloudwatch_metrics",
        "recovers_from[0]",
    ]


@pytest.mark.parametrize("value", [True, "on", {}, Hostile(), Untouchable()], ids=type)
def test_what_is_no_health_is_refused(value):
    assert [one.code for one in health_type_faults(value)] == ["WrongType"]
    assert not [*health_type_faults(None), *health_type_faults(NeuronHealth())]


def test_watching_tells_nothing_of_groups_with_neuron_devices():
    groups = spec(), spec("inf2", "inf2.48xlarge"), spec("g6e", "g6e.12xlarge")

    assert warned(NeuronHealth(), *groups) == []
    assert warned(NeuronHealth(cloudwatch_metrics=True), *groups) == []
    assert warned(None, *groups) == []


def test_watching_nothing_is_told_once_there_are_groups():
    assert told(NeuronHealth(recovery=True), GPUS) == ["NeuronHealthWithoutEffect"]
    assert told(NeuronHealth(recovery=True)) == []


def test_what_is_kept_for_groups_of_other_apps_is_watched():
    assert told(NeuronHealth(), GPUS, keep={DeviceType.NEURON: (Mechanism.DRA,)}) == []


def test_devices_of_a_manager_that_others_install_are_watched_beside_one_of_our_own_alone():
    theirs = spec("x", mechanism=Mechanism.DRA, external={DeviceType.NEURON}, node_repair=False)

    assert told(NeuronHealth(recovery=True), theirs) == ["NeuronHealthWithoutEffect"]
    assert told(NeuronHealth(recovery=True), theirs, spec(node_repair=False)) == []


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mechanism": Mechanism.DEVICE_PLUGIN},
        {"mechanism": Mechanism.DRA, "external": {DeviceType.NEURON}},
    ],
)
def test_recovery_beside_node_repair_is_told_for_both_mechanisms(options):
    twice = [("NeuronRepairedTwice", "nodegroups.trn2.node_repair")]

    assert warned(NeuronHealth(recovery=True), spec(**options)) == twice
    assert warned(NeuronHealth(recovery=True), spec(node_repair=False, **options)) == []


def test_recovery_beside_node_repair_that_leaves_its_errors_alone_is_fine():
    everything = spec(node_repair=untouched(*REASONS))
    one = spec(node_repair=untouched("NeuronDMAError"))
    from_dma = NeuronHealth(recovery=True, recovers_from=[DMA])

    assert warned(NeuronHealth(recovery=True), everything) == []
    assert warned(from_dma, one) == []
    assert warned(NeuronHealth(recovery=True), one) != []


def test_the_warning_names_the_errors_and_how_to_override_them():
    plans = plan_cluster(kubernetes_version="1.34", nodegroups=[spec()]).nodegroups
    health = NeuronHealth(recovery=True, recovers_from=[HBM])

    (found,) = neuron_health_findings(health, plans, HELD)

    assert "HBM_UNCORRECTABLE_ERROR" in found.message
    assert "DMA_ERROR" not in found.message
    assert found.fix.endswith(": NeuronHBMUncorrectableError")


def test_groups_with_the_same_node_repair_are_told_of_once():
    options: list[dict[str, Any]] = [
        {},
        {},
        {"node_repair": untouched("NeuronDMAError")},
        {"node_repair": False},
    ]
    specs = [spec(name=name, **one) for name, one in zip("abcd", options, strict=True)]
    plans = plan_cluster(kubernetes_version="1.34", nodegroups=specs).nodegroups

    found = [*neuron_health_findings(NeuronHealth(recovery=True), plans, HELD)]
    assert {one.code for one in found} == {"NeuronRepairedTwice"}
    assert [one.message.partition(", recovery")[0] for one in found] == [
        "in groups a, b",
        "in groups c",
    ]
    assert [one.path for one in found] == [f"nodegroups.{name}.node_repair" for name in "bc"]


def test_recovery_on_reserved_capacity_is_told():
    codes = [code for code, _ in warned(NeuronHealth(recovery=True), spec(capacity=BLOCK))]
    quiet = warned(NeuronHealth(recovery=True), spec(capacity=BLOCK, node_repair=False))

    assert codes == ["NeuronRepairedTwice", "RecoveryOfReserved"]
    assert quiet == [("RecoveryOfReserved", "nodegroups.trn2.capacity")]


def test_groups_on_reserved_capacity_are_told_of_once():
    blocks = [Capacity.block(f"cr-0123456789abcdef{number}") for number in range(2)]
    specs = [
        spec(name=name, capacity=one, node_repair=False)
        for name, one in zip("ab", blocks, strict=True)
    ]

    assert warned(NeuronHealth(recovery=True), *specs, spec(name="c", node_repair=False)) == [
        ("RecoveryOfReserved", "nodegroups.b.capacity")
    ]
