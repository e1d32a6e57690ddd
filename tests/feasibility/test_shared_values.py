"""Reasons say how many devices share a value, and the count to write in place of All."""

import pytest
from tests.feasibility_claims import (
    EFA,
    GPU,
    PCIE_ROOT,
    claim,
    exactly,
    first_of,
    match,
    said,
    verdict,
)

P5, P5EN, P4D, B300, G6E = (
    "p5.48xlarge",
    "p5en.48xlarge",
    "p4d.24xlarge",
    "p6-b300.48xlarge",
    "g6e.48xlarge",
)
ALL_EFAS = exactly(EFA, allocationMode="All")


@pytest.mark.parametrize(
    ("name", "gpus", "efas", "told"),
    [
        (P5, 2, 8, "at most 1 of gpu and 4 of efa"),
        (P5EN, 3, 1, "at most 2 of gpu and 4 of efa"),
        (P4D, 2, 2, "at most 2 of gpu and 1 of efa"),
        (G6E, 1, 1, "no value is shared by devices of gpu and efa"),
    ],
)
def test_a_constraint_that_never_holds_says_what_a_root_has(name, gpus, efas, told):
    wanted = claim(exactly(GPU, count=gpus), exactly(EFA, count=efas), match(PCIE_ROOT))
    found = verdict(name, wanted, efa=True)

    assert found.code == "ConstraintNeverHolds"
    assert told in found.reason


def test_a_constraint_on_gpus_alone_says_how_many_share_a_value():
    found = verdict(P5, claim(exactly(GPU, count=2), match(PCIE_ROOT)))

    assert "devices with one value are at most 1 of gpu" in found.reason


@pytest.mark.parametrize(
    ("name", "gpus", "code", "count"),
    [
        (P5, 1, "TooManyDevicesInClaim", "count: 4"),
        (P4D, 2, "AllBreaksConstraint", "count: 1"),
        (P5EN, 1, "AllBreaksConstraint", "count: 4"),
    ],
)
def test_all_under_a_constraint_says_the_count_that_can_be_had(name, gpus, code, count):
    gpu = exactly(GPU, count=gpus)
    found = verdict(name, claim(gpu, ALL_EFAS, match(PCIE_ROOT)), efa=True)

    assert (found.status, found.code) == ("error", code)
    assert f"write {count} instead of All" in found.fix


@pytest.mark.parametrize(("name", "gpus", "efas"), [(P5, 1, 4), (P4D, 2, 1), (P5EN, 1, 4)])
def test_what_is_advised_can_be_had(name, gpus, efas):
    wanted = claim(exactly(GPU, count=gpus), exactly(EFA, count=efas), match(PCIE_ROOT))

    assert said(name, wanted, efa=True) == ("feasible", "")


def test_no_count_is_told_where_none_can_be_had():
    found = verdict(P5EN, claim(ALL_EFAS, exactly(GPU, count=3), match(PCIE_ROOT)))

    assert found.code == "AllBreaksConstraint"
    assert "write a count instead of All" in found.fix


def test_too_many_devices_without_a_constraint_get_no_such_advice():
    found = verdict(P5, claim(exactly(GPU), ALL_EFAS))

    assert found.code == "TooManyDevicesInClaim"
    assert found.fix == "split it into two claims"


@pytest.mark.parametrize(
    ("requests", "told", "fix"),
    [
        (
            [exactly(GPU, count=33)],
            "wants 33 devices of a node that has at most 8",
            "at most 8 dev",
        ),
        (
            [exactly(EFA, count=20, name=one) for one in ("a", "b")],
            "its requests want 40 devices together of a node that has at most 32 such devices",
            "ask for fewer devices in all: at most 32",
        ),
        (
            [exactly(GPU, count=8), exactly(EFA, count=32), match(PCIE_ROOT)],
            "of resource.kubernetes.io/pcieRoot, devices with one value are at most 1 of gpu and 4",
            "make claims of at most 1 of gpu and 4 of efa each",
        ),
        ([exactly(GPU, count=8), exactly(EFA, count=32)], "at most 32", "split it into two claims"),
    ],
)
def test_too_many_devices_are_split_only_where_a_node_has_as_many(requests, told, fix):
    found = verdict(P5, claim(*requests))

    assert found.code == "TooManyDevicesInClaim"
    assert told in found.reason
    assert fix in found.fix


def test_nothing_is_told_of_alternatives_and_of_what_only_a_node_knows():
    either = first_of(exactly(GPU, count=3), exactly(GPU, count=2))
    found = verdict(P5, claim(either, match(PCIE_ROOT)))
    assert found.code == "ConstraintNeverHolds"
    assert "at most" not in found.reason
    unknown = "device.attributes['gpu.nvidia.com'].uuid == 'x'"
    found = verdict(P5, claim(exactly(GPU, unknown, count=2), match(PCIE_ROOT)))
    assert "at most" not in found.reason
