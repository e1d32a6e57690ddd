"""The Pods of TrainJobs: templates of a runtime, with what the job says of them.

Source: https://github.com/kubeflow/trainer (pkg/apis/trainer/v1alpha1/trainjob_types.go)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from ..findings import alike, meant, question
from .documents import Document, frozen, mapping, mappings, sequence, text_of
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
_TARGETS: Final = "targetJobs"
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
        if runtime is None:
            yield _partial(job)
            return
        for pod in pods_of(runtime):
            one = _job_of(runtime, pod)
            template = template_of(
                {"metadata": pod.metadata, "spec": pod.spec},
                mapping(job.content, "spec"),
                names=(text_of(one, "name"),),
                is_trainer=trains(one),
            )
            spec, metadata = frozen(template["spec"]), frozen(template["metadata"])
            yield replace(pod, document=job, steps=("spec",), spec=spec, metadata=metadata)


def template_of(
    template: Mapping[str, Any],
    job: Mapping[str, Any],
    *,
    names: Collection[str],
    is_trainer: bool,
) -> dict[str, Any]:
    """A Pod template of a runtime with what a TrainJob says in its place.

    Args:
        template: The template.
        job: The spec of the TrainJob.
        names: What the job may call the replicated job that the Pods are of.
        is_trainer: Whether these Pods train.
    """
    spec, metadata = mapping(template, "spec"), mapping(template, "metadata")
    if is_trainer:
        spec = _of_trainer(spec, mapping(job, _TRAINER))
    for targets, patch in _patches(job):
        if not targets or not targets.isdisjoint(names):
            spec = _merged(spec, mapping(patch, "spec"))
            metadata = {**metadata, **mapping(patch, "metadata")}
    return {"metadata": metadata, "spec": spec}


def trains(job: Mapping[str, Any]) -> bool:
    """Whether the Pods of a replicated job of a runtime train."""
    labels = mapping(mapping(mapping(job, "template"), "metadata"), "labels")
    return labels.get(_STEP) == _TRAINER or text_of(job, "name") == _NODE


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


def is_runtime_of(runtime: Document, job: Document) -> bool:
    """Whether a manifest is the runtime that a TrainJob names."""
    if not (_is(runtime, *RUNTIMES) and _is(job, _JOB)):
        return False
    return _key(runtime.kind, runtime.namespace, runtime.name) == _runtime_of(job)


def runtime_meant(job: Document, documents: Iterable[Document]) -> str:
    """Which runtime a TrainJob may mean that names one which nobody has; empty for none.

    Args:
        job: The TrainJob.
        documents: The manifests, runtimes among them.
    """
    kind, _, name = _runtime_of(job)
    known = [_key(one.kind, one.namespace, one.name) for one in documents if _is(one, *RUNTIMES)]
    near = {found: of for of, where, found in known if where in ("", job.namespace)}
    for found in alike(name, near):
        right = near[found]
        if found == name:
            return f"write kind: {right}, as {name} is one"
        return question([found if right == kind else f"the {right} {found}"])
    if spaces := sorted({where for of, where, found in known if (of, found) == (kind, name)}):
        return f"one of that name is in the namespace {', '.join(spaces)}; TrainJobs use their own"
    return meant(kind, RUNTIMES) if kind not in RUNTIMES else ""


def _job_of(runtime: Document, pod: PodTemplate) -> Mapping[str, Any]:
    """The replicated job of a runtime that a Pod template is of; empty for another place."""
    if pod.steps[: len(_JOBS)] != _JOBS or len(pod.steps) <= len(_JOBS):
        return {}
    jobs: Any = runtime.content
    for step in _JOBS:
        jobs = jobs[step]
    found: Any = jobs[pod.steps[len(_JOBS)]]
    return found if isinstance(found, Mapping) else {}


def _of_trainer(spec: Mapping[str, Any], trainer: Mapping[str, Any]) -> Mapping[str, Any]:
    """A Pod spec whose container that trains has the image and resources of the TrainJob."""
    given = mapping(trainer, "resourcesPerNode")
    image = {"image": one} if (one := text_of(trainer, "image")) else {}
    containers = tuple(
        {**one, **image, **_resources(mapping(one, "resources"), given)}
        if isinstance(one, Mapping) and one.get("name") == _NODE
        else one
        for one in sequence(spec, "containers")
    )
    return {**spec, "containers": containers} if given or image else spec


def _resources(base: Mapping[str, Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    if not given:
        return {}
    fields: dict[str, Any] = {
        field: {**mapping(base, field), **mapping(given, field)} for field in ("limits", "requests")
    }
    fields["claims"] = (*sequence(base, "claims"), *sequence(given, "claims"))
    return {"resources": {**base, **{key: one for key, one in fields.items() if one}}}


def _patches(job: Mapping[str, Any]) -> Iterator[tuple[frozenset[str], Mapping[str, Any]]]:
    """What a TrainJob changes of Pod templates, each with the names of the jobs it is for."""
    for _, one in mappings(job, "podTemplateOverrides"):
        yield _targets(one), one
    # Of the releases before that field.
    for _, one in mappings(job, "podSpecOverrides"):
        yield _targets(one), {"spec": {key: one[key] for key in one if key != _TARGETS}}
    for _, one in mappings(job, "runtimePatches"):
        jobs = mapping(mapping(mapping(one, "trainingRuntimeSpec"), "template"), "spec")
        for _, each in mappings(jobs, "replicatedJobs"):
            template = mapping(mapping(mapping(each, "template"), "spec"), "template")
            yield frozenset([text_of(each, "name")]), template


def _targets(override: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(text_of(one, "name") for _, one in mappings(override, _TARGETS))


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


def bare_template(job: Mapping[str, Any]) -> dict[str, Any]:
    """What the spec of a TrainJob alone says of the Pods that train."""
    template = {"spec": {"containers": ({"name": _NODE},)}}
    return template_of(template, job, names=(_NODE, _TRAINER), is_trainer=True)


def _partial(job: Document) -> PodTemplate:
    """What is known of the Pods that train where nobody has the runtime."""
    template = bare_template(mapping(job.content, "spec"))
    return PodTemplate(
        document=job,
        steps=("spec",),
        spec=frozen(template["spec"]),
        metadata=frozen(template["metadata"]),
        is_partial=True,
    )
