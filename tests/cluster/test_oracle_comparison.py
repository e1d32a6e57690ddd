"""Generated claims: what this library says of them, and what the allocator of each minor does.

`make oracle-compare` does the same with as many claims as there is time for.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cluster.oracle.comparison import Comparison, Result, Rule, Tally
from tests.generated.cases import Kind

from eks_devices.feasibility import Status
from eks_devices.feasibility.devices import node_devices

SEED = 8
SIZES = {Kind.REALISTIC: 700, Kind.HOSTILE: 400, Kind.EXPRESSION: 300}


@pytest.fixture(scope="module")
def compared(oracle):
    """Comparisons of each kind."""
    comparison = Comparison(oracle, seconds=0.1)
    return comparison, {
        kind: list(comparison.all_of(list(comparison.cases(kind, SEED, range(size)))))
        for kind, size in SIZES.items()
    }


@pytest.mark.parametrize("kind", SIZES)
def test_no_verdict_contradicts_the_allocator(compared, kind):
    _, found = compared
    tally = Tally()
    for one in found[kind]:
        tally.add(one)

    told = [f"{one.case.name}: {one.why}: {one.answer.error}" for one in tally.contradictions]

    assert told == []
    agreed = Counter(one.why for one in found[kind] if one.result is Result.AGREES)
    assert min(agreed[one] for one in ("feasible", "infeasible", "error")) >= 5
    # What is documented stays rare; many expressions are made to cost much.
    most = 0.08 if kind is Kind.EXPRESSION else 0.05
    assert tally.of(kind, Result.EXPLAINED) <= most * SIZES[kind]


def test_little_of_what_people_ask_for_is_unknown(compared):
    """On types that somebody told about, next to nothing."""
    _, found = compared
    of_known = [one for one in found[Kind.REALISTIC] if is_told(one.case.place.group)]

    def share(many):
        return sum(one.verdict.status is Status.UNKNOWN for one in many) / len(many)

    assert len(of_known) > 0.7 * SIZES[Kind.REALISTIC]
    assert share(of_known) <= 0.03
    assert share(found[Kind.REALISTIC]) <= 0.07


def is_told(group):
    """Whether it is known what the devices of a group have, and that there are no others."""
    node = node_devices(group)
    names = {name for one in node.devices for name in one.at_run_time}
    return not node.unpublished and not names & {"gpu.nvidia.com/productName", "dra.net/rdma"}


def test_what_explains_a_difference_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "scheduler-facts.md").read_text(encoding="utf-8")

    assert [rule for rule in Rule if f"| {rule[0].upper()}{rule[1:]} |" not in text] == []


def test_another_verdict_would_contradict(compared):
    comparison, found = compared
    others = {
        Status.FEASIBLE: Status.INFEASIBLE,
        Status.INFEASIBLE: Status.FEASIBLE,
        Status.ERROR: Status.FEASIBLE,
    }

    for one in found[Kind.REALISTIC]:
        if one.result is Result.AGREES:
            wrong = replace(one.verdict, status=others[one.verdict.status], code="")
            result, _ = comparison._compared(one.case, wrong, one.answer)
            assert result is Result.CONTRADICTS


def test_devices_that_a_claim_does_not_get_contradict(compared):
    comparison, found = compared
    several = [
        one
        for one in found[Kind.HOSTILE]
        if one.why == "feasible"
        and len(one.verdict.devices) > 1
        and "'All'" not in str(one.case.claims)
    ]

    for one in several[:30]:
        for wrong in (one.verdict.devices[1:], one.verdict.devices[:1] * len(one.verdict.devices)):
            verdict = replace(one.verdict, devices=wrong)
            result, _ = comparison._compared(one.case, verdict, one.answer)
            assert result is Result.CONTRADICTS
    assert len(several) >= 30


def test_as_many_pods_fit_on_a_node_as_the_allocator_puts_there(compared):
    comparison, found = compared
    known = [
        one
        for one in found[Kind.REALISTIC]
        if one.why == "feasible" and one.verdict.fits is not None and 1 < one.verdict.fits <= 16
    ]

    for one in known[:25]:
        pods = comparison.pods(one.case, one.verdict.fits)
        # A search in vain may take long, at the end of a node.
        assert pods in (one.verdict.fits, None), one.case.name
    assert len(known) >= 25
