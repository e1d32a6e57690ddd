"""Node objects as the kubelets of a managed node group register them with EKS."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from eks_devices import AcceleratedInstanceType, CpuArchitecture, NodegroupPlan
from eks_devices.eks_labels import eks_labels
from eks_devices.instance_store import storage_bytes

from .client import Object

_REGION: Final = "us-east-2"
_ZONE: Final = f"{_REGION}a"
# A plan without a number leaves it to the AMI; this is the kubelet's own default.
_PODS: Final = 110


def group_node(
    group: NodegroupPlan, name: str, *, kubelet_version: str, nodegroup_name: str | None = None
) -> Object:
    """A node of a planned group as it joins, before any manager offers its devices.

    Args:
        group: The plan of the group.
        name: The name of the Node object.
        kubelet_version: Such as `v1.34.2`.
        nodegroup_name: The name of the group in EKS; that of the plan unless given.
    """
    instance = AcceleratedInstanceType.of(group.instance_type)
    node = plain_node(
        name,
        instance_type=instance.name,
        kubelet_version=kubelet_version,
        architecture=instance.architecture,
        labels={
            **eks_labels(group, nodegroup_name or group.name),
            **group.labels,
        },
        capacity={
            "cpu": str(instance.vcpus),
            "memory": f"{instance.memory_mib}Mi",
            "pods": str(group.max_pods or _PODS),
            "ephemeral-storage": _storage(group, instance),
        },
    )
    node["spec"]["taints"] = [taint.to_dict() for taint in group.taints]
    return node


def _storage(group: NodegroupPlan, instance: AcceleratedInstanceType) -> str:
    known = storage_bytes(group, instance)
    return f"{group.disk_gib}Gi" if known is None else str(known)


def plain_node(
    name: str,
    *,
    instance_type: str,
    kubelet_version: str,
    labels: dict[str, str] | None = None,
    capacity: dict[str, str] | None = None,
    architecture: CpuArchitecture = CpuArchitecture.X86_64,
) -> Object:
    """A node that no plan knows: one for system Pods, or of somebody else's compute.

    Args:
        name: The name of the Node object.
        instance_type: What EKS labels the node with.
        kubelet_version: Such as `v1.34.2`.
        labels: What it has beside the labels of every node.
        capacity: By resource name; that of a middling machine when left out.
        architecture: Of its processor.
    """
    offered = capacity or {"cpu": "8", "memory": "32Gi", "pods": "58", "ephemeral-storage": "80Gi"}
    machine = "arm64" if architecture is CpuArchitecture.ARM64 else "amd64"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": _labels(name, instance_type, machine) | (labels or {}),
        },
        "spec": {"providerID": f"aws:///{_ZONE}/{_instance_id(name)}"},
        "status": {
            "capacity": offered,
            "allocatable": offered,
            "conditions": [_ready()],
            "addresses": [{"type": "Hostname", "address": name}],
            "nodeInfo": _node_info(name, machine, kubelet_version),
        },
    }


def _labels(name: str, instance_type: str, machine: str) -> dict[str, str]:
    return {
        "kubernetes.io/arch": machine,
        "kubernetes.io/os": "linux",
        "kubernetes.io/hostname": name,
        "node.kubernetes.io/instance-type": instance_type,
        "beta.kubernetes.io/instance-type": instance_type,
        "topology.kubernetes.io/region": _REGION,
        "topology.kubernetes.io/zone": _ZONE,
    }


def _instance_id(name: str) -> str:
    return f"i-{hashlib.sha256(name.encode()).hexdigest()[:17]}"


def _ready() -> Object:
    return {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "kubelet is posting ready status",
    }


def _node_info(name: str, machine: str, kubelet_version: str) -> dict[str, Any]:
    unknown = ("bootID", "kernelVersion", "kubeProxyVersion", "osImage", "containerRuntimeVersion")
    return dict.fromkeys(unknown, "") | {
        "machineID": name,
        "systemUUID": name,
        "architecture": machine,
        "operatingSystem": "linux",
        "kubeletVersion": kubelet_version,
    }
