"""Several constraints: what devices of some requests share, or differ in."""

from typing import Any

import pytest
from tests.claim_rows import cluster, codes, devices, fault_of, faults, group, make, told

from eks_devices import (
    DeviceRequest,
    DistinctAttribute,
    MatchAttribute,
    OpaqueConfig,
    ResourceClaim,
)
from eks_devices.claims.summary import claim_summary
from eks_devices.feasibility import check_claims

R = DeviceRequest
ROOT, DEVICES = MatchAttribute.PCIE_ROOT, MatchAttribute.DEVICE_GROUP
NUMBERS: Any = [1]
UUID = DistinctAttribute.of("gpu.nvidia.com/uuid")
# Two sets of a GPU and its EFAs, each on a root of its own, in one claim.
PAIRS = [R.gpu(name="g0"), R.efa(4, name="e0"), R.gpu(name="g1"), R.efa(4, name="e1")]
EACH = [ROOT.over("g0", "e0"), ROOT.over("g1", "e1")]


def test_constraints_stand_after_the_match_and_name_their_requests():
    claim = make(R.gpu(2), R.efa(2), match=ROOT, constraints=[UUID.over("gpu")])

    assert devices(claim, "p5en.48xlarge")["constraints"] == [
        {"requests": ["gpu", "efa"], "matchAttribute": "resource.kubernetes.io/pcieRoot"},
        {"requests": ["gpu"], "distinctAttribute": "gpu.nvidia.com/uuid"},
    ]


def test_a_constraint_without_names_is_about_every_request():
    (found,) = devices(make(R.gpu(2), R.efa(2), constraints=[ROOT]))["constraints"]

    assert found["requests"] == ["gpu", "efa"]


def test_over_makes_a_copy():
    over = ROOT.over("gpu")

    assert (ROOT.requests, over.requests) == ((), ("gpu",))
    assert (over.attribute, over.is_pcie_root) == (ROOT.attribute, True)


@pytest.mark.parametrize(
    ("make_it", "code"),
    [
        (lambda: ROOT.over("a b"), "MalformedName"),
        (lambda: ROOT.over("a/b/c"), "MalformedName"),
        (lambda: MatchAttribute(attribute="a.b/c", requests=NUMBERS), "WrongType"),
        (lambda: DistinctAttribute.of("uuid"), "MalformedAttribute"),
        (lambda: UUID.over("-"), "MalformedName"),
        (lambda: MatchAttribute(attribute="a.b/c", requests="gpu"), "WrongType"),
        (lambda: ROOT.over("gpu", "efa", "gpu"), "RepeatedRequestName"),
        (lambda: UUID.over("gpu/a", "gpu/a"), "RepeatedRequestName"),
        (
            lambda: OpaqueConfig(driver="a.b", parameters={}, requests=["gpu", "gpu"]),
            "RepeatedRequestName",
        ),
    ],
)
def test_malformed_constraints_are_refused(make_it, code):
    assert fault_of(make_it).code == code


@pytest.mark.parametrize(
    ("options", "path", "code"),
    [
        ({"constraints": [ROOT.over("gpus")]}, "constraints[0].requests[0]", "UnknownRequest"),
        ({"match": ROOT.over("gpu", "nic")}, "match.requests[1]", "UnknownRequest"),
        ({"constraints": ROOT}, "constraints", "WrongType"),
        ({"constraints": ["pcieRoot"]}, "constraints[0]", "WrongType"),
        ({"constraints": [ROOT] * 33}, "constraints", "TooManyConstraints"),
        ({"configs": [{}]}, "configs[0]", "WrongType"),
        (
            {"configs": [OpaqueConfig(driver="a.b", parameters={}, requests=["x"])]},
            "configs[0].requests[0]",
            "UnknownRequest",
        ),
        (
            {"configs": [OpaqueConfig(driver="a.b", parameters={})] * 33},
            "configs",
            "TooManyConfigs",
        ),
    ],
)
def test_constraints_on_what_is_not_there_are_refused(options, path, code):
    assert faults(lambda: make(R.gpu(2), **options)) == {path: code}


def test_an_unknown_name_is_told_with_the_one_that_is_meant():
    found = fault_of(lambda: make(R.gpu(2), constraints=[ROOT.over("gpus")]))

    assert found.fix == "did you mean gpu?"


def test_each_constraint_is_judged_with_its_own_requests():
    claim = make(*PAIRS, constraints=EACH)

    assert devices(claim, "p5.48xlarge")
    # Three GPUs share no root of p5, and two EFAs of e1 alone do.
    wrong = make(R.gpu(3), R.efa(2), constraints=[ROOT.over("efa"), ROOT.over("gpu")])
    assert faults(lambda: devices(wrong, "p5.48xlarge")) == {"constraints[1]": "PcieRootTooSmall"}


def test_sets_of_devices_on_roots_of_their_own_are_allocated():
    (found,) = check_claims([make(*PAIRS, constraints=EACH)], cluster("p5.48xlarge"))

    assert (found.status, found.fits) == ("feasible", 4)


def test_a_claim_and_a_template_take_constraints_alike():
    claim = ResourceClaim(name="c", requests=PAIRS, constraints=EACH)

    assert len(claim.to_dict(kubernetes_version="1.34")["spec"]["devices"]["constraints"]) == 2


def test_an_open_efa_count_follows_the_constraint_that_is_about_it():
    claim = make(R.gpu(1), R.efa(), R.gpu(4, name="more"), constraints=[ROOT.over("gpu", "efa")])

    assert devices(claim, "p5.48xlarge")["requests"][1]["exactly"]["count"] == 4


def test_an_open_efa_count_outside_of_constraints_is_every_efa_of_the_group():
    claim = make(R.gpu(2), R.efa(), constraints=[ROOT.over("gpu")])

    assert devices(claim, "p5en.48xlarge")["requests"][1]["exactly"]["count"] == 16
    assert told(claim, group("p5en.48xlarge")) is not None


def test_device_groups_have_the_size_of_their_own_requests():
    claim = make(
        R.neuron(4), R.efa(), R.neuron(8, name="more"), constraints=[DEVICES.over("neuron", "efa")]
    )

    found = devices(claim, "trn2.48xlarge")

    assert found["constraints"][0]["matchAttribute"] == "resource.aws.com/devicegroup4_id"
    assert found["requests"][1]["exactly"]["count"] == 4


def test_neuron_devices_under_a_root_are_refused_at_their_place():
    claim = lambda: make(R.gpu(), R.neuron(2), constraints=[ROOT.over("neuron")])  # noqa: E731

    assert faults(claim) == {"requests[1]": "MatchDoesNotFit"}


@pytest.mark.parametrize("version", ["1.34", "1.35"])
def test_distinct_attributes_are_refused_where_the_field_is_dropped(version):
    claim = make(R.gpu(2), constraints=[UUID])

    found = fault_of(lambda: devices(claim, version=version))

    assert (found.code, found.path) == ("DistinctNeedsKubernetes", "claims.n/c.constraints[0]")
    assert "1.36" in found.allowed


@pytest.mark.parametrize(
    ("version", "count", "warned"), [("1.36", 3, True), ("1.36", 2, False), ("1.37", 3, False)]
)
def test_distinct_attributes_are_warned_of_where_neighbours_alone_are_compared(
    version, count, warned
):
    claim = make(
        R.gpu(count), constraints=[DistinctAttribute.of("resource.kubernetes.io/pcieRoot")]
    )

    assert (
        "DistinctComparesNeighbours" in codes(claim, group("p5.48xlarge", version=version))
    ) is (warned)


def test_devices_that_cannot_differ_so_often_are_refused_on_a_type():
    claim = make(R.gpu(8), constraints=[DistinctAttribute.of("resource.kubernetes.io/pcieRoot")])

    assert devices(claim, "p5.48xlarge")
    assert faults(lambda: devices(claim, "p4d.24xlarge")) == {"constraints[0]": "TooFewPcieRoots"}


def test_an_attribute_that_no_driver_publishes_is_told_of_constraints_too():
    claim = make(R.gpu(2), constraints=[DistinctAttribute.of("gpu.nvidia.com/serial")])

    (found,) = [
        one for one in told(claim, group("p5.48xlarge")) if one.code == "AttributeNotPublished"
    ]

    assert found.path == "claims.n/c.constraints[0]"


def test_the_plan_file_tells_of_constraints_and_configurations():
    config = OpaqueConfig(driver="gpu.nvidia.com", parameters={"a": [1]})
    claim = make(R.gpu(2), R.efa(2), constraints=[ROOT, UUID.over("gpu")], configs=[config])

    found = claim_summary(claim, claim.to_dict(kubernetes_version="1.36"))

    assert found["match"] == ["resource.kubernetes.io/pcieRoot"]
    assert found["distinct"] == ["gpu.nvidia.com/uuid"]
    assert found["configs"] == ["gpu.nvidia.com"]


def test_configurations_of_a_user_stand_as_they_are():
    given = {"kind": "A", "nested": {"list": [1, "b", True]}}
    claim = make(R.gpu(2), configs=[OpaqueConfig(driver="a.b", parameters=given)])
    given["kind"] = "B"

    assert devices(claim)["config"] == [
        {
            "opaque": {
                "driver": "a.b",
                "parameters": {"kind": "A", "nested": {"list": [1, "b", True]}},
            }
        }
    ]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"driver": "A b", "parameters": {}}, "MalformedName"),
        ({"driver": "a" * 64, "parameters": {}}, "MalformedName"),
        ({"driver": "a.b", "parameters": []}, "WrongType"),
        ({"driver": "a.b", "parameters": {"a": object()}}, "WrongType"),
        ({"driver": "a.b", "parameters": {"a": [{"b": None}]}}, "NullParameter"),
        ({"driver": "a.b", "parameters": {"a": "x" * 10240}}, "ParametersTooLarge"),
        ({"driver": "a.b", "parameters": {}, "requests": "gpu"}, "WrongType"),
    ],
)
def test_configurations_that_no_driver_gets_are_refused(options, code):
    assert fault_of(lambda: OpaqueConfig(**options)).code == code


def test_what_a_group_of_devices_leaves_over_is_told_of_its_constraint():
    claim = make(R.neuron(1), R.efa(1), constraints=[DEVICES.over("neuron", "efa")])

    (found,) = [
        one for one in told(claim, group("trn1.32xlarge")) if one.code == "EfaSharedByDevices"
    ]

    assert found.path == "claims.n/c.requests"
