"""What a plan is: frozen values that manifests, charts and constructs draw."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ._frozen import FrozenDict
from .capacity import Capacity
from .efa_installation import EfaInstallation
from .findings import Finding, Severity
from .maintenance import NodeRepair, UpdateConfig
from .mig import Mig
from .network import NetworkInterface
from .neuron_installation import NeuronInstallation
from .nvidia_installation import NvidiaInstallation
from .taints import Taint
from .typecheck import is_token
from .user_data import UserData
from .vocabulary import DeviceType, ManagerKey, Mechanism, OperatingSystem

PLAN_SCHEMA = "eks-devices/plan/v1"
# A plan file lies beside the template of its stack: "<artifact id><suffix>" holds the plans of
# the stack's clusters.
PLAN_FILE_SCHEMA = "eks-devices/plan-file/v1"
PLAN_FILE_SUFFIX = ".eks-devices.json"


def _plain(value: Any) -> Any:
    """A value as it may stand in a file: the text of a token is a running counter."""
    return "a token" if is_token(value) else value


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

    @property
    def manager(self) -> ManagerKey:
        """Which manager hands the device out."""
        return self.device_type, self.mechanism

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
class ScheduledSize:
    """The sizes that a group gets when its reservation starts; until then it has no nodes.

    `at` is an ISO time in UTC, "2026-12-05T11:30:00".
    """

    at: str
    min_size: int
    desired_size: int
    max_size: int

    def to_dict(self) -> dict[str, Any]:
        """The sizes as plain JSON values."""
        sizes = {"min": self.min_size, "desired": self.desired_size, "max": self.max_size}
        return {"at": self.at, "sizes": sizes}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodegroupPlan:
    """Everything that follows from one node group; a function of the group and the version.

    `instance_types` begins with `instance_type`; `ami_type` is `CUSTOM` for an image of the
    user's, `ami_id`; `placement_group` is the name of one that exists, or whether the group has
    one of its own; `instance_store` says whether local disks are joined; `addresses` is how many
    IPv4 addresses a full node takes, None when unknown; `scheduled_size` is what a reservation
    with a start brings; `node_repair` and `update` are None where EKS's own defaults hold.
    `extended_resources` is what Pods on device plugins ask for, `device_classes` what claims
    name; `mig` is how each GPU is cut, None for whole ones; `bottlerocket_settings` go by dotted
    name; `masked_units` are services of the AMI that must not run; `replace_key` changes when EKS
    has to make new nodes; `max_pods` and `desired_size` are None where nothing is set.
    """

    name: str
    instance_type: str
    instance_types: tuple[str, ...]
    kubernetes_version: str
    operating_system: OperatingSystem
    capacity: Capacity
    ami_type: str
    ami_id: str | None
    release_version: str | None
    min_size: int
    desired_size: int | None
    max_size: int
    scheduled_size: ScheduledSize | None
    placement_group: bool | str
    devices: tuple[DevicePlan, ...]
    network_interfaces: tuple[NetworkInterface, ...]
    labels: FrozenDict[str, str]
    taints: tuple[Taint, ...]
    extended_resources: FrozenDict[str, int]
    device_classes: tuple[str, ...]
    max_pods: int | None
    disk_device: str
    disk_gib: int
    instance_store: bool
    addresses: int | None
    subnet_cidrs: tuple[str, ...]
    masked_units: tuple[str, ...]
    logical_neuron_cores: int | None
    mig: Mig | None
    bottlerocket_settings: FrozenDict[str, str | int | bool | FrozenDict[str, str]]
    kubelet: FrozenDict[str, Any]
    hugepages_2mi: int | None
    user_data: UserData | None
    node_repair: NodeRepair | None
    update: UpdateConfig | None
    tags: FrozenDict[str, str]
    launch_template_overrides: FrozenDict[str, Any]
    replace_key: str
    findings: tuple[Finding, ...]

    def device_of(self, device_type: DeviceType) -> DevicePlan | None:
        """The devices of a type on the nodes; None where they have none."""
        return next((one for one in self.devices if one.device_type is device_type), None)

    def to_dict(self) -> dict[str, Any]:
        """The group as plain JSON values, findings left to the cluster's plan."""
        return {
            "name": self.name,
            "instance_type": self.instance_type,
            "instance_types": list(self.instance_types),
            "operating_system": str(self.operating_system),
            "capacity": self.capacity.to_dict(),
            "ami_type": self.ami_type,
            "ami_id": _plain(self.ami_id),
            "release_version": self.release_version,
            "sizes": {"min": self.min_size, "desired": self.desired_size, "max": self.max_size},
            "scheduled_size": self.scheduled_size and self.scheduled_size.to_dict(),
            "placement_group": _plain(self.placement_group),
            "devices": [device.to_dict() for device in self.devices],
            "network_interfaces": [interface.to_dict() for interface in self.network_interfaces],
            "labels": dict(self.labels),
            "taints": [taint.to_dict() for taint in self.taints],
            "extended_resources": dict(self.extended_resources),
            "device_classes": list(self.device_classes),
            "max_pods": self.max_pods,
            "disk": {"device_name": self.disk_device, "size_gib": self.disk_gib},
            "instance_store": self.instance_store,
            "addresses": self.addresses,
            "masked_units": list(self.masked_units),
            "logical_neuron_cores": self.logical_neuron_cores,
            "mig": self.mig and self.mig.to_dict(),
            "bottlerocket_settings": dict(self.bottlerocket_settings),
            "kubelet": dict(self.kubelet),
            "hugepages_2mi": self.hugepages_2mi,
            "node_repair": self.node_repair and self.node_repair.to_dict(),
            "update": self.update and self.update.to_dict(),
            "tags": {_plain(key): _plain(value) for key, value in self.tags.items()},
            "own_user_data": self.user_data is not None,
            "launch_template_overrides": sorted(self.launch_template_overrides),
            "replace_key": self.replace_key,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverPlan:
    """One manager to install: it serves the nodes of a device type, mechanism and owner.

    `nodegroups` names the groups it serves; it is empty for what is only kept. The owner `host`
    is a DRA driver of the operating system, for which DeviceClasses are installed and no more.
    """

    device_type: DeviceType
    mechanism: Mechanism
    owner: str
    settings: FrozenDict[str, str | int]
    nodegroups: tuple[str, ...]

    @property
    def manager(self) -> ManagerKey:
        """Which manager it is."""
        return self.device_type, self.mechanism

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
    """The node groups of a cluster, the managers they need, and what is worth knowing.

    `nvidia`, `neuron` and `efa` are what the managers of these devices have once.
    """

    kubernetes_version: str
    nodegroups: tuple[NodegroupPlan, ...]
    drivers: tuple[DriverPlan, ...]
    nvidia: NvidiaInstallation
    neuron: NeuronInstallation
    efa: EfaInstallation
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
            "nvidia": self.nvidia.to_dict(kubernetes_version=self.kubernetes_version),
            "neuron": self.neuron.to_dict(),
            "efa": self.efa.to_dict(),
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def to_json(self) -> str:
        """The plan as JSON text: equal plans give equal texts."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True) + "\n"
