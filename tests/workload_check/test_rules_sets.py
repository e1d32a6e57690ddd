"""Rules over manifests together, queues among them: names, priorities, queues."""

from __future__ import annotations

from typing import Any

import pytest
from tests.rule_pods import (
    ADMIN_NAMESPACE,
    EFA,
    P5,
    claim,
    codes,
    container,
    deployment,
    findings,
    gpu_pod,
    job,
    of_claim,
    pod,
    remarks,
    request,
    template,
)

from eks_devices.workload_check import Document, check_workloads

KUEUE, KAI = "kueue.x-k8s.io/queue-name", "kai.scheduler/queue"


def priority(name: str = "high", **more: Any) -> dict[str, Any]:
    metadata = {"name": name}
    return {"kind": "PriorityClass", "metadata": metadata, "value": 1000, **more}


def queued(spec: dict[str, Any], label: str = KUEUE) -> dict[str, Any]:
    manifest = job(spec)
    manifest["metadata"] = {"name": "job", "labels": {label: "team"}}
    return manifest


def test_two_templates_of_one_name_that_differ_are_an_error_at_the_second() -> None:
    second = template(request(count=2))
    (found,) = remarks(template(), second)

    assert (found.finding.code, found.finding.severity) == ("ClaimNameClash", "error")
    assert remarks(second, template())[0].finding.code == "ClaimNameClash"
    assert found.steps == ("metadata", "name")


def test_templates_of_two_files_that_differ_may_be_for_two_clusters() -> None:
    documents = [
        Document(origin="dev/claims.yaml", content=template()),
        Document(origin="prod/claims.yaml", content=template(request(count=2))),
    ]
    report = check_workloads(documents, P5)

    (found,) = [one for one in report.remarks if one.finding.code == "ClaimNameClash"]
    assert (found.document.origin, found.finding.severity) == ("prod/claims.yaml", "warning")
    assert "dev/claims.yaml" in found.finding.message


def test_pods_are_judged_by_the_template_of_their_own_file_else_by_the_first() -> None:
    pod = deployment(gpu_pod())
    one, nine = template(), template(request(count=9))
    of_files = [("1", "a.yaml", nine), ("2", "a.yaml", pod), ("3", "b.yaml", one)]
    of_files += [("4", "b.yaml", pod), ("5", "c.yaml", pod)]
    documents = [Document(origin=key, source=file, content=x) for key, file, x in of_files]
    report = check_workloads(documents, P5)

    unserved = [x for x in report.remarks if x.finding.code == "NoNodegroupServesPod"]
    assert [x.document.place for x in unserved] == ["a.yaml", "c.yaml"]
    assert [x.related[0][0].place for x in unserved] == ["a.yaml", "a.yaml"]
    (clash,) = [x for x in report.remarks if x.finding.code == "ClaimNameClash"]
    assert "in a.yaml asks for something else" in clash.finding.message


def test_faults_of_each_template_of_a_name_are_told() -> None:
    bad = template({"name": "gpu", "exactly": {"count": 1}})
    documents = [
        Document(origin=str(at), source=f"{at}.yaml", content=one)
        for at, one in enumerate((bad, template(request(count=9)), deployment(gpu_pod())))
    ]
    found = [one.finding.code for one in check_workloads(documents, P5).remarks]

    assert {"MalformedClaim", "ClaimNameClash", "NoNodegroupServesClaim"} <= {*found}


def test_pods_of_one_name_that_differ_are_told_with_the_other_file() -> None:
    def told(*manifests: dict[str, Any]) -> list[str]:
        documents = [
            Document(origin=str(at), source=f"{at}.yaml", content=one)
            for at, one in enumerate(manifests)
        ]
        remarks = check_workloads(documents, P5).remarks
        return [one.finding.message for one in remarks if one.finding.code == "PodNameClash"]

    other = gpu_pod(priorityClassName="high")
    (message,) = told(job(gpu_pod()), job(other))
    assert "stands already in 0.yaml" in message
    more = job(gpu_pod())
    more["spec"]["parallelism"] = 3
    assert told(job(gpu_pod()), job(gpu_pod()), more) == []
    assert told(deployment(gpu_pod()), deployment(other)) == []
    assert told(job(pod(container())), job(pod(container(), priorityClassName="high"))) == []


@pytest.mark.parametrize(
    ("sources", "of_app", "is_apart"),
    [
        (("a.yaml", "b.yaml"), False, True),
        (("a.yaml", "a.yaml"), False, False),
        (("First", "Second"), True, False),
    ],
)
def test_only_pods_of_files_apart_may_be_for_two_clusters(
    sources: tuple[str, str], of_app: bool, is_apart: bool
) -> None:
    documents = [
        Document(origin=str(at), source=sources[at], of_app=of_app, content=job(one))
        for at, one in enumerate((gpu_pod(), gpu_pod(priorityClassName="high")))
    ]
    found = [one.finding for one in check_workloads(documents, P5).remarks]
    (clash,) = [one for one in found if one.code == "PodNameClash"]

    assert ("two clusters" in clash.fix, "in one cluster" in clash.message) == (is_apart,) * 2


def test_one_template_that_is_written_twice_is_a_warning() -> None:
    assert codes(template(), template()) == ["ClaimWrittenTwice"]


def test_one_template_in_two_versions_of_the_api_is_written_twice() -> None:
    older = template()
    (own,) = older["spec"]["spec"]["devices"]["requests"]
    flat = {"name": own["name"], **own["exactly"]}
    older = {
        **older,
        "apiVersion": "resource.k8s.io/v1beta1",
        "spec": {"spec": {"devices": {"requests": [flat]}}},
    }

    assert "ClaimWrittenTwice" in codes(template(), older)
    assert "ClaimNameClash" not in codes(template(), older)


def test_other_kinds_namespaces_and_names_do_not_clash() -> None:
    elsewhere = template(request(count=2))
    elsewhere["metadata"] = {"name": "gpus", "namespace": "other"}
    unnamed = template(request(count=3))
    unnamed["metadata"] = {"generateName": "gpus"}

    assert codes(template(), claim(), elsewhere, template(name="more"), unnamed, unnamed) == []


def test_a_template_of_the_plans_app_clashes_where_it_differs() -> None:
    planned = [template()]

    assert codes(template(request(count=2)), planned_claims=planned) == ["ClaimNameClash"]
    assert codes(template(), planned_claims=planned) == []


def test_a_priority_beside_claims_is_a_warning_at_the_pods() -> None:
    found = remarks(template(), deployment(gpu_pod(priorityClassName="high")))

    assert [(one.finding.code, one.finding.severity) for one in found] == [
        ("PreemptionFreesNoDevices", "warning")
    ]
    assert found[0].steps == ("spec", "template", "spec", "priorityClassName")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"priorityClassName": "system-node-critical"},
        {"priorityClassName": "high", "preemptionPolicy": "Never"},
    ],
)
def test_pods_that_preempt_nobody_are_told_nothing(options: dict[str, Any]) -> None:
    assert codes(template(), gpu_pod(**options)) == []


def test_a_priority_without_claims_is_told_nothing() -> None:
    assert codes(priority(), pod(priorityClassName="high")) == []


def test_a_class_that_preempts_nobody_is_told_nothing() -> None:
    never = priority(preemptionPolicy="Never")

    assert codes(never, template(), gpu_pod(priorityClassName="high")) == []
    assert codes(never, template(), gpu_pod()) == []


def test_a_class_beside_claims_of_other_pods_is_told() -> None:
    found = findings(priority(), template(), gpu_pod())

    assert [(one.code, one.severity) for one in found] == [("PriorityBesideClaims", "info")]
    assert codes(priority(), template(), gpu_pod(priorityClassName="high")) == [
        "PreemptionFreesNoDevices"
    ]


def test_the_default_class_is_that_of_pods_without_one() -> None:
    given = [priority(globalDefault=True), template(), gpu_pod()]

    assert codes(*given) == ["PreemptionFreesNoDevices"]


FIRST = {
    "name": "first",
    "firstAvailable": [{"name": "a", "deviceClassName": "gpu.nvidia.com"}],
}


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (FIRST, "KueueRefusesFirstAvailable"),
        (request(allocationMode="All"), "KueueRefusesAll"),
        (request(adminAccess=True), "KueueRefusesAdminAccess"),
    ],
)
def test_what_kueue_refuses_is_told_of_pods_in_a_queue_alone(
    asked: dict[str, Any], code: str
) -> None:
    (found,) = findings(ADMIN_NAMESPACE, template(asked), queued(gpu_pod()))

    assert (found.code, found.severity) == (code, "warning")
    assert codes(ADMIN_NAMESPACE, template(asked), job(gpu_pod())) == []
    assert codes(ADMIN_NAMESPACE, template(asked), queued(gpu_pod(), label="team")) == []


def test_kueue_admits_counted_requests_of_templates() -> None:
    assert codes(template(request(count=8)), queued(gpu_pod())) == []


def test_kueue_admits_no_claim_by_its_name() -> None:
    found = codes(claim(), queued(gpu_pod(resourceClaims=[of_claim()])))

    assert found == ["KueueRefusesNamedClaim"]


def test_a_queue_may_stand_at_the_pods_too() -> None:
    spec = pod(
        container(resources={"claims": [{"name": "gpus"}]}),
        labels={KUEUE: "team"},
        resourceClaims=[of_claim()],
    )

    assert codes(claim(), spec) == ["KueueRefusesNamedClaim"]


def with_queue(queue: str | None, *requests: dict[str, Any]) -> dict[str, Any]:
    manifest = claim(*requests)
    manifest["metadata"]["labels"] = {KAI: queue} if queue else {}
    return manifest


@pytest.mark.parametrize(("queue", "is_wrong"), [(None, True), ("other", True), ("team", False)])
def test_kai_wants_its_queue_on_claims_that_pods_share(queue: str | None, is_wrong: bool) -> None:
    found = findings(with_queue(queue), queued(gpu_pod(resourceClaims=[of_claim()]), KAI))

    assert [(one.code, one.severity) for one in found] == (
        [("KaiQueueOfClaim", "warning")] if is_wrong else []
    )


def test_kai_wants_its_queue_on_claims_of_templates_as_far_as_it_is_known() -> None:
    labelled = template()
    labelled["spec"]["metadata"] = {"labels": {KAI: "team"}}

    found = findings(template(), queued(gpu_pod(), KAI))
    assert [(one.code, one.severity) for one in found] == [("KaiQueueOfClaim", "info")]
    assert codes(labelled, queued(gpu_pod(), KAI)) == []


def test_kai_looks_at_claims_for_gpus_alone() -> None:
    efas = with_queue(None, request(device_class=EFA))
    found = codes(efas, queued(gpu_pod(resourceClaims=[of_claim()]), KAI))

    assert "KaiQueueOfClaim" not in found


def quota(name: str, namespace: str = "default") -> dict[str, Any]:
    metadata = {"name": "quota", "namespace": namespace}
    return {"kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {name: "8"}}}


def test_a_quota_on_limits_counts_no_claims() -> None:
    given = template(), gpu_pod()
    (found,) = remarks(quota("requests.nvidia.com/gpu"), *given)

    assert (found.finding.code, found.finding.severity) == ("QuotaCountsNoClaims", "warning")
    assert found.steps == ("spec", "hard", "requests.nvidia.com/gpu")
    assert "gpu.nvidia.com.deviceclass.resource.k8s.io/devices" in found.finding.fix
    # Of other devices, of another namespace, and of Pods without claims.
    assert codes(quota("requests.aws.amazon.com/neuron"), *given) == []
    assert codes(quota("requests.cpu"), *given) == []
    assert codes(quota("requests.nvidia.com/gpu", "other"), *given) == []
    assert codes(quota("requests.nvidia.com/gpu"), pod()) == []


def training(value: Any, spec: dict[str, Any]) -> dict[str, Any]:
    replicas = {
        name: {"replicas": 1, "template": {"spec": spec["spec"]}} for name in ("Master", "Worker")
    }
    return {
        "kind": "PyTorchJob",
        "metadata": {"name": "train"},
        "spec": {"nprocPerNode": value, "pytorchReplicaSpecs": replicas},
    }


@pytest.mark.parametrize(("value", "is_wrong"), [("auto", True), ("gpu", True), ("8", False)])
def test_a_number_of_processes_from_limits_is_told_once(value: str, is_wrong: bool) -> None:
    found = remarks(template(), training(value, gpu_pod()))

    assert [one.finding.code for one in found] == (["ProcessCountFromLimits"] if is_wrong else [])
    assert all(one.steps == ("spec", "nprocPerNode") for one in found)


def test_a_number_of_processes_from_limits_is_right_beside_limits() -> None:
    by_limit = pod(container(resources={"limits": {"nvidia.com/gpu": 8}}))

    assert codes(template(), training("auto", by_limit)) == []
