"""Pods that ask Neuron's device plugin for parts of a node: the scheduler that picks them.

`use_neuron_scheduler` takes the plain mapping of a Pod spec, `{"containers": [...]}`, and returns
a changed copy. For a Job, a Deployment or a StatefulSet pass
`manifest["spec"]["template"]["spec"]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from types import NoneType
from typing import Any, Final

from ._pod_specs import POD_SPEC, Container, PodSpec, taken_at_once
from .findings import Finding, fault
from .instance_types import AcceleratedInstanceType, lookup
from .names import (
    DEFAULT_SCHEDULER,
    NEURON_CORE_RESOURCE,
    NEURON_RESOURCE,
    NEURON_SCHEDULER,
    RETIRED_NEURON_RESOURCE,
)
from .published import device_group_sizes
from .quantities import count_of
from .typecheck import is_number_token, is_token, text, wrong_type
from .vocabulary import DeviceType

# What the API server writes where a Pod names none.
_RESOURCES: Final = (NEURON_RESOURCE, NEURON_CORE_RESOURCE)
_EXTENSION: Final = (
    "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/infrastructure/scheduler.html"
)
_PLUGIN: Final = "https://docs.aws.amazon.com/eks/latest/userguide/device-management-neuron.html"


def use_neuron_scheduler(
    pod_spec: Mapping[str, Any], *, instance_type: str | None = None
) -> dict[str, Any]:
    """A Pod spec whose Pods get Neuron devices, or cores, that are connected with each other.

    The device plugin only counts, so a container that asks for more than one device or core, and
    for less than the node, may get some that are far apart. Neuron's scheduler extension picks
    neighbours; it answers only Pods of the second scheduler, `neuron-scheduler`, which a group
    has to have. Under DRA a claim says the same by `MatchAttribute.DEVICE_GROUP`, and Pods stay
    with the default scheduler.

    Args:
        pod_spec: The Pod spec.
        instance_type: EC2 type of the nodes; by default the numbers are checked against none,
            and one that the extension refuses leaves the Pod pending.

    Raises:
        EksDevicesError: Every fault: what is no Pod spec, `SchedulerTaken` where the Pod names
            another scheduler than the default one, `NoContainerWithNeuron`, `RetiredResource`
            for `aws.amazon.com/neurondevice`, `RequestNotEqualToLimit`, and
            `NeuronDevicesAndCores` for a container that asks for both; with a type, what is no
            type with Neuron devices, and `NeuronCountNotAllowed`: on types whose devices form a
            torus, as Trainium's do, a container may ask for 1, 4, 8 or all 16 of them, or for
            cores of one device, or all cores of so many; on others for any number up to all.

    Source: https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/infrastructure/scheduler.html
    """
    pod = PodSpec(pod_spec)
    pod.faults += [*_scheduler_faults(pod), *_resource_faults(pod)]
    if instance_type is not None:
        found = _neuron_type(instance_type)
        pod.faults += [found] if isinstance(found, Finding) else [*_count_faults(pod, found)]
    pod.values["schedulerName"] = NEURON_SCHEDULER
    return pod.checked()


def _scheduler_faults(pod: PodSpec) -> Iterator[Finding]:
    path, given = f"{POD_SPEC}.schedulerName", pod.values.get("schedulerName")
    if given is None:
        return
    wrong = list(text(given, path, NEURON_SCHEDULER, "leave the scheduler out"))
    yield from wrong
    if not wrong and given not in ("", DEFAULT_SCHEDULER, NEURON_SCHEDULER):
        yield fault(
            "SchedulerTaken",
            path,
            "the Pod has another scheduler, and only one can place it",
            got=given,
            allowed=f"{NEURON_SCHEDULER}, {DEFAULT_SCHEDULER}, or none",
            fix="leave the scheduler out, or do without connected devices",
            source=_EXTENSION,
        )


def _resource_faults(pod: PodSpec) -> Iterator[Finding]:
    retired = [one for one in pod.containers if pod.asks_for(one, RETIRED_NEURON_RESOURCE.__eq__)]
    asking = [one for one in pod.containers if pod.asks_for(one, _RESOURCES.__contains__)]
    yield from map(_retired, retired)
    if not asking and not retired and not pod.faults:
        yield fault(
            "NoContainerWithNeuron",
            f"{POD_SPEC}.containers",
            "no container asks the device plugin for Neuron devices or cores, so there are none "
            "that the scheduler extension could pick",
            got=[one.name for one in pod.containers],
            allowed=f"a container with {' or '.join(_RESOURCES)} among its limits",
            fix="add the resource first; Pods with claims keep the default scheduler",
            source=_PLUGIN,
        )
    for one in asking:
        if all(pod.asks_for(one, name.__eq__) for name in _RESOURCES):
            yield fault(
                "NeuronDevicesAndCores",
                f"{one.path}.resources",
                "the container asks for devices and for cores, and each device is counted in both",
                got=list(_RESOURCES),
                allowed="one of the two for a container",
                fix="ask for whole devices, or for cores alone",
                source=_PLUGIN,
            )


def _retired(container: Container) -> Finding:
    return fault(
        "RetiredResource",
        f"{container.path}.resources",
        f"no device plugin offers {RETIRED_NEURON_RESOURCE} any more, so the Pod would wait for "
        "ever",
        got=RETIRED_NEURON_RESOURCE,
        allowed=" or ".join(_RESOURCES),
        fix=f"ask for {NEURON_RESOURCE}, which counts the same devices",
        source=_PLUGIN,
    )


def _neuron_type(name: object) -> AcceleratedInstanceType | Finding:
    found = lookup(name, "instance_type")
    if isinstance(found, Finding) or found.device_type is DeviceType.NEURON:
        return found
    every = AcceleratedInstanceType.all()
    return fault(
        "NoNeuronDevices",
        "instance_type",
        f"{found.name} has no Neuron devices",
        got=name,
        allowed=", ".join(one.name for one in every if one.device_type is DeviceType.NEURON),
        fix="name the type of the nodes that the Pod runs on",
    )


def _count_faults(pod: PodSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Faults of numbers that the scheduler extension refuses, or that no node of a type has."""
    for resource, allowed in zip(_RESOURCES, _allowed(instance), strict=True):
        counts = [(one, _count(pod, one, resource)) for one in pod.containers]
        wrong = [
            _not_allowed(_path(one, resource), resource, count, allowed, instance)
            for one, count in counts
            if count and count not in allowed
        ]
        yield from wrong
        together = taken_at_once(counts)
        if together > max(allowed) and not wrong:
            every = range(1, max(allowed) + 1)
            yield _not_allowed(f"{POD_SPEC}.containers", resource, together, every, instance)


def _allowed(instance: AcceleratedInstanceType) -> tuple[Sequence[int], Sequence[int]]:
    """The numbers of devices, and of cores, that a container may ask for on a type."""
    chips = instance.accelerator
    devices = chips.count if chips else 0
    each = (chips.cores_per_device if chips else None) or 1
    # A node's logical cores are of one of these sizes, which a Pod spec does not tell.
    cores = [each // size for size in instance.logical_core_sizes or (1,)]
    # The groups of a torus that are connected are those that the extension gives.
    groups = device_group_sizes(instance.name)
    if not groups:
        return range(1, devices + 1), range(1, devices * max(cores) + 1)
    of_groups = {group * count for group in groups for count in cores}
    return groups, sorted({*range(1, max(cores) + 1), *of_groups})


def _count(pod: PodSpec, container: Container, resource: str) -> int:
    """How many of a resource a container asks for; 0 where that is none, or a fault."""
    limits, requests = pod.amounts(container)
    given = limits.get(resource, requests.get(resource))
    # What the JSON of a manifest has, and is no amount, is told of every Pod.
    readable = isinstance(given, (int, str, float, list, dict, NoneType))
    if is_token(given) or is_number_token(given) or not readable:
        wanted, fix = "a whole number", "write the number, or leave instance_type out"
        pod.faults.append(wrong_type(_path(container, resource), given, wanted, fix))
    return count_of(given)


def _path(container: Container, resource: str) -> str:
    return f"{container.path}.resources.limits[{resource!r}]"


def _not_allowed(
    path: str,
    resource: str,
    count: int,
    allowed: Sequence[int],
    instance: AcceleratedInstanceType,
) -> Finding:
    return fault(
        "NeuronCountNotAllowed",
        path,
        f"nodes of {instance.name} give {resource} in other numbers, as connected ones and no "
        "more than there are, so the Pod would wait for ever",
        got=count,
        allowed=", ".join(_runs(allowed)),
        fix="ask for an allowed number, or name another instance_type if the nodes are of one",
        source=_EXTENSION,
    )


def _runs(numbers: Sequence[int]) -> Iterator[str]:
    """Rising numbers as texts, those without a gap between them together: "1 to 8"."""
    # Numbers without a gap rise as fast as their places do.
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        first, *others = (number for _, number in run)
        yield f"{first} to {others[-1]}" if others else str(first)
