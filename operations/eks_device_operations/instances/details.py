"""Everything about one instance type, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eks_devices import AcceleratedInstanceType, DeviceType, Finding
from eks_devices.network import default_efa_count, max_efa_count

from .._output import pairs, table
from .facts import Defaults, defaults, efa_layout, published, verdicts
from .words import card_ranges, chips, gib, interface_ranges, number

if TYPE_CHECKING:
    from eks_devices.feasibility.telling.published_values import PublishedValue

_READ_TITLES = ("DRIVER", "READ", "TYPE", "VALUES")
_MOST_VALUES = 3
_VERDICT_TITLES = ("DEVICE", "MECHANISM", "SYSTEM", "VERDICT", "WHY")


def details(instance: AcceleratedInstanceType, *, width: int) -> list[str]:
    """An instance type in lines: hardware, network, default plan, verdicts, warnings."""
    usual = defaults(instance)
    rows = [
        *_hardware(instance),
        *_network(instance),
        *_plan_rows(usual),
        *(("warning", f"{one.message}; {one.fix}") for one in _other_warnings(instance, usual)),
        *(("cards" if not place else "", card) for place, card in enumerate(card_ranges(instance))),
    ]
    known = [[*each, support.verdict, support.message] for *each, support in verdicts(instance)]
    inner = table(_VERDICT_TITLES, known, width=width - 2)
    lines = [instance.name, *pairs(rows, width=width), "", *_indented(inner)]
    read = [_read(one) for one in published(instance)]
    return [*lines, "", *_indented(table(_READ_TITLES, read, width=width - 2))] if read else lines


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}".rstrip() for line in lines]


def _read(one: PublishedValue) -> list[str]:
    """What a selector reads of the devices by DRA, its type and some values."""
    more = len(one.values) - _MOST_VALUES
    values = ", ".join(one.values[:_MOST_VALUES]) + (f" and {more} more" if more > 0 else "")
    return [one.driver, one.expression, one.type or "-", values or "known on the node"]


def _other_warnings(instance: AcceleratedInstanceType, usual: Defaults) -> list[Finding]:
    """Warnings without the one that repeats the note on unverified data."""
    note = instance.unverified
    return [one for one in usual.warnings if not note or note not in one.message]


def _hardware(instance: AcceleratedInstanceType) -> list[tuple[str, str]]:
    domain = "reaches over the nodes of an UltraServer" if instance.nvlink_domain else ""
    sizes = ", ".join(map(str, instance.logical_core_sizes))
    cores = f"sizes {sizes}; default {instance.default_logical_core_size}" if sizes else ""
    return [
        ("devices", _devices(instance)),
        ("not managed", instance.other_accelerator),
        ("node", _node(instance)),
        ("capacity", ", ".join(sorted(instance.usage_classes))),
        ("UltraServer", _ultraserver(instance)),
        ("NVLink", domain),
        ("logical NeuronCores", cores),
        ("unverified", instance.unverified),
    ]


def _ultraserver(instance: AcceleratedInstanceType) -> str:
    """How many instances one has; of Neuron's, some work together as a mode says."""
    sizes = instance.ultraserver_sizes
    listed = " or ".join(map(str, sizes))
    if sizes and instance.device_type is DeviceType.NEURON:
        return f"{max(sizes)} instances, in modes of {listed} nodes"
    return f"{listed} instances" if sizes else ""


def _devices(instance: AcceleratedInstanceType) -> str:
    found = instance.accelerator
    if found is None:
        return "no accelerator that Kubernetes on EKS manages"
    memory, cores = gib(found.memory_mib), found.cores_per_device
    parts = [f"{chips(instance)} ({found.vendor})"]
    parts += [f"{memory} each" if memory else "memory not published"]
    parts += [f"{cores} NeuronCores each"] if cores else []
    return ", ".join(parts)


def _node(instance: AcceleratedInstanceType) -> str:
    parts = [f"{instance.vcpus} vCPUs", gib(instance.memory_mib), instance.architecture]
    parts += (
        [f"{instance.instance_store_gb} GB of local disks"] if instance.instance_store_gb else []
    )
    parts += ["bare metal"] if instance.bare_metal else []
    return ", ".join(parts)


def _network(instance: AcceleratedInstanceType) -> list[tuple[str, str]]:
    usual, most = default_efa_count(instance), max_efa_count(instance)
    if not most:
        return [("EFA", "none")]
    count = f"{usual}" if usual == most else f"{usual}, {most} at most"
    layout = interface_ranges(efa_layout(instance))
    return [("EFA", f"{count} ({_when(instance)})"), ("EFA layout", f"card/device:type {layout}")]


def _when(instance: AcceleratedInstanceType) -> str:
    if instance.accelerator is None:
        return "off unless a node group says efa=True; a plan needs it"
    return "on unless a node group says otherwise" if instance.multi_node_training else "on request"


def _plan_rows(usual: Defaults) -> list[tuple[str, str]]:
    if usual.plan is None:
        return []
    mechanisms = ", ".join(f"{one} by {how}" for one, how in usual.mechanisms.items())
    given = "with efa=True: " if usual.needs_efa else ""
    return [
        ("default", f"{given}{mechanisms} (Kubernetes {usual.kubernetes_version}, AL2023)"),
        ("AMI type", usual.plan.ami_type),
        ("Pods", number(usual.plan.max_pods) or "not known"),
    ]
