"""Groups of several instance types come to one verdict."""

import pytest
from tests.cluster_plans import cluster_of
from tests.feasibility_claims import NEURON, claim, exactly

from eks_devices import Mechanism
from eks_devices.feasibility import Status, Verdict, check_claims
from eks_devices.feasibility.of_types import verdict_of_types

MIXED = {
    "instance_type": "inf2.8xlarge",
    "alternative_instance_types": ["inf2.xlarge"],
    "mechanism": Mechanism.DRA,
}
TYPE = "device.attributes['neuron.aws.com'].instanceType"


@pytest.mark.parametrize(
    ("of_types", "expected"),
    [
        (["unknown", "error"], "error"),
        (["feasible", "error"], "error"),
        (["infeasible", "unknown"], "unknown"),
        (["feasible", "infeasible"], "unknown"),
        (["infeasible", "infeasible"], "infeasible"),
    ],
)
def test_types_of_a_group_come_to_one_verdict(of_types, expected):
    each = [
        (f"t{at}", Verdict(nodegroup="g", status=Status(one), reason=one))
        for at, one in enumerate(of_types)
    ]
    assert verdict_of_types(each).status == expected


@pytest.mark.parametrize(
    ("text", "status", "code", "reason"),
    [
        (f"{TYPE} != ''", "feasible", "", ""),
        (f"{TYPE} == 'inf2.xlarge'", "unknown", "DependsOnInstanceType", "inf2.xlarge: can serve"),
        (f"{TYPE} == 'inf2.8xlarge'", "unknown", "DependsOnInstanceType", "8xlarge: can serve"),
        (f"{TYPE} == 'trn1'", "infeasible", "NoDeviceMatches", "inf2.xlarge: request neuron"),
        (f"{TYPE} == 'inf2.xlarge' || 1 / 0 == 1", "error", "ExpressionFails", "can serve"),
    ],
)
def test_each_type_of_a_group_is_judged(text, status, code, reason):
    (found,) = check_claims([claim(exactly(NEURON, text))], cluster_of(MIXED))

    assert (str(found.status), found.code) == (status, code)
    assert reason in found.reason
    assert found.nodegroup == "g0"


@pytest.mark.parametrize(("fits", "expected"), [([3, 2], 2), ([2, 3], 2), ([None, 2], None)])
def test_a_group_takes_as_many_pods_as_its_smallest_type(fits, expected):
    each = [
        (f"t{at}", Verdict(nodegroup="g", status=Status.FEASIBLE, fits=one))
        for at, one in enumerate(fits)
    ]
    assert verdict_of_types(each).fits == expected
