"""Manifests from anywhere against the node groups of a plan."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cluster_plans import cluster_of
from tests.hostile import (
    NUMBER_TOKEN,
    TOKEN,
    Hostile,
    HostileList,
    HostileMapping,
    Untouchable,
    endless,
)

from eks_devices.workload_check import Document, WorkloadReport, check_workloads

HOSTILE = [
    {1, 2},
    Hostile(),
    Untouchable(),
    HostileMapping(),
    HostileList([1]),
    endless(),
    TOKEN,
    NUMBER_TOKEN,
    b"bytes",
    object,
    None,
    True,
    [[[]]],
]
PLAN = cluster_of({"instance_type": "p5.48xlarge"})
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists"}


def template(count: int, *, name: str = "gpus") -> dict[str, Any]:
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": count}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }


def pod_spec(*templates: str, **more: Any) -> dict[str, Any]:
    claims = [{"name": one, "resourceClaimTemplateName": one} for one in templates]
    resources = {"claims": [{"name": one} for one in templates]}
    return {
        "restartPolicy": "Never",
        "tolerations": [TOLERATION],
        "resourceClaims": claims,
        "containers": [{"name": "main", "image": "train", "resources": resources}],
        **more,
    }


def job(spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train"},
        "spec": {"template": {"spec": spec}},
    }


def checked(*manifests: dict[str, Any]) -> WorkloadReport:
    documents = [Document(origin="file", content=one) for one in manifests]
    return check_workloads(documents, PLAN)


def codes(report: WorkloadReport) -> list[str]:
    return [one.finding.code for one in report.remarks]


def test_a_job_whose_claim_a_group_can_serve_is_told_nothing() -> None:
    report = checked(template(8), job(pod_spec("gpus")))
    assert codes(report) == []
    assert [one.verdicts[0].status for one in report.pods] == ["feasible"]


def test_a_job_that_wants_more_than_a_node_has_is_told_at_its_pods() -> None:
    report = checked(template(9), job(pod_spec("gpus")))
    (remark,) = report.remarks
    assert remark.finding.code == "NoNodegroupServesPod"
    assert remark.steps == ("spec", "template", "spec")
    assert report.is_wrong


def test_a_taint_that_is_not_tolerated_keeps_pods_away() -> None:
    report = checked(template(1), job(pod_spec("gpus", tolerations=[])))
    assert codes(report) == ["NoNodegroupServesPod"]
    assert report.pods[0].verdicts[0].code == "TaintNotTolerated"


def test_a_node_selector_that_no_group_fits_keeps_pods_away() -> None:
    spec = pod_spec("gpus", nodeSelector={"node.kubernetes.io/instance-type": "p4d.24xlarge"})
    assert checked(template(1), job(spec)).pods[0].verdicts[0].code == "NodeSelectorDiffers"


def test_items_of_a_list_are_looked_at_with_their_places() -> None:
    report = checked({"kind": "List", "items": [template(9), job(pod_spec("gpus"))]})
    (remark,) = report.remarks
    assert remark.document.base == ("items", 1)


@pytest.mark.parametrize("value", HOSTILE, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("field", ["nodeSelector", "tolerations", "affinity", "resourceClaims"])
def test_values_that_are_no_json_are_looked_at_as_unknown(field: str, value: Any) -> None:
    for given in (value, {"a": value}, [value], [{"name": value, "key": value}]):
        spec = pod_spec("gpus", **{field: given})
        checked(template(1), job(spec))
