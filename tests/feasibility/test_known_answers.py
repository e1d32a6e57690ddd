"""Claims with known answers on nodes of many types."""

import json

import pytest
from tests.cluster_plans import cluster_of
from tests.feasibility_claims import (
    EFA,
    GPU,
    NEURON,
    PCIE_ROOT,
    claim,
    exactly,
    first_of,
    match,
    said,
    template,
    verdict,
)

from eks_devices import DeviceRequest, MatchAttribute, Mechanism, ResourceClaimTemplate
from eks_devices.feasibility import Status, check_claims

OWN = "device.attributes['gpu.nvidia.com']"
VERSION = f"{OWN}.cudaComputeCapability"
NEURONS = "device.attributes['neuron.aws.com']"
P5, P5E, P5EN, P4D, P4DE = (
    "p5.48xlarge",
    "p5e.48xlarge",
    "p5en.48xlarge",
    "p4d.24xlarge",
    "p4de.24xlarge",
)
B200, B300, SMALL_P5 = "p6-b200.48xlarge", "p6-b300.48xlarge", "p5.4xlarge"
TRN1, TRN2, SMALL_TRN2, TRN2U = "trn1.32xlarge", "trn2.48xlarge", "trn2.3xlarge", "trn2u.48xlarge"
G6E, G5, G6, G4DN = "g6e.48xlarge", "g5.12xlarge", "g6.12xlarge", "g4dn.12xlarge"
G7E = "g7e.48xlarge"

FEASIBLE = ("feasible", "")
ALL_GPUS = (P5, P4D, G5, G6E, G4DN, B200)
EVERY_P = (P5, P5E, P5EN, P4D, P4DE, B200, B300)


def aligned(gpus, efas, kind=claim):
    return kind(exactly(GPU, count=gpus), exactly(EFA, count=efas), match(PCIE_ROOT))


@pytest.mark.parametrize("name", EVERY_P)
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [(1, FEASIBLE), (8, FEASIBLE), (9, ("infeasible", "TooFewDevices"))],
)
def test_gpus_are_had_as_far_as_there_are_some(name, wanted, expected):
    assert said(name, claim(exactly(GPU, count=wanted))) == expected


@pytest.mark.parametrize(
    ("name", "wanted", "fits"),
    [(P5, 1, 8), (P5, 3, 2), (P5, 8, 1), (G5, 1, 4), (G5, 3, 1), (G4DN, 2, 2), (TRN2, 4, 4)],
)
def test_as_many_pods_fit_as_share_the_devices(name, wanted, fits):
    device_class = NEURON if name == TRN2 else GPU

    assert verdict(name, template(exactly(device_class, count=wanted))).fits == fits


@pytest.mark.parametrize(
    ("name", "gpus", "efas", "fits"),
    [
        (P5, 1, 4, 8),
        (P5E, 1, 4, 8),
        (P5EN, 1, 2, 8),
        (P5EN, 2, 4, 4),
        (P4D, 2, 1, 4),
        (P4D, 1, 1, 4),
        (P4DE, 2, 1, 4),
        (B200, 1, 1, 8),
        (B200, 2, 2, 4),
        (B300, 1, 2, 8),
        (SMALL_P5, 1, 1, 1),
    ],
)
def test_gpus_and_efas_of_one_root_are_had_together(name, gpus, efas, fits):
    found = verdict(name, aligned(gpus, efas, template), efa=True)

    assert (found.status, found.fits) == (Status.FEASIBLE, fits)


@pytest.mark.parametrize(
    ("name", "gpus", "efas"),
    [(P5, 1, 5), (P5, 2, 1), (P5EN, 1, 5), (P5EN, 3, 1), (P4D, 2, 2), (P4D, 3, 1), (B300, 2, 1)],
)
def test_a_root_does_not_hold_more_than_it_does(name, gpus, efas):
    found = verdict(name, aligned(gpus, efas))

    assert (found.status, found.code) == (Status.INFEASIBLE, "ConstraintNeverHolds")
    assert PCIE_ROOT in found.reason


@pytest.mark.parametrize("name", [G6E, "g6e.24xlarge", "g6.48xlarge", "g6.24xlarge"])
def test_no_gpu_shares_a_root_with_an_efa_where_none_does(name):
    assert said(name, aligned(1, 1), efa=True) == ("infeasible", "ConstraintNeverHolds")


def test_what_nobody_read_from_a_node_is_unknown_and_not_infeasible():
    assert said(G7E, aligned(1, 1), efa=True) == ("unknown", "KnownAtRunTime")
    memory = "device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity('1Ti'))"
    assert said(G7E, claim(exactly(GPU, memory))) == ("unknown", "KnownAtRunTime")
    assert said(G7E, claim(exactly(GPU, f"{OWN}.productName == 'x'")))[0] == "unknown"
    assert said(G7E, claim(exactly(GPU, count=2))) == FEASIBLE
    assert said(G7E, claim(exactly(GPU, count=9))) == ("infeasible", "TooFewDevices")


@pytest.mark.parametrize(
    ("text", "matching"),
    [
        ("device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80Gi')) >= 0", {B200}),
        ("device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('79Gi')) >= 0", {P5, B200}),
        ("device.capacity['gpu.nvidia.com'].memory.isLessThan(quantity('24G'))", {G4DN}),
        (f"{OWN}.architecture == 'Hopper'", {P5}),
        (f"{OWN}['architecture'] in ['Hopper', 'Blackwell']", {P5, B200}),
        (f"{OWN}.productName.startsWith('NVIDIA')", {P5, P4D, G5, G6E, B200}),
        (f"{OWN}.productName.lowerAscii().contains('a100')", {P4D}),
        (f"{OWN}.productName.matches('(H|B)[0-9]+')", {P5, B200}),
        (f"{OWN}.cudaComputeCapability.isGreaterThan(semver('8.6.0'))", {P5, G6E, B200}),
        (f"{OWN}.cudaComputeCapability.compareTo(semver('9.0.0')) == 0", {P5}),
        (f"{OWN}.cudaComputeCapability.major() == 8", {P4D, G5, G6E}),
        (f"['H100', 'B200'].exists(one, {OWN}.productName.contains(one))", {P5, B200}),
        (f"{OWN}.productName.size() > 20", {P5, P4D}),
        (f"['architecture', 'nothing'].exists(one, one in {OWN})", set(ALL_GPUS)),
        (f"'nvlink' in {OWN} && {OWN}.nvlink", set()),
        (f"{OWN}.?nvlink.orValue(false)", set()),
        (f"cel.bind(gpu, {OWN}, gpu.architecture == 'Ampere')", {P4D, G5}),
        ("device.driver == 'gpu.nvidia.com'", set(ALL_GPUS)),
        ("device.attributes['example.com'] == {}", set(ALL_GPUS)),
        ("'a' in device.attributes['example.com']", set()),
        # A domain that is not there can be read, and is not there.
        ("'example.com' in device.attributes", set()),
        ("'resource.kubernetes.io' in device.attributes && true", set(ALL_GPUS)),
        ("sign(device.capacity['gpu.nvidia.com'].memory) == 1", set(ALL_GPUS)),
        (f"{OWN}.cudaComputeCapability == null", set()),
        (f"{OWN}.productName != 'x' && {OWN}.cudaComputeCapability != '9.0.0'", set(ALL_GPUS)),
    ],
)
def test_a_selector_takes_the_devices_that_the_driver_publishes_so(text, matching):
    feasible = {name for name in ALL_GPUS if said(name, claim(exactly(GPU, text))) == FEASIBLE}

    assert feasible == matching


def test_a_threshold_of_80_gib_does_not_take_an_h100():
    memory = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80Gi')) >= 0"
    found = verdict(P5, claim(exactly(GPU, memory)))

    assert (found.status, found.code) == (Status.INFEASIBLE, "NoDeviceMatches")
    assert "selector 0" in found.reason


def test_the_selector_that_matches_nothing_is_named():
    selectors = ["true", f"{OWN}.type == 'gpu'", f"{OWN}.architecture == 'Volta'"]

    assert "selector 2" in verdict(P5, claim(exactly(GPU, *selectors))).reason


def test_an_attribute_that_no_driver_publishes_is_named():
    guarded = f"'nvlink' in {OWN} && {OWN}.nvlink"
    bare = f"{OWN}.nvlink"

    found = verdict(P5, claim(exactly(GPU, guarded)))
    assert (found.status, found.code) == (Status.INFEASIBLE, "AttributeNeverPublished")
    assert "gpu.nvidia.com/nvlink" in found.reason
    found = verdict(P5, claim(exactly(GPU, bare)))
    assert (found.status, found.code) == (Status.ERROR, "ExpressionFails")
    assert "gpu.nvidia.com/nvlink" in found.reason


def test_an_expression_may_fail_on_the_devices_of_another_type_of_the_same_driver():
    bare = claim(exactly(NEURON, f"{NEURONS}.topology4_id == 1", count=4))
    text = f"'topology4_id' in {NEURONS} && {NEURONS}.topology4_id == 1"
    guarded = claim(exactly(NEURON, text, count=4))

    assert said(TRN2, bare) == FEASIBLE
    assert said(SMALL_TRN2, bare) == ("error", "ExpressionFails")
    assert said(TRN2U, bare) == ("error", "ExpressionFails")
    assert said(SMALL_TRN2, guarded) == ("infeasible", "NoDeviceMatches")
    assert said(P5, bare) == ("infeasible", "ClassNotOnGroup")


def test_a_device_that_is_taken_before_another_one_fails_hides_the_failure():
    # Whoever evaluates in the order of the devices never comes to the second.
    text = f"{NEURONS}.deviceId == 0 || {NEURONS}.nothing == 1"

    assert said(TRN2, claim(exactly(NEURON, text))) == FEASIBLE
    assert said(TRN2, claim(exactly(NEURON, text, count=2))) == ("error", "ExpressionFails")
    assert said(TRN2, claim(exactly(NEURON, text, allocationMode="All")))[0] == "error"


@pytest.mark.parametrize(
    "text",
    [
        f"{OWN}.driverVersion.isGreaterThan(semver('580.0.0'))",
        f"{OWN}.uuid == 'GPU-0'",
        "device.attributes['resource.kubernetes.io'].pcieRoot == 'pci0000:44'",
        f"{OWN}.type == 'gpu' && {OWN}.uuid != 'x'",
        f"{OWN}.exists(name, name == 'x')",
        f"{OWN} .exists(name, name == 'x')",
        f"['uuid'].exists(one, one in {OWN})",
        f"['driverVersion'].exists(one, {OWN}[one] == 'x')",
        f"{OWN}.size() > 3",
        f"cel.bind(own, {OWN}, own.size() > 3)",
        "device.attributes.all(domain, true)",
        "size(device.attributes) > 0",
        "has(device.driver)",
        f"semver('9.0.0') == {OWN}.cudaComputeCapability",
        "device.driver.find('gpu') == 'gpu'",
        "dyn(1) < 1.5 && 1 < 1.5",
        # Versions and quantities are not what the engine takes them for.
        f"{VERSION}.semver == '9.0.0'",
        f"{VERSION}['semver'] == '9.0.0'",
        f"'semver' in {VERSION}",
        f"has({VERSION}.semver)",
        f"{VERSION} == {{'semver': '9.0.0'}}",
        f"string({VERSION}) == '9.0.0'",
        f"dyn({VERSION}) == '9.0.0'",
        f"cel.bind(version, {VERSION}, version == '9.0.0')",
        f"(true ? {VERSION} : '') == '9.0.0'",
        f"{OWN}.?cudaComputeCapability.orValue('') == '9.0.0'",
        f"size({VERSION}) == 1",
    ],
)
def test_what_only_a_node_knows_or_the_engine_cannot_do_is_unknown(text):
    assert said(P5, claim(exactly(GPU, text)))[0] == "unknown"


def test_an_attribute_of_one_domain_is_not_that_of_another():
    # Newer drivers publish numaNode of Kubernetes; that of the driver's own is not there.
    text = "device.attributes['dra.net'].numaNode == 0"

    assert said(SMALL_P5, claim(exactly(EFA, text)), efa=True) == ("error", "ExpressionFails")
    assert said(P5, claim(exactly(EFA, text))) == FEASIBLE


def test_what_only_a_node_knows_does_not_matter_where_another_part_is_false():
    text = f"{OWN}.type == 'mig' && {OWN}.uuid == 'x'"

    assert said(P5, claim(exactly(GPU, text))) == ("infeasible", "NoDeviceMatches")


def test_what_fails_after_what_only_a_node_knows_may_never_be_looked_at():
    unknown, failing = f"{OWN}.uuid == 'GPU-0'", f"{OWN}.nothing == 1"

    assert said(P5, claim(exactly(GPU, unknown, failing)))[0] == "unknown"
    assert said(P5, claim(exactly(GPU, failing, unknown))) == ("error", "ExpressionFails")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("device.driver == 5", "== is not there for string, int"),
        ("1 + 1", "must be true or false"),
        ("device.driver", "must be true or false"),
        ("device.nothing == 'x'", "a device has no field 'nothing'"),
        ("nothing()", "nothing is named 'nothing'"),
        ("'a'.compareTo('b') > 0", "compareTo is not there for string, string"),
        ("device.capacity['gpu.nvidia.com'].memory >= 80", ">= is not there for quantity, int"),
        ("semver('1.0.0').compareTo(quantity('1')) > 0", "is not there for version, quantity"),
        ("device.driver ==", "the end is not expected there"),
        ("device.driver in ['a', 5]", "several types"),
        ("device.capacity['gpu.nvidia.com'].memory.sign() == 1", "sign"),
        ("(" * 400 + "true" + ")" * 400, ""),
        ("true || '" + "x" * 10_300 + "' == ''", "10240"),
    ],
)
def test_what_the_api_server_refuses_is_an_error_everywhere(text, told):
    for name in (P5, TRN2):
        found = verdict(name, claim(exactly(GPU, text)))
        assert (found.status, found.code) == (Status.ERROR, "ExpressionInvalid")
        assert told in found.reason


@pytest.mark.parametrize(("size", "code"), [(10_240, ""), (10_241, "ExpressionInvalid")])
def test_the_length_of_an_expression_counts_as_it_is_written(size, code):
    reads_without_quotes = "device.attributes.domain.of.name == 'a' || true"
    found = verdict(P5, claim(exactly(GPU, reads_without_quotes.ljust(size))))
    assert found.code == code
    assert not code or f"{size} bytes" in found.reason


@pytest.mark.parametrize("call", ["startsWith('9')", "matches('9')", "contains('9')"])
def test_a_version_is_no_text(call):
    assert said(P5, claim(exactly(GPU, f"{VERSION}.{call}"))) == ("error", "ExpressionFails")


@pytest.mark.parametrize("other", ["'9.0.0'", "9", "9.0", "true"])
@pytest.mark.parametrize("read", [".cudaComputeCapability", "['cudaComputeCapability']"])
def test_a_version_is_compared_as_a_version(read, other):
    wrong = claim(exactly(GPU, f"{OWN}{read} == {other}"))
    right = claim(exactly(GPU, f"{OWN}.cudaComputeCapability == semver('9.0.0')"))

    assert said(P5, wrong) == ("error", "ExpressionFails")
    assert said(P5, right) == FEASIBLE


def test_a_result_that_is_no_truth_value_is_an_error():
    assert said(P5, claim(exactly(GPU, f"{OWN}.productName"))) == ("error", "ExpressionFails")


@pytest.mark.parametrize(
    ("parts", "name", "expected"),
    [
        ([exactly(GPU, allocationMode="All")], P5, FEASIBLE),
        ([exactly(EFA, allocationMode="All")], P5, FEASIBLE),
        ([exactly(GPU, "false", allocationMode="All")], P5, ("infeasible", "NoDeviceMatches")),
        (
            [exactly(GPU), exactly(EFA, allocationMode="All"), match(PCIE_ROOT)],
            P5,
            ("error", "TooManyDevicesInClaim"),
        ),
        (
            [exactly(GPU), exactly(EFA, allocationMode="All"), match(PCIE_ROOT)],
            P4D,
            ("error", "AllBreaksConstraint"),
        ),
        (
            [exactly(GPU), exactly(EFA, allocationMode="All"), match(PCIE_ROOT)],
            SMALL_P5,
            FEASIBLE,
        ),
        (
            [exactly(GPU, name="one"), exactly(GPU, name="all", allocationMode="All")],
            P5,
            ("infeasible", "TooFewDevicesTogether"),
        ),
    ],
)
def test_all_takes_whatever_matches_or_stops_the_attempt(parts, name, expected):
    assert said(name, claim(*parts), efa=True) == expected


@pytest.mark.parametrize("name", [P5, P4D, TRN2])
def test_a_claim_has_at_most_32_devices(name):
    too_many = claim(exactly(GPU, count=8), exactly(EFA, count=32))

    assert said(name, too_many) == ("error", "TooManyDevicesInClaim")


def test_a_whole_node_is_two_claims_or_one_of_32_devices():
    assert said(P5, claim(exactly(GPU, count=8)), claim(exactly(EFA, count=32))) == FEASIBLE
    assert said(TRN2, claim(exactly(NEURON, count=16), exactly(EFA, count=16))) == FEASIBLE
    parts = [aligned(1, 4) for _ in range(8)]
    assert said(P5, *parts) == FEASIBLE
    assert said(P5, *parts, claim(exactly(GPU))) == ("infeasible", "TooFewDevicesTogether")


def test_claims_that_could_be_served_alone_may_be_too_many_for_the_roots_of_a_node():
    parts = [aligned(1, 2)] * 3 + [aligned(2, 1)]

    assert said(B200, *parts) == FEASIBLE
    assert said(B200, *parts, aligned(2, 1)) == ("infeasible", "NoAllocation")


def test_the_first_alternative_that_can_be_had_is_taken():
    hopper = exactly(GPU, f"{OWN}.architecture == 'Hopper'", count=8)
    fallback = first_of(hopper, exactly(GPU, count=2))

    assert {one.request for one in verdict(P5, claim(fallback)).devices} == {"first/o0"}
    assert [one.request for one in verdict(P4D, claim(fallback)).devices] == ["first/o1"] * 2
    assert verdict(P4D, template(fallback)).fits == 4
    found = verdict(G5, claim(first_of(hopper, exactly(GPU, count=5))))
    assert (found.status, found.code) == (Status.INFEASIBLE, "TooFewDevices")
    assert "2 alternatives" in found.reason


def test_schedulers_before_1_36_lose_their_way_in_all_as_an_alternative():
    every = exactly(GPU, allocationMode="All")
    second, first = (claim(first_of(*one)) for one in ([exactly(GPU, count=9), every], [every]))

    for version, expected in (("1.35", ("unknown", "AllAsAlternative")), ("1.36", FEASIBLE)):
        plan = cluster_of({"instance_type": P5}, kubernetes_version=version)
        (found,) = check_claims([second], plan)
        assert (str(found.status), found.code) == expected
        assert check_claims([first], plan)[0].status is Status.FEASIBLE


def test_a_later_request_can_make_an_earlier_one_take_its_second_alternative():
    greedy = first_of(exactly(GPU, count=8), exactly(GPU, count=7))

    found = verdict(P5, claim(greedy, exactly(GPU, name="one")))

    assert [one.request for one in found.devices] == ["first/o1"] * 7 + ["one"]


def test_a_constraint_may_be_about_some_requests_or_one_alternative():
    gpu, efas = exactly(GPU, count=8), exactly(EFA, count=4)
    assert said(P5, claim(gpu, efas, match(PCIE_ROOT, "efa"))) == FEASIBLE
    assert said(P5, claim(gpu, efas, match(PCIE_ROOT, "gpu")))[1] == "ConstraintNeverHolds"
    either = first_of(exactly(GPU, count=2), exactly(GPU, count=1))
    found = verdict(P5, claim(either, match(PCIE_ROOT, "first/o0")))
    assert [one.request for one in found.devices] == ["first/o1"]


@pytest.mark.parametrize(
    ("name", "attribute", "expected"),
    [
        (P5, "gpu.nvidia.com/driverVersion", FEASIBLE),
        (P5, "gpu.nvidia.com/productName", FEASIBLE),
        (P5, "gpu.nvidia.com/uuid", ("infeasible", "ConstraintNeverHolds")),
        (P5, "gpu.nvidia.com/nothing", ("infeasible", "ConstraintNeverHolds")),
        (P5, "example.com/productName", ("infeasible", "ConstraintNeverHolds")),
        (P5, "resource.kubernetes.io/numaNode", ("unknown", "KnownAtRunTime")),
        (G7E, PCIE_ROOT, ("unknown", "KnownAtRunTime")),
    ],
)
def test_two_gpus_share_what_the_driver_says_alike(name, attribute, expected):
    assert said(name, claim(exactly(GPU, count=2), match(attribute))) == expected


@pytest.mark.parametrize(
    ("name", "size", "expected"),
    [
        (TRN2, 4, FEASIBLE),
        (TRN2, 8, FEASIBLE),
        (TRN2, 16, FEASIBLE),
        (TRN1, 4, FEASIBLE),
        (TRN1, 8, FEASIBLE),
        (SMALL_TRN2, 1, ("infeasible", "ConstraintNeverHolds")),
    ],
)
def test_neuron_devices_come_in_connected_groups(name, size, expected):
    attribute = f"resource.aws.com/devicegroup{size}_id"
    wanted = exactly(NEURON, count=size)

    assert said(name, claim(wanted, match(attribute))) == expected
    assert said(name, claim(exactly(NEURON, count=size + 1), match(attribute)))[0] == "infeasible"


def test_whole_nodes_of_an_ultraserver_are_unknown():
    node = claim(exactly(NEURON, f"{NEURONS}.resourceType == 'neuron_node'"))

    every = claim(exactly(NEURON, allocationMode="All"))

    assert said(TRN2U, node) == ("unknown", "NoPublishedData")
    assert said(TRN2U, every) == ("unknown", "NoPublishedData")
    assert said(TRN2U, claim(exactly(NEURON, count=16))) == FEASIBLE
    assert said(TRN2, every) == FEASIBLE
    assert said(TRN2, node) == ("infeasible", "NoDeviceMatches")


def test_claims_of_ours_are_read_for_the_type_of_each_group():
    plan = cluster_of({"instance_type": TRN2}, {"instance_type": TRN1}, {"instance_type": P5})
    template = ResourceClaimTemplate(
        name="t",
        requests=[DeviceRequest.neuron(4), DeviceRequest.efa()],
        match=MatchAttribute.DEVICE_GROUP,
    )

    found = check_claims([template], plan)

    assert [(one.nodegroup, one.status, one.fits) for one in found] == [
        ("g0", Status.FEASIBLE, 4),
        ("g1", Status.FEASIBLE, 4),
        ("g2", Status.INFEASIBLE, None),
    ]
    assert [len(one.devices) for one in found] == [8, 6, 0]
    assert found[2].code == "NoSuchDevice"


def test_a_class_that_nobody_installs_is_named_and_one_of_the_user_s_is_read():
    plan = cluster_of({"instance_type": P5}, {"instance_type": P4D})
    wanted = claim(exactly("hopper", count=2))
    hopper = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "hopper"},
        "spec": {
            "selectors": [
                {"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}},
                {"cel": {"expression": f"{OWN}.architecture == 'Hopper'"}},
            ]
        },
    }

    without, within = (
        check_claims([wanted], plan),
        check_claims([wanted], plan, device_classes=[hopper]),
    )

    assert {one.code for one in without} == {"ClassNotInstalled"}
    assert [one.status for one in within] == [Status.FEASIBLE, Status.INFEASIBLE]


def test_a_named_claim_is_there_once_for_all_pods():
    named, own = claim(exactly(GPU, count=5)), template(exactly(GPU))

    assert verdict(P5, own).fits == 8
    assert verdict(P5, named, own).fits == 3
    assert verdict(P5, named).fits == 256


def test_a_device_plugin_serves_no_claim():
    found = verdict(P5, claim(exactly(GPU)), mechanism=Mechanism.DEVICE_PLUGIN)

    assert (found.status, found.code) == (Status.INFEASIBLE, "ClassNotOnGroup")


def test_an_administrator_takes_nothing_from_anybody_in_another_claim():
    watch = template(exactly(GPU, adminAccess=True, count=8))

    assert said(P5, claim(exactly(GPU, count=8)), watch) == FEASIBLE
    assert verdict(P5, watch).fits is None


def test_the_devices_of_a_verdict_are_those_that_the_scheduler_takes_first():
    found = verdict(P4D, aligned(2, 1))

    assert [(one.request, one.device) for one in found.devices] == [
        ("gpu", "gpu-0"),
        ("gpu", "gpu-1"),
        ("efa", "efa-0"),
    ]
    assert {one.claim for one in found.devices} == {"claims.default/c"}
    first = {"request": "gpu", "driver": "gpu.nvidia.com", "device": "gpu-0"}
    assert json.loads(json.dumps(found.to_dict()))["devices"][0] == {
        "claim": "claims.default/c",
        **first,
    }
