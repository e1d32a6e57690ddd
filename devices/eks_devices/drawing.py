"""Draws the plan of a node group whose rules all passed."""

from __future__ import annotations

import functools
import hashlib
import json

from ._data import read_toml
from ._frozen import FrozenDict
from .amis import ami_type, disk_device
from .bottlerocket import bottlerocket_settings
from .extended_resources import extended_resources
from .findings import Finding
from .instance_checks import max_pods_cap
from .instance_types import AcceleratedInstanceType
from .labels import taints_of
from .mechanisms import Choice, is_built_in
from .names import (
    DEFAULT_OWNER,
    DEVICE_CLASSES,
    EXTERNAL_OWNER,
    GPU_PRESENT_LABEL,
    HOST_OWNER,
    IMEX_UNIT,
    NODEGROUP_LABEL,
    manager_label,
    mechanism_label,
)
from .network import NetworkInterface, default_efa_count, efa_interfaces, eni_limited_max_pods
from .plans import DevicePlan, NodegroupPlan
from .spec import NodegroupSpec
from .vocabulary import DeviceType, Mechanism


def efa_count(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> int:
    """How many EFA interfaces each node of a group gets."""
    if spec.efa is None:
        return default_efa_count(instance) if instance.multi_node_training else 0
    if isinstance(spec.efa, bool):
        return default_efa_count(instance) if spec.efa else 0
    return spec.efa


def group_interfaces(
    spec: NodegroupSpec, instance: AcceleratedInstanceType
) -> tuple[NetworkInterface, ...]:
    """The network interfaces of a group's nodes; none where EC2's single default one does."""
    return efa_interfaces(
        instance, count=efa_count(spec, instance), high_ip_bandwidth=spec.high_ip_bandwidth
    )


def draw_nodegroup(
    spec: NodegroupSpec,
    instance: AcceleratedInstanceType,
    version: str,
    *,
    counts: dict[DeviceType, int],
    choices: dict[DeviceType, Choice],
    findings: tuple[Finding, ...],
) -> NodegroupPlan:
    """The plan of a group, from the choices that the rules made."""
    devices = tuple(
        _device(spec, device, count, choices[device]) for device, count in counts.items()
    )
    interfaces = group_interfaces(spec, instance)
    max_pods = _max_pods(spec, instance, interfaces)
    return NodegroupPlan(
        name=spec.name,
        instance_type=instance.name,
        kubernetes_version=version,
        operating_system=spec.operating_system,
        capacity=spec.capacity,
        ami_type=ami_type(instance, spec.operating_system) or "",
        release_version=spec.release_version,
        min_size=spec.min_size,
        desired_size=_desired_size(spec),
        max_size=spec.max_size,
        devices=devices,
        network_interfaces=interfaces,
        labels=_labels(spec, devices),
        taints=taints_of(spec, instance.device_type),
        extended_resources=extended_resources(devices, instance, spec.logical_neuron_cores),
        device_classes=_device_classes(devices),
        max_pods=max_pods,
        disk_device=disk_device(spec.operating_system),
        disk_gib=spec.disk_gib or read_toml("limits.toml")["disk"]["default"],
        masked_units=_masked_units(devices),
        logical_neuron_cores=spec.logical_neuron_cores,
        bottlerocket_settings=bottlerocket_settings(spec.operating_system, devices, max_pods),
        replace_key=_replace_key(spec, devices),
        findings=findings,
    )


def _device(spec: NodegroupSpec, device: DeviceType, count: int, choice: Choice) -> DevicePlan:
    shared = spec.gpu_sharing if device is DeviceType.GPU else None
    settings = FrozenDict(shared.settings() if shared else ())
    return DevicePlan(
        device_type=device,
        mechanism=choice.mechanism,
        owner=_owner(spec, device, choice.mechanism, tuple(settings.items())),
        count=count,
        reason=choice.reason,
        automatic=choice.automatic,
        settings=settings,
    )


def _owner(
    spec: NodegroupSpec, device: DeviceType, mechanism: Mechanism, settings: tuple[object, ...]
) -> str:
    if device in spec.external:
        return EXTERNAL_OWNER
    if is_built_in(device, mechanism, spec.operating_system):
        return HOST_OWNER
    if spec.scope is not None:
        return f"{spec.scope}-{_hash8(spec.scope, settings)}"
    return f"{DEFAULT_OWNER}-{_hash8(settings)}" if settings else DEFAULT_OWNER


@functools.lru_cache(maxsize=4096)
def _hash8(*values: object) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:8]


def _labels(spec: NodegroupSpec, devices: tuple[DevicePlan, ...]) -> FrozenDict[str, str]:
    labels = dict(spec.labels)
    labels[NODEGROUP_LABEL] = spec.name
    for device in devices:
        labels[mechanism_label(device.device_type)] = str(device.mechanism)
        labels[manager_label(device.device_type)] = device.owner
        if device.device_type is DeviceType.GPU:
            labels[GPU_PRESENT_LABEL] = "true"
    return FrozenDict(sorted(labels.items()))


def _masked_units(devices: tuple[DevicePlan, ...]) -> tuple[str, ...]:
    """The driver runs IMEX for each ComputeDomain itself, and the host's own is in its way."""
    domains = (one for one in devices if one.device_type is DeviceType.COMPUTE_DOMAIN)
    return tuple(IMEX_UNIT for _ in domains)


def _device_classes(devices: tuple[DevicePlan, ...]) -> tuple[str, ...]:
    drawn = (device for device in devices if device.mechanism is Mechanism.DRA)
    return tuple(name for device in drawn for name in DEVICE_CLASSES[device.device_type])


def _desired_size(spec: NodegroupSpec) -> int | None:
    if spec.autoscaled:
        return None
    return spec.min_size if spec.desired_size is None else spec.desired_size


def _max_pods(
    spec: NodegroupSpec, instance: AcceleratedInstanceType, interfaces: tuple[NetworkInterface, ...]
) -> int | None:
    if spec.max_pods is not None:
        return spec.max_pods
    addresses = eni_limited_max_pods(instance, interfaces)
    return None if addresses is None else min(addresses, max_pods_cap(instance))


def _replace_key(spec: NodegroupSpec, devices: tuple[DevicePlan, ...]) -> str:
    mechanisms = tuple((str(one.device_type), str(one.mechanism)) for one in devices)
    capacity = (str(spec.capacity.kind), spec.capacity.name)
    return _hash8(spec.instance_type, str(spec.operating_system), capacity, mechanisms)
