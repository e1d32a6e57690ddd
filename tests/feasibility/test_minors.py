"""What differs between the schedulers of the minors."""

import pytest
from tests.cluster_plans import cluster_of
from tests.feasibility_claims import EFA, GPU, NEURON, PCIE_ROOT, claim, exactly

from eks_devices import EksDevicesError
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


def refused_on(version, *parts):
    """The last fields of the paths of what the API server of a version refuses."""
    try:
        check_claims([claim(*parts)], cluster_of({"instance_type": P5}, kubernetes_version=version))
    except EksDevicesError as error:
        return [one.path.rpartition(".")[2] for one in error.faults]
    return []


def asking(**more):
    return [exactly(GPU, **more)]


def tolerating(**one):
    return asking(tolerations=[one])


def matching(**one):
    return [exactly(GPU), one]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (tolerating(key="a", operator="exists"), ["operator", "", "operator", "operator"]),
        (tolerating(key="a", effect="no"), ["effect", "", "effect", "effect"]),
        (tolerating(key="a", effect="None"), ["effect", "", "", ""]),
        (tolerating(key="a b"), ["key", "", "key", "key"]),
        (tolerating(key="a", value="b c"), ["value", "", "value", "value"]),
        (tolerating(key="a", value="b", operator="Exists"), ["value", "", "value", "value"]),
        (tolerating(key="a", seconds=1), ["seconds"] * 4),
        (tolerating(key=False), ["key"] * 4),
        (asking(tolerations=[None]), [""] * 4),
        (asking(tolerations="a"), ["tolerations"] * 4),
        (asking(capacity={"requests": {"memory": "x"}}), ["memory"] * 4),
        (asking(derivedAttributes=[]), [*["derivedAttributes"] * 3, ""]),
        (asking(derivedAttributes="a"), ["derivedAttributes"] * 4),
        (matching(matchAttribute="A.b/c"), ["", "", "", "matchAttribute"]),
        (matching(matchAttribute="a.b/C"), [""] * 4),
        (
            matching(distinctAttribute="uuid"),
            ["distinctAttribute", "", "distinctAttribute", "distinctAttribute"],
        ),
        (
            matching(matchAttribute="a.b/c", distinctAttribute="x"),
            ["", "", "", "distinctAttribute"],
        ),
        (
            matching(matchAttribute="a.b/c", distinctAttribute=""),
            ["", "", "", "distinctAttribute"],
        ),
        (
            matching(matchAttribute="a.b/c", distinctAttribute=5),
            ["distinctAttribute"] * 4,
        ),
    ],
)
def test_a_server_judges_no_more_than_it_reads(parts, expected):
    found = [refused_on(version, *parts) for version in ("1.34", "1.35", "1.36", "1.37")]

    assert found == [[one] if one else [] for one in expected]


def test_fields_that_a_minor_lacks_are_not_among_those_to_choose_from():
    with pytest.raises(EksDevicesError) as caught:
        check_claims(
            [claim(*asking(size=1))],
            cluster_of({"instance_type": P5}, kubernetes_version="1.35"),
        )

    (found,) = caught.value.faults
    names = "deviceClassName, selectors, allocationMode, count, adminAccess"
    assert found.allowed == f"one of the fields {names}"
