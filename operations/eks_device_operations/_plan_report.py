"""The plans of clusters as text. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from eks_devices import DeviceType, Mechanism, Severity
from eks_devices.names import (
    DEVICE_CLASSES,
    EFA_RESOURCE,
    GPU_RESOURCE,
    NEURON_CORE_RESOURCE,
    NEURON_RESOURCE,
)

from ._output import prose, safe, table
from ._plan_files import PlannedCluster

_EFA: Final = frozenset({"efa", "efa-only"})
_RESOURCES: Final = {
    DeviceType.NEURON: (NEURON_RESOURCE, NEURON_CORE_RESOURCE),
    DeviceType.GPU: (GPU_RESOURCE,),
    DeviceType.EFA: (EFA_RESOURCE,),
}
_GROUP_TITLES: Final = ("GROUP", "INSTANCE TYPE", "NODES", "CAPACITY", "AMI TYPE", "EFA", "PODS")
_DEVICE_TITLES: Final = ("GROUP", "DEVICE", "COUNT", "MECHANISM", "OWNER", "PODS ASK FOR")
_DRIVER_TITLES: Final = ("DEVICE", "MECHANISM", "OWNER", "SETTINGS", "FOR GROUPS")
_SEVERITIES: Final = {
    Severity.ERROR: "Errors",
    Severity.WARNING: "Warnings",
    Severity.INFO: "Good to know",
}


def report(clusters: Sequence[PlannedCluster], *, width: int) -> str:
    """The plans as text that fits a terminal; nothing in them reaches it unescaped."""
    blocks = [[line for part in _cluster(one, width) for line in part] for one in clusters]
    lines = [line for block in blocks for line in block]
    return "\n".join([*lines, *prose(_summary(clusters), width=width)]) + "\n"


def _cluster(cluster: PlannedCluster, width: int) -> Iterator[list[str]]:
    plan = cluster.plan
    yield [f"{safe(cluster.path)}: Kubernetes {safe(plan['kubernetes_version'])}", ""]
    groups = [_group_row(group) for group in plan["nodegroups"]]
    if groups:
        yield [*table(_GROUP_TITLES, groups, width=width), ""]
    devices = [_device_row(group, one) for group in plan["nodegroups"] for one in group["devices"]]
    if devices:
        yield [*table(_DEVICE_TITLES, devices, width=width), ""]
    drivers = [_driver_row(driver) for driver in plan["drivers"]]
    if drivers:
        yield ["To install:", *table(_DRIVER_TITLES, drivers, width=width), ""]
    for severity, title in _SEVERITIES.items():
        found = [one for one in plan["findings"] if one["severity"] == severity]
        if found:
            yield [f"{title}:", *_findings(found, width), ""]


def _group_row(group: dict[str, Any]) -> list[str]:
    sizes, capacity = group["sizes"], group["capacity"]
    desired = "autoscaled" if sizes["desired"] is None else f"starts with {sizes['desired']}"
    interfaces = group["network_interfaces"]
    return [
        group["name"],
        group["instance_type"],
        f"{sizes['min']}-{sizes['max']}, {desired}",
        f"{capacity['kind']} {capacity.get('reservation', '')}".strip(),
        group["ami_type"],
        str(sum(one["InterfaceType"] in _EFA for one in interfaces) or ""),
        "" if group["max_pods"] is None else str(group["max_pods"]),
    ]


def _device_row(group: dict[str, Any], device: dict[str, Any]) -> list[str]:
    shown = ("device_type", "count", "mechanism", "owner")
    return [group["name"], *(str(device[key]) for key in shown), _asked_for(group, device)]


def _asked_for(group: dict[str, Any], device: dict[str, Any]) -> str:
    """What Pods write to get the device: a DeviceClass in claims, or extended resources."""
    kind = DeviceType(device["device_type"])
    if kind is DeviceType.COMPUTE_DOMAIN:
        return "the claim of a ComputeDomain"
    if device["mechanism"] == Mechanism.DRA:
        classes = [name for name in DEVICE_CLASSES[kind] if name in group["device_classes"]]
        return f"DeviceClass {', '.join(classes)}" if classes else ""
    offered = group["extended_resources"]
    names = [name for name in _RESOURCES.get(kind, ()) if name in offered]
    return ", ".join(f"{name}: {offered[name]}" for name in names)


def _driver_row(driver: dict[str, Any]) -> list[str]:
    settings = ", ".join(f"{key}={value}" for key, value in driver["settings"].items())
    shown = [driver[key] for key in ("device_type", "mechanism", "owner")]
    return [*shown, settings, ", ".join(driver["nodegroups"]) or "kept for others"]


def _findings(findings: Sequence[dict[str, Any]], width: int) -> Iterator[str]:
    for finding in findings:
        yield f"  {safe(finding['code'])}  {safe(finding['path'])}"
        yield from prose(finding["message"], width=width, indent="    ")
        if finding.get("fix"):
            yield from prose(f"fix: {finding['fix']}", width=width, indent="    ")


def _summary(clusters: Sequence[PlannedCluster]) -> str:
    groups = sum(len(one.plan["nodegroups"]) for one in clusters)
    found = Counter(finding["severity"] for one in clusters for finding in one.plan["findings"])
    counts = [
        _counted(len(clusters), "cluster"),
        _counted(groups, "node group"),
        _counted(found[Severity.ERROR], "error"),
        _counted(found[Severity.WARNING], "warning"),
    ]
    return ", ".join(counts)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
