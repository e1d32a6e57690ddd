"""Claims on the nodes of a group: one fault for one cause, and devices that nobody else gets."""

from __future__ import annotations

from typing import Any

import pytest

from eks_devices import (
    Capacity,
    ComputeDomain,
    DeviceRequest,
    DistinctAttribute,
    EksDevicesError,
    Finding,
    MatchAttribute,
    Mechanism,
    NodegroupPlan,
    NodegroupSpec,
    ResourceClaim,
    ResourceClaimTemplate,
    Severity,
    plan_nodegroup,
)
from eks_devices.claims.on_nodegroup import claim_findings, claim_manifest

GROUP, ROOT = MatchAttribute.DEVICE_GROUP, MatchAttribute.PCIE_ROOT
TRN2, P5, P4D, G6E = "trn2.48xlarge", "p5.48xlarge", "p4d.24xlarge", "g6e.12xlarge"
G5 = "g5.48xlarge"

SHARE = "write the share of the EFAs, DeviceRequest.efa({})"
BOTH = "pass match=MatchAttribute.{} with DeviceRequest.efa() or " + SHARE
WHOLE = "take the whole node in one claim, or leave the EFAs out"


def planned(instance_type: str, **options: Any) -> NodegroupPlan:
    given: dict[str, Any] = {"name": "a", "instance_type": instance_type, "max_size": 1} | options
    return plan_nodegroup(NodegroupSpec(**given), kubernetes_version="1.34")


def findings(plan: NodegroupPlan, *requests: DeviceRequest, kind: Any = None, **options: Any):
    claim = (kind or ResourceClaimTemplate)(name="c", requests=requests, **options)
    return claim_findings(claim, claim_manifest(claim, plan), plan)


def left(plan: NodegroupPlan, *requests: DeviceRequest, **options: Any) -> list[Finding]:
    return [one for one in findings(plan, *requests, **options) if one.code == "EveryEfaTaken"]


def faults(plan: NodegroupPlan, claim: Any) -> list[Finding]:
    with pytest.raises(EksDevicesError) as error:
        claim_manifest(claim, plan)
    return list(error.value.faults)


@pytest.mark.parametrize(
    ("instance_type", "requests", "fix"),
    [
        (
            TRN2,
            [DeviceRequest.neuron(8), DeviceRequest.efa()],
            BOTH.format("DEVICE_GROUP", 8),
        ),
        (
            TRN2,
            [DeviceRequest.neuron(1), DeviceRequest.efa(16)],
            BOTH.format("DEVICE_GROUP", 1),
        ),
        # No group has so many devices.
        (
            TRN2,
            [DeviceRequest.neuron(6), DeviceRequest.efa()],
            SHARE.format(6),
        ),
        (
            P4D,
            [DeviceRequest.gpu(2), DeviceRequest.efa()],
            BOTH.format("PCIE_ROOT", 1),
        ),
        # No PCIe root has so many GPUs.
        (
            P4D,
            [DeviceRequest.gpu(4), DeviceRequest.efa()],
            SHARE.format(2),
        ),
        # Half an EFA is none.
        (
            P4D,
            [DeviceRequest.gpu(1), DeviceRequest.efa()],
            WHOLE,
        ),
        (
            G6E,
            [DeviceRequest.gpu(1), DeviceRequest.efa()],
            WHOLE,
        ),
    ],
)
@pytest.mark.parametrize("kind", [ResourceClaim, ResourceClaimTemplate])
def test_part_of_a_node_with_all_its_efas_is_warned_of(instance_type, requests, fix, kind):
    (found,) = left(planned(instance_type, efa=True), *requests, kind=kind)

    assert (found.severity, found.path) == (Severity.WARNING, "claims.default/c.requests")
    assert found.fix == fix


@pytest.mark.parametrize(
    ("instance_type", "requests", "match"),
    [
        (TRN2, [DeviceRequest.neuron(8), DeviceRequest.efa()], GROUP),
        (TRN2, [DeviceRequest.neuron(8), DeviceRequest.efa(8)], None),
        (TRN2, [DeviceRequest.neuron(16), DeviceRequest.efa()], None),
        (TRN2, [DeviceRequest.neuron(8)], None),
        (TRN2, [DeviceRequest.efa()], None),
        (P4D, [DeviceRequest.gpu(8), DeviceRequest.efa()], None),
        (P4D, [DeviceRequest.gpu(4), DeviceRequest.efa(2)], None),
        ("trn2.3xlarge", [DeviceRequest.neuron(1), DeviceRequest.efa()], None),
    ],
)
def test_a_claim_that_leaves_efas_or_nothing_is_fine(instance_type, requests, match):
    plan = planned(instance_type, efa=True)

    assert left(plan, *requests, match=match) == []


@pytest.mark.parametrize(
    ("constraint", "count"),
    [
        (MatchAttribute.of("gpu.nvidia.com/productName").over("gpu"), 1),
        (ROOT.over("efa"), 1),
        (DistinctAttribute.of("dra.net/ifName").over("efa"), 1),
        (ROOT.over("gpu", "efa"), 0),
        (ROOT, 0),
    ],
)
def test_only_a_match_of_efas_with_accelerators_says_which_efas_are_taken(constraint, count):
    plan = plan_nodegroup(
        NodegroupSpec(name="a", instance_type=G5, max_size=1, efa=True), kubernetes_version="1.36"
    )
    requests = DeviceRequest.gpu(1), DeviceRequest.efa(1)

    assert len(left(plan, *requests, constraints=[constraint])) == count


def test_a_match_keeps_quiet_only_of_the_efas_that_it_names():
    requests = [DeviceRequest.gpu(1), DeviceRequest.efa(1), DeviceRequest.efa(3, name="others")]
    told = left(planned(P4D, efa=True), *requests, constraints=[ROOT.over("gpu", "efa")])

    assert [one.path for one in told] == ["claims.default/c.requests"]


@pytest.mark.parametrize(
    ("instance_type", "gpus", "efas", "served"),
    [(P4D, 1, 1, 1), ("p5en.48xlarge", 1, 3, 1), ("p5en.48xlarge", 1, 4, 1), (G5, 1, 1, 1)],
)
@pytest.mark.parametrize(
    "how", [{"match": ROOT}, {"constraints": [ROOT]}, {"constraints": [ROOT.over("gpu", "efa")]}]
)
def test_gpus_that_find_no_efa_on_their_root_are_warned_of(instance_type, gpus, efas, served, how):
    requests = DeviceRequest.gpu(gpus), DeviceRequest.efa(efas)

    (found,) = findings(planned(instance_type, efa=True), *requests, **how)

    assert (found.code, found.severity) == ("EfaSharedByGpus", Severity.WARNING)
    assert found.path == "claims.default/c.requests[1].count"
    assert f"enough for {served} of such claims" in found.message


def test_a_root_that_only_some_requests_share_is_not_one_of_the_claim():
    requests = DeviceRequest.gpu(1), DeviceRequest.efa(1)
    told = findings(planned(P4D, efa=True), *requests, constraints=[ROOT.over("gpu")])

    assert "EfaSharedByGpus" not in {one.code for one in told}


@pytest.mark.parametrize(
    ("instance_type", "requests"),
    [
        (P4D, [DeviceRequest.gpu(2), DeviceRequest.efa(1)]),
        (P5, [DeviceRequest.gpu(1), DeviceRequest.efa(4)]),
        ("p5en.48xlarge", [DeviceRequest.gpu(1), DeviceRequest.efa()]),
        ("p5en.48xlarge", [DeviceRequest.gpu(1), DeviceRequest.efa(1)]),
        ("p6-b200.48xlarge", [DeviceRequest.gpu(1), DeviceRequest.efa(1)]),
        ("p6-b300.48xlarge", [DeviceRequest.gpu(1), DeviceRequest.efa(2)]),
        (P4D, [DeviceRequest.gpu(2)]),
        (P4D, [DeviceRequest.efa(1)]),
    ],
)
def test_claims_that_share_out_a_root_are_fine(instance_type, requests):
    assert findings(planned(instance_type, efa=True), *requests, match=ROOT) == []


@pytest.mark.parametrize(
    ("instance_type", "efa", "requests", "match", "told"),
    [
        (P5, 8, [DeviceRequest.gpu(1), DeviceRequest.efa()], ROOT, "enough for 2 of such claims"),
        (TRN2, 4, [DeviceRequest.neuron(1), DeviceRequest.efa()], GROUP, "16 Neuron devices"),
        (TRN2, 4, [DeviceRequest.neuron(4), DeviceRequest.efa(2)], None, "enough for 4"),
    ],
)
def test_a_group_with_fewer_efas_than_its_type_is_told_what_is_left(
    instance_type, efa, requests, match, told
):
    found = [
        one
        for one in findings(planned(instance_type, efa=efa), *requests, match=match)
        if one.code == "TooFewEfas"
    ]

    assert len(found) == 1
    assert told in found[0].message


@pytest.mark.parametrize("requests", [[DeviceRequest.gpu(4), DeviceRequest.efa(4)]])
def test_efas_that_are_enough_for_every_device_are_fine(requests):
    assert "TooFewEfas" not in {one.code for one in findings(planned(P5, efa=8), *requests)}


def test_all_efas_are_those_that_the_group_has():
    plan = planned(TRN2, efa=4)

    assert len(left(plan, DeviceRequest.neuron(4), DeviceRequest.efa(4))) == 1
    assert left(plan, DeviceRequest.neuron(4), DeviceRequest.efa(2)) == []


@pytest.mark.parametrize(
    ("instance_type", "requests", "match", "got", "fix"),
    [
        (
            TRN2,
            [DeviceRequest.neuron(8), DeviceRequest.efa()],
            GROUP,
            "'8, filled in for 8 Neuron devices'",
            "write the count, DeviceRequest.efa(2), or give the group more EFA interfaces",
        ),
        (
            P5,
            [DeviceRequest.gpu(1), DeviceRequest.efa()],
            ROOT,
            "'4, filled in for 1 GPU'",
            "write the count, DeviceRequest.efa(2), or give the group more EFA interfaces",
        ),
        (
            TRN2,
            [DeviceRequest.neuron(8), DeviceRequest.efa(3)],
            None,
            "3",
            "ask for fewer, or give the group more EFA interfaces",
        ),
    ],
)
def test_more_efas_than_the_group_has_say_where_the_number_is_from(
    instance_type, requests, match, got, fix
):
    claim = ResourceClaimTemplate(name="c", requests=requests, match=match)
    (fault,) = faults(planned(instance_type, efa=2), claim)

    assert (fault.code, fault.path) == ("TooManyDevices", "claims.default/c.requests[1].count")
    assert (fault.got, fault.allowed, fault.fix) == (got, "at most 2", fix)


@pytest.mark.parametrize(
    ("mode", "max_size", "warned"), [(4, 4, False), (4, 3, True), (2, 2, False), (2, 1, True)]
)
def test_a_group_smaller_than_the_nodes_that_work_together_is_warned_of(mode, max_size, warned):
    block = Capacity.ultraserver_block("cr-0123456789abcdef0")
    plan = planned("trn2u.48xlarge", capacity=block, max_size=max_size)

    found = findings(plan, DeviceRequest.efa(1), DeviceRequest.ultraserver_node(mode=mode))

    assert [(one.code, one.severity, one.path) for one in found] == [
        (
            "UltraServerLargerThanNodegroup",
            Severity.WARNING,
            "claims.default/c.requests[1].mode",
        )
    ] * warned
    assert all(f"max_size to {mode}" in one.fix for one in found)


def test_efas_that_a_group_does_without_are_one_fault():
    claim = ResourceClaimTemplate(name="c", requests=[DeviceRequest.gpu(), DeviceRequest.efa(1)])

    for plan in (planned(P5, efa=False), planned(G6E)):
        (fault,) = faults(plan, claim)

        assert (fault.code, fault.path) == ("DeviceNotOnNodegroup", "claims.default/c.requests[1]")
        assert "efa=True" in fault.fix


@pytest.mark.parametrize("instance_type", [P5, TRN2, G6E])
@pytest.mark.parametrize("mechanism", [Mechanism.DRA, Mechanism.DEVICE_PLUGIN])
def test_a_domain_on_a_type_without_nvlink_across_nodes_is_one_fault(instance_type, mechanism):
    plan = planned(instance_type, mechanism=mechanism)

    assert [one.code for one in faults(plan, ComputeDomain(name="d"))] == [
        "ComputeDomainNeedsNvlinkDomain"
    ]


@pytest.mark.parametrize(
    ("instance_type", "request_", "code"),
    [
        (G6E, DeviceRequest.neuron(), "NoSuchDevice"),
        (TRN2, DeviceRequest.gpu(), "NoSuchDevice"),
        ("g6e.xlarge", DeviceRequest.efa(1), "NoSuchDevice"),
        (G6E, DeviceRequest.ultraserver_node(), "NoSuchDevice"),
        ("inf1.xlarge", DeviceRequest.neuron(), "NeuronDraInf1"),
    ],
)
def test_what_the_type_lacks_is_one_fault(instance_type, request_, code):
    claim = ResourceClaimTemplate(name="c", requests=[request_])
    plan = planned(instance_type)

    assert [one.code for one in faults(plan, claim)] == [code]


def test_devices_by_plugin_are_still_told_beside_other_faults():
    claim = ResourceClaimTemplate(name="c", requests=[DeviceRequest.gpu(5), DeviceRequest.neuron()])

    assert [one.code for one in faults(planned(G6E, mechanism=Mechanism.DEVICE_PLUGIN), claim)] == [
        "ClaimNeedsDra",
        "NoSuchDevice",
        "TooManyDevices",
    ]
