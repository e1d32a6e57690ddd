"""Tolerations of device taints, and admin access."""

from typing import Any

import pytest
from tests.claim_rows import cluster, codes, devices, fault_of, faults, group, make, told

from eks_devices import (
    AllocationMode,
    DeviceRequest,
    DeviceTaintEffect,
    DeviceToleration,
    ResourceClaim,
)
from eks_devices.claims.summary import claim_summary
from eks_devices.feasibility import check_claims

R, T = DeviceRequest, DeviceToleration
NO_EXECUTE = DeviceTaintEffect.NO_EXECUTE
ANY: Any = DeviceToleration
ANY_REQUEST: Any = DeviceRequest


@pytest.mark.parametrize(
    ("toleration", "written"),
    [
        (T(), {"operator": "Exists"}),
        (T(key="gpu.nvidia.com/xid"), {"key": "gpu.nvidia.com/xid", "operator": "Exists"}),
        (
            T(key="a", value="b", effect=DeviceTaintEffect.NO_SCHEDULE),
            {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"},
        ),
        (
            T(key="a", effect=NO_EXECUTE, seconds=0),
            {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},
        ),
    ],
)
def test_a_toleration_is_written_as_the_api_has_it(toleration, written):
    (request,) = devices(make(R.gpu().tolerating(toleration)))["requests"]

    assert request["exactly"]["tolerations"] == [written]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"key": "a b"}, "MalformedLabelKey"),
        ({"key": 1}, "WrongType"),
        ({"value": "b"}, "ValueWithoutKey"),
        ({"key": "a", "value": "b c"}, "MalformedLabelValue"),
        ({"effect": "NoExecute"}, "WrongType"),
        ({"seconds": 5}, "OptionDoesNotFit"),
        ({"effect": NO_EXECUTE, "seconds": -1}, "OutOfRange"),
        ({"effect": NO_EXECUTE, "seconds": 1.5}, "WrongType"),
    ],
)
def test_malformed_tolerations_are_refused(options, code):
    assert fault_of(lambda: ANY(**options)).code == code


@pytest.mark.parametrize(
    ("make_it", "code"),
    [
        (lambda: ANY_REQUEST.gpu().tolerating("a"), "WrongType"),
        (lambda: R.gpu().tolerating(*[T()] * 17), "TooManyTolerations"),
        (lambda: ANY_REQUEST(kind=R.gpu().kind, name="a", count=1, tolerations=T()), "WrongType"),
        (lambda: ANY_REQUEST(kind=R.gpu().kind, name="a", count=1, admin_access=1), "WrongType"),
    ],
)
def test_what_is_no_toleration_or_access_is_refused(make_it, code):
    assert fault_of(make_it).code == code


@pytest.mark.parametrize("version", ["1.34", "1.35"])
def test_tolerations_are_refused_where_the_field_is_dropped(version):
    either = R.first_available(R.gpu(2), R.gpu(name="one").tolerating(T(key="a")))

    assert faults(lambda: devices(make(R.gpu().tolerating(T())), version=version)) == {
        "requests[0].tolerations": "TolerationsNeedKubernetes"
    }
    assert faults(lambda: devices(make(either), version=version)) == {
        "requests[0].alternatives[1].tolerations": "TolerationsNeedKubernetes"
    }


@pytest.mark.parametrize("version", ["1.34", "1.37"])
def test_admin_access_is_written_on_every_minor(version):
    (request,) = devices(make(R.gpu(8).with_admin_access()), version=version)["requests"]

    assert request["exactly"]["adminAccess"] is True
    assert "adminAccess" not in devices(make(R.gpu()))["requests"][0]["exactly"]


def test_a_claim_says_whether_it_needs_admin_access():
    assert make(R.gpu(), R.efa(1).with_admin_access()).needs_admin_access
    assert not make(R.gpu()).needs_admin_access


def test_devices_with_admin_access_are_not_taken_from_others():
    watched = make(R.gpu(AllocationMode.ALL).with_admin_access())

    (said,) = check_claims([watched], cluster("p5.48xlarge"))

    # Any number of such claims fit on a node.
    assert (said.status, len(said.devices), said.fits) == ("feasible", 8, None)
    efas = make(R.gpu(1), R.efa(AllocationMode.ALL).with_admin_access())
    assert "EveryEfaTaken" not in codes(efas, group("p4d.24xlarge"))


def test_more_devices_than_a_node_has_are_too_many_with_admin_access_too():
    assert faults(lambda: devices(make(R.gpu(9).with_admin_access()), "p5.48xlarge")) == {
        "requests[0].count": "TooManyDevices"
    }


def test_the_plan_file_tells_of_both():
    claim = ResourceClaim(name="c", requests=[R.gpu().with_admin_access().tolerating(T(), T())])

    (found,) = claim_summary(claim, claim.to_dict(kubernetes_version="1.36"))["requests"]

    assert (found["admin_access"], found["tolerations"]) == (True, 2)


def test_the_taint_of_nodes_is_not_one_of_devices():
    claim = make(R.gpu().tolerating(T(key="gpu.nvidia.com/xid"), T(key="nvidia.com/gpu")))
    tolerated = told(claim, group("p5.48xlarge"))
    (found,) = [one for one in tolerated if one.code == "NodeTaintTolerated"]
    assert found.severity == "info"
    assert found.path.endswith("requests[0].tolerations[1].key")
    never = R.mig("1g.10gb", name="b").tolerating(T(key="nvidia.com/gpu"))
    options = R.first_available(R.gpu(1, name="a").tolerating(T(key="nvidia.com/gpu")), never)
    both = told(make(options), group("p5.48xlarge"))
    assert [one.path.split("requests")[1] for one in both if one.code == "NodeTaintTolerated"] == [
        "[0].alternatives[0].tolerations[0].key",
        "[0].alternatives[1].tolerations[0].key",
    ]
