"""What is wrong of a Pod's claims is told with its place in the manifest of the claim."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workload_manifests import (
    DRA,
    EFA,
    GPU,
    P4D,
    P5,
    checked,
    group,
    plan_of,
    pod,
    request,
    template,
)

from eks_devices.feasibility import Status, Verdict
from eks_devices.workload_check import Document
from eks_devices.workload_check.claim_places import place_in
from eks_devices.workload_check.documents import path_of

PLAN = plan_of(P5)
NAME = f"device.attributes['{GPU}'].productName"
CONSTRAINT = {"matchAttribute": "resource.kubernetes.io/pcieRoot"}
BASE = "spec.spec.devices"


def places(*manifests: Any, code: str) -> list[str]:
    """Where the claims that a finding is about are told to be wrong."""
    found = next(one for one in checked(PLAN, *manifests).remarks if one.finding.code == code)
    return [path_of(steps) for _, steps in found.related]


@pytest.mark.parametrize(
    ("requests", "more", "code", "place"),
    [
        ([request(count=9)], {}, "NoNodegroupServesPod", "requests[0].exactly"),
        (
            [request(capacity={"requests": {"memory": "80Gi"}})],
            {},
            "NoNodegroupServesPod",
            "requests[0].exactly.capacity",
        ),
        (
            [request(GPU, 1, "true", f"{NAME} == 'x'")],
            {},
            "NoNodegroupServesPod",
            "requests[0].exactly.selectors[1].cel.expression",
        ),
        (
            [request(EFA), request(GPU, 1, f"{NAME}x == 'x'")],
            {},
            "AttemptFailsOnNodegroup",
            "requests[1].exactly.selectors[0].cel.expression",
        ),
        (
            [request(GPU, 2), request(EFA, 2)],
            {"constraints": [{"matchAttribute": f"{GPU}/type", "requests": ["gpu"]}, CONSTRAINT]},
            "NoNodegroupServesPod",
            "constraints[1]",
        ),
    ],
)
def test_the_part_of_a_claim_that_is_wrong_is_named(
    requests: list[Any], more: Any, code: str, place: str
) -> None:
    wanted = template("gpu", *requests, **more)
    assert places(wanted, pod("gpu"), code=code) == [f"{BASE}.{place}"]


def test_an_alternative_is_named_by_its_index() -> None:
    options = [{**request(count=one)["exactly"], "name": f"o{one}"} for one in (10, 9)]
    wanted = template("gpu", {"name": "gpu", "firstAvailable": options})
    found = places(wanted, pod("gpu"), code="NoNodegroupServesPod")
    assert found == [f"{BASE}.requests[0].firstAvailable[1]"]


def test_a_request_of_an_older_version_is_found_where_it_is_written() -> None:
    flat = {"name": "gpu", **request(GPU, 1, f"{NAME} == 'x'")["exactly"]}
    wanted = template("gpu", flat) | {"apiVersion": "resource.k8s.io/v1beta1"}
    found = places(wanted, pod("gpu"), code="NoNodegroupServesPod")
    assert found == [f"{BASE}.requests[0].selectors[0].cel.expression"]


def test_a_claim_that_is_not_meant_is_told_as_a_whole() -> None:
    fine, wrong = template("efa", request(EFA)), template("gpu", request(count=9))
    found = places(fine, wrong, pod("efa", "gpu"), code="NoNodegroupServesPod")
    assert found == ["", f"{BASE}.requests[0].exactly"]


def test_claims_are_not_named_where_the_pod_itself_asks_for_too_much() -> None:
    asks = pod("gpu", limits={"memory": "9Ti"})
    assert places(template("gpu", request()), asks, code="NoNodegroupServesPod") == []


def test_the_nearest_group_says_which_part_is_meant() -> None:
    wanted = template("gpu", request(GPU, 9, f"{NAME} != 'x'"))
    report = checked(plan_of(P4D, P5), wanted, pod("gpu"))
    (remark,) = [one for one in report.remarks if one.finding.code == "NoNodegroupServesPod"]
    assert path_of(remark.related[0][1]) == f"{BASE}.requests[0].exactly"


def test_verdicts_say_what_they_are_about() -> None:
    report = checked(PLAN, template("gpu", request(count=9)), pod("gpu"))
    (found,) = report.pods[0].verdicts
    told = found.to_dict()
    assert (told["claim"], told["request"], told["device_class"]) == ("gpu", "gpu", GPU)
    assert (told["wants"], told["has"], told["fix"]) == (9, 8, "ask for at most 8 devices")
    assert (told["selector"], told["constraint"], told["fits"]) == (None, None, 0)


def test_nothing_is_told_of_parts_where_claims_are_served() -> None:
    report = checked(PLAN, template("gpu", request()), pod("gpu"))
    (found,) = report.pods[0].verdicts
    assert (found.claim, found.request, found.fix, found.reason) == ("", "", "", "")


def test_a_claim_that_wants_too_many_and_what_is_not_there_is_told_both() -> None:
    every = {"name": "efa", "exactly": {"deviceClassName": EFA, "allocationMode": "All"}}
    wanted = template("big", every, request(GPU, 1, f"{NAME} == 'x'"))
    (remark,) = checked(PLAN, wanted).remarks
    assert remark.finding.code == "TooManyDevicesInClaim"
    assert "matches none of the 8 devices" in remark.finding.message
    assert "split" not in remark.finding.fix
    assert isinstance(remark.document, Document)


def test_more_devices_than_a_claim_has_are_told_to_be_split() -> None:
    every = {"name": "efa", "exactly": {"deviceClassName": EFA, "allocationMode": "All"}}
    (remark,) = checked(PLAN, template("big", every, request(GPU, 9))).remarks
    assert remark.finding.code == "TooManyDevicesInClaim"
    assert "wants 9 devices of a node that has at most 8" in remark.finding.message
    assert remark.finding.fix == "ask for at most 8 devices, and split it into two claims"


def test_all_that_breaks_a_constraint_is_told_at_the_constraint() -> None:
    every = {"name": "gpu", "exactly": {"deviceClassName": GPU, "allocationMode": "All"}}
    wanted = template("gpu", every, constraints=[CONSTRAINT])
    found = places(wanted, pod("gpu"), code="AttemptFailsOnNodegroup")
    assert found == [f"{BASE}.constraints[0]"]


def test_a_constraint_that_is_not_served_is_told_at_its_place() -> None:
    plan = plan_of(P5, version="1.35")
    distinct = [CONSTRAINT, {"distinctAttribute": f"{GPU}/uuid"}]
    wanted = template("gpu", request(GPU, 1), constraints=distinct)
    (remark,) = [one for one in checked(plan, wanted).remarks if one.finding.severity == "error"]
    assert remark.finding.code == "DistinctNotServed"
    assert path_of(remark.steps) == f"{BASE}.constraints[1]"
    assert remark.finding.fix == "leave the constraint out"


@pytest.mark.parametrize("number", [0, 1, 5])
def test_a_constraint_that_is_not_there_is_told_of_them_all(number: int) -> None:
    verdict = Verdict(nodegroup="g", status=Status.ERROR, constraint=number)
    manifest = template("gpu", request(), constraints=[CONSTRAINT])
    place = (f"constraints[{number}]") if number == 0 else "constraints"
    assert path_of(place_in(manifest, verdict)) == f"{BASE}.{place}"


def test_what_would_help_is_of_groups_that_the_pod_may_reach() -> None:
    plan = plan_of(P5, group("g6e", "g6e.12xlarge", mechanism=DRA))
    wanted = template("gpu", request(GPU, 5))
    two = pod("gpu", nodeSelector={"eks-devices/nodegroup": "p5"})
    two["spec"]["resourceClaims"].append({"name": "b", "resourceClaimTemplateName": "gpu"})
    two["spec"]["containers"][0]["resources"]["claims"].append({"name": "b"})
    report = checked(plan, wanted, two)
    (found,) = [x.finding for x in report.remarks if x.finding.code == "NoNodegroupServesPod"]
    assert found.fix.startswith("for p5, ask for fewer devices in all")
    # Nothing helps on the group that the Pod selects, and something does on the other.
    lost = pod(limits={"vpc.amazonaws.com/efa": 64}, nodeSelector={"eks-devices/nodegroup": "g6e"})
    more = plan_of(group("g6e", "g6e.12xlarge", mechanism=DRA), P4D)
    (found,) = [
        x.finding for x in checked(more, lost).remarks if x.finding.code == "NoNodegroupServesPod"
    ]
    select = "select the nodes of p4d instead: nodeSelector: {eks-devices/nodegroup: p4d}"
    assert found.fix == f"{select}, and ask for at most 4 vpc.amazonaws.com/efa"


def test_a_template_that_makes_two_claims_of_a_pod_is_named_once() -> None:
    two = pod("gpu")
    two["spec"]["resourceClaims"].append({"name": "b", "resourceClaimTemplateName": "gpu"})
    two["spec"]["containers"][0]["resources"]["claims"].append({"name": "b"})
    assert places(template("gpu", request(count=5)), two, code="NoNodegroupServesPod") == [""]


def test_a_mistake_in_a_class_is_told_with_its_expression_before_the_claim() -> None:
    texts = [f"device.driver == '{GPU}'", f"{NAME}x == 'x'"]
    own = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "own"},
        "spec": {"selectors": [{"cel": {"expression": one}} for one in texts]},
    }
    asked = template("gpu", request("own"))

    for code, wrong in (("AttemptFailsOnNodegroup", own), ("NoNodegroupServesPod", other(own))):
        first, second = places(wrong, asked, pod("gpu"), code=code)

        assert first == f"spec.selectors[{1 if wrong is own else 0}].cel.expression"
        assert second.startswith(BASE)


def other(own: dict[str, Any]) -> dict[str, Any]:
    selectors = [{"cel": {"expression": "device.driver == 'nvidia.com'"}}]
    return {**own, "spec": {"selectors": selectors}}
