"""Draws the plan of a node group whose rules all passed."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

from ._data import read_toml
from ._frozen import FrozenDict
from .amis import CUSTOM_AMI, ami_type, disk_device
from .bottlerocket import bottlerocket_settings
from .extended_resources import extended_resources
from .feature_gates import told_gates
from .findings import Finding
from .gpu_operator import gpu_operator_labels
from .gpu_rules import gpu_settings
from .instance_store import uses_instance_store
from .instance_types import AcceleratedInstanceType
from .interfaces import group_interfaces, group_max_pods, node_addresses
from .labels import taints_of
from .maintenance import node_repair, update_config
from .mechanisms import Choice, is_built_in
from .mig import Mig
from .names import (
    DEFAULT_OWNER,
    DEVICE_CLASSES,
    EXTERNAL_OWNER,
    GPU_CLASS,
    GPU_PRESENT_LABEL,
    HOST_OWNER,
    IMEX_UNIT,
    MIG_CLASS,
    NODEGROUP_LABEL,
    PASSTHROUGH_GATE,
    POOL_LABEL,
    VFIO_CLASS,
    manager_label,
    mechanism_label,
)
from .placement import placement_group
from .plans import DevicePlan, NodegroupPlan, ScheduledSize
from .spec import NodegroupSpec
from .vocabulary import DeviceType, Mechanism

V = TypeVar("V")


class _Drawn(NamedTuple):
    """What a plan is drawn from."""

    spec: NodegroupSpec
    instance: AcceleratedInstanceType
    version: str
    devices: tuple[DevicePlan, ...]
    findings: tuple[Finding, ...]


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
    return _plan(_Drawn(spec, instance, version, devices, findings))


def _plan(given: _Drawn) -> NodegroupPlan:
    spec, instance, devices = given.spec, given.instance, given.devices
    max_pods, scheduled = group_max_pods(spec, instance), _scheduled_size(spec)
    return NodegroupPlan(
        name=spec.name,
        instance_type=instance.name,
        instance_types=(instance.name, *spec.alternative_instance_types),
        kubernetes_version=given.version,
        operating_system=spec.operating_system,
        capacity=spec.capacity,
        ami_type=CUSTOM_AMI if spec.ami_id else ami_type(instance, spec.operating_system) or "",
        ami_id=spec.ami_id,
        release_version=spec.release_version,
        min_size=0 if scheduled else spec.min_size,
        desired_size=None if scheduled else _desired_size(spec),
        max_size=spec.max_size,
        scheduled_size=scheduled,
        placement_group=placement_group(spec, instance),
        devices=devices,
        network_interfaces=group_interfaces(spec, instance),
        labels=_labels(spec, devices),
        taints=taints_of(spec, instance.device_type),
        extended_resources=extended_resources(spec, devices, instance),
        device_classes=_device_classes(devices, spec.mig),
        max_pods=max_pods,
        disk_device=disk_device(spec.operating_system),
        disk_gib=spec.disk_gib or read_toml("limits.toml")["disk"]["default"],
        instance_store=uses_instance_store(spec, instance),
        addresses=node_addresses(spec, instance, max_pods),
        subnet_cidrs=tuple(spec.subnet_cidrs),
        masked_units=_masked_units(devices),
        logical_neuron_cores=spec.logical_neuron_cores,
        mig=spec.mig,
        bottlerocket_settings=bottlerocket_settings(spec, devices, max_pods),
        kubelet=_frozen(spec.kubelet),
        hugepages_2mi=spec.hugepages_2mi,
        user_data=spec.user_data,
        node_repair=node_repair(spec),
        update=update_config(spec),
        tags=_frozen(spec.tags),
        launch_template_overrides=_frozen(spec.launch_template_overrides),
        replace_key=_replace_key(spec, devices),
        findings=given.findings,
    )


def _frozen(values: Mapping[str, V]) -> FrozenDict[str, V]:
    """A mapping of a spec, which froze it itself where it could be read."""
    return values if isinstance(values, FrozenDict) else FrozenDict(values)


def _device(spec: NodegroupSpec, device: DeviceType, count: int, choice: Choice) -> DevicePlan:
    told = gpu_settings(spec, choice.mechanism) if device is DeviceType.GPU else ()
    settings: FrozenDict[str, str | int] = FrozenDict(told)
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
    if is_built_in(spec, device, mechanism):
        return HOST_OWNER
    if spec.scope is not None:
        return f"{spec.scope}-{_hash8(spec.scope, *_address(spec), settings)}"
    return f"{DEFAULT_OWNER}-{_hash8(settings)}" if settings else DEFAULT_OWNER


def _address(spec: NodegroupSpec) -> tuple[str, ...]:
    """What tells installations of one name in two apps apart."""
    return (spec.scope_address,) if spec.scope_address else ()


@functools.lru_cache(maxsize=4096)
def _hash8(*values: object) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:8]


def _labels(spec: NodegroupSpec, devices: tuple[DevicePlan, ...]) -> FrozenDict[str, str]:
    labels = dict(spec.labels)
    labels[NODEGROUP_LABEL] = spec.name
    if spec.pool is not None:
        labels[POOL_LABEL] = spec.pool
    for device in devices:
        labels[mechanism_label(device.device_type)] = str(device.mechanism)
        labels[manager_label(device.device_type)] = device.owner
        if device.device_type is DeviceType.GPU:
            labels[GPU_PRESENT_LABEL] = "true"
            # A user's own label may let the operator in, for its exporters; its values judge it.
            labels = gpu_operator_labels(device) | labels
    return FrozenDict(sorted(labels.items()))


def _masked_units(devices: tuple[DevicePlan, ...]) -> tuple[str, ...]:
    """The driver runs IMEX for each ComputeDomain itself, and the host's own is in its way."""
    domains = (one for one in devices if one.device_type is DeviceType.COMPUTE_DOMAIN)
    return tuple(IMEX_UNIT for _ in domains)


def _device_classes(devices: tuple[DevicePlan, ...], mig: Mig | None) -> tuple[str, ...]:
    drawn = (one for one in devices if one.mechanism is Mechanism.DRA)
    return tuple(name for one in drawn for name in _classes_of(one, mig))


def _classes_of(device: DevicePlan, mig: Mig | None) -> tuple[str, ...]:
    """A GPU that is cut when its node boots is not there as a whole any more."""
    if device.device_type is not DeviceType.GPU:
        return DEVICE_CLASSES[device.device_type]
    if mig is not None:
        return (GPU_CLASS, MIG_CLASS) if mig.is_dynamic else (MIG_CLASS,)
    passthrough = told_gates(device.settings).get(PASSTHROUGH_GATE)
    return (GPU_CLASS, VFIO_CLASS) if passthrough else (GPU_CLASS,)


def _desired_size(spec: NodegroupSpec) -> int | None:
    if spec.autoscaled:
        return None
    return spec.min_size if spec.desired_size is None else spec.desired_size


def _scheduled_size(spec: NodegroupSpec) -> ScheduledSize | None:
    """What a reservation brings when it starts: before, a node could only fail to start."""
    if spec.capacity.start is None:
        return None
    return ScheduledSize(
        at=spec.capacity.starts_at,
        min_size=spec.min_size,
        desired_size=spec.min_size if spec.desired_size is None else spec.desired_size,
        max_size=spec.max_size,
    )


def _replace_key(spec: NodegroupSpec, devices: tuple[DevicePlan, ...]) -> str:
    mechanisms = tuple((str(one.device_type), str(one.mechanism)) for one in devices)
    capacity = (str(spec.capacity.kind), spec.capacity.name)
    # EKS tries the types in this order, and takes no other order later.
    types = (spec.instance_type, *spec.alternative_instance_types)
    return _hash8(
        types[0] if len(types) == 1 else types,
        str(spec.operating_system),
        capacity,
        mechanisms,
        *_labelled_at_boot(spec, devices),
    )


def _labelled_at_boot(spec: NodegroupSpec, devices: tuple[DevicePlan, ...]) -> Iterator[str]:
    """What a node is at its boot and by its labels: CloudFormation changes no group in both."""
    for device in devices:
        if device.device_type is not DeviceType.GPU:
            continue
        by_dra = device.mechanism is Mechanism.DRA
        if by_dra and device.owner == HOST_OWNER:
            yield "host"
        if by_dra and spec.mig is not None and spec.mig.is_dynamic:
            yield "dynamic MIG"
        if not by_dra and spec.mig is not None:
            yield f"MIG {spec.mig.strategy}"
