"""Whatever is passed as a manifest is told of, or passed over, and stops nobody."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hostile import (
    NUMBER_TOKEN,
    TOKEN,
    Hostile,
    HostileList,
    HostileMapping,
    HostileText,
    Untouchable,
)
from tests.workload_manifests import GPU, P5, checked, codes, plan_of, pod, request, template

from eks_devices import EksDevicesError
from eks_devices.workload_check import Document, check_workloads
from eks_devices.workload_check.documents import frozen

PLAN = plan_of(P5)
VALUES: list[Any] = [
    None,
    True,
    -1,
    1.5,
    "",
    "x" * 100_000,
    [],
    {},
    [[]],
    {1: 2},
    TOKEN,
    NUMBER_TOKEN,
    HostileText("x"),
    Hostile(),
    Untouchable(),
    HostileMapping(),
    HostileList([1]),
    {1, 2},
    b"x",
    float("nan"),
    10**400,
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
@pytest.mark.parametrize(
    "steps",
    [
        ("kind",),
        ("apiVersion",),
        ("metadata",),
        ("metadata", "name"),
        ("metadata", "namespace"),
        ("spec",),
        ("spec", "containers"),
        ("spec", "containers", 0),
        ("spec", "containers", 0, "name"),
        ("spec", "containers", 0, "resources"),
        ("spec", "containers", 0, "resources", "limits"),
        ("spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"),
        ("spec", "containers", 0, "resources", "claims"),
        ("spec", "initContainers"),
        ("spec", "resourceClaims"),
        ("spec", "resourceClaims", 0),
        ("spec", "resourceClaims", 0, "resourceClaimTemplateName"),
        ("spec", "tolerations"),
        ("spec", "tolerations", 0),
        ("spec", "tolerations", 0, "key"),
        ("spec", "nodeSelector"),
        ("spec", "affinity"),
        ("spec", "affinity", "nodeAffinity"),
        ("spec", "nodeName"),
        ("spec", "schedulerName"),
        ("spec", "os"),
        ("spec", "resources"),
    ],
    ids=lambda steps: ".".join(map(str, steps)),
)
def test_a_value_of_any_kind_anywhere_in_a_pod_stops_nobody(steps: Any, value: Any) -> None:
    manifest = pod("gpu", limits={"nvidia.com/gpu": 1}, affinity={}, nodeSelector={})
    owner: Any = manifest
    for step in steps[:-1]:
        owner = owner[step]
    owner[steps[-1]] = value
    report = checked(PLAN, template("gpu", request()), manifest)
    assert all(one.finding.message for one in report.remarks)
    json.dumps([one.to_dict() for found in report.pods for one in found.verdicts])


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
@pytest.mark.parametrize(
    "kind", ["ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "TrainJob"]
)
def test_a_spec_of_any_kind_stops_nobody(kind: str, value: Any) -> None:
    for api in ("resource.k8s.io/v1", "resource.k8s.io/v1beta1", "trainer.kubeflow.org/v1alpha1"):
        manifest = {"apiVersion": api, "kind": kind, "metadata": {"name": "gpu"}, "spec": value}
        report = checked(PLAN, manifest, pod("gpu"))
        assert all(one.finding.message for one in report.remarks)


@pytest.mark.parametrize("content", [*VALUES, {"kind": Hostile()}], ids=range(len(VALUES) + 1))
def test_a_content_of_any_kind_is_told_or_passed_over(content: Any) -> None:
    report = checked(PLAN, content)
    assert set(codes(report)) <= {"ManifestNotRead"}


def test_what_holds_itself_is_told() -> None:
    manifest = pod("gpu")
    manifest["spec"]["self"] = manifest
    assert codes(checked(PLAN, manifest)) == ["ManifestNotRead"]


def test_a_large_schema_of_a_custom_resource_is_passed_over() -> None:
    fields = {f"f{at}": {"type": "string"} for at in range(20_000)}
    schema = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    assert codes(checked(PLAN, {**schema, "spec": fields})) == []


@pytest.mark.parametrize(
    ("documents", "plan", "more"),
    [
        (None, PLAN, {}),
        ([pod()], PLAN, {}),
        ([Document(origin="x", content={})], None, {}),
        ([], PLAN, {"namespace": 5}),
        ([], PLAN, {"planned_claims": [5]}),
        ([], PLAN, {"planned_claims": 5}),
    ],
)
def test_arguments_of_another_kind_are_refused(documents: Any, plan: Any, more: Any) -> None:
    with pytest.raises(EksDevicesError):
        check_workloads(documents, plan, **more)


TEXTS = st.sampled_from(
    ["spec", "containers", "resources", "limits", "nvidia.com/gpu", "kind", "Pod", "name", GPU, "1"]
)
TREES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(spec=TREES, containers=st.lists(TREES, max_size=3))
def test_specs_of_any_shape_are_looked_at_without_harm(spec: Any, containers: Any) -> None:
    more = spec if isinstance(spec, dict) else {}
    manifest = {"kind": "Pod", "spec": {**more, "containers": [{}, *containers]}}
    report = checked(PLAN, manifest)
    assert report.templates >= 1


def test_thousands_of_containers_resources_and_labels_take_a_moment() -> None:
    containers = [
        {
            "name": f"c{at}",
            "image": "x",
            "resources": {"limits": {f"example.com/r{at}": 1, "nvidia.com/gpu": 1}},
        }
        for at in range(1000)
    ]
    labels = {f"label{at}": "x" for at in range(2000)}
    start = time.process_time()
    report = checked(PLAN, frozen(pod(containers=containers, nodeSelector=labels)))
    assert time.process_time() - start < 3
    assert codes(report) == ["NoNodegroupServesPod"]


def test_thousands_of_templates_in_one_manifest_take_a_moment() -> None:
    pods = {"spec": {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}
    jobs = [{"name": f"j{at}", "template": {"spec": {"template": pods}}} for at in range(2000)]
    job_set = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "many"},
        "spec": {"replicatedJobs": jobs},
    }

    start = time.process_time()
    report = checked(PLAN, frozen(job_set))
    assert time.process_time() - start < 5
    assert report.templates == 2000
