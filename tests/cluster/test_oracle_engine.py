"""The engine of feasibility says what the allocator of each minor does, on devices of any kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.cluster.oracle.comparison import Comparison
from tests.cluster.oracle.oracle import Answer, Scope, gates, question
from tests.feasibility.test_cel_advice import REFUSED, TAKEN, TAKEN_LATER
from tests.generated.shares_and_parts import CLASS, CLASSES, Generator, held, judgement, stored

from eks_devices.feasibility.cel.expressions import refusal
from eks_devices.feasibility.cel.signatures import environment
from eks_devices.feasibility.judge import judged

CASES, MOST_PODS = 600, 12


@pytest.fixture(scope="module")
def cases(oracle):
    return [Generator(seed, oracle.minor).case() for seed in range(CASES)]


@pytest.fixture(scope="module")
def answers(oracle, cases):
    asked = (
        question(
            [stored(one, oracle.minor) for one in case.claims],
            node="node",
            slices=case.slices,
            classes=[CLASS],
            features=gates(oracle.minor),
            seconds=3,
        )
        for case in cases
    )
    return list(oracle.ask_all(asked))


def test_what_is_said_is_what_the_allocator_does(cases, answers):
    wrong = []
    for case, answer in zip(cases, answers, strict=True):
        found = judgement(case)
        if (
            found.status != "unknown"
            and answer.scope is not Scope.TIME
            and found.status != outcome(answer)
        ):
            wrong.append((case.seed, found, answer))

    assert wrong == []


def test_the_same_devices_are_given(cases, answers):
    for case, answer in zip(cases, answers, strict=True):
        found = judgement(case)
        if found.status == "feasible":
            assert case.given(found) == sorted((one.claim, one.device) for one in answer.devices), (
                case.seed
            )


def test_little_is_left_open(cases):
    found = [judgement(case) for case in cases]
    # What crashes the first patches of a minor is never certain.
    unknown = [
        one for one in found if one.status == "unknown" and one.cause.code != "AllOfPartitions"
    ]

    assert len(unknown) < CASES / 20


def test_as_many_pods_fit_as_the_allocator_serves_one_after_another(oracle, cases):
    counted = 0
    for case in cases[:250]:
        own = tuple(replace(one, is_named=False) for one in case.wanted)
        found = judged(own, case.node, CLASSES)
        if found.fits is not None and found.fits < MOST_PODS:
            counted += 1
            assert served(oracle, case) == found.fits, case.seed
    assert counted > 50


def test_what_is_told_as_refused_is_refused(oracle):
    comparison = Comparison(oracle)

    assert [text for text, _ in REFUSED if not comparison.is_refused(text)] == []


def test_what_is_taken_is_refused_by_no_minor_that_has_it(oracle):
    comparison = Comparison(oracle)
    later = [text for text in TAKEN_LATER if refusal(text, oracle.minor) is None]

    assert [text for text in (*TAKEN, *later) if comparison.is_refused(text)] == []


def test_functions_are_there_as_the_data_says(oracle):
    comparison = Comparison(oracle)
    calls = [
        called(function["name"], overload)
        for function in environment()["functions"]
        for overload in function["overloads"]
    ]
    # Up to 1.36 a duration was made of a number.
    taken = [one for one in calls if one != "duration(1)"]

    assert len(taken) > 100
    assert [one for one in taken if comparison.is_refused(f"{one} == {one}")] == []


def called(name: str, overload: Any) -> str:
    """A call of a function with values of the types that it is there for."""
    values = ", ".join(sample(one) for one in overload["args"])
    owner = f"{sample(overload['target'])}." if "target" in overload else ""
    return f"{owner}{name}({values})"


def sample(kind: Any) -> str:
    """A value of a type, of which nobody knows before there is a device whether it is sound."""
    name, *inner = kind["type_name"], *map(sample, kind.get("params", ()))
    if name == "list":
        return f"[{inner[0]}]"
    return f"optional.of({inner[0]})" if name == "optional_type" else SAMPLES.get(name, "1")


SAMPLES = {
    "string": "device.driver",
    "bool": "true",
    "bytes": "b'a'",
    "double": "1.5",
    "uint": "1u",
    "duration": "duration(device.driver)",
    "timestamp": "timestamp(device.driver)",
    "kubernetes.Quantity": "quantity(device.driver)",
    "kubernetes.Semver": "semver(device.driver)",
    "kubernetes.URL": "url(device.driver)",
    "kubernetes.NamedFormat": "format.uuid()",
    "net.IP": "ip(device.driver)",
    "net.CIDR": "cidr(device.driver)",
}


def served(oracle, case):
    setting = {"slices": case.slices, "classes": [CLASS], "features": gates(oracle.minor)}
    wanted = [stored(one, oracle.minor) for one in case.claims]
    others: list[dict[str, Any]] = []
    for pods in range(MOST_PODS):
        answer = oracle.ask([*wanted, *others], node="node", seconds=3, **setting)
        if not answer.allocated:
            return pods
        others += [held(one, answer) for one in wanted]
    return MOST_PODS


def outcome(answer: Answer) -> str:
    if answer.scope is not None:
        return "error"
    return "feasible" if answer.allocated else "infeasible"
