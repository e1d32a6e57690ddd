"""Everything about one instance type: for people, and as JSON values."""

from __future__ import annotations

from typing import Any

from eks_devices import AcceleratedInstanceType, Accelerator, Finding, NetworkCard
from eks_devices.network import efa_counts, max_efa_count

from . import _facts as facts
from ._output import pairs, table

_VERDICT_TITLES = ("DEVICE", "MECHANISM", "SYSTEM", "VERDICT", "WHY")


def details(instance: AcceleratedInstanceType, *, width: int) -> list[str]:
    """An instance type in lines: hardware, network, default plan, verdicts, warnings."""
    usual = facts.defaults(instance)
    rows = [
        *_hardware(instance),
        *_network(instance),
        *_plan_rows(usual),
        *(("warning", f"{one.message}; {one.fix}") for one in _other_warnings(instance, usual)),
        *(
            ("cards" if not place else "", card)
            for place, card in enumerate(facts.card_ranges(instance))
        ),
    ]
    verdicts = [[*each[:3], each[3].verdict, each[3].message] for each in facts.verdicts(instance)]
    lines = [instance.name, *pairs(rows, width=width)]
    if verdicts:
        inner = table(_VERDICT_TITLES, verdicts, width=width - 2)
        lines += ["", *(f"  {line}".rstrip() for line in inner)]
    return lines


def _other_warnings(instance: AcceleratedInstanceType, usual: facts.Defaults) -> list[Finding]:
    """Warnings without the one that repeats the note on unverified data."""
    note = instance.unverified
    return [one for one in usual.warnings if not note or note not in one.message]


def _hardware(instance: AcceleratedInstanceType) -> list[tuple[str, str]]:
    domain = "reaches over the nodes of an UltraServer" if instance.nvlink_domain else ""
    sizes = ", ".join(map(str, instance.logical_core_sizes))
    cores = f"sizes {sizes}; default {instance.default_logical_core_size}" if sizes else ""
    servers = " or ".join(map(str, instance.ultraserver_sizes))
    return [
        ("devices", _devices(instance)),
        ("not managed", instance.other_accelerator),
        ("node", _node(instance)),
        ("capacity", ", ".join(sorted(instance.usage_classes))),
        ("UltraServer", f"{servers} nodes" if servers else ""),
        ("NVLink", domain),
        ("logical NeuronCores", cores),
        ("unverified", instance.unverified),
    ]


def _devices(instance: AcceleratedInstanceType) -> str:
    found = instance.accelerator
    if found is None:
        return "no accelerator that Kubernetes on EKS manages"
    memory, cores = facts.gib(found.memory_mib), found.cores_per_device
    parts = [f"{facts.chips(instance)} ({found.vendor})"]
    parts += [f"{memory} each" if memory else "memory not published"]
    parts += [f"{cores} NeuronCores each"] if cores else []
    return ", ".join(parts)


def _node(instance: AcceleratedInstanceType) -> str:
    parts = [f"{instance.vcpus} vCPUs", facts.gib(instance.memory_mib), instance.architecture]
    parts += (
        [f"{instance.instance_store_gb} GB of local disks"] if instance.instance_store_gb else []
    )
    parts += ["bare metal"] if instance.bare_metal else []
    return ", ".join(parts)


def _network(instance: AcceleratedInstanceType) -> list[tuple[str, str]]:
    usual, most = efa_counts(instance), max_efa_count(instance)
    if not most:
        return [("EFA", "none")]
    how = "on unless a node group says otherwise" if instance.multi_node_training else "on request"
    count = f"{usual}" if usual == most else f"{usual}, {most} at most"
    layout = facts.interface_ranges(facts.efa_layout(instance))
    return [("EFA", f"{count} ({how})"), ("EFA layout", f"card/device:type {layout}")]


def _plan_rows(usual: facts.Defaults) -> list[tuple[str, str]]:
    if usual.plan is None:
        return []
    mechanisms = ", ".join(f"{one} by {how}" for one, how in usual.mechanisms.items())
    return [
        ("default", f"{mechanisms} (Kubernetes {usual.kubernetes_version}, AL2023)"),
        ("AMI type", usual.plan.ami_type),
        ("Pods", facts.number(usual.plan.max_pods) or "not known"),
    ]


def record(instance: AcceleratedInstanceType) -> dict[str, Any]:
    """An instance type as JSON values; null is what is not published or does not apply."""
    return {
        "name": instance.name,
        "family": instance.family,
        "architecture": instance.architecture,
        "vcpus": instance.vcpus,
        "memory_mib": instance.memory_mib,
        "accelerator": _accelerator(instance),
        "other_accelerator": instance.other_accelerator or None,
        "usage_classes": sorted(instance.usage_classes),
        "placement_strategies": list(instance.placement_strategies),
        "bare_metal": instance.bare_metal,
        "instance_store_gb": instance.instance_store_gb,
        "ultraserver_sizes": list(instance.ultraserver_sizes),
        "nvlink_domain": instance.nvlink_domain,
        "logical_core_sizes": list(instance.logical_core_sizes),
        "default_logical_core_size": instance.default_logical_core_size,
        "unverified": instance.unverified or None,
        "network_cards": [_fields(card) for card in instance.network_cards],
        "efa": {
            "default_on": instance.multi_node_training,
            "count": efa_counts(instance),
            "max": max_efa_count(instance),
            "interfaces": [one.to_dict() for one in facts.efa_layout(instance)],
        },
        "defaults": _defaults(facts.defaults(instance)),
        "support": _support(instance),
    }


def _accelerator(instance: AcceleratedInstanceType) -> dict[str, Any] | None:
    return None if instance.accelerator is None else _fields(instance.accelerator)


def _fields(value: Accelerator | NetworkCard) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}


def _defaults(usual: facts.Defaults) -> dict[str, Any]:
    plan = usual.plan
    return {
        "kubernetes_version": usual.kubernetes_version,
        "operating_system": facts.SYSTEMS[0],
        "mechanisms": usual.mechanisms,
        "ami_type": plan.ami_type if plan else None,
        "max_pods": plan.max_pods if plan else None,
        "warnings": [_warning(one) for one in usual.warnings],
    }


def _warning(finding: Finding) -> dict[str, str]:
    shown = ("code", "severity", "message", "fix", "source")
    return {name: value for name, value in finding.to_dict().items() if name in shown}


def _support(instance: AcceleratedInstanceType) -> list[dict[str, str]]:
    return [
        {
            "device_type": device,
            "mechanism": mechanism,
            "operating_system": system,
            "verdict": support.verdict,
            "rule": support.rule,
            "message": support.message,
            "source": support.source,
        }
        for device, mechanism, system, support in facts.verdicts(instance)
    ]
