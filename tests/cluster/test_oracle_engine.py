"""The engine of feasibility says what the allocator of each minor does, on devices of any kind."""

from __future__ import annotations

import pytest
from tests.cluster.engine_cases import CLASS, Generator, judgement, stored
from tests.cluster.oracle.oracle import Answer, Scope, gates, question

CASES = 600


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
    unknown = [case.seed for case in cases if judgement(case).status == "unknown"]

    assert len(unknown) < CASES / 20


def outcome(answer: Answer) -> str:
    if answer.scope is not None:
        return "error"
    return "feasible" if answer.allocated else "infeasible"
