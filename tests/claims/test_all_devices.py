"""Requests for every device of a node."""

import pytest
from tests.claim_rows import cluster, codes, devices, fault_of, faults, group, make, told

from eks_devices import (
    AllocationMode,
    DeviceRequest,
    DeviceSelector,
    DistinctAttribute,
    MatchAttribute,
    Mechanism,
    Mig,
)
from eks_devices.feasibility import check_claims

ALL = AllocationMode.ALL
R = DeviceRequest
ROOT, DEVICES = MatchAttribute.PCIE_ROOT, MatchAttribute.DEVICE_GROUP


@pytest.mark.parametrize(
    "request_",
    [R.gpu(ALL), R.mig("1g.10gb", ALL), R.passthrough_gpu(ALL), R.neuron(ALL), R.efa(ALL)],
    ids=lambda one: one.name,
)
def test_all_devices_have_no_count(request_):
    (found,) = devices(make(request_))["requests"]

    assert found["exactly"]["allocationMode"] == "All"
    assert "count" not in found["exactly"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"count": 2, "allocation": ALL}, "OptionDoesNotFit"),
        ({"count": 1, "allocation": "All"}, "WrongType"),
        ({"count": None}, "WrongType"),
    ],
)
def test_a_count_beside_all_is_refused(options, code):
    assert fault_of(lambda: R(kind=R.gpu().kind, name="g", **options)).code == code


def test_a_whole_ultraserver_node_is_one_device():
    node = R.ultraserver_node()

    made = lambda: R(kind=node.kind, name="n", count=None, mode=4, allocation=ALL)  # noqa: E731
    assert fault_of(made).code == "WrongType"


def test_the_check_gives_all_devices():
    (found,) = check_claims([make(R.gpu(ALL))], cluster("g6e.12xlarge"))

    assert (found.status, len(found.devices), found.fits) == ("feasible", 4, 1)


@pytest.mark.parametrize(
    ("requests", "options", "fix"),
    [
        ([R.gpu(), R.efa(ALL)], {"match": ROOT}, "here 4"),
        ([R.gpu(ALL), R.efa(2)], {"match": ROOT}, "here 1"),
        ([R.gpu(), R.efa(ALL)], {"constraints": [ROOT.over("efa")]}, "write the number"),
        ([R.gpu(ALL)], {"constraints": [DistinctAttribute.of("gpu.nvidia.com/uuid")]}, "here 8"),
    ],
)
def test_all_under_a_constraint_is_refused_with_the_number_to_write(requests, options, fix):
    claim = make(*requests, **options)

    found = fault_of(lambda: devices(claim, "p5.48xlarge"))

    assert found.code == "AllWithConstraint"
    assert fix in found.fix


@pytest.mark.parametrize(
    ("match", "instance_type", "fix"),
    [
        (DEVICES, "trn2.48xlarge", "here 16"),
        (MatchAttribute.of("resource.aws.com/devicegroup4_id"), "trn2.48xlarge", "here 4"),
        (DEVICES, "inf2.48xlarge", "write the number of devices"),
    ],
)
def test_all_neuron_devices_of_a_group_are_those_that_it_has(match, instance_type, fix):
    found = fault_of(lambda: devices(make(R.neuron(ALL), match=match), instance_type))

    assert found.code == "AllWithConstraint"
    assert fix in found.fix
    assert "devicegroup0" not in found.got


def test_all_under_a_constraint_is_refused_without_a_type_too():
    found = fault_of(lambda: devices(make(R.gpu(ALL), R.efa(2), match=ROOT)))

    assert (found.code, found.path) == ("AllWithConstraint", "claims.n/c.requests[0]")


def test_all_beside_a_constraint_on_others_is_taken():
    claim = make(R.gpu(2), R.efa(2), R.mig("1g.18gb", ALL), constraints=[ROOT.over("gpu", "efa")])

    assert devices(claim, "p5en.48xlarge")["constraints"]


def test_all_in_an_alternative_is_refused_where_a_constraint_is_about_it():
    either = R.first_available(R.efa(4, name="four"), R.efa(ALL, name="all"), name="net")
    whole, part = [ROOT.over("net", "gpu")], [ROOT.over("net/four", "gpu")]

    assert faults(lambda: devices(make(R.gpu(), either, constraints=whole), "p5.48xlarge")) == {
        "requests[1].alternatives[1]": "AllWithConstraint"
    }
    assert devices(make(R.gpu(), either, constraints=part), "p5.48xlarge")


def test_more_than_32_devices_are_refused_as_all_of_a_type():
    found = fault_of(lambda: devices(make(R.gpu(ALL), R.efa(ALL)), "p5.48xlarge"))

    assert (found.code, found.got) == ("ClaimTooLarge", "'40 devices'")


def test_selectors_may_leave_few_enough_of_all():
    some = R.efa(ALL).where("true")

    assert devices(make(R.gpu(ALL), some), "p5.48xlarge")


def test_the_partitions_of_a_cut_group_are_counted():
    cut = group("p5.48xlarge", mechanism=Mechanism.DRA, mig=Mig.uniform("1g.10gb"))
    few = group("p5.48xlarge", mechanism=Mechanism.DRA, mig=Mig.uniform("3g.40gb"))

    found = fault_of(lambda: told(make(R.mig("1g.10gb", ALL)), cut))

    assert (found.code, found.got) == ("ClaimTooLarge", "'56 devices'")
    assert told(make(R.mig("3g.40gb", ALL)), few) is not None


def test_all_of_gpus_that_are_cut_on_request_is_refused():
    dynamic = group("p5.48xlarge", mechanism=Mechanism.DRA, mig=Mig.dynamic())

    for request in (R.gpu(ALL), R.mig("1g.10gb", ALL)):
        assert fault_of(lambda one=request: told(make(one), dynamic)).code == "AllOfDynamicMig"


def test_all_efas_of_a_node_leave_none_for_other_claims():
    claim = make(R.gpu(1), R.efa(ALL))

    assert "EveryEfaTaken" in codes(claim, group("p4d.24xlarge"))


def test_a_search_for_all_is_never_long():
    assert "LongSearch" not in codes(make(R.efa(ALL)), group("p5.48xlarge"))


def test_all_efas_beside_more_gpus_than_a_root_has_are_refused_without_a_number():
    claim = make(R.gpu(3), R.efa(ALL), match=ROOT)

    found = fault_of(lambda: devices(claim, "p5.48xlarge"))

    assert (found.code, found.fix) == ("AllWithConstraint", "write the number of devices")


def test_all_that_a_selector_matches_are_counted_on_a_group():
    hopper = R.gpu(ALL, name="all").where(DeviceSelector.gpu_architecture("Hopper"))
    near = R.efa(ALL).where(DeviceSelector.efa_numa_node(0))
    p5 = group("p5.48xlarge")

    assert faults(lambda: told(make(R.gpu(), hopper), p5)) == {
        "requests[0].count": "TooManyDevices"
    }
    # 16 of the 32 EFAs are near the first NUMA node.
    assert told(make(hopper, near, R.efa(8, name="more")), p5) is not None
    assert faults(lambda: told(make(hopper, near, R.efa(9, name="more")), p5)) == {
        "requests": "ClaimTooLarge"
    }
