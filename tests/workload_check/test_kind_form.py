"""Objects that Kubernetes' own controllers take, and their Pods that are written where none are."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tests.workload_manifests import P5, checked, codes, message, plan_of, pod, request, template

PLAN = plan_of(P5)
ONE = template("gpu", request())
SPEC = pod("gpu")["spec"]
LABELS = {"app": "train", "tier": "a"}
APPS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")


def job(**spec: Any) -> dict[str, Any]:
    return whole("Job", "batch/v1", {"template": {"spec": {**SPEC, **spec}}})


def cron(**spec: Any) -> dict[str, Any]:
    inner = job(**spec)["spec"]
    return whole("CronJob", "batch/v1", {"schedule": "@daily", "jobTemplate": {"spec": inner}})


def controller(kind: str, selector: Any, labels: Any = LABELS, **spec: Any) -> dict[str, Any]:
    made = {"metadata": {"labels": labels}, "spec": {**SPEC, **spec}}
    return whole(kind, "apps/v1", {"selector": selector, "template": made})


def whole(kind: str, api: str, spec: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "w"}, "spec": spec}


@pytest.mark.parametrize("make", [job, cron])
@pytest.mark.parametrize(
    ("policy", "fix"),
    [
        ("Never", ""),
        ("OnFailure", ""),
        (None, "write restartPolicy: Never"),
        ("Always", "write restartPolicy: Never"),
        ("onFailure", "write restartPolicy: OnFailure"),
        (1, "write restartPolicy: Never"),
    ],
)
def test_pods_of_jobs_do_not_restart_always(make: Any, policy: Any, fix: str) -> None:
    report = checked(PLAN, ONE, make(restartPolicy=policy))
    assert codes(report) == (["MalformedWorkload"] if fix else [])
    assert not fix or message(report, "MalformedWorkload").endswith(fix)


@pytest.mark.parametrize("kind", APPS)
@pytest.mark.parametrize("policy", ["Always", None, "OnFailure", "Never"])
def test_pods_of_other_controllers_do(kind: str, policy: Any) -> None:
    selector = {"matchLabels": {"app": "train"}}
    report = checked(PLAN, ONE, controller(kind, selector, restartPolicy=policy))
    is_wrong = policy in ("OnFailure", "Never")
    assert codes(report) == (["MalformedWorkload"] if is_wrong else [])


@pytest.mark.parametrize("kind", APPS)
@pytest.mark.parametrize(
    ("selector", "is_right"),
    [
        ({"matchLabels": LABELS}, True),
        ({"matchLabels": {"tier": "a"}}, True),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["train"]}]}, True),
        ({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}, True),
        ({"matchLabels": {"app": "other"}}, False),
        ({"matchLabels": {"team": "train"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["train"]}]}, False),
        ({"matchExpressions": [{"key": "x", "operator": "Exists"}]}, False),
        ({}, False),
        (None, False),
    ],
)
def test_a_selector_is_of_the_templates_labels(kind: str, selector: Any, is_right: bool) -> None:
    report = checked(PLAN, ONE, controller(kind, selector))
    assert codes(report) == ([] if is_right else ["MalformedWorkload"])
    if not is_right:
        assert "matchLabels: {app: train, tier: a}" in message(report, "MalformedWorkload")


def test_a_template_without_labels_gets_some() -> None:
    report = checked(PLAN, ONE, controller("Deployment", {"matchLabels": {"app": "x"}}, None))
    assert "give the template labels" in message(report, "MalformedWorkload")


@pytest.mark.parametrize(
    ("kind", "version", "right"),
    [
        ("Job", "v1", "batch/v1"),
        ("Job", "batch/v1beta1", "batch/v1"),
        ("CronJob", "batch/v1beta1", "batch/v1"),
        ("Deployment", "extensions/v1beta1", "apps/v1"),
        ("StatefulSet", "v1", "apps/v1"),
        ("Pod", "core/v1", ""),
        ("Job", None, "batch/v1"),
    ],
)
def test_a_version_that_no_server_has_is_told(kind: str, version: Any, right: str) -> None:
    made = cron() if kind == "CronJob" else job()
    made = {**made, "kind": kind, "apiVersion": version}
    found = [
        one.finding for one in checked(PLAN, ONE, made).remarks if one.steps == ("apiVersion",)
    ]
    assert [one.fix for one in found] == ([f"write apiVersion: {right}"] if right else [])


def test_a_container_without_an_image_is_told_and_nothing_else_of_what_may_be_a_patch() -> None:
    wrong = job()
    del wrong["spec"]["template"]["spec"]["containers"]
    main = {"name": "main", "resources": {"claims": [{"name": "gpu"}]}}
    wrong["spec"]["template"]["spec"] = {**SPEC, "containers": [main]}
    assert codes(checked(PLAN, ONE, wrong)) == ["ImageMissing"]


def test_devices_are_served_all_the_same() -> None:
    (found,) = checked(PLAN, ONE, job()).pods
    assert [str(one.status) for one in found.verdicts] == ["feasible"]


def test_of_pods_without_devices_and_of_kinds_of_others_nothing_is_told() -> None:
    plain = {"containers": [{"name": "a"}]}
    of_others = whole("Job", "batch.volcano.sh/v1alpha1", job()["spec"])
    without = whole("Job", "batch/v1", {"template": {"spec": plain}})
    assert codes(checked(PLAN, ONE, of_others, without)) == []


FINE = job(restartPolicy="Never")


def moved(old: str, new: str, *, manifest: Any = FINE) -> dict[str, Any]:
    """A manifest with another name for a field, wherever it stands."""

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {new if key == old else key: walk(one) for key, one in value.items()}
        return [walk(one) for one in value] if isinstance(value, list) else value

    return {**walk(copy.deepcopy(manifest)), "kind": manifest["kind"]}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("containers", "container"),
        ("containers", "Containers"),
        ("template", "templates"),
        ("spec", "Spec"),
    ],
)
@pytest.mark.parametrize("manifest", [FINE, cron(restartPolicy="Never")], ids=["Job", "CronJob"])
def test_a_misspelt_field_that_hides_the_pods_is_told(manifest: Any, old: str, new: str) -> None:
    report = checked(PLAN, ONE, moved(old, new, manifest=manifest))
    assert codes(report) == ["UnknownField"]
    assert not any(one.serving for one in report.pods)
    assert f"did you mean {old}?" in message(report, "UnknownField")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("nodeSelector", {"eks-devices/nodegroup": "p5"}),
        ("affinity", {}),
        ("tolerations", []),
        ("resourceClaims", []),
    ],
)
@pytest.mark.parametrize("level", ["", "spec", "template"])
def test_what_stands_above_the_pods_is_told_where_it_belongs(
    level: str, field: str, value: Any
) -> None:
    wrong = copy.deepcopy(FINE)
    owner = {"": wrong, "spec": wrong["spec"], "template": wrong["spec"]["template"]}[level]
    owner[field] = value
    report = checked(PLAN, ONE, wrong)
    assert codes(report) == ["MisplacedClaimField"]
    assert "move it to spec.template.spec" in message(report, "MisplacedClaimField")
    assert bool(report.pods[0].serving) is (level == "")


def replicas(field: str) -> dict[str, Any]:
    spec = {field: {"Worker": {"template": {"spec": SPEC}}}}
    return whole("PyTorchJob", "kubeflow.org/v1", spec)


def test_a_misspelt_field_of_others_kinds_is_told() -> None:
    assert codes(checked(PLAN, ONE, replicas("pytorchReplicaSpecs"))) == []
    report = checked(PLAN, ONE, replicas("pytorchReplicaSpec"))
    assert codes(report) == ["UnknownField"]
    assert "did you mean pytorchReplicaSpecs?" in message(report, "UnknownField")
    assert not report.pods[0].serving


def test_fields_of_others_kinds_are_their_own() -> None:
    made = whole("Train", "example.com/v1", {"tolerations": [], "a": {"template": {"spec": SPEC}}})
    assert codes(checked(PLAN, ONE, made)) == []


@pytest.mark.parametrize("value", [[], {"name": "main"}, "main", ["main"], None])
def test_containers_that_are_none_are_told(value: Any) -> None:
    report = checked(PLAN, ONE, whole("Pod", "v1", {"containers": value}))
    assert codes(report) == ["WrongType"]
    assert report.remarks[0].steps == ("spec", "containers")


@pytest.mark.parametrize(
    "spec", [{"replicas": 3}, {"template": {"spec": {"tolerations": []}}}, {"template": None}, {}]
)
def test_a_patch_has_no_pods_and_nothing_is_told(spec: Any) -> None:
    assert codes(checked(PLAN, whole("Deployment", "apps/v1", spec))) == []
