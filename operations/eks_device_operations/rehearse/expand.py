"""The Pods of kinds whose controllers do not run here, as those controllers make them. Pure.

Sources: https://github.com/kubeflow/trainer/tree/release-1.9/pkg/apis/kubeflow.org/v1,
https://github.com/kubeflow/mpi-operator/blob/master/pkg/apis/kubeflow/v2beta1/types.go,
https://github.com/ray-project/kuberay/blob/master/ray-operator/apis/ray/v1/raycluster_types.go,
https://github.com/kubernetes-sigs/lws/blob/main/api/leaderworkerset/v1/leaderworkerset_types.go,
https://github.com/kubernetes-sigs/jobset/blob/main/api/jobset/v1alpha2/jobset_types.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from eks_devices.workload_check.documents import Document, mapping, mappings
from eks_devices.workload_check.pods import pods_of

Object = dict[str, Any]

TRAINER: Final = "trainer.kubeflow.org"
"""The API group of TrainJobs, whose Pods are those of their runtimes."""
_KUBEFLOW: Final = "kubeflow.org"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pods:
    """Pods alike: `role` is part of their names, `template` their metadata and spec."""

    role: str
    template: Mapping[str, Any]
    count: int


Expansion = Callable[[Mapping[str, Any]], Iterator[Pods]]


def expansion_of(api_group: str, kind: str) -> Expansion | None:
    """How the controller of a kind makes Pods; None for kinds that are not known here."""
    return _TABLE.get((api_group, kind))


def expanded_kinds(api_group: str) -> list[str]:
    """The kinds of an API group whose controllers are known here."""
    trainer = ["TrainJob"] if api_group == TRAINER else []
    return trainer or sorted(kind for group, kind in _TABLE if group == api_group)


def each_once(content: Mapping[str, Any]) -> Iterator[Pods]:
    """One Pod of each template in an object of a kind that nobody here knows."""
    for index, one in enumerate(pods_of(Document(origin="", content=content))):
        template = {"metadata": one.metadata, "spec": one.spec}
        yield Pods(role=str(index), template=template, count=1)


def number(owner: Mapping[str, Any], key: str, default: int) -> int:
    """A number of Pods; the default of its kind where there is none, or nonsense."""
    value = owner.get(key)
    return value if type(value) is int and value >= 0 else default


def job_pods(spec: Mapping[str, Any]) -> int:
    """How many Pods a Job has at once."""
    if spec.get("suspend") is True:
        return 0
    parallelism = number(spec, "parallelism", 1)
    return min(parallelism, number(spec, "completions", parallelism))


def _replica_specs(content: Mapping[str, Any]) -> Iterator[Pods]:
    """The training jobs of Kubeflow: their specs of replicas are named after the kind."""
    spec = mapping(content, "spec")
    policy = mapping(spec, "runPolicy")
    for key, roles in spec.items():
        if not (key.endswith("ReplicaSpecs") and isinstance(roles, Mapping)):
            continue
        for role in roles:
            replica = mapping(roles, role)
            count = 0 if policy.get("suspend") is True else number(replica, "replicas", 1)
            yield Pods(role=role.lower(), template=mapping(replica, "template"), count=count)


def _ray_cluster(content: Mapping[str, Any]) -> Iterator[Pods]:
    yield from _ray(mapping(content, "spec"))


def _ray_job(content: Mapping[str, Any]) -> Iterator[Pods]:
    yield from _ray(mapping(mapping(content, "spec"), "rayClusterSpec"))


def _ray_service(content: Mapping[str, Any]) -> Iterator[Pods]:
    spec = mapping(content, "spec")
    yield from _ray(mapping(spec, "rayClusterConfig") or mapping(spec, "rayClusterSpec"))


def _ray(spec: Mapping[str, Any]) -> Iterator[Pods]:
    stopped = spec.get("suspend") is True
    head = mapping(mapping(spec, "headGroupSpec"), "template")
    if head:
        yield Pods(role="head", template=head, count=0 if stopped else 1)
    for index, group in mappings(spec, "workerGroupSpecs"):
        least = number(group, "minReplicas", 0)
        replicas = max(number(group, "replicas", least), least)
        replicas = min(replicas, number(group, "maxReplicas", replicas))
        count = replicas * number(group, "numOfHosts", 1)
        if stopped or group.get("suspend") is True:
            count = 0
        role = f"{group.get('groupName') or index}-worker"
        yield Pods(role=role, template=mapping(group, "template"), count=count)


def _leader_worker_set(content: Mapping[str, Any]) -> Iterator[Pods]:
    spec = mapping(content, "spec")
    both, groups = mapping(spec, "leaderWorkerTemplate"), number(spec, "replicas", 1)
    workers = mapping(both, "workerTemplate")
    size = max(number(both, "size", 1), 1)
    leader = mapping(both, "leaderTemplate") or workers
    yield Pods(role="leader", template=leader, count=groups)
    if size > 1:
        yield Pods(role="worker", template=workers, count=groups * (size - 1))


def _job_set(content: Mapping[str, Any]) -> Iterator[Pods]:
    spec = mapping(content, "spec")
    yield from replicated_jobs(spec, stopped=spec.get("suspend") is True)


def replicated_jobs(spec: Mapping[str, Any], *, stopped: bool = False) -> Iterator[Pods]:
    """The Pods of the replicated Jobs of a JobSet's spec."""
    for index, one in mappings(spec, "replicatedJobs"):
        job = mapping(mapping(one, "template"), "spec")
        count = 0 if stopped else number(one, "replicas", 1) * job_pods(job)
        role = str(one.get("name") or index)
        yield Pods(role=role, template=mapping(job, "template"), count=count)


_TABLE: Final[Mapping[tuple[str, str], Expansion]] = {
    **{
        (_KUBEFLOW, kind): _replica_specs
        for kind in ("JAXJob", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob")
    },
    ("ray.io", "RayCluster"): _ray_cluster,
    ("ray.io", "RayJob"): _ray_job,
    ("ray.io", "RayService"): _ray_service,
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): _leader_worker_set,
    ("jobset.x-k8s.io", "JobSet"): _job_set,
}
