"""Tolerations that the API server refuses are told with what to write, and no others."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workload_manifests import P5, checked, group, plan_of, pod

from eks_devices.taints import Taint, TaintEffect

CODES = {"MalformedToleration", "OperatorNotServed", "UnknownField", "WrongType"}


def told(tolerations: Any) -> list[tuple[str, Any, str]]:
    report = checked(plan_of(P5), pod(tolerations=tolerations))
    found = [one for one in report.remarks if one.finding.code in CODES]
    return [(one.finding.code, one.steps[1:], one.finding.fix) for one in found]


@pytest.mark.parametrize(
    ("toleration", "code", "field", "fix"),
    [
        ({"key": "a", "operator": "exists"}, "MalformedToleration", "operator", "Exists?"),
        ({"key": "a", "operator": "="}, "MalformedToleration", "operator", "write Equal"),
        ({"key": "a", "operator": "Gt"}, "OperatorNotServed", "operator", "name the value"),
        (
            {"key": "a", "operator": "Exists", "effect": "noschedule"},
            "MalformedToleration",
            "effect",
            "did you mean NoSchedule?",
        ),
        (
            {"key": "a", "operator": "Exists", "value": "b"},
            "MalformedToleration",
            "value",
            "leave the value out",
        ),
        ({"operator": "Equal", "value": "b"}, "MalformedToleration", "key", "write the key"),
        ({}, "MalformedToleration", "key", "operator: Exists"),
        (None, "MalformedToleration", "key", "operator: Exists"),
        ({"operator": "exists"}, "MalformedToleration", "operator", "did you mean Exists?"),
        (
            {"key": "a b", "operator": "Exists"},
            "MalformedToleration",
            "key",
            "as the taint has it",
        ),
        (
            {"key": "a", "value": "b c"},
            "MalformedToleration",
            "value",
            "as the taint has it",
        ),
        ({"key": "a", "value": 1}, "WrongType", "value", "in quotes"),
        ({"key": "a", "value": True}, "WrongType", "value", "in quotes"),
        ({"key": "a", "operator": "Exists", "Effect": "x"}, "UnknownField", "Effect", "effect?"),
        (
            {"key": "a", "operator": "Exists", "tolerationSeconds": 5},
            "MalformedToleration",
            "tolerationSeconds",
            "leave tolerationSeconds out, or where the taint has it, write effect: NoExecute",
        ),
        (
            {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": "5"},
            "WrongType",
            "tolerationSeconds",
            "without quotes",
        ),
    ],
)
def test_a_toleration_that_is_refused_is_told_once(
    toleration: Any, code: str, field: str, fix: str
) -> None:
    ((found, steps, said),) = told([toleration])
    assert (found, steps) == (code, ("tolerations", 0, field))
    assert fix in said


@pytest.mark.parametrize(
    ("toleration", "fix"),
    [
        ({"key": "nvidia.com/gpu"}, "and nvidia.com/gpu=present:NoSchedule of the nodes does not"),
        ({"key": ""}, "and nvidia.com/gpu=present:NoSchedule of the nodes does not"),
        ({"key": "a", "effect": "NoSchedule"}, "and those with NoSchedule do not"),
        ({"key": "nvidia.com/gpu", "effect": "PreferNoSchedule"}, "those with PreferNoSchedule do"),
    ],
)
def test_seconds_of_a_taint_that_evicts_nobody_are_to_be_left_out(
    toleration: dict[str, str], fix: str
) -> None:
    ((_, _, said),) = told([{**toleration, "operator": "Exists", "tolerationSeconds": 5}])
    assert said.startswith("leave tolerationSeconds out: ")
    assert fix in said
    assert "NoExecute" not in said


@pytest.mark.parametrize("key", ["nvidia.com/gpu", "node.kubernetes.io/unreachable"])
def test_seconds_of_a_taint_that_evicts_need_its_effect(key: str) -> None:
    taint = Taint(key="nvidia.com/gpu", value="busy", effect=TaintEffect.NO_EXECUTE)
    tainted = group("p5", "p5.48xlarge", taints=(taint,))
    toleration = {"key": key, "operator": "Exists", "tolerationSeconds": 5}
    report = checked(plan_of(tainted), pod(tolerations=[toleration]))
    (found,) = (one.finding for one in report.remarks if one.finding.code in CODES)
    assert found.fix == "write effect: NoExecute"


@pytest.mark.parametrize(
    "toleration",
    [
        {"operator": "Exists"},
        {"operator": "Exists", "key": ""},
        {"key": "a", "value": ""},
        {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"},
        {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -1},
        {"key": "a", "operator": None, "effect": None, "value": None},
        {"key": "${Token[TOKEN.3]}", "operator": "Exists"},
    ],
)
def test_a_toleration_that_is_taken_is_told_nothing(toleration: Any) -> None:
    assert told([toleration]) == []


@pytest.mark.parametrize("value", ["x", {"key": "a"}, ["x"], 5])
def test_tolerations_that_are_no_list_of_mappings_are_told(value: Any) -> None:
    ((code, _, _),) = told(value)
    assert code == "WrongType"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (["a"], "WrongType"),
        ({"a b": "c"}, "MalformedLabelKey"),
        ({"a": "b c"}, "MalformedLabelValue"),
    ],
)
def test_a_selector_of_nodes_that_is_refused_is_told(value: Any, code: str) -> None:
    report = checked(plan_of(P5), pod(nodeSelector=value))
    assert code in {one.finding.code for one in report.remarks}


@pytest.mark.parametrize(
    ("resource", "amount", "fix"),
    [
        ("memory", "32GB", "write 32Gi, or 32G for powers of 1000"),
        ("memory", "4K", "write 4Ki, or 4k for powers of 1000"),
        ("memory", "1.5 mib", "write 1.5Mi"),
        ("memory", "1.2.3GB", "write a number with its unit, such as 10Gi"),
        ("cpu", "500 m", "write 500m"),
        ("cpu", "two", "write a number of CPUs, such as 2 or 500m"),
        ("deviceclass.resource.kubernetes.io/gpu.nvidia.com", "abc", "write the number"),
        ("deviceclass.resource.kubernetes.io/gpu.nvidia.com", "-1", "write an amount of 0 or more"),
    ],
)
def test_an_amount_that_kubernetes_does_not_read_is_told_with_one_that_it_reads(
    resource: str, amount: str, fix: str
) -> None:
    report = checked(plan_of(P5), pod(limits={resource: amount}))
    (found,) = [one.finding for one in report.remarks if one.finding.code == "MalformedQuantity"]
    assert found.fix == fix
