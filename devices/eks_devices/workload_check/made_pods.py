"""The Pods that controllers of custom resources make of their templates, and how many.

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

from .documents import Steps, mapping, mappings

TRAINER: Final = "trainer.kubeflow.org"
"""The API group of TrainJobs, whose Pods are those of their runtimes."""
_KUBEFLOW: Final = "kubeflow.org"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadePods:
    """Pods alike.

    Attributes:
        role: A part of their names.
        steps: What leads to their template from the object; empty for one that is put together.
        template: Their metadata and spec.
        most: How many there are where the object is not suspended.
        is_suspended: Whether it is, so that there are none for now.
    """

    role: str
    steps: Steps = ()
    template: Mapping[str, Any]
    most: int
    is_suspended: bool = False

    @property
    def count(self) -> int:
        """How many there are."""
        return 0 if self.is_suspended else self.most


Expansion = Callable[[Mapping[str, Any]], Iterator[MadePods]]


def expansion_of(api_group: str, kind: str) -> Expansion | None:
    """How the controller of a kind makes Pods; None for kinds that are not known here."""
    return _TABLE.get((api_group, kind))


def expanded_kinds(api_group: str) -> list[str]:
    """The kinds of an API group whose controllers are known here."""
    trainer = ["TrainJob"] if api_group == TRAINER else []
    return trainer or sorted(kind for group, kind in _TABLE if group == api_group)


def number(owner: Mapping[str, Any], key: str, default: int) -> int:
    """A number of Pods; the default of its kind where there is none, or nonsense."""
    value = owner.get(key)
    return value if type(value) is int and value >= 0 else default


def is_suspended(owner: Mapping[str, Any]) -> bool:
    """Whether somebody keeps an object from making Pods for now."""
    return owner.get("suspend") is True


def job_pods(spec: Mapping[str, Any]) -> int:
    """How many Pods a Job that is not suspended has at once."""
    parallelism = number(spec, "parallelism", 1)
    return min(parallelism, number(spec, "completions", parallelism))


def replicated_jobs(
    spec: Mapping[str, Any], below: Steps = ("spec",), *, stopped: bool = False
) -> Iterator[MadePods]:
    """The Pods of the replicated Jobs of a JobSet's spec, to which `below` leads."""
    for index, one in mappings(spec, "replicatedJobs"):
        job = mapping(mapping(one, "template"), "spec")
        yield MadePods(
            role=str(one.get("name") or index),
            steps=(*below, "replicatedJobs", index, "template", "spec", "template"),
            template=mapping(job, "template"),
            most=number(one, "replicas", 1) * job_pods(job),
            is_suspended=stopped or is_suspended(job),
        )


def _replica_specs(content: Mapping[str, Any]) -> Iterator[MadePods]:
    """The training jobs of Kubeflow: their specs of replicas are named after the kind."""
    spec = mapping(content, "spec")
    stopped = is_suspended(mapping(spec, "runPolicy"))
    for key, roles in spec.items():
        if not (key.endswith("ReplicaSpecs") and isinstance(roles, Mapping)):
            continue
        for role in roles:
            replica = mapping(roles, role)
            yield MadePods(
                role=role.lower(),
                steps=("spec", key, role, "template"),
                template=mapping(replica, "template"),
                most=number(replica, "replicas", 1),
                is_suspended=stopped,
            )


def _ray_cluster(content: Mapping[str, Any]) -> Iterator[MadePods]:
    yield from _ray(mapping(content, "spec"), ("spec",))


def _ray_job(content: Mapping[str, Any]) -> Iterator[MadePods]:
    yield from _ray_below(content, "rayClusterSpec")


def _ray_service(content: Mapping[str, Any]) -> Iterator[MadePods]:
    spec = mapping(content, "spec")
    key = "rayClusterConfig" if mapping(spec, "rayClusterConfig") else "rayClusterSpec"
    yield from _ray_below(content, key)


def _ray_below(content: Mapping[str, Any], key: str) -> Iterator[MadePods]:
    yield from _ray(mapping(mapping(content, "spec"), key), ("spec", key))


def _ray(spec: Mapping[str, Any], below: Steps) -> Iterator[MadePods]:
    stopped = is_suspended(spec)
    head = mapping(mapping(spec, "headGroupSpec"), "template")
    if head:
        steps = (*below, "headGroupSpec", "template")
        yield MadePods(role="head", steps=steps, template=head, most=1, is_suspended=stopped)
    for index, group in mappings(spec, "workerGroupSpecs"):
        least = number(group, "minReplicas", 0)
        replicas = max(number(group, "replicas", least), least)
        replicas = min(replicas, number(group, "maxReplicas", replicas))
        yield MadePods(
            role=f"{group.get('groupName') or index}-worker",
            steps=(*below, "workerGroupSpecs", index, "template"),
            template=mapping(group, "template"),
            most=replicas * number(group, "numOfHosts", 1),
            is_suspended=stopped or is_suspended(group),
        )


def _leader_worker_set(content: Mapping[str, Any]) -> Iterator[MadePods]:
    spec = mapping(content, "spec")
    both, groups = mapping(spec, "leaderWorkerTemplate"), number(spec, "replicas", 1)
    workers = mapping(both, "workerTemplate")
    size = max(number(both, "size", 1), 1)
    leader = mapping(both, "leaderTemplate")
    below: Steps = ("spec", "leaderWorkerTemplate")
    first = (*below, "leaderTemplate" if leader else "workerTemplate")
    yield MadePods(role="leader", steps=first, template=leader or workers, most=groups)
    if size > 1:
        steps, most = (*below, "workerTemplate"), groups * (size - 1)
        yield MadePods(role="worker", steps=steps, template=workers, most=most)


def _job_set(content: Mapping[str, Any]) -> Iterator[MadePods]:
    spec = mapping(content, "spec")
    yield from replicated_jobs(spec, stopped=is_suspended(spec))


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
