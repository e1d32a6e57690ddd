"""A plan of the library again, made from the JSON of a plan file.

What a file does not tell is empty: the user's own user data, subnets, overrides of templates.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from eks_devices import (
    AcceleratedInstanceType,
    Capacity,
    CapacityKind,
    ClusterPlan,
    DevicePlan,
    DeviceType,
    DriverPlan,
    EfaInstallation,
    Mechanism,
    Mig,
    MigStrategy,
    NetworkInterface,
    NeuronError,
    NeuronHealth,
    NeuronInstallation,
    NodegroupPlan,
    NodeRepair,
    NvidiaInstallation,
    OperatingSystem,
    RepairAction,
    RepairOverride,
    ScheduledSize,
    Taint,
    TaintEffect,
    UpdateConfig,
    UpdateStrategy,
)
from eks_devices._frozen import FrozenDict, deep_frozen
from eks_devices.efa_installation import build_of
from eks_devices.kubernetes import minors
from eks_devices.plans import PLAN_SCHEMA

from .content import field, numbers, texts, understood

_ARN: Final = "arn:"


def cluster_plan(content: Mapping[str, Any]) -> ClusterPlan:
    """The plan of a cluster, from what `ClusterPlan.to_dict` wrote.

    Raises:
        OperationError: It is not what this version of eks-devices writes.
    """
    return understood(_plan, content, f"a plan of schema {PLAN_SCHEMA!r}")


def _plan(content: Any) -> ClusterPlan:
    version = field(content, "kubernetes_version", str)
    if version not in minors():
        raise ValueError(f"'kubernetes_version' is {version!r:.80}")
    neuron = field(content, "neuron", dict)
    return ClusterPlan(
        kubernetes_version=version,
        nodegroups=tuple(_group(one, version) for one in field(content, "nodegroups", list)),
        drivers=tuple(map(_driver, field(content, "drivers", list))),
        nvidia=_nvidia(field(content, "nvidia", dict)),
        neuron=NeuronInstallation(
            scheduler_extension=neuron["scheduler_extension"],
            health=_health(neuron["health"]),
            ultraserver_operator=neuron["ultraserver_operator"],
        ),
        efa=EfaInstallation(build=build_of(field(content, "efa", dict))),
        findings=(),
    )


def _nvidia(content: dict[str, Any]) -> NvidiaInstallation:
    return NvidiaInstallation(
        compute_domain_gates=field(content, "compute_domain_gates", dict),
        nodes_per_imex_domain=content["nodes_per_imex_domain"],
        extended_resource=content["mapped_resource"] is not None,
        network_policies=content["network_policies"],
    )


def _health(content: Any) -> NeuronHealth | None:
    if content is None:
        return None
    recovery = content["recovery"]
    return NeuronHealth(
        recovery=recovery,
        recovers_from=[NeuronError(one) for one in content["recovers_from"]] if recovery else None,
        cloudwatch_metrics=content["cloudwatch_metrics"],
    )


def _group(content: Any, version: str) -> NodegroupPlan:
    sizes, disk = field(content, "sizes", dict), field(content, "disk", dict)
    return NodegroupPlan(
        name=field(content, "name", str),
        instance_type=field(content, "instance_type", str),
        instance_types=_types(content),
        kubernetes_version=version,
        operating_system=OperatingSystem(content["operating_system"]),
        capacity=_capacity(field(content, "capacity", dict)),
        ami_type=field(content, "ami_type", str),
        ami_id=content["ami_id"],
        release_version=content["release_version"],
        min_size=field(sizes, "min", int),
        desired_size=sizes["desired"],
        max_size=field(sizes, "max", int),
        scheduled_size=_scheduled(content["scheduled_size"]),
        placement_group=content["placement_group"],
        devices=tuple(map(_device, field(content, "devices", list))),
        network_interfaces=tuple(map(_interface, field(content, "network_interfaces", list))),
        labels=FrozenDict(_labels(field(content, "labels", dict))),
        taints=tuple(map(_taint, field(content, "taints", list))),
        extended_resources=FrozenDict(numbers(content, "extended_resources")),
        device_classes=texts(content, "device_classes"),
        max_pods=content["max_pods"],
        disk_device=field(disk, "device_name", str),
        disk_gib=field(disk, "size_gib", int),
        instance_store=content["instance_store"],
        addresses=content["addresses"],
        subnet_cidrs=(),
        masked_units=texts(content, "masked_units"),
        logical_neuron_cores=content["logical_neuron_cores"],
        mig=_mig(content["mig"]),
        bottlerocket_settings=deep_frozen(field(content, "bottlerocket_settings", dict)),
        kubelet=deep_frozen(field(content, "kubelet", dict)),
        hugepages_2mi=content["hugepages_2mi"],
        user_data=None,
        node_repair=_repair(content["node_repair"]),
        update=_update(content["update"]),
        tags=FrozenDict(field(content, "tags", dict)),
        launch_template_overrides=FrozenDict(),
        replace_key=field(content, "replace_key", str),
        findings=(),
    )


def _capacity(content: dict[str, Any]) -> Capacity:
    name = str(content.get("reservation", ""))
    start = content.get("start")
    return Capacity(
        kind=CapacityKind(content["kind"]),
        reservation_id="" if name.startswith(_ARN) else name,
        resource_group_arn=name if name.startswith(_ARN) else "",
        start=datetime.fromisoformat(start).replace(tzinfo=UTC) if start else None,
        ultraserver="ultraserver_nodes" in content,
        nodes=content.get("ultraserver_nodes"),
    )


def _scheduled(content: Any) -> ScheduledSize | None:
    if content is None:
        return None
    sizes = field(content, "sizes", dict)
    return ScheduledSize(
        at=field(content, "at", str),
        min_size=field(sizes, "min", int),
        desired_size=field(sizes, "desired", int),
        max_size=field(sizes, "max", int),
    )


def _labels(content: dict[str, Any]) -> dict[str, str]:
    return {name: field(content, name, str) for name in content}


def _types(content: Any) -> tuple[str, ...]:
    """The instance types of a group, one at least and all of them known."""
    found = texts(content, "instance_types")
    for one in (field(content, "instance_type", str), *found):
        AcceleratedInstanceType.of(one)
    if not found:
        raise ValueError("'instance_types' is empty")
    return found


def _device(content: Any) -> DevicePlan:
    return DevicePlan(
        device_type=DeviceType(content["device_type"]),
        mechanism=Mechanism(content["mechanism"]),
        owner=field(content, "owner", str),
        count=field(content, "count", int),
        reason=field(content, "reason", str),
        automatic=content["automatic"] is True,
        settings=deep_frozen(field(content, "settings", dict)),
    )


def _driver(content: Any) -> DriverPlan:
    return DriverPlan(
        device_type=DeviceType(content["device_type"]),
        mechanism=Mechanism(content["mechanism"]),
        owner=field(content, "owner", str),
        settings=deep_frozen(field(content, "settings", dict)),
        nodegroups=texts(content, "nodegroups"),
    )


def _interface(content: Any) -> NetworkInterface:
    return NetworkInterface(
        network_card_index=field(content, "NetworkCardIndex", int),
        device_index=field(content, "DeviceIndex", int),
        interface_type=field(content, "InterfaceType", str),
    )


def _taint(content: Any) -> Taint:
    return Taint(
        key=field(content, "key", str),
        value=field(content, "value", str),
        effect=TaintEffect(content["effect"]),
    )


def _mig(content: Any) -> Mig | None:
    if content is None:
        return None
    strategy = content["strategy"]
    return Mig(
        profiles=texts(content, "profiles"),
        fill=content["fill"],
        is_dynamic=content["dynamic"],
        is_prepared=content["prepared"],
        strategy=None if strategy is None else MigStrategy(strategy),
    )


def _repair(content: Any) -> NodeRepair | None:
    if content is None:
        return None
    values = {key: value for key, value in content.items() if key not in ("enabled", "overrides")}
    overrides = [
        RepairOverride(**{**one, "action": RepairAction(one["action"])})
        for one in content.get("overrides", ())
    ]
    return NodeRepair(**values, overrides=overrides)


def _update(content: Any) -> UpdateConfig | None:
    if content is None:
        return None
    strategy = content.get("strategy")
    given = {**content, "strategy": UpdateStrategy(strategy) if strategy else None}
    return UpdateConfig(**given)
