"""Neuron devices and cores: what a container takes against what its process asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..._data import read_toml
from ...instance_types import AcceleratedInstanceType
from ...names import (
    DEFAULT_SCHEDULER,
    NEURON_CORE_RESOURCE,
    NEURON_DRIVER,
    NEURON_RESOURCE,
    NEURON_SCHEDULER,
)
from ...plans import NodegroupPlan
from ...published import device_group_sizes
from ...quantities import count_of
from ...vocabulary import DeviceType, Mechanism
from ..claimed import PodClaim
from ..documents import mapping, mappings, sequence
from ..pods import Container
from .asking import amount, asks_for, variables
from .claim_content import asks_of, devices_of, types_of
from .context import Context, Told, listed_claims

_PLUGIN: Final = "https://docs.aws.amazon.com/eks/latest/userguide/device-management-neuron.html"
_EXTENSION: Final = (
    "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/infrastructure/scheduler.html"
)


def more_cores_than_taken(context: Context) -> Iterator[Told]:
    """A process that wants more cores than its container has."""
    facts = read_toml("pod_rules.toml")["neuron_runtime"]
    for container in context.containers:
        for index, name, value in variables(container):
            if name not in (facts["number"], facts["visible"]) or value is None:
                continue
            wanted = _number(value) if name == facts["number"] else _listed(value)
            has = _cores(context, container) if wanted else None
            if wanted and has and wanted > has:
                yield context.warn(
                    (*container.steps, "env", index),
                    "TooManyNeuronCores",
                    f"{name}={value} asks for {wanted} cores, and container {container.name} has "
                    f"at most {has}: the Neuron runtime does not start",
                    fix=f"write {has} or fewer, or ask for more devices",
                    source=facts["source"],
                )


def _number(value: str) -> int:
    return int(value) if value.isascii() and value.isdigit() and len(value) < 6 else 0  # noqa: PLR2004


def _listed(value: str) -> int:
    """How many cores "0-3,8" names; 0 for what is no such list."""
    cores: set[int] = set()
    for part in value.replace(" ", "").split(","):
        first, dash, last = part.partition("-")
        if not first.isdigit() or (dash and not last.isdigit()) or len(part) > 11:  # noqa: PLR2004
            return 0
        cores.update(range(int(first), min(int(last or first), int(first) + 9999) + 1))
    return len(cores)


def _cores(context: Context, container: Container) -> int | None:
    """The most cores that a container has on any node that its Pod may come to."""
    found = [_on(context, container, one) for one in context.groups_with(DeviceType.NEURON)]
    known = [one for one in found if one]
    return max(known) if known and len(known) == len(found) else None


def _on(context: Context, container: Container, group: NodegroupPlan) -> int | None:
    by_core = count_of(amount(container, NEURON_CORE_RESOURCE))
    if by_core:
        return by_core
    instance = AcceleratedInstanceType.of(group.instance_type)
    chips, listed = instance.accelerator, list(_claims(context, container))
    if chips is None or any({None} & types_of(one) for one, _ in listed):
        return None
    size = group.logical_neuron_cores or instance.default_logical_core_size
    sizes = [one for claim, _ in listed if (one := _logical_size(claim))]
    each = (chips.cores_per_device or 1) // (min(sizes) if sizes else size)
    counts = [_devices(claim, request, chips.count) for claim, request in listed]
    if None in counts:
        return None
    devices = count_of(amount(container, NEURON_RESOURCE)) + sum(one or 0 for one in counts)
    return min(devices, chips.count) * each


def _claims(context: Context, container: Container) -> Iterator[tuple[PodClaim, str]]:
    known = {one.name: one for one in context.claims}
    for _, name, request in listed_claims(container):
        if name in known:
            yield known[name], request


def _devices(claim: PodClaim, request: str, of_node: int) -> int | None:
    """How many Neuron devices a request of a claim brings; None where that is not known."""
    found = [one for one in asks_of(claim) if one.request == request or not request]
    if any(one.is_alternative for one in found) or _is_of_whole_host(claim):
        return None
    counts = [
        of_node if one.mode == "All" else one.count
        for one in found
        if one.device_type is DeviceType.NEURON
    ]
    known = [one for one in counts if one is not None]
    return sum(known) if len(known) == len(counts) else None


def _is_of_whole_host(claim: PodClaim) -> bool:
    """Whether a claim may be for whole hosts of an UltraServer, which are one device each."""
    for _, request in mappings(devices_of(claim), "requests"):
        for _, selector in mappings(mapping(request, "exactly"), "selectors"):
            if "neuron_node" in str(mapping(selector, "cel").get("expression")):
                return True
    return False


def _logical_size(claim: PodClaim) -> int:
    for one in sequence(devices_of(claim), "config"):
        opaque = mapping(one, "opaque") if isinstance(one, dict) else {}
        size = mapping(opaque, "parameters").get("logicalNeuronCore")
        if opaque.get("driver") == NEURON_DRIVER and type(size) is int and size > 0:
            return size
    return 0


def devices_and_cores(context: Context) -> Iterator[Told]:
    """A container that asks for devices and for cores, which are the same hardware."""
    for container in context.containers:
        if all(asks_for(container, one.__eq__) for one in (NEURON_RESOURCE, NEURON_CORE_RESOURCE)):
            yield context.warn(
                (*container.steps, "resources"),
                "NeuronDevicesAndCores",
                f"container {container.name} asks for devices and for cores, and each device is "
                "counted in both",
                fix="ask for whole devices, or for cores alone",
                source=_PLUGIN,
            )


def neuron_scheduler(context: Context) -> Iterator[Told]:
    """Pods that take part of a node by the device plugin, and who picks that part."""
    name, extension = context.spec.get("schedulerName"), context.plan.neuron.scheduler_extension
    if name == NEURON_SCHEDULER:
        yield from _of_second_scheduler(context, extension=extension)
    if name not in ("", None, DEFAULT_SCHEDULER):
        yield from _counts(context)
        return
    for group in context.groups_with(DeviceType.NEURON, Mechanism.DEVICE_PLUGIN):
        for container in context.containers:
            if _takes_some(container, group):
                yield context.warn(
                    (*container.steps, "resources"),
                    "NeuronDevicesApart",
                    f"container {container.name} takes several Neuron devices or cores of a node "
                    f"of {group.name}, and not all: the device plugin counts only, so they may "
                    "not be connected, and collectives fail",
                    fix=f"let the Pod name the scheduler {NEURON_SCHEDULER}"
                    + (
                        ""
                        if extension
                        else ", which NeuronInstallation(scheduler_extension=True) runs"
                    ),
                    source=_EXTENSION,
                )
                return


def _counts(context: Context) -> Iterator[Told]:
    """Numbers of devices of which no connected group has so many."""
    groups = context.groups_with(DeviceType.NEURON, Mechanism.DEVICE_PLUGIN)
    sizes = [device_group_sizes(one.instance_type) for one in groups]
    for container in context.containers:
        count = count_of(amount(container, NEURON_RESOURCE))
        if count and sizes and all(one and count not in one for one in sizes):
            allowed = ", ".join(map(str, sorted({size for one in sizes for size in one})))
            yield context.warn(
                (*container.steps, "resources"),
                "NeuronCountNotAllowed",
                f"container {container.name} asks for {count} Neuron devices, and the scheduler "
                f"extension gives {allowed}, as connected ones: the Pod waits for ever",
                fix="ask for one of these numbers",
                source=_EXTENSION,
            )


def _takes_some(container: Container, group: NodegroupPlan) -> bool:
    chips = AcceleratedInstanceType.of(group.instance_type).accelerator
    offered = group.extended_resources
    devices = count_of(amount(container, NEURON_RESOURCE))
    cores = count_of(amount(container, NEURON_CORE_RESOURCE))
    every_device, every_core = offered.get(NEURON_RESOURCE, 0), offered.get(NEURON_CORE_RESOURCE, 0)
    each = every_core // chips.count if chips else 0
    return 1 < devices < every_device or max(each, 1) < cores < every_core


def _of_second_scheduler(context: Context, *, extension: bool) -> Iterator[Told]:
    if not extension:
        yield context.warn(
            ("schedulerName",),
            "SchedulerNotInstalled",
            f"the Pods name the scheduler {NEURON_SCHEDULER}, and the plan installs none of that "
            "name: they would wait for ever",
            fix="leave schedulerName out, or pass NeuronInstallation(scheduler_extension=True)",
            source=_EXTENSION,
        )
    elif any(DeviceType.NEURON in types_of(one) for one in context.claims):
        yield context.tell(
            ("schedulerName",),
            "SchedulerForPluginOnly",
            f"{NEURON_SCHEDULER} picks connected devices for the device plugin; a claim says by "
            "its constraint which devices belong together",
            fix="leave schedulerName out",
            source=_EXTENSION,
        )


RULES = (more_cores_than_taken, devices_and_cores, neuron_scheduler)
