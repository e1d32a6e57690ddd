"""RuntimeClasses and overhead, as the admission plug-in of Kubernetes 1.34 takes them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workload_manifests import G6E, checked, codes, message, plan_of, pod, verdict

from eks_devices import NodegroupSpec, Taint, TaintEffect, plan_cluster
from eks_devices.vocabulary import Mechanism

PLAN = plan_of(G6E)
GPU = {"nvidia.com/gpu": 1}


def runtime_class(**fields: Any) -> dict[str, Any]:
    metadata = {"name": "kata"}
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": metadata,
        "handler": "kata",
        **fields,
    }


def overhead(**amounts: Any) -> dict[str, Any]:
    return runtime_class(overhead={"podFixed": amounts})


def kata(limits: Any = GPU, **spec: Any) -> dict[str, Any]:
    return pod(limits=limits, runtimeClassName="kata", **spec)


@pytest.mark.parametrize(
    ("cpus", "expected"), [("8", ("feasible", "")), ("9", ("infeasible", "TooFewCpus"))]
)
def test_the_overhead_of_a_class_counts(cpus: str, expected: Any) -> None:
    asked = kata(limits=GPU | {"cpu": 40})
    assert verdict(PLAN, overhead(cpu=cpus), asked) == {"g6e": expected}


def test_it_counts_in_how_many_pods_a_node_serves() -> None:
    (without,) = checked(PLAN, pod(limits=GPU | {"cpu": 12})).pods
    (with_more,) = checked(PLAN, overhead(cpu=12), kata(limits=GPU | {"cpu": 12})).pods
    assert (without.verdicts[0].fits, with_more.verdicts[0].fits) == (4, 2)


@pytest.mark.parametrize(
    ("given", "is_right"),
    [
        (None, True),
        ({"cpu": 2, "memory": "1Gi"}, True),
        ({"cpu": "2000m", "memory": "1024Mi"}, True),
        ({"cpu": 3, "memory": "1Gi"}, False),
        ({"cpu": 2}, False),
        ({}, False),
    ],
)
def test_a_pod_has_the_overhead_of_its_class_or_names_none(given: Any, is_right: bool) -> None:
    report = checked(PLAN, overhead(cpu=2, memory="1Gi"), kata(overhead=given))
    assert codes(report) == ([] if is_right else ["OverheadOfNoRuntimeClass"])


@pytest.mark.parametrize("given", [{"cpu": 1}, {}])
def test_overhead_without_a_class_is_refused(given: Any) -> None:
    report = checked(PLAN, pod(limits=GPU, overhead=given))
    assert codes(report) == ["OverheadOfNoRuntimeClass"]
    assert "leave overhead out" in message(report, "OverheadOfNoRuntimeClass")
    assert not report.pods[0].serving


def test_a_class_selects_nodes() -> None:
    scheduling = {"nodeSelector": {"eks-devices/nodegroup": "other"}}
    found = verdict(PLAN, runtime_class(scheduling=scheduling), kata())
    assert found == {"g6e": ("infeasible", "NodeSelectorDiffers")}


def test_a_class_that_selects_otherwise_than_its_pods_is_refused() -> None:
    scheduling = {"nodeSelector": {"eks-devices/nodegroup": "g6e"}}
    selected = {"eks-devices/nodegroup": "g6"}
    wrong = checked(PLAN, runtime_class(scheduling=scheduling), kata(nodeSelector=selected))
    right = checked(
        PLAN,
        runtime_class(scheduling=scheduling),
        kata(nodeSelector={"eks-devices/nodegroup": "g6e", "kubernetes.io/arch": "amd64"}),
    )
    assert "RuntimeClassConflict" in codes(wrong)
    assert codes(right) == []


def test_a_class_tolerates_taints_for_its_pods() -> None:
    taint = Taint(key="sandbox", value="kata", effect=TaintEffect.NO_SCHEDULE)
    group = NodegroupSpec(
        name="g",
        instance_type="g6e.12xlarge",
        max_size=1,
        mechanism=Mechanism.DEVICE_PLUGIN,
        taints=[taint],
    )
    plan = plan_cluster(kubernetes_version="1.36", nodegroups=[group])
    tolerations = [{"key": "sandbox", "operator": "Exists"}]
    tolerating = runtime_class(scheduling={"tolerations": tolerations})
    assert verdict(plan, runtime_class(), kata(tolerations=[]))["g"] == (
        "infeasible",
        "TaintNotTolerated",
    )
    assert verdict(plan, tolerating, kata(tolerations=[]))["g"] == ("feasible", "")


def test_a_class_in_no_file_is_told_with_what_may_be_meant() -> None:
    other = pod(limits=GPU, runtimeClassName="kat")
    report = checked(PLAN, runtime_class(), other)
    assert codes(report) == ["RuntimeClassNotFound"]
    assert "did you mean kata?" in message(report, "RuntimeClassNotFound")
    assert report.pods[0].serving


@pytest.mark.parametrize("fields", [{"overhead": 1}, {"scheduling": []}, {"overhead": {"x": 1}}])
def test_classes_of_no_form_add_nothing(fields: Any) -> None:
    assert codes(checked(PLAN, runtime_class(**fields), kata())) == []


def test_of_pods_without_devices_nothing_is_told() -> None:
    assert codes(checked(PLAN, pod(runtimeClassName="gvisor", overhead={"cpu": 1}))) == []
