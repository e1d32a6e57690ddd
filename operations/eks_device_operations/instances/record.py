"""Everything about one instance type, as JSON values."""

from __future__ import annotations

from typing import Any

from eks_devices import AcceleratedInstanceType, Accelerator, Finding, NetworkCard
from eks_devices.network import default_efa_count, max_efa_count

from .facts import SYSTEMS, Defaults, defaults, efa_layout, published, verdicts


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
        "ultraserver_block_sizes": list(instance.ultraserver_block_sizes),
        "nvlink_domain": instance.nvlink_domain,
        "logical_core_sizes": list(instance.logical_core_sizes),
        "default_logical_core_size": instance.default_logical_core_size,
        "unverified": instance.unverified or None,
        "network_cards": [_fields(card) for card in instance.network_cards],
        "efa": {
            "default_on": instance.multi_node_training,
            "count": default_efa_count(instance),
            "max": max_efa_count(instance),
            "interfaces": [one.to_dict() for one in efa_layout(instance)],
        },
        "defaults": _defaults(defaults(instance)),
        "support": _support(instance),
        "published": [
            {name: getattr(one, name) for name in one.__slots__} for one in published(instance)
        ],
    }


def _accelerator(instance: AcceleratedInstanceType) -> dict[str, Any] | None:
    return None if instance.accelerator is None else _fields(instance.accelerator)


def _fields(value: Accelerator | NetworkCard) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}


def _defaults(usual: Defaults) -> dict[str, Any]:
    plan = usual.plan
    return {
        "kubernetes_version": usual.kubernetes_version,
        "operating_system": SYSTEMS[0],
        "required_options": {"efa": True} if usual.needs_efa else {},
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
        for device, mechanism, system, support in verdicts(instance)
    ]
