"""The claims that Pods name: where they are found, and what is told of them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workload_manifests import (
    BLOCK,
    EFA,
    G6E,
    GPU,
    NEURON,
    P4D,
    P5,
    TRN2,
    checked,
    codes,
    group,
    message,
    plan_of,
    pod,
    request,
    template,
    verdict,
)

from eks_devices.findings import Severity

PLAN = plan_of(P5)
ONE, NINE = template("gpu", request(count=1)), template("gpu", request(count=9))


def named(name: str) -> dict[str, Any]:
    return pod(resourceClaims=[{"name": "gpu", "resourceClaimName": name}])


def claim(name: str, *requests: Any) -> dict[str, Any]:
    made = template(name, *requests)
    return {**made, "kind": "ResourceClaim", "spec": made["spec"]["spec"]}


def test_a_named_claim_is_judged_with_the_pods_that_name_it() -> None:
    assert codes(checked(PLAN, claim("gpu", request(count=8)), named("gpu"))) == []
    found = codes(checked(PLAN, claim("gpu", request(count=9)), named("gpu")))
    assert found == ["NoNodegroupServesPod"]


def test_claims_of_the_plan_are_known() -> None:
    assert codes(checked(PLAN, pod("gpu"), planned_claims=[ONE])) == []
    found = codes(checked(PLAN, pod("gpu"), planned_claims=[NINE]))
    assert found == ["NoNodegroupServesPod"]


def test_a_claim_that_nobody_has_is_a_warning_and_its_pods_are_unknown() -> None:
    report = checked(PLAN, pod("gpu"))
    assert codes(report) == ["ClaimNotFound"]
    assert not report.is_wrong
    assert verdict(PLAN, pod("gpu")) == {"p5": ("unknown", "ClaimNotFound")}


def test_what_else_is_asked_for_is_judged_where_one_claim_is_not_found() -> None:
    found = codes(checked(PLAN, NINE, pod("gpu", "other")))
    assert found == ["ClaimNotFound", "NoNodegroupServesPod"]


@pytest.mark.parametrize(
    ("manifest", "told"),
    [
        (template("gpus", request()), "did you mean gpus?"),
        (template("gpu", request(), namespace="train"), "in the namespace train"),
        (claim("gpu", request()), "name it by resourceClaimName"),
    ],
)
def test_a_claim_that_is_not_found_is_told_what_is_near(manifest: Any, told: str) -> None:
    assert told in message(checked(PLAN, manifest, pod("gpu")), "ClaimNotFound")


def test_manifests_without_a_namespace_are_in_the_one_that_is_given() -> None:
    there = template("gpu", request(count=9), namespace="train")
    assert "ClaimNotFound" in codes(checked(PLAN, there, pod("gpu")))
    found = codes(checked(PLAN, there, pod("gpu"), namespace="train"))
    assert found == ["NoNodegroupServesPod"]


def test_claims_that_no_pod_names_are_judged_alone() -> None:
    report = checked(PLAN, NINE)
    assert codes(report) == ["NoNodegroupServesClaim"]
    assert [str(one.verdicts[0].status) for one in report.claims] == ["infeasible"]
    assert "at most 8" in message(report, "NoNodegroupServesClaim")
    assert codes(checked(PLAN, ONE)) == []


def test_a_claim_that_a_pod_names_is_not_told_twice() -> None:
    assert codes(checked(PLAN, NINE, pod("gpu"))) == ["NoNodegroupServesPod"]


FLAT = {"name": "gpu", "deviceClassName": GPU, "count": 9, "allocationMode": "ExactCount"}


@pytest.mark.parametrize(
    ("version", "asked"),
    [
        ("v1beta2", request(count=9)),
        ("v1beta1", FLAT),
        ("v1beta1", {"name": "gpu", "firstAvailable": [{**FLAT, "name": "a"}]}),
        ("v1alpha3", FLAT),
    ],
)
def test_claims_of_versions_that_the_cluster_lacks_are_faults_and_judged_all_the_same(
    version: str, asked: Any
) -> None:
    old = {**template("gpu", asked), "apiVersion": f"resource.k8s.io/{version}"}
    report = checked(PLAN, old, pod("gpu"))
    assert codes(report) == ["ApiVersionNotServed", "NoNodegroupServesPod"]
    assert "resource.k8s.io/v1" in message(report, "ApiVersionNotServed")


def test_a_claim_of_a_version_of_long_ago_is_told_once() -> None:
    old = {"apiVersion": "resource.k8s.io/v1alpha2", "kind": "ResourceClaim"}
    report = checked(PLAN, {**old, "metadata": {"name": "gpu"}, "spec": {"resourceClassName": "x"}})
    assert codes(report) == ["ApiVersionNotServed"]


def test_requests_of_flat_versions_are_to_be_moved_below_exactly() -> None:
    old = {**template("gpu", FLAT), "apiVersion": "resource.k8s.io/v1beta1"}
    assert "exactly" in message(checked(PLAN, old), "ApiVersionNotServed")
    named_otherwise = {**ONE, "apiVersion": "resource.k8s.io/v1beta2"}
    assert "exactly" not in message(checked(PLAN, named_otherwise), "ApiVersionNotServed")


def test_a_claim_that_the_api_server_refuses_is_told_once_at_its_place() -> None:
    bad = template("gpu", {"name": "gpu", "exactly": {"count": 1}})
    report = checked(PLAN, bad, pod("gpu"), pod("gpu"))
    (remark,) = report.remarks
    assert remark.finding.code == "MalformedClaim"
    assert remark.finding.message == "deviceClassName is missing"
    assert remark.document.kind == "ResourceClaimTemplate"
    base = ("spec", "spec", "devices", "requests", 0, "exactly", "deviceClassName")
    assert remark.steps == base
    assert verdict(PLAN, bad, pod("gpu")) == {"p5": ("infeasible", "MalformedClaim")}


def test_a_claim_for_too_many_devices_is_told_once_and_names_the_way_out() -> None:
    whole = template("gpu", request(count=8), request(EFA, 32))
    report = checked(PLAN, whole, pod("gpu"), pod("gpu"))
    assert codes(report) == ["TooManyDevicesInClaim"]
    assert "two claims" in message(report, "TooManyDevicesInClaim")
    split = [template("gpu", request(count=8)), template("efa", request(EFA, 32))]
    assert codes(checked(PLAN, *split, pod("gpu", "efa"))) == []


def test_a_claim_of_the_plan_for_too_many_devices_is_told_at_the_pod() -> None:
    whole = template("gpu", request(count=8), request(EFA, 32))
    report = checked(PLAN, pod("gpu"), planned_claims=[whole])
    assert codes(report) == ["TooManyDevicesInClaim"]
    assert report.remarks[0].document.kind == "Pod"


def test_an_expression_that_the_api_server_refuses_is_told_at_its_place() -> None:
    bad = template("gpu", request(GPU, 1, "true", "1 + 'a' == 2"))
    report = checked(PLAN, bad, pod("gpu"))
    (remark,) = report.remarks
    assert remark.finding.code == "ExpressionInvalid"
    assert remark.steps[-4:] == ("selectors", 1, "cel", "expression")


def test_an_unused_claim_whose_expression_fails_on_devices_is_told() -> None:
    bad = template("gpu", request(GPU, 1, f"device.attributes['{GPU}'].never == 'x'"))
    assert codes(checked(PLAN, bad)) == ["AttemptFailsOnNodegroup"]


def device_class(name: str = "mine", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {
            "selectors": [{"cel": {"expression": f"device.driver == '{GPU}'"}}],
            **spec,
        },
    }


def test_device_classes_among_the_manifests_count() -> None:
    mine = template("gpu", request("mine", 8))
    assert codes(checked(PLAN, mine, pod("gpu"), device_class())) == []
    report = checked(PLAN, mine, pod("gpu"))
    assert "there is no DeviceClass mine" in message(report, "NoNodegroupServesPod")


def test_a_misspelt_device_class_is_told_what_is_near() -> None:
    report = checked(PLAN, template("gpu", request("gpu.nvidia.co")), pod("gpu"))
    assert f"did you mean {GPU}" in message(report, "NoNodegroupServesPod")


def test_a_device_class_that_the_api_server_refuses_is_told() -> None:
    report = checked(PLAN, device_class(selectors=[{"cel": {}}]), template("gpu", request("mine")))
    assert next(one.document.kind for one in report.remarks) == "DeviceClass"


DOMAIN = {
    "apiVersion": "resource.nvidia.com/v1beta1",
    "kind": "ComputeDomain",
    "metadata": {"name": "job"},
    "spec": {"numNodes": 2, "channel": {"resourceClaimTemplate": {"name": "job-channel"}}},
}
GB200 = plan_of(group("gb200", "p6e-gb200.36xlarge", capacity=BLOCK), G6E)


@pytest.mark.parametrize("is_planned", [True, False])
def test_the_template_of_a_compute_domain_is_known(is_planned: bool) -> None:
    planned = {"planned_claims": [DOMAIN]} if is_planned else {}
    manifests = [pod("job-channel"), *([] if is_planned else [DOMAIN])]
    found = verdict(GB200, *manifests, **planned)
    assert found["gb200"][0] == "feasible"
    assert found["g6e"] == ("infeasible", "ClassNotOnGroup")


def test_the_template_of_an_operator_is_known_without_what_it_asks_for() -> None:
    work = {
        "apiVersion": "neuron.aws.com/v1beta1",
        "kind": "NeuronUltraServerWorkload",
        "metadata": {"name": "w"},
        "spec": {"resourceClaimTemplate": {"name": "ultra"}},
    }
    assert "ClaimNotFound" not in codes(checked(PLAN, work, pod("ultra")))


def test_a_claim_of_devices_that_a_plugin_hands_out_is_told_so() -> None:
    report = checked(plan_of(P4D), ONE, pod("gpu"))
    assert "handed out by the device plugin" in message(report, "NoNodegroupServesPod")
    assert "nvidia.com/gpu" in message(report, "NoNodegroupServesPod")


def test_claims_of_equal_content_keep_their_own_names() -> None:
    other = template("other", request())
    report = checked(PLAN, ONE, other, pod("gpu"), pod("other"))
    claims = [one.verdicts[0].devices[0].claim for one in report.pods]
    assert claims == ["gpu", "other"]


ALL_EFAS = {"name": "efa", "exactly": {"deviceClassName": EFA, "allocationMode": "All"}}
WHOLE_TRN2 = template("whole", request(NEURON, 4), ALL_EFAS)
BOTH_KINDS = plan_of(P5, TRN2)


def test_a_claim_that_wants_too_many_only_of_nodes_its_pods_keep_off_is_told_nothing() -> None:
    neuron_only = pod("whole", tolerations=[{"key": "aws.amazon.com/neuron", "operator": "Exists"}])
    report = checked(BOTH_KINDS, WHOLE_TRN2, neuron_only)
    assert "TooManyDevicesInClaim" not in codes(report)
    assert not report.is_wrong
    assert not checked(BOTH_KINDS, WHOLE_TRN2).is_wrong


def test_pods_that_reach_nodes_of_which_a_claim_wants_too_many_are_told_which() -> None:
    report = checked(BOTH_KINDS, WHOLE_TRN2, pod("whole"))
    (remark,) = [one for one in report.remarks if one.finding.severity is Severity.ERROR]
    assert remark.finding.code == "AttemptFailsOnNodegroup"
    assert "nodes of p5" in remark.finding.message
    assert "{eks-devices/nodegroup: trn2}" in remark.finding.fix
