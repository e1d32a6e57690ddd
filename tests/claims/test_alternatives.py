"""Requests for the first of several things that a node can serve."""

from typing import Any

import pytest
from tests.claim_rows import cluster, codes, devices, fault_of, faults, group, make, told

from eks_devices import (
    AllocationMode,
    ClaimSharing,
    DeviceRequest,
    DranetBuild,
    GpuDriver,
    MatchAttribute,
    Mechanism,
    Mig,
    OpaqueConfig,
    ResourceClaim,
    Severity,
)
from eks_devices.claims.elsewhere import elsewhere_findings
from eks_devices.claims.on_nodegroup import claim_findings, claim_manifest
from eks_devices.claims.summary import claim_summary
from eks_devices.feasibility import check_claims

R = DeviceRequest
EIGHT, FOUR = R.gpu(8, name="eight"), R.gpu(4, name="four")
GPUS = R.first_available(EIGHT, FOUR, name="gpus")
ROOT, DEVICES = MatchAttribute.PCIE_ROOT, MatchAttribute.DEVICE_GROUP


def test_alternatives_are_written_in_their_order():
    (found,) = devices(make(GPUS))["requests"]

    assert found == {
        "name": "gpus",
        "firstAvailable": [
            {
                "name": name,
                "deviceClassName": "gpu.nvidia.com",
                "allocationMode": "ExactCount",
                "count": count,
            }
            for name, count in (("eight", 8), ("four", 4))
        ],
    }


def test_selectors_amounts_and_profiles_are_those_of_each_alternative():
    asked = R.first_available(
        R.gpu(memory="10Gi", name="part"), R.mig("1g.10gb").where("true"), name="some"
    )
    part, mig = devices(make(asked))["requests"][0]["firstAvailable"]

    assert part["capacity"] == {"requests": {"memory": "10Gi"}}
    assert mig["deviceClassName"] == "mig.nvidia.com"
    assert [one["cel"]["expression"] for one in mig["selectors"]][-1] == "true"


def test_configurations_name_the_alternative():
    limits = ClaimSharing.mps(active_thread_percentage=50)
    own = OpaqueConfig(driver="gpu.nvidia.com", parameters={"kind": "A"}, requests=["some/b"])
    asked = R.first_available(
        R.gpu(sharing=limits, name="a"), R.gpu(2, name="b"), R.neuron(2, logical_neuron_cores=1)
    )
    claim = make(R.first_available(*asked.alternatives, name="some"), configs=[own])

    found = [one["requests"] for one in devices(claim)["config"]]

    assert found == [["some/a"], ["some/neuron"], ["some/b"]]


@pytest.mark.parametrize(
    ("alternatives", "code"),
    [
        ((), "AlternativeCount"),
        (tuple(R.gpu(name=f"g{at}") for at in range(9)), "AlternativeCount"),
        ((R.gpu(), R.gpu(2)), "RepeatedRequestName"),
        ((GPUS,), "AlternativeDoesNotFit"),
        ((R.gpu().with_admin_access(),), "AlternativeDoesNotFit"),
        (("gpu",), "WrongType"),
    ],
)
def test_lists_that_kubernetes_does_not_take_are_refused(alternatives, code):
    assert fault_of(lambda: R.first_available(*alternatives)).code == code


def test_alternatives_in_a_list_are_to_be_given_one_by_one():
    wrong: Any = [R.gpu(), R.gpu(2)]
    assert fault_of(lambda: R.first_available(wrong)).fix == "leave out the brackets"


@pytest.mark.parametrize(
    "change",
    [
        lambda: GPUS.where("true"),
        GPUS.with_admin_access,
        lambda: R(kind=GPUS.kind, name="a", count=2, alternatives=[R.gpu()]),
        lambda: R(kind=R.gpu().kind, name="a", count=2, alternatives=[R.gpu()]),
    ],
)
def test_what_belongs_to_alternatives_is_refused_of_the_list(change):
    assert fault_of(change).code == "OptionDoesNotFit"


def test_a_type_that_serves_one_alternative_serves_the_claim():
    asked = R.first_available(R.gpu(4), R.neuron(16))

    for name in ("p5.48xlarge", "trn2.48xlarge", "g6e.12xlarge"):
        assert devices(make(asked), name)


def test_a_type_that_serves_none_is_told_why_of_each():
    asked = R.first_available(R.gpu(9), R.neuron(4))

    assert faults(lambda: devices(make(asked), "p5.48xlarge")) == {
        "requests[0].alternatives[0].count": "TooManyDevices",
        "requests[0].alternatives[1]": "NoSuchDevice",
    }


def test_alternatives_are_looked_at_together_with_the_other_requests():
    # Of 8 GPUs, 4 are left beside 4, and none beside 8.
    assert devices(make(GPUS, R.gpu(4)), "p5.48xlarge")
    assert faults(lambda: devices(make(GPUS, R.gpu(5)), "p5.48xlarge")) == {
        "requests[0].alternatives[0].count": "TooManyDevices",
        "requests[0].alternatives[1].count": "TooManyDevices",
    }


def test_the_smallest_alternative_counts_against_32_devices():
    assert devices(make(GPUS, R.efa(28)), "p5.48xlarge")
    assert set(faults(lambda: devices(make(GPUS, R.efa(29)), "p5.48xlarge")).values()) == {
        "ClaimTooLarge"
    }


@pytest.mark.parametrize(
    "asked",
    [
        # A part of a node beside the whole of it, whatever else is chosen.
        (R.first_available(R.ultraserver_node(), R.gpu()), R.neuron(2)),
        (R.first_available(R.gpu(), R.passthrough_gpu()), R.mig("1g.10gb")),
    ],
)
def test_an_alternative_that_can_never_be_chosen_is_refused(asked):
    assert set(faults(lambda: make(*asked)).values()) & {
        "NodeAndItsDevices",
        "PassthroughBesideOthers",
    }


def test_alternatives_of_two_requests_may_exclude_each_other_in_part():
    whole = R.first_available(R.ultraserver_node(), R.gpu(), name="a")
    parts = R.first_available(R.neuron(16), R.gpu(2), name="b")

    assert make(whole, parts).requests == (whole, parts)


def test_an_open_efa_count_is_the_one_that_all_choices_leave():
    two = R.first_available(R.gpu(1, name="a"), R.mig("1g.10gb"), name="one")
    (_, efa) = devices(make(two, R.efa()), "p4de.24xlarge")["requests"]

    assert efa["exactly"]["count"] == 4


def test_an_open_efa_count_that_depends_on_the_alternative_has_to_be_written():
    claim = make(R.first_available(R.gpu(2, name="a"), R.gpu(1), name="g"), R.efa(), match=ROOT)

    found = fault_of(lambda: devices(claim, "p5en.48xlarge"))

    assert (found.code, found.path) == ("EfaCountNeeded", "claims.n/c.requests[1].count")
    assert "2 or 4" in found.message


def test_an_alternative_with_efas_of_its_own_has_them_filled_in():
    claim = make(R.first_available(R.efa(), R.gpu(), name="either"))

    first, _ = devices(claim, "p5.48xlarge")["requests"][0]["firstAvailable"]

    assert first["count"] == 32


def test_a_match_holds_for_whichever_alternative_is_served():
    claim = make(R.first_available(R.gpu(2), R.gpu(1, name="one")), R.efa(4), match=ROOT)

    assert devices(claim, "p5.48xlarge")["constraints"] == [
        {
            "requests": ["first-available", "efa"],
            "matchAttribute": "resource.kubernetes.io/pcieRoot",
        }
    ]
    assert check_claims([claim], cluster("p5.48xlarge"))[0].status == "feasible"


def test_a_device_group_needs_one_size():
    some = R.first_available(R.neuron(8, name="eight"), R.neuron(4, name="four"), name="some")

    assert faults(lambda: make(some, match=DEVICES)) == {"match": "DeviceGroupOpen"}


def test_each_alternative_may_have_a_device_group_of_its_size():
    some = R.first_available(R.neuron(8, name="eight"), R.neuron(4, name="four"), name="some")
    own = [DEVICES.over("some/eight"), DEVICES.over("some/four")]
    claim = make(some, constraints=own)

    assert devices(claim, "trn2.48xlarge")["constraints"] == [
        {"requests": [f"some/{name}"], "matchAttribute": f"resource.aws.com/devicegroup{size}_id"}
        for name, size in (("eight", 8), ("four", 4))
    ]
    assert check_claims([claim], cluster("trn2.48xlarge"))[0].status == "feasible"


def test_an_instance_type_is_meant_where_every_alternative_names_it():
    trn2 = [R.neuron(count, name=f"n{count}", instance_type="trn2.48xlarge") for count in (17, 18)]

    found = faults(lambda: devices(make(R.first_available(*trn2))))

    assert set(found.values()) == {"TooManyDevices"}
    assert devices(make(R.first_available(trn2[0], R.gpu())))


def test_a_group_is_told_which_alternatives_it_never_serves():
    claim = make(R.first_available(R.neuron(16), R.gpu(8)))

    (found,) = [
        one for one in told(claim, group("p5.48xlarge")) if one.code == "AlternativeNeverServed"
    ]

    assert (found.severity, found.path) == (
        Severity.INFO,
        "claims.n/c.requests[0].alternatives[0]",
    )
    assert "no device for this request" in found.message
    assert "DeviceClass neuron.aws.com" in found.fix


def test_a_group_refuses_a_claim_of_which_it_serves_no_alternative():
    plain = group("p5.48xlarge", mechanism=Mechanism.DRA)
    claim = make(R.first_available(R.mig("1g.10gb"), R.gpu(memory="10Gi"), name="part"))

    assert faults(lambda: told(claim, plain)) == {
        "requests[0].alternatives[0]": "GpusNotCut",
        "requests[0].alternatives[1].memory": "MemoryNeedsShares",
    }


def test_a_cut_group_serves_the_alternative_for_partitions():
    cut = group("p5.48xlarge", mechanism=Mechanism.DRA, mig=Mig.uniform("1g.10gb"))
    claim = make(R.first_available(R.gpu(), R.mig("1g.10gb")))

    assert "AlternativeNeverServed" in codes(claim, cut)


def test_findings_of_alternatives_name_them():
    claim = make(R.first_available(R.neuron(3), R.neuron(16, name="all")))

    (found,) = [
        one for one in told(claim, group("trn2.48xlarge")) if one.code == "NeuronDevicesApart"
    ]

    assert found.path == "claims.n/c.requests[0].alternatives[0].count"


@pytest.mark.parametrize(("version", "warned"), [("1.35", True), ("1.36", False)])
def test_all_devices_as_a_later_alternative_are_warned_of_where_schedulers_lose_it(version, warned):
    claim = make(R.first_available(R.gpu(2), R.gpu(AllocationMode.ALL, name="all")))

    assert ("AllAsAlternative" in codes(claim, group("g6e.12xlarge", version=version))) is warned


def test_a_first_alternative_for_all_devices_is_not_warned_of():
    claim = make(R.first_available(R.gpu(AllocationMode.ALL, name="all"), R.gpu(2)))

    assert "AllAsAlternative" not in codes(claim, group("g6e.12xlarge", version="1.34"))


def test_fields_that_a_minor_drops_are_refused_of_every_alternative():
    claim = make(R.first_available(R.gpu(), R.gpu(memory="1Gi", name="part")))

    found = faults(lambda: devices(claim, version="1.35"))

    assert found == {"requests[0].alternatives[1].memory": "CapacityNeedsKubernetes"}


def test_a_gate_that_an_alternative_needs_is_looked_for_in_other_groups():
    gate = GpuDriver(feature_gates={"MPSSupport": True})
    mine = group("g6e.12xlarge", mechanism=Mechanism.DRA, gpu_driver=gate)
    other = group("g6e.12xlarge", mechanism=Mechanism.DRA)
    claim = make(R.first_available(R.gpu(4), R.gpu(sharing=ClaimSharing.mps(), name="shared")))

    assert [one.code for one in elsewhere_findings(claim, mine, [mine, other])] == [
        "ClaimFitsOtherGroups"
    ]


def test_three_lists_of_eight_are_looked_at_and_more_are_left_to_the_scheduler():
    eight = [R.gpu(9 + at, name=f"g{at}") for at in range(8)]
    lists = [R.first_available(*eight, name=f"l{at}") for at in range(4)]

    assert set(faults(lambda: devices(make(*lists[:3]), "g6e.12xlarge")).values()) >= {
        "TooManyDevices"
    }
    assert devices(make(*lists), "g6e.12xlarge")


def test_the_plan_file_tells_of_alternatives():
    claim = make(R.first_available(R.gpu(8), R.efa(AllocationMode.ALL)))

    (found,) = claim_summary(claim, claim.to_dict(kubernetes_version="1.36"))["requests"]

    assert [(one["name"], one["count"]) for one in found["first_available"]] == [
        ("gpu", 8),
        ("efa", "all"),
    ]


def test_a_choice_that_contradicts_itself_serves_nothing():
    # One EFA beside an open number of them, or two GPUs of one root.
    either = R.first_available(R.gpu(name="more"), R.efa(1), name="either")
    rest = R.first_available(R.gpu(name="last"), R.efa(), name="rest")

    found = faults(lambda: devices(make(R.gpu(), either, rest, match=ROOT), "p5.48xlarge"))

    assert set(found.values()) == {"EfaCountAmbiguous", "PcieRootTooSmall"}


def test_an_open_efa_count_of_an_alternative_needs_a_type():
    claim = make(R.first_available(R.gpu(8), R.efa(), name="either"))

    assert faults(lambda: devices(claim)) == {
        "requests[0].alternatives[1].count": "InstanceTypeNeeded"
    }
    assert devices(claim, "p4d.24xlarge")


def test_an_open_efa_count_that_no_choice_fills_has_to_be_written():
    claim = make(R.first_available(R.gpu(8), R.efa(), name="either"))

    assert faults(lambda: devices(claim, "g6e.xlarge")) == {
        "requests[0].alternatives[0].count": "TooManyDevices",
        "requests[0].alternatives[1]": "NoSuchDevice",
    }
    assert faults(lambda: devices(make(*claim.requests[0].options[1:]), "g6e.xlarge")) == {
        "requests[0]": "NoSuchDevice"
    }
    one = make(R.first_available(R.gpu(), R.efa(), name="either"))
    assert faults(lambda: devices(one, "g6e.xlarge")) == {
        "requests[0].alternatives[1].count": "EfaCountNeeded"
    }


def test_of_more_choices_than_are_looked_at_none_is_called_a_contradiction():
    kinds = [R.ultraserver_node(), *(R.neuron(at, name=f"n{at}") for at in range(1, 8))]
    lists = [R.first_available(*kinds, name=f"l{at}") for at in range(4)]

    assert len(make(*lists).requests) == 4


SHARED = ResourceClaim(
    name="c", namespace="n", requests=[R.first_available(R.efa(1), R.gpu(), name="either")]
)


def test_claims_that_pods_share_are_told_of_what_each_alternative_brings():
    old = group("p5.48xlarge", version="1.34", release_version="1.34.2-20251209")

    found = {one.code: one for one in told(SHARED, old)}

    assert found["ReusedClaimFloor"].severity is Severity.WARNING
    assert found["EfaSharedClaim"].path == "claims.n/c.requests[0].alternatives[0]"


def test_upstreams_build_serves_the_alternative_that_may_be_shared():
    plan, build = group("p5.48xlarge"), DranetBuild.UPSTREAM

    manifest = claim_manifest(SHARED, plan, build=build)
    found = {one.code for one in claim_findings(SHARED, manifest, plan, build=build)}

    assert "AlternativeNeverServed" in found
    efas = ResourceClaim(
        name="c", namespace="n", requests=[R.first_available(R.efa(1), R.efa(2, name="two"))]
    )
    assert set(faults(lambda: claim_manifest(efas, plan, build=build)).values()) == {
        "EfaSharedClaim"
    }
