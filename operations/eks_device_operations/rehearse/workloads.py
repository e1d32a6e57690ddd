"""The workloads among the objects of files, and what is sent for each of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from eks_devices.workload_check.documents import Document, mapping, mappings
from eks_devices.workload_check.made_pods import (
    TRAINER,
    MadePods,
    expansion_of,
    is_suspended,
    job_pods,
    number,
)
from eks_devices.workload_check.pods import pods_of
from eks_devices.workload_check.trainjobs import RUNTIMES

from .._outcome import WRONG, OperationError
from .files import Item, Object, plain
from .train_jobs import train_job_pods

MARK: Final = "eks-devices/workload"
"""The annotation that tells whose a Pod is; controllers hand it on from their templates."""
_NO_WORKLOADS: Final = {(TRAINER, kind) for kind in RUNTIMES}
_LONGEST_NAME: Final = 253
_MOST_PODS: Final = 20_000
_WITHOUT: Final = "of a kind whose controller is not known here: each of its Pods once"
_STORAGE: Final = "volumes of claims are played by empty ones"
_FIXED: Final = "the node that its Pods are fixed to is left out"

Counted = Callable[[Mapping[str, Any]], int | None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Workload:
    """What makes Pods, as a file has it, and the objects that are sent for it.

    Attributes:
        index: Its number, which is on its Pods.
        item: It, and its place.
        namespace: Where its Pods are.
        objects: What is sent.
        wanted: How many Pods it should have; None where its controller alone knows.
        notes: What is played, in words.
        specs: The specs of its Pods, as sent.
    """

    index: int
    item: Item
    namespace: str
    objects: tuple[Object, ...]
    wanted: int | None
    notes: tuple[str, ...] = ()
    specs: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f"{self.item.kind} {self.namespace}/{self.item.name}"


def split(items: Sequence[Item], *, namespace: str) -> tuple[list[Workload], list[Item]]:
    """The workloads among objects, and the objects that are none.

    Args:
        items: All objects.
        namespace: Where objects are that name no namespace.

    Raises:
        OperationError: Together they want more Pods than are rehearsed.
    """
    workloads: list[Workload] = []
    others: list[Item] = []
    pods = 0
    for item in items:
        found = _workload(len(workloads), item, items, namespace)
        if found is None:
            others.append(item)
        else:
            workloads.append(found)
            pods += found.wanted or 0
            _require_few(item, [pods])
    return workloads, others


def _require_few(item: Item, counts: Iterable[int]) -> None:
    if sum(counts) > _MOST_PODS:
        raise OperationError(
            f"{item.place}: up to here, the files want more than {_MOST_PODS} Pods, which is more "
            "than is rehearsed",
            code=WRONG,
        )


def _workload(index: int, item: Item, items: Sequence[Item], default: str) -> Workload | None:
    key, namespace = (item.api_group, item.kind), item.namespace or default
    if key in _NO_WORKLOADS:
        return None
    if key in _NATIVE:
        return _native(index, item, namespace)
    expansion = expansion_of(*key)
    if key == (TRAINER, "TrainJob"):
        pods, note = train_job_pods(item, items, default)
    elif expansion is not None:
        pods, note = list(expansion(item.content)), "made as its controller would"
    elif "." in item.api_group and any(pods_of(_document(item.content))):
        pods, note = list(_each_once(item.content)), _WITHOUT
    else:
        return None
    return _expanded(index, item, namespace, pods, note)


def _each_once(content: Mapping[str, Any]) -> Iterator[MadePods]:
    """One Pod of each template in an object of a kind that nobody here knows."""
    for at, one in enumerate(pods_of(_document(content))):
        template = {"metadata": one.metadata, "spec": one.spec}
        yield MadePods(role=str(at), template=template, most=1)


def _native(index: int, item: Item, namespace: str) -> Workload:
    wanted = _NATIVE[item.api_group, item.kind]
    content, notes = _in(item.content, namespace), []
    spec = mapping(content, "spec")
    if item.kind == "CronJob":
        content, spec = _one_run(content), mapping(mapping(spec, "jobTemplate"), "spec")
        notes.append("one run of it")
    if is_suspended(spec):
        notes.append("suspended")
    found = list(_marked(content, index))
    notes += [note for _, said in found for note in said]
    _add_claimed_volumes(content, notes)
    return Workload(
        index=index,
        item=item,
        namespace=namespace,
        objects=(content,),
        wanted=wanted(spec),
        notes=tuple(dict.fromkeys(notes)),
        specs=tuple(one for one, _ in found),
    )


def _one_run(content: Object) -> Object:
    template = mapping(mapping(content, "spec"), "jobTemplate")
    meta = {**mapping(template, "metadata"), **content["metadata"]}
    return {**content, "kind": "Job", "metadata": meta, "spec": mapping(template, "spec")}


def _marked(content: Object, index: int) -> Iterator[tuple[Object, list[str]]]:
    """Mark the Pods of an object of Kubernetes' own as of a workload; their specs as played."""
    for one in pods_of(_document(content)):
        owner: Any = content
        for step in one.steps[:-1]:
            owner = owner[step]
        meta = owner["metadata"] if isinstance(owner.get("metadata"), dict) else {}
        owner["metadata"] = _with_mark(meta, index)
        yield _played(owner["spec"])


def _with_mark(metadata: Mapping[str, Any], index: int) -> Object:
    marked = {**mapping(metadata, "annotations"), MARK: str(index)}
    return {**metadata, "annotations": marked}


def _played(spec: Object) -> tuple[Object, list[str]]:
    """The spec of a Pod without what does not exist here, changed in place; what that is."""
    notes = []
    for _, volume in mappings(spec, "volumes"):
        gone = [key for key in ("persistentVolumeClaim", "ephemeral") if key in volume]
        for key in gone:
            del volume[key]  # type: ignore[attr-defined]  # (a dict of our own copy)
            volume["emptyDir"] = {}  # type: ignore[index]
            notes.append(_STORAGE)
    if spec.pop("nodeName", None):
        notes.append(_FIXED)
    return spec, notes


def _add_claimed_volumes(content: Object, notes: list[str]) -> None:
    """Play the volumes that a StatefulSet would claim for each Pod."""
    spec = content.get("spec")
    if content["kind"] != "StatefulSet" or not isinstance(spec, dict):
        return
    names = [
        mapping(one, "metadata").get("name") for _, one in mappings(spec, "volumeClaimTemplates")
    ]
    pod = mapping(mapping(spec, "template"), "spec")
    if names and isinstance(pod, dict):
        volumes = list(pod.get("volumes") or ())
        pod["volumes"] = [*volumes, *({"name": name, "emptyDir": {}} for name in names)]
        del spec["volumeClaimTemplates"]
        notes.append(_STORAGE)


def _expanded(
    index: int, item: Item, namespace: str, pods: Sequence[MadePods], note: str
) -> Workload:
    _require_few(item, (one.count for one in pods))
    objects: list[Object] = []
    specs: list[Object] = []
    notes = [note]
    for one in pods:
        spec, said = _played(plain(mapping(one.template, "spec")))
        notes += said
        specs += [spec] if one.count else []
        objects += [
            _pod(f"{item.name}-{one.role}-{at}", namespace, one.template, spec, index)
            for at in range(one.count)
        ]
    return Workload(
        index=index,
        item=item,
        namespace=namespace,
        objects=tuple(objects),
        wanted=len(objects),
        notes=tuple(dict.fromkeys(notes)),
        specs=tuple(specs),
    )


def _pod(
    name: str, namespace: str, template: Mapping[str, Any], spec: Object, index: int
) -> Object:
    given = mapping(template, "metadata")
    meta = {key: given[key] for key in ("labels", "annotations") if given.get(key)}
    valid = re.sub("[^a-z0-9.-]+", "-", name.lower())[:_LONGEST_NAME].strip("-.")
    meta |= {"name": valid, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": _with_mark(meta, index), "spec": spec}


def _in(content: Object, namespace: str) -> Object:
    meta = {**content["metadata"], "namespace": namespace}
    return {**plain(content), "metadata": meta}


def _document(content: Mapping[str, Any]) -> Document:
    return Document(origin="", content=content)


def _one(_: Mapping[str, Any]) -> int:
    return 1


def _replicas(spec: Mapping[str, Any]) -> int:
    return number(spec, "replicas", 1)


def _of_job(spec: Mapping[str, Any]) -> int:
    return 0 if is_suspended(spec) else job_pods(spec)


def _unknown(_: Mapping[str, Any]) -> None:
    return None


# With how many Pods each has, by its spec.
_NATIVE: Final[Mapping[tuple[str, str], Counted]] = {
    ("", "Pod"): _one,
    ("", "ReplicationController"): _replicas,
    ("apps", "DaemonSet"): _unknown,
    ("apps", "Deployment"): _replicas,
    ("apps", "ReplicaSet"): _replicas,
    ("apps", "StatefulSet"): _replicas,
    ("batch", "CronJob"): _of_job,
    ("batch", "Job"): _of_job,
}
