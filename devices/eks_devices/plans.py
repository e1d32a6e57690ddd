"""What a plan is: frozen values that manifests, charts and constructs draw."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ._frozen import FrozenDict
from .capacity import Capacity
from .findings import Finding, Severity
from .network import NetworkInterface
from .taints import Taint
from .vocabulary import DeviceType, Mechanism, OperatingSystem

PLAN_SCHEMA = "eks-devices/plan/v1"
# A plan file lies beside the template of its stack: "<artifact id><suffix>" holds the plans of
# the stack's clusters.
PLAN_FILE_SCHEMA = "eks-devices/plan-file/v1"
PLAN_FILE_SUFFIX = ".eks-devices.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePlan:
    """One device type of a node group, and the one manager that hands it out.

    `count` is devices of a node; `reason` says who chose the mechanism and why; `settings` is
    what the manager is told; `owner` names the manager's installation (`default`,
    `default-<hash>`, `<scope>-<hash>`, `host` or `external`).
    """

    device_type: DeviceType
    mechanism: Mechanism
    owner: str
    count: int
    reason: str
    automatic: bool
    settings: FrozenDict[str, str | int]

    def to_dict(self) -> dict[str, Any]:
        """The device as plain JSON values."""
        return {
            "device_type": str(self.device_type),
            "mechanism": str(self.mechanism),
            "owner": self.owner,
            "count": self.count,
            "automatic": self.automatic,
            "reason": self.reason,
            "settings": dict(self.settings),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NodegroupPlan:
    """Everything that follows from one node group; a function of the group and the version.

    `extended_resources` is what Pods on device plugins ask for, `device_classes` what claims
    name; `bottlerocket_settings` go by dotted name; `masked_units` are services of the AMI that
    must not run; `replace_key` changes when EKS has to make new nodes; `max_pods` and
    `desired_size` are None where nothing is set.
    """

    name: str
    instance_type: str
    kubernetes_version: str
    operating_system: OperatingSystem
    capacity: Capacity
    ami_type: str
    release_version: str | None
    min_size: int
    desired_size: int | None
    max_size: int
    devices: tuple[DevicePlan, ...]
    network_interfaces: tuple[NetworkInterface, ...]
    labels: FrozenDict[str, str]
    taints: tuple[Taint, ...]
    extended_resources: FrozenDict[str, int]
    device_classes: tuple[str, ...]
    max_pods: int | None
    disk_device: str
    disk_gib: int
    masked_units: tuple[str, ...]
    logical_neuron_cores: int | None
    bottlerocket_settings: FrozenDict[str, str | int | bool]
    replace_key: str
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """The group as plain JSON values, findings left to the cluster's plan."""
        return {
            "name": self.name,
            "instance_type": self.instance_type,
            "operating_system": str(self.operating_system),
            "capacity": self.capacity.to_dict(),
            "ami_type": self.ami_type,
            "release_version": self.release_version,
            "sizes": {"min": self.min_size, "desired": self.desired_size, "max": self.max_size},
            "devices": [device.to_dict() for device in self.devices],
            "network_interfaces": [interface.to_dict() for interface in self.network_interfaces],
            "labels": dict(self.labels),
            "taints": [taint.to_dict() for taint in self.taints],
            "extended_resources": dict(self.extended_resources),
            "device_classes": list(self.device_classes),
            "max_pods": self.max_pods,
            "disk": {"device_name": self.disk_device, "size_gib": self.disk_gib},
            "masked_units": list(self.masked_units),
            "logical_neuron_cores": self.logical_neuron_cores,
            "bottlerocket_settings": dict(self.bottlerocket_settings),
            "replace_key": self.replace_key,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverPlan:
    """One manager to install: it serves the nodes of a device type, mechanism and owner.

    `nodegroups` names the groups it serves; it is empty for what is only kept.
    """

    device_type: DeviceType
    mechanism: Mechanism
    owner: str
    settings: FrozenDict[str, str | int]
    nodegroups: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The manager as plain JSON values."""
        return {
            "device_type": str(self.device_type),
            "mechanism": str(self.mechanism),
            "owner": self.owner,
            "settings": dict(self.settings),
            "nodegroups": list(self.nodegroups),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlan:
    """The node groups of a cluster, the managers they need, and what is worth knowing."""

    kubernetes_version: str
    nodegroups: tuple[NodegroupPlan, ...]
    drivers: tuple[DriverPlan, ...]
    findings: tuple[Finding, ...]

    def of_severity(self, severity: Severity) -> tuple[Finding, ...]:
        """The findings of one severity."""
        return tuple(finding for finding in self.findings if finding.severity is severity)

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain JSON values, with the name of its schema."""
        return {
            "schema": PLAN_SCHEMA,
            "kubernetes_version": self.kubernetes_version,
            "nodegroups": [group.to_dict() for group in self.nodegroups],
            "drivers": [driver.to_dict() for driver in self.drivers],
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def to_json(self) -> str:
        """The plan as JSON text: equal plans give equal texts."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True) + "\n"
