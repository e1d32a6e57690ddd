"""The Pods of a TrainJob, which are those of its runtime with what the job says in their place.

Source: https://github.com/kubeflow/trainer/blob/master/pkg/apis/trainer/v1alpha1/trainjob_types.go
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from eks_devices.workload_check.documents import mapping, mappings, sequence

from .expand import Pods, number, replicated_jobs
from .files import Item

TRAINER: Final = "trainer.kubeflow.org"
_RUNTIMES: Final = ("ClusterTrainingRuntime", "TrainingRuntime")
_NODE: Final = "node"
"""The replicated Job that trains, and its container."""


def train_job_pods(item: Item, items: Sequence[Item], namespace: str) -> tuple[list[Pods], str]:
    """The Pods of a TrainJob, and what to tell of them."""
    spec = mapping(item.content, "spec")
    runtime, name = _runtime_of(spec, items, namespace)
    if spec.get("suspend") is True:
        return [], "suspended"
    if runtime is None:
        pods = [_bare(spec)]
        return pods, f"no file has its runtime {name}, so its Pods have what the job says alone"
    return [_overridden(one, spec) for one in _of_runtime(spec, runtime)], f"by its runtime {name}"


def _runtime_of(
    spec: Mapping[str, Any], items: Sequence[Item], namespace: str
) -> tuple[Mapping[str, Any] | None, str]:
    wanted = mapping(spec, "runtimeRef")
    name, kind = str(wanted.get("name", "")), str(wanted.get("kind") or _RUNTIMES[0])
    for item in items:
        same_space = kind == _RUNTIMES[0] or (item.namespace or namespace) == namespace
        if (item.api_group, item.kind, item.name) == (TRAINER, kind, name) and same_space:
            return mapping(item.content, "spec"), name
    return None, name


def _of_runtime(spec: Mapping[str, Any], runtime: Mapping[str, Any]) -> Iterator[Pods]:
    trainer = mapping(spec, "trainer")
    nodes = number(trainer, "numNodes", number(mapping(runtime, "mlPolicy"), "numNodes", 1))
    for one in replicated_jobs(mapping(mapping(runtime, "template"), "spec")):
        if one.role == _NODE:
            yield Pods(role=_NODE, template=_trained(one.template, trainer), count=nodes)
        else:
            yield one


def _trained(template: Mapping[str, Any], trainer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The template of the Pods that train, with the resources and image of the job."""
    own = {"resources": trainer.get("resourcesPerNode"), "image": trainer.get("image")}
    own = {key: value for key, value in own.items() if value}
    spec = mapping(template, "spec")
    containers = [
        {**one, **own} if one.get("name") == _NODE else one
        for _, one in mappings(spec, "containers")
    ]
    return {**template, "spec": {**spec, "containers": containers}}


def _bare(spec: Mapping[str, Any]) -> Pods:
    trainer = mapping(spec, "trainer")
    container = {"name": _NODE, "image": str(trainer.get("image") or _NODE)}
    pods = Pods(
        role=_NODE,
        template={"spec": {"containers": [container]}},
        count=number(trainer, "numNodes", 1),
    )
    trained = Pods(role=_NODE, template=_trained(pods.template, trainer), count=pods.count)
    return _overridden(trained, spec)


def _overridden(pods: Pods, spec: Mapping[str, Any]) -> Pods:
    """Pods with what the job puts in place of their template's words, by either of its fields."""
    template = dict(pods.template)
    for _, one in mappings(spec, "podTemplateOverrides"):
        if _is_meant(one, pods.role):
            template["spec"] = {**mapping(template, "spec"), **mapping(one, "spec")}
            both = {**mapping(template, "metadata"), **mapping(one, "metadata")}
            template["metadata"] = both
    for _, one in mappings(spec, "podSpecOverrides"):
        if _is_meant(one, pods.role):
            own = {key: value for key, value in one.items() if key != "targetJobs"}
            template["spec"] = {**mapping(template, "spec"), **own}
    return Pods(role=pods.role, template=template, count=pods.count)


def _is_meant(override: Mapping[str, Any], role: str) -> bool:
    named = [one.get("name") for _, one in mappings(override, "targetJobs")]
    return role in named or not sequence(override, "targetJobs")
