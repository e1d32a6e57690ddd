"""Claims that containers or Pods share, or are expected to."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cluster_plans import cluster_of
from tests.rule_pods import (
    EFA,
    NEURON,
    P5,
    claim,
    codes,
    container,
    deployment,
    findings,
    gpu_pod,
    job,
    limits,
    listing,
    of_claim,
    of_template,
    pod,
    remarks,
    request,
    template,
)

from eks_devices import GpuDriver

SHARING = [
    {
        "requests": ["first"],
        "opaque": {
            "driver": "gpu.nvidia.com",
            "parameters": {
                "apiVersion": "resource.nvidia.com/v1beta1",
                "kind": "GpuConfig",
                "sharing": {"strategy": "TimeSlicing"},
            },
        },
    }
]
GATES = {"TimeSlicingSettings": True}
SHARED_GPUS = cluster_of(
    {"instance_type": "p5.48xlarge", "gpu_driver": GpuDriver(feature_gates=GATES)}
)
SHARED = gpu_pod(resourceClaims=[of_claim()])
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}
        ]
    }
}


def two(first: str = "gpus", second: str = "gpus", **options: Any) -> dict[str, Any]:
    return pod(
        container("one", resources=listing(first)),
        container("two", resources=listing(second)),
        **{"resourceClaims": [of_template()], **options},
    )


def test_a_template_that_configures_sharing_shares_nothing_between_pods() -> None:
    (found,) = remarks(
        template(config=SHARING), deployment(gpu_pod(), replicas=4), plan=SHARED_GPUS
    )

    assert (found.finding.code, found.finding.severity) == ("TemplateSharesNothing", "warning")
    assert "4 Pods" in found.finding.message
    assert found.steps == ("spec", "template", "spec", "resourceClaims", 0)


def test_a_template_that_configures_sharing_may_share_between_the_containers_of_a_pod() -> None:
    assert codes(template(config=SHARING), deployment(two(), replicas=4), plan=SHARED_GPUS) == []


def test_a_claim_that_configures_sharing_shares_between_pods() -> None:
    found = codes(claim(config=SHARING), deployment(SHARED, replicas=4))

    assert "TemplateSharesNothing" not in found


@pytest.mark.parametrize("name", ["shared-gpu", "gpu.timeslicing"])
def test_a_template_whose_name_says_shared_shares_nothing_between_many_pods(name: str) -> None:
    spec = pod(container(resources=listing("gpus")))
    spec["spec"]["resourceClaims"] = [{"name": "gpus", "resourceClaimTemplateName": name}]
    one = template(name=name)

    assert codes(one, deployment(spec, replicas=2)) == ["TemplateSharesNothing"]
    assert codes(one, job(spec, parallelism=2, completions=2)) == ["TemplateSharesNothing"]
    assert codes(one, spec, job(spec)) == ["TemplateSharesNothing"] * 2
    assert codes(one, deployment(spec, replicas=1)) == []
    assert codes(one, job(spec, parallelism=4, completions=1)) == []


def test_a_template_for_capacity_of_devices_that_claims_share_is_told_nothing() -> None:
    part = request(capacity={"requests": {"memory": "4Gi"}})
    spec = pod(
        container(resources=listing("g")),
        resourceClaims=[{"name": "g", "resourceClaimTemplateName": "shared-gpu"}],
    )

    assert codes(template(part, name="shared-gpu"), deployment(spec, replicas=2)) == []


def test_a_template_of_many_pods_with_a_usual_name_is_told_nothing() -> None:
    assert codes(template(name="gpus"), deployment(gpu_pod(), replicas=8)) == []
    other = pod(
        container(resources=listing("g")),
        resourceClaims=[{"name": "g", "resourceClaimTemplateName": "unshared"}],
    )
    assert codes(template(name="unshared"), deployment(other, replicas=8)) == []


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("gpus", "gpus", ["ContainersShareClaim"]),
        ("gpus", "gpus/first", ["ContainersShareClaim"]),
        ("gpus/first", "gpus/first", ["ContainersShareClaim"]),
        ("gpus/first", "gpus/second", []),
    ],
)
def test_containers_with_the_same_devices_are_told(
    first: str, second: str, wanted: list[str]
) -> None:
    found = findings(template(request("first"), request("second")), two(first, second))

    assert [one.code for one in found] == wanted
    assert all(one.severity == "info" for one in found)


def test_containers_with_the_same_neuron_devices_are_a_warning() -> None:
    (found,) = findings(template(request(device_class=NEURON)), two())

    assert (found.code, found.severity) == ("ContainersShareNeuron", "warning")


def test_efas_and_channels_are_for_all_containers() -> None:
    channel = "compute-domain-default-channel.nvidia.com"

    assert codes(template(request(device_class=channel)), two()) == []
    efas = template(request(device_class=EFA))
    assert set(codes(efas, two())) == {"EfaWithoutHugePages"}


def test_an_init_container_uses_devices_before_the_others() -> None:
    init = container("init", resources=listing("gpus"))

    assert codes(template(), gpu_pod(initContainers=[init])) == []
    sidecar = {**init, "restartPolicy": "Always"}
    assert codes(template(), gpu_pod(initContainers=[sidecar])) == ["ContainersShareClaim"]


def test_a_claim_that_init_containers_alone_use_is_told() -> None:
    init = container("init", resources=listing("gpus"))
    found = findings(template(), pod(initContainers=[init], resourceClaims=[of_template()]))

    assert [(one.code, one.severity) for one in found] == [("ClaimOnlyInInit", "info")]


def test_pods_that_share_a_claim_are_told_that_they_run_on_one_node() -> None:
    found = findings(claim(), deployment(SHARED, replicas=3))

    assert [(one.code, one.severity) for one in found] == [("SharedClaimOneNode", "info")]
    assert "3 Pods" in found[0].message


def test_one_pod_with_a_claim_by_name_shares_it_with_nobody() -> None:
    assert codes(claim(), deployment(SHARED, replicas=1)) == []
    assert codes(claim(), job(SHARED, parallelism=1, completions=9)) == []


def test_pods_of_several_manifests_share_a_claim_of_their_namespace() -> None:
    other = {**SHARED, "metadata": {"name": "other", "namespace": "elsewhere"}}

    assert codes(claim(), SHARED, deployment(SHARED)) == ["SharedClaimOneNode"] * 2
    assert codes(claim(), SHARED, other) == []


def test_more_pods_than_a_claim_or_a_node_takes_are_a_warning() -> None:
    few = cluster_of({"instance_type": "p5.48xlarge", "max_pods": 20})

    assert codes(claim(), deployment(SHARED, replicas=257)) == ["TooManyClaimConsumers"]
    assert codes(claim(), deployment(SHARED, replicas=21), plan=few) == ["TooManyClaimConsumers"]
    assert codes(claim(), deployment(SHARED, replicas=20), plan=few) == ["SharedClaimOneNode"]


def test_pods_that_share_a_claim_and_are_kept_on_nodes_of_their_own_are_a_warning() -> None:
    spread = [
        {
            "topologyKey": "kubernetes.io/hostname",
            "maxSkew": 1,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {
                "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]
            },
        }
    ]
    for options in ({"affinity": APART}, {"topologySpreadConstraints": spread}):
        spec = pod(
            container(resources=listing("gpus")),
            labels={"a": "b"},
            resourceClaims=[of_claim()],
            **options,
        )
        assert codes(claim(), deployment(spec, replicas=2)) == ["SharedClaimKeptApart"]
        # Other Pods are kept apart from these, or nobody is.
        other = {**spec, "metadata": {"name": "pod", "labels": {"a": "c"}}}
        assert codes(claim(), deployment(other, replicas=2)) == ["SharedClaimOneNode"]
        assert codes(claim(), deployment(spec, replicas=1)) == []


def test_a_daemonset_with_one_claim_is_a_warning() -> None:
    assert codes(claim(), deployment(SHARED, kind="DaemonSet")) == ["SharedClaimKeptApart"]


@pytest.mark.parametrize(
    ("version", "release", "wanted"),
    [
        ("1.34", None, "info"),
        ("1.34", "1.34.3-20260101", "warning"),
        ("1.34", "1.34.4-20260301", None),
        ("1.35", "1.35.0-20260101", "warning"),
        ("1.36", None, None),
    ],
)
def test_a_shared_claim_beside_another_is_told_where_the_kubelet_fails(
    version: str, release: str | None, wanted: str | None
) -> None:
    group = {"instance_type": "p5.48xlarge", "release_version": release}
    plan = cluster_of(group, kubernetes_version=version)
    spec = pod(
        container(resources=listing("gpus", "own")),
        resourceClaims=[of_claim(), of_template("own")],
    )
    given = [claim(), template(name="own"), deployment(spec, replicas=2)]
    found = [one for one in findings(*given, plan=plan) if one.code == "ReusedClaimFloor"]

    assert [str(one.severity) for one in found] == ([wanted] if wanted else [])


def test_a_shared_claim_alone_is_not_told_of_the_kubelet() -> None:
    plan = cluster_of({"instance_type": "p5.48xlarge"}, kubernetes_version="1.34")

    assert codes(claim(), deployment(SHARED, replicas=2), plan=plan) == ["SharedClaimOneNode"]


def test_efas_that_pods_share_are_a_warning() -> None:
    resources = {**listing("efas"), **limits(hugepages="2Mi", memory="1Gi")}
    spec = pod(container(resources=resources), resourceClaims=[of_claim("efas")])
    efas = claim(request(device_class=EFA), name="efas")

    assert "EfaSharedClaim" in codes(efas, deployment(spec, replicas=2), plan=P5)
    assert "EfaSharedClaim" not in codes(efas, deployment(spec, replicas=1), plan=P5)


@pytest.mark.parametrize(
    ("manifest", "count"),
    [
        ({"kind": "Deployment", "spec": {"replicas": 3, "template": "POD"}}, 3),
        ({"kind": "Job", "spec": {"parallelism": 4, "template": "POD"}}, 4),
        ({"kind": "Job", "spec": {"parallelism": 4, "completions": 2, "template": "POD"}}, 2),
        (
            {
                "kind": "CronJob",
                "spec": {"jobTemplate": {"spec": {"parallelism": 2, "template": "POD"}}},
            },
            2,
        ),
        (
            {
                "apiVersion": "kubeflow.org/v2beta1",
                "kind": "MPIJob",
                "spec": {"mpiReplicaSpecs": {"Worker": {"replicas": 5, "template": "POD"}}},
            },
            5,
        ),
        (
            {
                "apiVersion": "jobset.x-k8s.io/v1alpha2",
                "kind": "JobSet",
                "spec": {
                    "replicatedJobs": [
                        {"replicas": 2, "template": {"spec": {"parallelism": 3, "template": "POD"}}}
                    ]
                },
            },
            6,
        ),
        (
            {
                "apiVersion": "leaderworkerset.x-k8s.io/v1",
                "kind": "LeaderWorkerSet",
                "spec": {
                    "replicas": 2,
                    "leaderWorkerTemplate": {"size": 4, "workerTemplate": "POD"},
                },
            },
            8,
        ),
        (
            {
                "apiVersion": "ray.io/v1",
                "kind": "RayCluster",
                "spec": {"workerGroupSpecs": [{"replicas": 3, "numOfHosts": 2, "template": "POD"}]},
            },
            6,
        ),
        (
            {
                "apiVersion": "ray.io/v1",
                "kind": "RayJob",
                "spec": {
                    "rayClusterSpec": {
                        "suspend": True,
                        "workerGroupSpecs": [{"minReplicas": 4, "template": "POD"}],
                    }
                },
            },
            4,
        ),
        (
            {
                "apiVersion": "own.example/v1",
                "kind": "Workers",
                "spec": {"groups": [{"replicas": 3, "template": "POD"}]},
            },
            3,
        ),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else str(value),
)
def test_the_pods_of_a_manifest_are_counted(manifest: dict[str, Any], count: int) -> None:
    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: filled(one) for key, one in value.items()}
        if isinstance(value, list):
            return [filled(one) for one in value]
        return {"spec": SHARED["spec"]} if value == "POD" else value

    (found,) = findings(claim(), {"metadata": {"name": "many"}, **filled(manifest)})

    assert found.message.startswith(f"{count} Pods share")


def test_the_leader_of_a_group_is_one_pod_and_the_workers_are_the_others() -> None:
    group = {"size": 4, "leaderTemplate": {"spec": gpu_pod()["spec"]}}
    group["workerTemplate"] = {"spec": SHARED["spec"]}
    sets = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "lws"},
        "spec": {"leaderWorkerTemplate": group},
    }
    (found,) = findings(claim(), template(), sets)

    assert found.message.startswith("3 Pods share")
