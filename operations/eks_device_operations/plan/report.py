"""The plans of clusters as text. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from eks_devices import DeviceType, Mechanism, Severity
from eks_devices.names import (
    DEFAULT_OWNER,
    DEVICE_CLASSES,
    EXTERNAL_OWNER,
    GPU_CLASS,
    HOST_OWNER,
    NEURON_SCHEDULER,
    offered_resources,
)

from .._output import counted, prose, safe, table
from .claims import CLAIM_TITLES, claim_row
from .findings import finding_lines
from .plan_file import Device, Driver, Group, Plan, PlannedCluster
from .tolerations import claims_note, taint_row

_GROUP_TITLES: Final = ("GROUP", "INSTANCE TYPE", "NODES", "CAPACITY", "AMI TYPE", "EFA", "PODS")
_DEVICE_TITLES: Final = ("GROUP", "DEVICE", "COUNT", "MECHANISM", "OWNER", "PODS ASK FOR")
_TAINT_TITLES: Final = ("GROUP", "TAINTS")
_DRIVER_TITLES: Final = ("DEVICE", "MECHANISM", "OWNER", "SETTINGS", "FOR GROUPS")


def report(clusters: Sequence[PlannedCluster], *, width: int) -> str:
    """The plans as text that fits a terminal; nothing in them reaches it unescaped."""
    lines = [line for one in clusters for line in _cluster_lines(one, width)]
    return "\n".join([*lines, *prose(_summary(clusters), width=width)]) + "\n"


def _cluster_lines(cluster: PlannedCluster, width: int) -> Iterator[str]:
    """The blocks of a cluster, an empty line after each."""
    yield f"{safe(cluster.path)}: Kubernetes {safe(cluster.plan.kubernetes_version)}"
    if cluster.delivery:
        yield from prose(f"Delivery: {'; '.join(cluster.delivery)}", width=width)
    yield ""
    for block in _blocks(cluster, width):
        if block:
            yield from block
            yield ""


def _blocks(cluster: PlannedCluster, width: int) -> Iterator[list[str]]:
    plan = cluster.plan
    yield _table(_GROUP_TITLES, [_group_row(group) for group in plan.groups], width)
    mapped = plan.nvidia.mapped_resource
    devices = [_device_row(group, one, mapped) for group in plan.groups for one in group.devices]
    yield [*_table(_DEVICE_TITLES, devices, width), *prose(_owner_note(plan), width=width)]
    taints = [taint_row(group) for group in plan.groups if group.taints]
    yield [
        *_table(_TAINT_TITLES, taints, width),
        *prose(claims_note(plan.groups), width=width),
    ]
    yield _table(CLAIM_TITLES, list(map(claim_row, cluster.claims)), width)
    drivers = [_driver_row(driver) for driver in plan.drivers]
    also = prose(_also_note(plan), width=width)
    yield ["To install:", *_table(_DRIVER_TITLES, drivers, width), *also] if drivers else []
    for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO):
        yield finding_lines(plan.findings, severity, width=width)


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    return table(titles, rows, width=width) if rows else []


def _group_row(group: Group) -> list[str]:
    desired = "autoscaled" if group.desired is None else f"starts with {group.desired}"
    desired = group.start or desired
    more = f" or {group.other_types} more" if group.other_types else ""
    return [
        group.name,
        group.instance_type + more,
        f"{group.smallest}-{group.largest}, {desired}",
        group.capacity,
        group.ami_type,
        str(group.efas or ""),
        "" if group.max_pods is None else str(group.max_pods),
    ]


def _device_row(group: Group, device: Device, mapped: str | None) -> list[str]:
    return [
        group.name,
        device.device_type,
        f"{device.count}, {group.cut}" if _is_cut(group, device) else str(device.count),
        device.mechanism,
        device.owner,
        _asked_for(group, device, mapped),
    ]


def _is_cut(group: Group, device: Device) -> bool:
    return bool(group.cut) and device.device_type is DeviceType.GPU


def _asked_for(group: Group, device: Device, mapped: str | None) -> str:
    """What Pods write to get the device: a DeviceClass in claims, or extended resources.

    `mapped` is the extended resource that stands for whole GPUs by DRA in the cluster.
    """
    kind = device.device_type
    if kind is DeviceType.COMPUTE_DOMAIN:
        return "the claim of a ComputeDomain"
    if device.mechanism is Mechanism.DRA:
        classes = [name for name in DEVICE_CLASSES[kind] if name in group.device_classes]
        names = f"DeviceClass {', '.join(classes)}" if classes else ""
        ours = GPU_CLASS in classes and device.owner != EXTERNAL_OWNER
        return f"{names}, or {mapped}" if ours and mapped else names
    offered = offered_resources(kind, group.extended_resources)
    return ", ".join(f"{name}: {count}" for name, count in offered.items())


def _also_note(plan: Plan) -> str:
    """What comes with managers because an option asked for it."""
    webhook, parts = plan.nvidia.claim_webhook, []
    if webhook:
        needed = "cert-manager" if webhook == "cert-manager" else "your Secret"
        parts.append(f"the webhook that checks claims for NVIDIA's drivers, which needs {needed}")
    if plan.nvidia.network_policies:
        parts.append("NetworkPolicies of NVIDIA's managers, where the CNI enforces them")
    if plan.neuron.scheduler_extension:
        parts.append(
            "Neuron's scheduler extension and the scheduler that asks it, for Pods with "
            f"schedulerName: {NEURON_SCHEDULER}"
        )
    if plan.neuron.health:
        parts.append("a node problem detector for Neuron devices" + _recovering(plan))
    if plan.neuron.ultraserver_operator:
        parts.append("Neuron's UltraServer operator, a beta")
    return f"Also: {'; '.join(parts)}." if parts else ""


def _recovering(plan: Plan) -> str:
    return ", which has faulty instances replaced" if plan.neuron.recovery else ""


def _owner_note(plan: Plan) -> str:
    """What the owners other than the plain default are."""
    owners = [one.owner for group in plan.groups for one in group.devices]
    meanings = dict.fromkeys(_meaning(owner) for owner in owners if owner != DEFAULT_OWNER)
    return f"OWNER: {'; '.join(meanings)}." if meanings else ""


def _meaning(owner: str) -> str:
    if owner == HOST_OWNER:
        return f"{HOST_OWNER} is part of the node's operating system"
    if owner == EXTERNAL_OWNER:
        return f"{EXTERNAL_OWNER} is installed by somebody else"
    if owner.startswith(f"{DEFAULT_OWNER}-"):
        return f"{DEFAULT_OWNER}-<hash> is of the default installation, with settings of its own"
    return "<scope>-<hash> is of the installation with that scope"


def _driver_row(driver: Driver) -> list[str]:
    settings = ", ".join(map("=".join, _settings(driver)))
    served = ", ".join(driver.nodegroups) or "kept for others"
    return [driver.device_type, driver.mechanism, driver.owner, settings, served]


def _settings(driver: Driver) -> Iterator[tuple[str, str]]:
    for key, value in driver.settings.items():
        yield key, str(value).lower() if isinstance(value, bool) else str(value)


def _summary(clusters: Sequence[PlannedCluster]) -> str:
    found = Counter(finding.severity for one in clusters for finding in one.plan.findings)
    counts = [
        counted(len(clusters), "cluster"),
        counted(sum(len(one.plan.groups) for one in clusters), "node group"),
        counted(found[Severity.ERROR], "error"),
        counted(found[Severity.WARNING], "warning"),
    ]
    return ", ".join(counts)
