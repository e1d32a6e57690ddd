"""A constraint that can never hold is told with the number, or the attribute, that can be had."""

from __future__ import annotations

import pytest
from tests.feasibility_claims import (
    EFA,
    GPU,
    NEURON,
    PCIE_ROOT,
    claim,
    exactly,
    match,
    said,
    verdict,
)

P5, TRN2 = "p5.48xlarge", "trn2.48xlarge"
OR_LEAVE = ", or leave the constraint out"


def group_of(size: int) -> str:
    return f"resource.aws.com/devicegroup{size}_id"


@pytest.mark.parametrize(
    ("attribute", "lacking"),
    [
        ("gpu.nvidia.com/uuid", "request efa do not"),
        ("dra.net/pciDevice", "request gpu do not"),
        ("example.com/nothing", "requests gpu and efa do not"),
        (group_of(4), "requests gpu and efa do not"),
    ],
)
def test_what_requests_do_not_publish_is_told_with_what_they_share(
    attribute: str, lacking: str
) -> None:
    wanted = claim(exactly(GPU), exactly(EFA), match(attribute))
    found = verdict(P5, wanted, efa=True)

    assert f"devices of the {lacking} have the attribute" in found.reason
    assert found.fix == f"match {PCIE_ROOT}, which as many devices share{OR_LEAVE}"


def test_what_is_matched_instead_is_shared_by_as_many_as_are_wanted() -> None:
    wanted = claim(exactly(GPU), exactly(EFA, count=5), match("dra.net/pciDevice"))

    assert verdict(P5, wanted, efa=True).fix == "leave the constraint out"


@pytest.mark.parametrize(("attribute", "most"), [(PCIE_ROOT, 1), ("gpu.nvidia.com/uuid", 1)])
def test_gpus_that_share_nothing_are_told_how_many_do(attribute: str, most: int) -> None:
    found = verdict(P5, claim(exactly(GPU, count=2), match(attribute)))

    assert found.fix == f"ask for at most {most} of gpu{OR_LEAVE}"


@pytest.mark.parametrize(
    ("count", "size", "instead"),
    [
        (5, 4, f"{group_of(8)} or {group_of(16)}"),
        (3, 1, f"{group_of(4)} or {group_of(8)}"),
        (9, 8, group_of(16)),
        (16, 4, group_of(16)),
    ],
)
def test_neuron_devices_beyond_a_group_are_told_its_number_and_the_larger_ones(
    count: int, size: int, instead: str
) -> None:
    found = verdict(TRN2, claim(exactly(NEURON, count=count), match(group_of(size))))

    match_it = f"match {instead}, which as many devices share"
    assert found.fix == f"ask for at most {size} of neuron, or {match_it}{OR_LEAVE}"
    for name in instead.split(" or "):
        wanted = claim(exactly(NEURON, count=count), match(name))
        assert said(TRN2, wanted) == ("feasible", "")


def test_values_that_must_differ_are_told_by_their_number() -> None:
    differing = {"distinctAttribute": group_of(4)}
    found = verdict(TRN2, claim(exactly(NEURON, count=5), differing), version="1.36")

    assert "a value that no other has, 4 of them" in found.reason
    assert found.fix == f"ask for at most 4 devices under it{OR_LEAVE}"


def test_a_misspelt_attribute_is_meant_and_one_of_another_driver_is_not() -> None:
    misspelt = claim(exactly(NEURON, count=4), match("resource.aws.com/devicegroup4_ids"))
    assert f"did you mean {group_of(4)}" in verdict(TRN2, misspelt).fix
    foreign = claim(exactly(GPU, count=2), match(group_of(4)))
    assert verdict(P5, foreign).fix == "leave the constraint out"
