"""What is estimated that expressions cost is what the API server of each minor estimates."""

from __future__ import annotations

import pytest
from tests.feasibility.test_costs import COMPARED, estimate
from tests.generated.costly import costly

LIMIT, COUNT, SEED = 1_000_000, 1_500, 7


@pytest.fixture(scope="module")
def texts():
    return costly(SEED, COUNT)


def test_the_estimate_is_that_of_the_server(oracle, texts):
    told = zip(texts, oracle.costs(texts), strict=True)
    compiled = [(text, cost) for text, (cost, error) in told if not error]
    found = [(text, estimate(text).cost) for text, _ in compiled]

    assert found == compiled
    refused = sum(cost > LIMIT for _, cost in compiled)
    assert min(refused, len(compiled) - refused) > COUNT / 10


def test_costs_are_those_that_were_measured(oracle):
    told = oracle.costs([text for _, text in COMPARED])

    assert told == [(int(cost), "") for cost, _ in COMPARED]
