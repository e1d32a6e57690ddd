"""The Pods of a TrainJob, which are those of its runtime with what the job says in their place.

Source: https://github.com/kubeflow/trainer/blob/master/pkg/apis/trainer/v1alpha1/trainjob_types.go
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from eks_devices.workload_check.documents import Document, mapping, mappings
from eks_devices.workload_check.made_pods import (
    TRAINER,
    MadePods,
    is_suspended,
    number,
    replicated_jobs,
)
from eks_devices.workload_check.trainjobs import (
    bare_template,
    is_runtime_of,
    runtime_meant,
    template_of,
    trains,
)

from .files import Item

_NODE: Final = "node"
"""What the Pods that train are called where no runtime says."""


def train_job_pods(item: Item, items: Sequence[Item], namespace: str) -> tuple[list[MadePods], str]:
    """The Pods of a TrainJob, and what to tell of them.

    Args:
        item: The TrainJob.
        items: All objects of files.
        namespace: Where objects are that name no namespace.
    """
    job = mapping(item.content, "spec")
    if is_suspended(job):
        return [], "suspended"
    runtime = runtime_of(item, items, namespace)
    if runtime is not None:
        pods = list(_of_runtime(job, mapping(runtime.content, "spec")))
        return pods, f"by its runtime {runtime.name}"
    known = [_document(one, namespace) for one in items]
    meant = runtime_meant(_document(item, namespace), known)
    name = mapping(job, "runtimeRef").get("name", "")
    where = f"no file has its runtime {name}" if name else "it names no runtime"
    text = f"{where}, so its Pods have what the job says alone"
    return [_bare(job)], f"{text}; {meant}" if meant else text


def runtime_of(item: Item, items: Sequence[Item], namespace: str) -> Item | None:
    """The runtime of a TrainJob, where a file has it; None for what is no TrainJob."""
    if (item.api_group, item.kind) != (TRAINER, "TrainJob"):
        return None  # of many objects
    job = _document(item, namespace)
    return next((one for one in items if is_runtime_of(_document(one, namespace), job)), None)


def _document(item: Item, namespace: str) -> Document:
    return Document(origin=item.file, content=item.content, default_namespace=namespace)


def _of_runtime(job: Mapping[str, Any], runtime: Mapping[str, Any]) -> Iterator[MadePods]:
    in_runtime = number(mapping(runtime, "mlPolicy"), "numNodes", 1)
    nodes = number(mapping(job, "trainer"), "numNodes", in_runtime)
    jobs = mapping(mapping(runtime, "template"), "spec")
    for (_, one), pods in zip(mappings(jobs, "replicatedJobs"), replicated_jobs(jobs), strict=True):
        is_trainer = trains(one)
        yield MadePods(
            role=pods.role,
            template=template_of(pods.template, job, names=(pods.role,), is_trainer=is_trainer),
            most=nodes if is_trainer else pods.count,
        )


def _bare(job: Mapping[str, Any]) -> MadePods:
    template = bare_template(job)
    spec = template["spec"]
    # No server takes a container without an image, and nothing runs here.
    containers = [{"image": _NODE, **one} for _, one in mappings(spec, "containers")]
    return MadePods(
        role=_NODE,
        template={**template, "spec": {**spec, "containers": containers}},
        most=number(mapping(job, "trainer"), "numNodes", 1),
    )
