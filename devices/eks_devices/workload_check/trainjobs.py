"""The Pods of TrainJobs: templates of a runtime, with what the job says of them.

Source: https://github.com/kubeflow/trainer (pkg/apis/trainer/v1alpha1/trainjob_types.go)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from .documents import Document, Steps, frozen, mapping, mappings, sequence, text_of
from .pods import PodTemplate, pods_of

_GROUP: Final = "trainer.kubeflow.org"
_JOB: Final = "TrainJob"
_CLUSTER: Final = "ClusterTrainingRuntime"
RUNTIMES: Final = (_CLUSTER, "TrainingRuntime")
"""The kinds of runtimes."""

_STEP: Final = f"{_GROUP}/trainjob-ancestor-step"
# What resourcesPerNode is for, by its name in a runtime.
_TRAINER, _NODE = "trainer", "node"
_JOBS: Final = ("spec", "template", "spec", "replicatedJobs")
_BY_NAME: Final = ("containers", "initContainers", "resourceClaims", "volumes")
_ADDED: Final = ("tolerations",)
_Jobs = dict[str, Mapping[str, Any]]


class PodFinder:
    """The Pods of manifests that are looked at together.

    Args:
        documents: The manifests.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = tuple(documents)
        self._runtimes = {
            _key(one.kind, one.namespace, one.name): one
            for one in self._documents
            if _is(one, *RUNTIMES)
        }
        jobs = (one for one in self._documents if _is(one, _JOB))
        self._named = {_runtime_of(one) for one in jobs}

    def pods(self) -> Iterator[PodTemplate]:
        """The Pod templates, in the order of the manifests."""
        for one in self._documents:
            if _is(one, _JOB):
                yield from self._of_job(one)
            elif not (
                _is(one, *RUNTIMES) and _key(one.kind, one.namespace, one.name) in self._named
            ):
                yield from pods_of(one)

    def _of_job(self, job: Document) -> Iterator[PodTemplate]:
        runtime = self._runtimes.get(_runtime_of(job))
        patches = list(_patches(job))
        if runtime is None:
            yield _partial(job, patches)
            return
        for pod in pods_of(runtime):
            name, is_trainer = _job_of(runtime, pod)
            spec: Mapping[str, Any] = pod.spec
            if is_trainer:
                spec = _with_resources(spec, mapping(mapping(job.content, "spec"), _TRAINER))
            for targets, patch in patches:
                if not targets or name in targets:
                    spec = _merged(spec, patch)
            yield replace(pod, document=job, steps=("spec",), spec=frozen(spec))


def _is(document: Document, *kinds: str) -> bool:
    return document.api_group == _GROUP and document.kind in kinds


def _key(kind: str, namespace: str, name: str) -> tuple[str, str, str]:
    return kind, "" if kind == _CLUSTER else namespace, name


def _runtime_of(job: Document) -> tuple[str, str, str]:
    reference = mapping(mapping(job.content, "spec"), "runtimeRef")
    kind = text_of(reference, "kind") or _CLUSTER
    return _key(kind, job.namespace, text_of(reference, "name"))


def runtime_name(document: Document) -> str:
    """The name of the runtime of a TrainJob."""
    return _runtime_of(document)[2]


def _job_of(runtime: Document, pod: PodTemplate) -> tuple[str, bool]:
    """The name of the job of a runtime that a Pod template is of, and whether it trains."""
    if pod.steps[: len(_JOBS)] != _JOBS or len(pod.steps) <= len(_JOBS):
        return "", False
    jobs: Any = runtime.content
    for step in _JOBS:
        jobs = jobs[step]
    job = jobs[pod.steps[len(_JOBS)]]
    labels = mapping(mapping(mapping(job, "template"), "metadata"), "labels")
    name = text_of(job, "name")
    return name, labels.get(_STEP) == _TRAINER or name == _NODE


def _with_resources(spec: Mapping[str, Any], trainer: Mapping[str, Any]) -> Mapping[str, Any]:
    """A Pod spec whose container that trains has the resources of the TrainJob."""
    given = mapping(trainer, "resourcesPerNode")
    containers = tuple(
        {**one, "resources": _resources(mapping(one, "resources"), given)}
        if isinstance(one, Mapping) and one.get("name") == _NODE
        else one
        for one in sequence(spec, "containers")
    )
    return {**spec, "containers": containers} if given else spec


def _resources(base: Mapping[str, Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    amounts = {
        field: {**mapping(base, field), **mapping(given, field)} for field in ("limits", "requests")
    }
    return {**base, **amounts, "claims": (*sequence(base, "claims"), *sequence(given, "claims"))}


def _patches(job: Document) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """What a TrainJob changes of Pod specs, each with the names of the jobs that it is for."""
    spec = mapping(job.content, "spec")
    for _, one in mappings(spec, "podTemplateOverrides"):
        names = tuple(text_of(each, "name") for _, each in mappings(one, "targetJobs"))
        yield names, mapping(one, "spec")
    for _, one in mappings(spec, "runtimePatches"):
        jobs = mapping(mapping(mapping(one, "trainingRuntimeSpec"), "template"), "spec")
        for _, each in mappings(jobs, "replicatedJobs"):
            template = mapping(mapping(mapping(each, "template"), "spec"), "template")
            yield (text_of(each, "name"),), mapping(template, "spec")


def _merged(spec: Mapping[str, Any], patch: Mapping[str, Any]) -> Mapping[str, Any]:
    """A Pod spec with a patch: mappings are joined, lists by name, tolerations added."""
    made = dict(spec)
    for key, value in patch.items():
        if key in _BY_NAME:
            made[key] = _joined(sequence(spec, key), sequence(patch, key))
        elif key in _ADDED:
            made[key] = (*sequence(spec, key), *sequence(patch, key))
        elif isinstance(value, Mapping) and key == "nodeSelector":
            made[key] = {**mapping(spec, key), **value}
        else:
            made[key] = value
    return made


def _joined(base: Iterable[Any], more: Iterable[Any]) -> tuple[Any, ...]:
    given = [one for one in more if isinstance(one, Mapping)]
    known = {text_of(one, "name"): one for one in given}
    kept = [
        {**one, **known.pop(text_of(one, "name"), {})} if isinstance(one, Mapping) else one
        for one in base
    ]
    return (*kept, *known.values())


def _partial(
    job: Document, patches: Iterable[tuple[tuple[str, ...], Mapping[str, Any]]]
) -> PodTemplate:
    """What is known of the Pods that train where nobody has the runtime."""
    spec: Mapping[str, Any] = {"containers": ({"name": _NODE},)}
    spec = _with_resources(spec, mapping(mapping(job.content, "spec"), _TRAINER))
    for targets, patch in patches:
        if not targets or not {_NODE, _TRAINER}.isdisjoint(targets):
            spec = _merged(spec, patch)
    steps: Steps = ("spec",)
    return PodTemplate(document=job, steps=steps, spec=frozen(spec), metadata={}, is_partial=True)
