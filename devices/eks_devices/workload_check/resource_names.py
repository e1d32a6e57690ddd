"""Names among limits and requests that are those of no resource, and what is meant by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from .._yaml_text import AsYaml
from ..feasibility.class_names import class_called
from ..findings import Finding, alike, fault, question
from ..names import (
    CLASS_RESOURCES,
    COMPUTE_DOMAIN_CHANNEL_CLASS,
    EXTENDED_RESOURCES,
    MIG_CLASS,
    VFIO_CLASS,
    device_type_of_class,
)
from ..plans import ClusterPlan
from ..syntax import is_label_key
from ..typecheck import is_token
from ..vocabulary import Mechanism
from .amounts import CPU, MEMORY
from .documents import Steps, mapping, path_of
from .huge_pages import PREFIX, page_size, pages_meant
from .partitions import is_partition
from .pods import PodTemplate
from .resources import ResourceCheck, claim_instead

_PLAIN: Final = (CPU, MEMORY, "ephemeral-storage")
_FIELDS: Final = ("limits", "requests")
_PAGE: Final = "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/"


def name_faults(
    pod: PodTemplate, plan: ClusterPlan, resources: ResourceCheck
) -> Iterator[tuple[Steps, Finding]]:
    """Names of resources that the API server refuses, with the steps to each from the Pod's spec.

    Args:
        pod: The template.
        plan: The node groups.
        resources: What is known of resources there.
    """
    owners: list[tuple[Steps, Mapping[str, Any]]] = [
        (one.steps, one.content) for one in pod.containers
    ]
    for at, owner in [*owners, ((), pod.spec)]:
        for field in _FIELDS:
            for name in mapping(mapping(owner, "resources"), field):
                # Of a Pod as a whole all others are told by a rule.
                is_meant = isinstance(name, str) and (at or name.startswith(PREFIX))
                if is_meant and not _is_resource(name):
                    steps = (*at, "resources", field, name)
                    yield steps, _no_resource(path_of(steps), name, plan, resources)


def _is_resource(name: str) -> bool:
    """Whether Kubernetes takes a name for one of a resource; a misplaced field has a rule."""
    if is_token(name) or name in (*_PLAIN, "claims"):
        return True
    if name.startswith(PREFIX):
        return page_size(name) is not None
    return "/" in name and is_label_key(name)


def _no_resource(path: str, name: str, plan: ClusterPlan, resources: ResourceCheck) -> Finding:
    sizes = "hugepages-<size>, such as hugepages-2Mi"
    return fault(
        "MalformedResourceName",
        path,
        "the API server knows no such resource",
        got=AsYaml(name),
        allowed=f"{', '.join(_PLAIN)}, {sizes}, or a name with its domain",
        fix=_meant(name, plan, resources) or "write the name with its domain",
        source=_PAGE,
    )


def _meant(name: str, plan: ClusterPlan, resources: ResourceCheck) -> str:
    """What to write for a name that is no resource; empty where nothing is near."""
    if near := pages_meant(name):
        return question([near])
    called = name if resources.is_class(name) else class_called(name)
    if called and called != COMPUTE_DOMAIN_CHANNEL_CLASS:
        return _of_devices(name, called, plan, resources)
    return question(alike(name, _PLAIN)[:1])


def _of_devices(name: str, called: str, plan: ClusterPlan, resources: ResourceCheck) -> str:
    """How Pods ask for devices of a class that a name stands for."""
    by_name = _by_name(name, called, plan, resources)
    by_claim = [one for one in _claimed(called, plan) if one not in by_name.groups]
    claim = claim_instead([f"deviceClassName: {called}"])
    if by_claim and by_name.groups:
        groups = f"{', '.join(by_name.groups)}, or for {', '.join(by_claim)}"
        return f"write {by_name.resource} for {groups} {claim}"
    if by_claim or not by_name.resource:
        what = "" if name == called else "a name for devices of "
        return f"{name} is {what}the DeviceClass {called}: {claim}"
    is_unlike = "." in name or by_name.resource.startswith(CLASS_RESOURCES)
    return f"write {by_name.resource}" if is_unlike else question([by_name.resource])


class _ByName(NamedTuple):
    """A resource by which Pods have devices, empty for none, and the groups that serve it."""

    resource: str
    groups: list[str]


def _by_name(name: str, called: str, plan: ClusterPlan, resources: ResourceCheck) -> _ByName:
    """The resource by which Pods have devices of a class here; else what they may have for it."""
    kind = device_type_of_class(called)
    own = {one.partition("/")[2]: one for one in EXTENDED_RESOURCES[kind]} if kind else {}
    near = [own[one] for one in alike(name.rpartition("/")[2], own)[:1]]
    of_class = [*near, *own.values(), *resources.named_after(called)]
    if called in (MIG_CLASS, VFIO_CLASS):
        offered = {one for group in plan.nodegroups for one in group.extended_resources}
        of_class = [*filter(is_partition, sorted(offered)), *resources.named_after(called)]
    ways = [_ByName(one, _serving(one, called, plan, resources)) for one in of_class]
    found = next((one for one in ways if one.groups), None)
    return found or _ByName(next(iter(near or own.values()), ""), [])


def _serving(resource: str, called: str, plan: ClusterPlan, resources: ResourceCheck) -> list[str]:
    """The groups that serve a resource, by a device plugin or by the class that it stands for."""
    by_dra = _claimed(called, plan) if resources.class_of(resource) == called else []
    return [
        one.name
        for one in plan.nodegroups
        if resource in one.extended_resources or one.name in by_dra
    ]


def _claimed(called: str, plan: ClusterPlan) -> list[str]:
    """The groups whose devices of a class are claimed."""
    kind = device_type_of_class(called)
    devices = ((one.name, one.device_of(kind)) for one in plan.nodegroups if kind)
    return [name for name, one in devices if one and one.mechanism is Mechanism.DRA]
