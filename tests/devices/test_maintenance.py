"""How nodes are repaired and updated: defaults by capacity, the user's own settings, faults."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
import tomllib
from pathlib import Path
from typing import Any

import pytest
from botocore.session import get_session
from tests.hostile import NUMBER_TOKEN, TOKEN, Hostile, HostileList, HostileText, HostileTuple

import eks_devices
from eks_devices import Capacity, EksDevicesError, NodegroupSpec, plan_nodegroup
from eks_devices.maintenance import (
    NodeRepair,
    RepairAction,
    RepairOverride,
    UpdateConfig,
    UpdateStrategy,
    node_repair,
    update_config,
)
from eks_devices.maintenance_checks import maintenance_faults

DATA = Path(eks_devices.__file__).parent / "data"
TABLE = tomllib.loads((DATA / "maintenance.toml").read_text(encoding="utf-8"))
BLOCK = Capacity.block("cr-0123456789abcdef0")
RESERVATION = Capacity.reservation("cr-0123456789abcdef0")
RESERVED = [BLOCK, RESERVATION]
UNRESERVED = [Capacity.on_demand(), Capacity.spot()]

# As values of the wrong type, which no signature would let pass.
any_repair: Any = NodeRepair
any_override: Any = RepairOverride
any_update: Any = UpdateConfig


def group(**options: Any) -> NodegroupSpec:
    plain: dict[str, Any] = {"name": "a", "instance_type": "p5.48xlarge", "max_size": 4}
    return NodegroupSpec(**(plain | options))


def ascii_id(value: object) -> str:
    """An id for values that cannot show themselves."""
    return type(value).__name__ if isinstance(value, Hostile) else ascii(value)


def plan_of(**options: Any) -> Any:
    return plan_nodegroup(group(**options), kubernetes_version="1.34")


def override(**fields: Any) -> Any:
    plain = {
        "condition": "AcceleratedHardwareReady",
        "reason": "NvidiaXID64Error",
        "wait_minutes": 5,
        "action": RepairAction.REPLACE,
    }
    return any_override(**(plain | fields))


# Defaults


@pytest.mark.parametrize("capacity", UNRESERVED, ids=str)
@pytest.mark.parametrize("instance_type", ["p5.48xlarge", "trn1.32xlarge"])
def test_repair_is_on_with_eks_own_rules_where_instances_can_be_had(instance_type, capacity):
    spec = group(instance_type=instance_type, capacity=capacity)

    assert node_repair(spec) == NodeRepair()
    assert NodeRepair().to_dict() == {"enabled": True}


@pytest.mark.parametrize("capacity", RESERVED, ids=str)
@pytest.mark.parametrize("instance_type", ["p5.48xlarge", "g6e.12xlarge", "p6e-gb200.36xlarge"])
def test_gpus_on_reserved_capacity_are_not_replaced_for_an_alarm_of_dcgm(instance_type, capacity):
    repair = node_repair(group(instance_type=instance_type, capacity=capacity))

    assert repair is not None
    assert repair.max_parallel == 1
    assert {
        (one.condition, one.reason, one.action, one.wait_minutes) for one in repair.overrides
    } == {
        ("AcceleratedHardwareReady", "DCGMError", RepairAction.NO_ACTION, 10),
        ("AcceleratedHardwareReady", "DCGMDiagnosticFailure", RepairAction.NO_ACTION, 10),
    }


@pytest.mark.parametrize("instance_type", ["trn1.32xlarge", "trn2.48xlarge", "inf2.48xlarge"])
def test_neuron_groups_have_no_dcgm_and_no_override_for_it(instance_type):
    assert node_repair(group(instance_type=instance_type, capacity=RESERVATION)) == NodeRepair(
        max_parallel=1
    )


def test_hardware_errors_of_a_gpu_are_left_to_eks_on_reserved_capacity():
    repair = node_repair(group(capacity=BLOCK))

    assert repair is not None
    assert not [one.reason for one in repair.overrides if one.reason.startswith("Nvidia")]


@pytest.mark.parametrize("capacity", [*RESERVED, *UNRESERVED], ids=str)
def test_repair_can_be_switched_off(capacity):
    assert node_repair(group(node_repair=False, capacity=capacity)) is None
    assert plan_of(node_repair=False, capacity=capacity).to_dict()["node_repair"] is None


@pytest.mark.parametrize("capacity", [*RESERVED, *UNRESERVED], ids=str)
def test_the_user_s_own_repair_is_used_as_it_is(capacity):
    own = NodeRepair(max_parallel_percentage=50, overrides=[override()])

    assert node_repair(group(node_repair=own, capacity=capacity)) is own


@pytest.mark.parametrize("capacity", RESERVED, ids=str)
def test_an_update_on_reserved_capacity_ends_one_node_at_a_time_before_it_starts_one(capacity):
    assert update_config(group(capacity=capacity)) == UpdateConfig(
        max_unavailable=1, strategy=UpdateStrategy.MINIMAL
    )


@pytest.mark.parametrize("capacity", UNRESERVED, ids=str)
def test_an_update_elsewhere_is_left_to_eks(capacity):
    assert update_config(group(capacity=capacity)) is None


def test_the_user_s_own_number_of_nodes_keeps_the_order_that_a_reservation_needs():
    own = UpdateConfig(max_unavailable_percentage=33)

    assert update_config(group(update=own, capacity=BLOCK)) == UpdateConfig(
        max_unavailable_percentage=33, strategy=UpdateStrategy.MINIMAL
    )
    assert update_config(group(update=own)) is own


@pytest.mark.parametrize("strategy", UpdateStrategy)
@pytest.mark.parametrize("capacity", [BLOCK, Capacity.on_demand()], ids=str)
def test_the_user_s_own_order_wins(capacity, strategy):
    own = UpdateConfig(max_unavailable=2, strategy=strategy)

    assert update_config(group(update=own, capacity=capacity)) is own


def test_repair_and_update_depend_on_neither_sizes_nor_names():
    for options in ({"max_size": 64}, {"name": "b"}, {"labels": {"a": "b"}}, {"min_size": 4}):
        spec = group(capacity=BLOCK, **options)

        assert node_repair(spec) == node_repair(group(capacity=BLOCK))
        assert update_config(spec) == update_config(group(capacity=BLOCK))


# The plan and its JSON


def test_a_plan_shows_repair_and_update_as_json_values():
    plan = plan_of(
        capacity=BLOCK,
        node_repair=NodeRepair(
            max_parallel=2,
            unhealthy_threshold_percentage=30,
            overrides=[override(), override(reason="DCGMError", action=RepairAction.NO_ACTION)],
        ),
        update=UpdateConfig(max_unavailable_percentage=10, strategy=UpdateStrategy.DEFAULT),
    ).to_dict()

    shown = json.loads(json.dumps([plan["node_repair"], plan["update"]]))

    assert shown == [
        {
            "enabled": True,
            "max_parallel": 2,
            "unhealthy_threshold_percentage": 30,
            "overrides": [
                {
                    "condition": "AcceleratedHardwareReady",
                    "reason": "NvidiaXID64Error",
                    "wait_minutes": 5,
                    "action": "Replace",
                },
                {
                    "condition": "AcceleratedHardwareReady",
                    "reason": "DCGMError",
                    "wait_minutes": 5,
                    "action": "NoAction",
                },
            ],
        },
        {"max_unavailable_percentage": 10, "strategy": "DEFAULT"},
    ]
    assert type(plan["update"]["strategy"]) is str
    assert type(plan["node_repair"]["overrides"][0]["action"]) is str


def test_the_defaults_of_a_reservation_are_in_the_plan():
    plan = plan_of(capacity=RESERVATION).to_dict()

    assert plan["update"] == {"max_unavailable": 1, "strategy": "MINIMAL"}
    assert plan["node_repair"]["max_parallel"] == 1
    assert {one["action"] for one in plan["node_repair"]["overrides"]} == {"NoAction"}


def test_settings_are_values():
    given = [override()]
    repair = NodeRepair(overrides=given)
    given.append(override(reason="IPAMDNotRunning", condition="NetworkingReady"))

    assert repair == NodeRepair(overrides=(override(),))
    assert hash(repair) == hash(NodeRepair(overrides=[override()]))
    assert pickle.loads(pickle.dumps(repair)) == repair  # noqa: S301 - our own bytes
    with pytest.raises(dataclasses.FrozenInstanceError):
        repair.max_parallel = 2  # type: ignore[misc]


def test_a_text_of_another_kind_becomes_a_plain_one():
    one = override(condition=HostileText("KernelReady"), reason=HostileText("ForkFailedOutOfPIDs"))

    assert (type(one.condition), type(one.reason)) == (str, str)
    assert faults_of(node_repair=NodeRepair(overrides=[one, one])) == {
        ("RepeatedOverride", "node_repair.overrides[1]")
    }


# What EKS takes


def eks_shape(name: str) -> Any:
    return get_session().get_service_model("eks").shape_for(name)


def test_actions_and_orders_are_those_of_the_eks_api():
    assert {str(one) for one in RepairAction} == set(eks_shape("RepairAction").enum)
    assert {str(one) for one in UpdateStrategy} == set(eks_shape("NodegroupUpdateStrategies").enum)


def test_limits_are_those_of_the_eks_api():
    repair, rule = eks_shape("NodeRepairConfig"), eks_shape("NodeRepairConfigOverrides")
    percentages = [name for name in repair.members if name.endswith("Percentage")]

    assert len(percentages) == 2
    for name in percentages:
        assert repair.members[name].metadata == {"min": 1, "max": TABLE["limits"]["percentage"]}
    assert rule.members["minRepairWaitTimeMins"].metadata == {"min": 1}
    assert set(rule.members) == {
        "nodeMonitoringCondition", "nodeUnhealthyReason", "minRepairWaitTimeMins", "repairAction",
    }  # fmt: skip


# Faults


def faults_of(**options: Any) -> set[tuple[str, str]]:
    """The code of each fault and the path behind the group's."""
    faults = list(maintenance_faults(group(**options)))
    for one in faults:
        assert one.path.startswith("nodegroups.a.")
        assert one.got
        assert one.allowed
        assert one.fix
        assert one.message
    return {(one.code, one.path.removeprefix("nodegroups.a.")) for one in faults}


GOOD = {
    "repair by default": {"node_repair": True},
    "no repair": {"node_repair": False},
    "EKS's own repair": {"node_repair": NodeRepair()},
    "one at a time": {"node_repair": NodeRepair(max_parallel=1, unhealthy_threshold=1)},
    "all at once": {
        "node_repair": NodeRepair(max_parallel_percentage=100, unhealthy_threshold_percentage=100)
    },
    "a count and another percentage": {
        "node_repair": NodeRepair(max_parallel=64, unhealthy_threshold_percentage=1)
    },
    "overrides": {
        "node_repair": NodeRepair(
            overrides=[
                override(),
                override(reason="DCGMHealthCode71", action=RepairAction.NO_ACTION),
                override(condition="NetworkingReady", reason="IPAMDNotRunning", wait_minutes=1),
                override(condition="Ready", reason="KubeletNotReady", action=RepairAction.REBOOT),
            ]
        )
    },
    "one node": {"update": UpdateConfig(max_unavailable=1)},
    "a hundred nodes": {"update": UpdateConfig(max_unavailable=100)},
    "every node": {"update": UpdateConfig(max_unavailable_percentage=100)},
    "an order": {"update": UpdateConfig(max_unavailable=1, strategy=UpdateStrategy.MINIMAL)},
}


@pytest.mark.parametrize("options", GOOD.values(), ids=GOOD)
@pytest.mark.parametrize("capacity", [BLOCK, Capacity.on_demand()], ids=str)
def test_what_eks_takes_is_planned(options, capacity):
    assert faults_of(**options) == set()
    assert plan_of(capacity=capacity, **options)


LOOPED: list[Any] = []
LOOPED.append(LOOPED)
NO_SETTING = {
    "none": None,
    "a text": "yes",
    "bytes": b"yes",
    "a number": 1,
    "no number": math.nan,
    "a mapping": {"max_parallel": 1},
    "a list": LOOPED,
    "the class": NodeRepair,
    "an update": UpdateConfig(max_unavailable=1),
    "a hostile object": Hostile(),
}


@pytest.mark.parametrize("value", NO_SETTING.values(), ids=NO_SETTING)
def test_what_is_no_repair_is_told(value):
    assert faults_of(node_repair=value) == {("WrongType", "node_repair")}


def test_a_token_for_the_switch_is_told():
    assert faults_of(node_repair=TOKEN) == {("TokenNotAllowed", "node_repair")}


NO_UPDATE = NO_SETTING | {"an update": NodeRepair(), "none": False}


@pytest.mark.parametrize("value", NO_UPDATE.values(), ids=NO_UPDATE)
def test_what_is_no_update_is_told(value):
    assert faults_of(update=value) == {("WrongType", "update")}


COUNTS = ("max_parallel", "unhealthy_threshold")
PERCENTAGES = tuple(f"{name}_percentage" for name in COUNTS)
NO_NUMBERS = {
    "True": (True, "WrongType"),
    "a text": ("1", "WrongType"),
    "bytes": (b"1", "WrongType"),
    "a fraction": (1.0, "WrongType"),
    "no number": (math.nan, "WrongType"),
    "a token": (TOKEN, "TokenNotAllowed"),
    "a number token": (NUMBER_TOKEN, "TokenNotAllowed"),
    "a list": (LOOPED, "WrongType"),
    "a hostile object": (Hostile(), "WrongType"),
    "zero": (0, "OutOfRange"),
    "less than nothing": (-1, "OutOfRange"),
    "more than EKS counts": (2**31, "OutOfRange"),
}


@pytest.mark.parametrize(("value", "code"), NO_NUMBERS.values(), ids=NO_NUMBERS)
@pytest.mark.parametrize("name", [*COUNTS, *PERCENTAGES])
def test_a_limit_of_repairs_is_a_whole_number(name, value, code):
    assert faults_of(node_repair=any_repair(**{name: value})) == {(code, f"node_repair.{name}")}


@pytest.mark.parametrize("name", PERCENTAGES)
def test_there_are_no_more_than_a_hundred_percent(name):
    repair = any_repair(**{name: 101})

    assert faults_of(node_repair=repair) == {("OutOfRange", f"node_repair.{name}")}


@pytest.mark.parametrize("name", COUNTS)
def test_a_repair_limit_is_a_number_or_a_percentage(name):
    repair = any_repair(**{name: 1, f"{name}_percentage": 10})

    assert faults_of(node_repair=repair) == {
        ("CountAndPercentage", f"node_repair.{name}_percentage")
    }


@pytest.mark.parametrize(("value", "code"), NO_NUMBERS.values(), ids=NO_NUMBERS)
@pytest.mark.parametrize("name", ["max_unavailable", "max_unavailable_percentage"])
def test_a_share_of_nodes_in_an_update_is_a_whole_number(name, value, code):
    assert faults_of(update=any_update(**{name: value})) == {(code, f"update.{name}")}


@pytest.mark.parametrize("name", ["max_unavailable", "max_unavailable_percentage"])
def test_an_update_takes_at_most_a_hundred(name):
    assert faults_of(update=any_update(**{name: 101})) == {("OutOfRange", f"update.{name}")}


def test_an_update_names_a_number_or_a_percentage_and_not_both():
    both = UpdateConfig(max_unavailable=1, max_unavailable_percentage=10)

    assert faults_of(update=UpdateConfig()) == {("UpdateSizeMissing", "update.max_unavailable")}
    assert faults_of(update=both) == {("CountAndPercentage", "update.max_unavailable_percentage")}


@pytest.mark.parametrize("value", ["MINIMAL", "minimal", b"MINIMAL", 1, Hostile()], ids=ascii_id)
def test_an_order_is_a_member_of_its_enum(value):
    update = any_update(max_unavailable=1, strategy=value)

    assert faults_of(update=update) == {("WrongType", "update.strategy")}


NO_OVERRIDES = {
    "none": None,
    "a text": "DCGMError",
    "bytes": b"DCGMError",
    "a mapping": {"reason": "DCGMError"},
    "one override alone": override(),
    "a set": {1},
    "an iterator": iter([1]),
    "a list that cannot be read": HostileList([1]),
    "a tuple that cannot be read": HostileTuple((1,)),
    "a hostile object": Hostile(),
}


@pytest.mark.parametrize("value", NO_OVERRIDES.values(), ids=NO_OVERRIDES)
def test_overrides_are_a_list(value):
    repair = any_repair(overrides=value)

    assert faults_of(node_repair=repair) == {("WrongType", "node_repair.overrides")}


def test_each_member_of_the_overrides_is_one():
    members = [override(), "DCGMError", None, LOOPED, Hostile()]
    repair = any_repair(overrides=members)

    assert faults_of(node_repair=repair) == {
        ("WrongType", f"node_repair.overrides[{index}]") for index in range(1, 5)
    }


BAD_FIELDS = [
    ("condition", "AcceleratedInstanceNotReady", "NeverReported"),
    ("condition", "acceleratedhardwareready", "NeverReported"),
    ("condition", "", "NeverReported"),
    ("condition", None, "WrongType"),
    ("condition", TOKEN, "TokenNotAllowed"),
    ("condition", b"Ready", "WrongType"),
    ("condition", Hostile(), "WrongType"),
    ("reason", "DCGMHealthCode[Code]", "NeverReported"),
    ("reason", "DCGM*", "NeverReported"),
    ("reason", "DCGMError ", "NeverReported"),
    ("reason", "NvidiaXID64Error\n", "NeverReported"),
    ("reason", "", "NeverReported"),
    ("reason", None, "WrongType"),
    ("reason", TOKEN, "TokenNotAllowed"),
    ("reason", 64, "WrongType"),
    ("reason", Hostile(), "WrongType"),
    ("wait_minutes", 0, "OutOfRange"),
    ("wait_minutes", None, "WrongType"),
    ("wait_minutes", True, "WrongType"),
    ("wait_minutes", math.nan, "WrongType"),
    ("wait_minutes", NUMBER_TOKEN, "TokenNotAllowed"),
    ("wait_minutes", Hostile(), "WrongType"),
    ("action", "Replace", "WrongType"),
    ("action", "Terminate", "WrongType"),
    ("action", None, "WrongType"),
    ("action", Hostile(), "WrongType"),
]


@pytest.mark.parametrize(("field", "value", "code"), BAD_FIELDS, ids=ascii_id)
def test_an_override_that_eks_would_refuse_or_never_use_is_told(field, value, code):
    repair = any_repair(overrides=[override(), override(**{field: value})])

    assert faults_of(node_repair=repair) == {(code, f"node_repair.overrides[1].{field}")}


def test_two_overrides_of_one_reason_are_told():
    repair = any_repair(overrides=[override(), override(action=RepairAction.REBOOT)])

    assert faults_of(node_repair=repair) == {("RepeatedOverride", "node_repair.overrides[1]")}


def test_one_reason_under_two_conditions_is_fine():
    repair = any_repair(overrides=[override(), override(condition="KernelReady")])

    assert faults_of(node_repair=repair) == set()


def test_every_fault_comes_at_once():
    repair = any_repair(
        max_parallel=0,
        max_parallel_percentage=10,
        overrides=[override(condition=1, reason="a b", wait_minutes="5", action=2), 3],
    )
    update = any_update(max_unavailable="1", strategy="MINIMAL")

    with pytest.raises(EksDevicesError) as raised:
        plan_of(node_repair=repair, update=update)

    assert {(one.code, one.path) for one in raised.value.faults} == {
        ("OutOfRange", "nodegroups.a.node_repair.max_parallel"),
        ("CountAndPercentage", "nodegroups.a.node_repair.max_parallel_percentage"),
        ("WrongType", "nodegroups.a.node_repair.overrides[0].condition"),
        ("NeverReported", "nodegroups.a.node_repair.overrides[0].reason"),
        ("WrongType", "nodegroups.a.node_repair.overrides[0].wait_minutes"),
        ("WrongType", "nodegroups.a.node_repair.overrides[0].action"),
        ("WrongType", "nodegroups.a.node_repair.overrides[1]"),
        ("WrongType", "nodegroups.a.update.max_unavailable"),
        ("WrongType", "nodegroups.a.update.strategy"),
    }
