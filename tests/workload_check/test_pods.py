"""Pods are found in manifests of every kind, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workload_manifests import (
    G6E,
    P5,
    checked,
    codes,
    plan_of,
    pod,
    request,
    said,
    template,
)

PLAN = plan_of(P5)
SPEC = pod("gpu")["spec"]
TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": SPEC}
OF_JOB = TEMPLATE | {"spec": SPEC | {"restartPolicy": "OnFailure"}}
CONTROLLER = {"selector": {"matchLabels": {"app": "x"}}, "template": TEMPLATE}
ONE, NINE = template("gpu", request(count=1)), template("gpu", request(count=9))


def workload(kind: str, api: str, spec: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "w"}, "spec": spec}


KINDS = {
    "Pod": workload("Pod", "v1", SPEC),
    "PodTemplate": {"apiVersion": "v1", "kind": "PodTemplate", "template": TEMPLATE},
    "Job": workload("Job", "batch/v1", {"template": OF_JOB}),
    "CronJob": workload("CronJob", "batch/v1", {"jobTemplate": {"spec": {"template": OF_JOB}}}),
    "Deployment": workload("Deployment", "apps/v1", CONTROLLER),
    "ReplicaSet": workload("ReplicaSet", "apps/v1", CONTROLLER),
    "StatefulSet": workload("StatefulSet", "apps/v1", CONTROLLER),
    "DaemonSet": workload("DaemonSet", "apps/v1", CONTROLLER),
    "MPIJob": workload(
        "MPIJob", "kubeflow.org/v2beta1", {"mpiReplicaSpecs": {"Worker": {"template": TEMPLATE}}}
    ),
    "PyTorchJob": workload(
        "PyTorchJob", "kubeflow.org/v1", {"pytorchReplicaSpecs": {"Master": {"template": TEMPLATE}}}
    ),
    "RayCluster": workload(
        "RayCluster", "ray.io/v1", {"workerGroupSpecs": [{"template": TEMPLATE}]}
    ),
    "RayJob": workload(
        "RayJob", "ray.io/v1", {"rayClusterSpec": {"headGroupSpec": {"template": TEMPLATE}}}
    ),
    "RayService": workload(
        "RayService", "ray.io/v1", {"rayClusterConfig": {"headGroupSpec": {"template": TEMPLATE}}}
    ),
    "LeaderWorkerSet": workload(
        "LeaderWorkerSet",
        "leaderworkerset.x-k8s.io/v1",
        {"leaderWorkerTemplate": {"size": 2, "workerTemplate": TEMPLATE}},
    ),
    "JobSet": workload(
        "JobSet",
        "jobset.x-k8s.io/v1alpha2",
        {"replicatedJobs": [{"name": "w", "template": {"spec": {"template": TEMPLATE}}}]},
    ),
    "of nobody": workload("Train", "example.com/v1", {"deep": [{"er": {"pod": TEMPLATE}}]}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_pods_of_a_kind_are_found_and_judged(kind: str) -> None:
    assert codes(checked(PLAN, ONE, KINDS[kind])) == []
    report = checked(PLAN, NINE, KINDS[kind])
    assert codes(report) == ["NoNodegroupServesPod"]
    (found,) = report.pods
    value: Any = KINDS[kind]
    for step in report.remarks[0].steps:
        value = value[step]
    assert value["containers"] == SPEC["containers"]
    assert said(found) == {"p5": ("infeasible", "TooFewDevices")}


def test_the_leader_and_the_workers_of_a_set_are_judged_apart() -> None:
    inner = {"leaderTemplate": {"spec": pod("nine")["spec"]}, "workerTemplate": TEMPLATE}
    workers = workload(
        "LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", {"leaderWorkerTemplate": inner}
    )
    report = checked(PLAN, ONE, template("nine", request(count=9)), workers)
    (remark,) = report.remarks
    assert remark.steps == ("spec", "leaderWorkerTemplate", "leaderTemplate", "spec")
    assert len(report.pods) == 2


@pytest.mark.parametrize(
    ("kind", "api"),
    [
        ("ConfigMap", "v1"),
        ("ClusterPolicy", "kyverno.io/v1"),
        ("CustomResourceDefinition", "apiextensions.k8s.io/v1"),
        ("Assign", "mutations.gatekeeper.sh/v1"),
    ],
)
def test_what_only_looks_like_a_pod_is_passed_over(kind: str, api: str) -> None:
    report = checked(PLAN, workload(kind, api, {"rules": [TEMPLATE]}))
    assert (codes(report), report.pods, report.templates) == ([], (), 0)


def test_pods_without_devices_are_not_judged() -> None:
    plain = pod(limits={"cpu": "4000", "memory": "9Ti"}, nodeSelector={"no": "such"})
    report = checked(PLAN, plain)
    assert (codes(report), report.pods, report.templates) == ([], (), 1)


def test_items_of_lists_in_lists_have_their_places() -> None:
    inner = {"kind": "PodList", "items": [5, KINDS["Pod"]]}
    report = checked(PLAN, {"kind": "List", "apiVersion": "v1", "items": [NINE, inner]})
    wrong, remark = report.remarks
    assert (*wrong.document.base, *wrong.steps) == ("items", 1, "items", 0)
    assert (*remark.document.base, *remark.steps) == ("items", 1, "items", 1, "spec")


@pytest.mark.parametrize(
    ("api", "kind", "items", "told"),
    [
        ("v1", "List", [None, "pod", 5, ["a"], {}], [0, 1, 2, 3]),
        ("v1", "List", {"a": "b"}, [None]),
        ("v1", "List", None, []),
        ("resource.k8s.io/v1", "ResourceClaimList", ["a"], [0]),
        ("network.example/v1", "AllowList", ["10.0.0.1", None], []),
    ],
)
def test_items_of_lists_that_are_no_objects_are_told(
    api: str, kind: str, items: Any, told: list[Any]
) -> None:
    report = checked(PLAN, {"apiVersion": api, "kind": kind, "items": items})
    assert {one.finding.code for one in report.remarks} == ({"WrongType"} if told else set())
    steps = [("items",) if at is None else ("items", at) for at in told]
    assert [one.steps for one in report.remarks] == steps


JOB_STEP = {"metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}}


def runtime(spec: Any, *, kind: str = "ClusterTrainingRuntime") -> dict[str, Any]:
    job = {"name": "node", "template": {**JOB_STEP, "spec": {"template": {"spec": spec}}}}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": kind,
        "metadata": {"name": "torch"},
        "spec": {"template": {"spec": {"replicatedJobs": [job]}}},
    }


def train_job(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "train"},
        "spec": {"runtimeRef": {"name": "torch"}, **spec},
    }


BASE = {"tolerations": [{"operator": "Exists"}], "containers": [{"name": "node", "image": "x"}]}
GPUS = {"resourcesPerNode": {"limits": {"nvidia.com/gpu": 4}}}
PLUGINS = plan_of(G6E)


@pytest.mark.parametrize(
    ("count", "code"), [(4, ("feasible", "")), (5, ("infeasible", "TooFewDevices"))]
)
def test_a_train_job_fills_the_pods_of_its_runtime(count: int, code: tuple[str, str]) -> None:
    job = train_job(trainer={"resourcesPerNode": {"limits": {"nvidia.com/gpu": count}}})
    report = checked(PLUGINS, runtime(BASE), job)
    (found,) = report.pods
    assert said(found) == {"g6e": code}
    assert found.pod.document.kind == "TrainJob"


def test_a_runtime_of_a_namespace_is_for_jobs_of_that_namespace() -> None:
    own = {"name": "torch", "kind": "TrainingRuntime"}
    job = train_job(runtimeRef=own, trainer=GPUS)
    assert codes(checked(PLUGINS, runtime(BASE, kind="TrainingRuntime"), job)) == []
    job["metadata"]["namespace"] = "other"
    found = codes(checked(PLUGINS, runtime(BASE, kind="TrainingRuntime"), job))
    assert "RuntimeNotFound" in found


def test_a_train_job_without_its_runtime_is_judged_by_what_it_says() -> None:
    report = checked(PLUGINS, train_job(trainer=GPUS))
    assert codes(report) == ["RuntimeNotFound"]
    many = {"resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}}
    assert "NoNodegroupServesPod" in codes(checked(PLUGINS, train_job(trainer=many)))


@pytest.mark.parametrize(
    ("named", "kind", "fix"),
    [
        ({"name": "torhc"}, "ClusterTrainingRuntime", "did you mean torch?"),
        (
            {"name": "torhc", "kind": "TrainingRuntime"},
            "ClusterTrainingRuntime",
            "did you mean the ClusterTrainingRuntime torch?",
        ),
        ({"name": "torch"}, "TrainingRuntime", "write kind: TrainingRuntime, as torch is one"),
        (
            {"name": "torch", "kind": "TrainingRuntimes"},
            "TrainingRuntime",
            "write kind: TrainingRuntime, as torch is one",
        ),
        (
            {"name": "mpi", "kind": "TrainingRuntimes"},
            "TrainingRuntime",
            "did you mean TrainingRuntime or ClusterTrainingRuntime?",
        ),
        ({"name": "mpi"}, "TrainingRuntime", "name the file that holds the runtime too"),
        ({}, "TrainingRuntime", "write runtimeRef: {name: ...}"),
    ],
    ids=repr,
)
def test_a_train_job_is_told_which_runtime_it_may_mean_without_devices_of_its_own_too(
    named: Any, kind: str, fix: str
) -> None:
    report = checked(PLUGINS, runtime(BASE, kind=kind), train_job(runtimeRef=named))
    (remark,) = report.remarks
    assert (remark.finding.code, remark.finding.fix) == ("RuntimeNotFound", fix)
    assert remark.steps == ("spec", "runtimeRef")


def test_a_runtime_of_another_namespace_is_told_so() -> None:
    own = {"name": "torch", "kind": "TrainingRuntime"}
    elsewhere = runtime(BASE, kind="TrainingRuntime")
    elsewhere["metadata"]["namespace"] = "ml"
    (remark,) = checked(PLUGINS, elsewhere, train_job(runtimeRef=own)).remarks
    assert "is in the namespace ml; TrainJobs use their own" in remark.finding.fix


CLAIM = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]}
OVERRIDES = [
    {"podTemplateOverrides": [{"targetJobs": [{"name": "node"}], "spec": CLAIM}]},
    {"podSpecOverrides": [{"targetJobs": [{"name": "node"}], **CLAIM}]},
    {
        "runtimePatches": [
            {
                "manager": "me",
                "trainingRuntimeSpec": {
                    "template": {
                        "spec": {
                            "replicatedJobs": [
                                {
                                    "name": "node",
                                    "template": {"spec": {"template": {"spec": CLAIM}}},
                                }
                            ]
                        }
                    }
                },
            }
        ]
    },
]


@pytest.mark.parametrize("override", OVERRIDES, ids=["overrides", "older overrides", "patches"])
@pytest.mark.parametrize("known", [True, False])
def test_claims_that_a_train_job_adds_to_pods_are_judged(override: Any, known: bool) -> None:
    trainer = {"resourcesPerNode": {"claims": [{"name": "gpu"}]}}
    manifests = [train_job(trainer=trainer, **override), *([runtime(BASE)] if known else [])]
    report = checked(PLAN, NINE, *manifests)
    (found,) = report.pods
    assert said(found) == {"p5": ("infeasible", "TooFewDevices")}


def test_a_runtime_that_no_job_names_is_judged_as_it_stands() -> None:
    spec = {**BASE, **CLAIM}
    assert codes(checked(PLAN, NINE, runtime(spec))) == ["NoNodegroupServesPod"]


def test_a_change_for_another_job_does_not_reach_the_pods() -> None:
    other = {"podTemplateOverrides": [{"targetJobs": [{"name": "launcher"}], "spec": CLAIM}]}
    assert checked(PLAN, NINE, runtime(BASE), train_job(**other)).pods == ()
