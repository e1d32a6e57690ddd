"""What differs between the schedulers of the minors."""

import pytest
from tests.cluster_plans import cluster_of
from tests.feasibility_claims import EFA, GPU, NEURON, PCIE_ROOT, claim, exactly

from eks_devices.feasibility import check_claims

P5, P4D, G5, TRN2 = "p5.48xlarge", "p4d.24xlarge", "g5.12xlarge", "trn2.48xlarge"
FEASIBLE = ("feasible", "")
NEVER, REFUSED = ("infeasible", "ConstraintNeverHolds"), ("error", "DistinctNotServed")
COLUMN = "neuron.aws.com/topology_y"
MODEL, NOTHING = "gpu.nvidia.com/productName", "gpu.nvidia.com/nothing"


def apart(attribute, *requests):
    return {"distinctAttribute": attribute, **({"requests": [*requests]} if requests else {})}


def said_on(version, name, *claims):
    plan = cluster_of({"instance_type": name}, kubernetes_version=version)
    (found,) = check_claims(claims, plan)
    return str(found.status), found.code


@pytest.mark.parametrize(
    ("name", "parts", "expected"),
    [
        # Each GPU of a p5 has a root of its own; of a p4d, two share one.
        (P5, [exactly(GPU, count=8), apart(PCIE_ROOT)], [FEASIBLE, REFUSED, FEASIBLE, FEASIBLE]),
        (P4D, [exactly(GPU, count=4), apart(PCIE_ROOT)], [FEASIBLE, REFUSED, FEASIBLE, FEASIBLE]),
        (P4D, [exactly(GPU, count=5), apart(PCIE_ROOT)], [FEASIBLE, REFUSED, NEVER, NEVER]),
        # The columns of a torus come again and again: 1.36 compares neighbours alone.
        (TRN2, [exactly(NEURON, count=5), apart(COLUMN)], [FEASIBLE, REFUSED, FEASIBLE, NEVER]),
        # One device is like no other.
        (G5, [exactly(GPU), apart(MODEL)], [FEASIBLE, REFUSED, FEASIBLE, FEASIBLE]),
        (G5, [exactly(GPU, count=2), apart(MODEL)], [FEASIBLE, REFUSED, NEVER, NEVER]),
        (G5, [exactly(GPU), apart(NOTHING)], [NEVER, REFUSED, NEVER, NEVER]),
        (
            P5,
            [exactly(GPU), exactly(EFA), apart(PCIE_ROOT)],
            [FEASIBLE, REFUSED, FEASIBLE, FEASIBLE],
        ),
        (
            P5,
            [exactly(GPU), exactly(EFA, count=2), apart(PCIE_ROOT, "gpu")],
            [FEASIBLE, REFUSED, FEASIBLE, FEASIBLE],
        ),
    ],
)
def test_an_attribute_differs_as_far_as_the_minor_compares_it(name, parts, expected):
    found = [said_on(version, name, claim(*parts)) for version in ("1.34", "1.35", "1.36", "1.37")]

    assert found == expected


def test_beside_an_attribute_that_matches_one_that_differs_is_not_looked_at():
    both = {"distinctAttribute": PCIE_ROOT, "matchAttribute": PCIE_ROOT}

    assert said_on("1.37", P5, claim(exactly(GPU, count=2), both))[0] == "infeasible"
    assert said_on("1.37", P5, claim(exactly(GPU), both))[0] == "feasible"
