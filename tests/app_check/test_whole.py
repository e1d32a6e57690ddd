"""Claims and Pods in the manifests of an app against the node groups of a cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.app_check.manifests import documents, job, template
from tests.cluster_plans import cluster_of
from tests.hostile import NUMBER_TOKEN, TOKEN
from tests.short_names import DRA

from eks_devices import Finding, Severity
from eks_devices.app_check import check_manifests
from eks_devices.workload_check import Document

PLAN = cluster_of({"instance_type": "p5.48xlarge"}, {"instance_type": "trn2.48xlarge"})
NEVER = 'device.attributes["gpu.nvidia.com"].productName == "Voodoo"'
# Neuron devices of Inf2 have no place in a torus, and Trn2's have one.
BY_PLACE = 'device.attributes["neuron.aws.com"].topology_x == 0'
NEURON_NODES = cluster_of(
    {"instance_type": "trn2.48xlarge"}, {"instance_type": "inf2.48xlarge", "mechanism": DRA}
)


def found(*manifests: dict[str, Any], planned: Any = (), plan: Any = PLAN) -> list[Finding]:
    report = check_manifests(documents(*manifests), plan, planned_claims=planned)
    return [one.finding for one in report.findings]


def codes(*manifests: dict[str, Any], **options: Any) -> list[str]:
    return [one.code for one in found(*manifests, **options)]


def test_what_a_group_can_serve_is_told_nothing():
    assert codes(template(8), job("gpus")) == []


def test_a_claim_that_no_group_serves_is_told_once_with_each_reason():
    (told,) = found(template(9), job("gpus"))
    assert (told.code, told.severity) == ("NoNodegroupServesPod", Severity.ERROR)
    assert told.path == "Stack/Jobs: Job default/train.spec.template.spec"
    assert "g0: request one: it wants 9 devices" in told.message
    assert "g1: " in told.message


def test_claims_of_one_name_that_two_constructs_send_to_one_cluster_are_an_error():
    sent = [
        Document(origin="Stack/First", content=template(1)),
        Document(origin="Stack/Second", content=template(2)),
    ]
    told = [one.finding for one in check_manifests(sent, PLAN).findings]
    (clash,) = [one for one in told if one.code == "ClaimNameClash"]
    assert clash.severity is Severity.ERROR
    assert "Stack/First" in clash.message


def test_a_claim_that_no_pod_names_is_judged_too():
    assert codes(template(1, NEVER)) == ["NoNodegroupServesClaim"]


def test_a_pod_that_reaches_no_group_of_its_claim_is_told_at_its_place():
    (told,) = found(template(8), job("gpus", tolerations=[]))
    assert told.code == "NoNodegroupServesPod"
    assert told.path.startswith("Stack/Jobs: Job default/train.spec.template.spec")


def test_pods_of_a_claim_of_the_app_itself_are_judged_with_it():
    assert codes(job("gpus"), planned=[template(8)]) == []
    assert codes(job("gpus", tolerations=[]), planned=[template(8)]) == ["NoNodegroupServesPod"]


def test_a_claim_of_the_app_that_no_group_serves_is_not_told_again_with_its_pods():
    assert codes(job("gpus"), planned=[template(9)]) == []


@pytest.mark.parametrize("selector", ["1", 'device.attributes["gpu.nvidia.com"].nothing == 1'])
def test_a_claim_of_the_app_with_an_expression_at_fault_is_not_told_again(selector):
    assert codes(job("gpus"), planned=[template(1, selector)]) == []


def test_a_malformed_claim_is_told_with_the_place_and_hides_nothing_else():
    bad = template("many", name="bad")
    told = found(bad, job("bad", name="first"), template(9))
    assert [one.code for one in told] == ["MalformedClaim", "NoNodegroupServesClaim"]
    assert told[0].path == (
        "Stack/Jobs: ResourceClaimTemplate default/bad.spec.spec.devices.requests[0].exactly.count"
    )


def test_a_claim_that_the_app_does_not_send_is_an_info():
    (told,) = found(job("gpus"))
    assert (told.code, told.severity) == ("ClaimNotFound", Severity.INFO)


def test_a_claim_whose_name_only_the_deployment_knows_is_not_missed():
    assert codes(job(TOKEN)) == []
    assert codes(template(1, name=TOKEN), job(TOKEN)) == []
    assert codes(job("gpus") | {"metadata": {"name": "train", "namespace": TOKEN}}) == []


def test_items_of_a_list_are_manifests():
    several = {"apiVersion": "v1", "kind": "List", "items": [template(9), job("gpus")]}
    (told,) = found(several)
    assert told.path == "Stack/Jobs: Job default/train.items[1].spec.template.spec"


def test_a_class_of_the_app_is_known_to_its_claims():
    own = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "mine"},
        "spec": {"selectors": [{"cel": {"expression": 'device.driver == "gpu.nvidia.com"'}}]},
    }
    claim = template(8, device_class="mine")
    assert codes(claim) == ["NoNodegroupServesClaim"]
    assert codes(claim, own) == []


def neuron_job(**spec: Any) -> list[Finding]:
    """What is told of a job whose claim reads what devices of one group alone have."""
    tolerations = [{"key": "aws.amazon.com/neuron", "operator": "Exists"}]
    claim = template(1, BY_PLACE, device_class="neuron.aws.com")
    return found(claim, job("gpus", **({"tolerations": tolerations} | spec)), plan=NEURON_NODES)


def test_pods_at_which_the_scheduler_ends_its_attempt_are_told():
    (told,) = neuron_job()
    assert told.code == "AttemptFailsOnNodegroup"
    assert "on nodes of g1" in told.message
    assert told.path.startswith("Stack/Jobs: Job default/train.spec.template.spec")


def test_pods_that_are_kept_off_such_nodes_are_not_told():
    assert neuron_job(nodeSelector={"eks-devices/nodegroup": "g0"}) == []


@pytest.mark.parametrize("unknown", [TOKEN, NUMBER_TOKEN])
def test_a_claim_with_a_value_of_the_deployment_is_not_judged(unknown):
    assert codes(template(unknown), job("gpus")) == []


def test_a_claim_of_a_class_with_a_value_of_the_deployment_is_not_judged():
    own = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "mine"},
        "spec": {"selectors": [{"cel": {"expression": TOKEN}}]},
    }
    assert codes(template(8, device_class="mine"), own) == []


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": {"team": TOKEN}},
        {"nodeSelector": {TOKEN: "a"}},
        {"nodeSelector": TOKEN},
        {"tolerations": [{"key": TOKEN}]},
        {"tolerations": TOKEN},
        {"affinity": {"nodeAffinity": TOKEN}},
        {"nodeName": TOKEN},
        {"schedulerName": TOKEN},
        {"serviceAccountName": TOKEN, "resourceClaims": TOKEN},
    ],
)
def test_what_only_the_deployment_knows_of_a_pod_speaks_for_it(spec):
    assert codes(template(8), job("gpus", **spec)) == []


def test_the_known_part_of_a_pod_is_judged_beside_the_unknown():
    selector = {"team": TOKEN, "eks-devices/nodegroup": "other"}
    assert codes(template(8), job("gpus", nodeSelector=selector)) == ["NoNodegroupServesPod"]


def test_without_groups_or_manifests_nothing_is_told():
    assert found(template(9), plan=cluster_of()) == []
    assert found() == []


def deep(levels: int) -> Any:
    value: Any = {"kind": "Pod"}
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "manifest",
    [
        {},
        {"kind": 7, "metadata": 3, "spec": None},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim"},
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "spec": 4},
        {"kind": "List", "items": "text"},
        {"kind": "Pod", "spec": {"containers": [3], "nodeSelector": 3, "tolerations": 4}},
        {"kind": "Pod", "spec": {"containers": [{}], "resourceClaims": [{"name": []}]}},
        {"kind": "Pod", "spec": {"containers": deep(300), "token": TOKEN}},
    ],
)
def test_manifests_of_any_form_raise_nothing(manifest):
    found(json.loads(json.dumps(manifest)))
