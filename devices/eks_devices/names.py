"""Names of Kubernetes, of the drivers and of ours, each written once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .vocabulary import DeviceType

LABEL_PREFIX: Final = "eks-devices/"
# All objects of our managers have it, with this value.
MANAGED_BY_LABEL: Final = "app.kubernetes.io/managed-by"
MANAGED_BY_US: Final = "eks-devices"
NODEGROUP_LABEL: Final = "eks-devices/nodegroup"
# All groups of a pool have it, so that Pods outlive the reservation of one of them.
POOL_LABEL: Final = "eks-devices/nodegroup-pool"
# The vendor's charts select nodes by this label, and no AMI sets it on every version.
GPU_PRESENT_LABEL: Final = "nvidia.com/gpu.present"
COMPUTE_TYPE_LABEL: Final = "eks.amazonaws.com/compute-type"
# What EKS writes on the nodes of managed groups: their name in EKS, ON_DEMAND or the like.
EKS_NODEGROUP_LABEL: Final = "eks.amazonaws.com/nodegroup"
CAPACITY_TYPE_LABEL: Final = "eks.amazonaws.com/capacityType"
INSTANCE_TYPE_LABEL: Final = "node.kubernetes.io/instance-type"
# The model of a node's GPUs, which GPU feature discovery writes with hyphens for spaces.
GPU_PRODUCT_LABEL: Final = "nvidia.com/gpu.product"
# "<cluster uuid>.<clique id>": nodes with one value reach each other's GPU memory over NVLink.
GPU_CLIQUE_LABEL: Final = "nvidia.com/gpu.clique"
# The id of the ComputeDomain that a node, or a daemon, is in.
COMPUTE_DOMAIN_LABEL: Final = "resource.nvidia.com/computeDomain"
# "true" on a namespace lets its claims ask for admin access to devices.
ADMIN_ACCESS_LABEL: Final = "resource.kubernetes.io/admin-access"
# "false" keeps everything that NVIDIA's GPU operator runs on nodes off a node.
GPU_OPERANDS_LABEL: Final = "nvidia.com/gpu.deploy.operands"
# The partitions that the operator's MIG manager cuts the GPUs of a node into.
MIG_CONFIG_LABEL: Final = "nvidia.com/mig.config"

GPU_RESOURCE: Final = "nvidia.com/gpu"
SHARED_GPU_RESOURCE: Final = "nvidia.com/gpu.shared"
NEURON_RESOURCE: Final = "aws.amazon.com/neuron"
NEURON_CORE_RESOURCE: Final = "aws.amazon.com/neuroncore"
# What Neuron's device plugin called whole devices once, beside their name of today.
RETIRED_NEURON_RESOURCE: Final = "aws.amazon.com/neurondevice"
EFA_RESOURCE: Final = "vpc.amazonaws.com/efa"
# Whole GPUs, shared ones and partitions: every resource of NVIDIA's device plugin.
NVIDIA_RESOURCES: Final = "nvidia.com/"
# Before the name of a DeviceClass: how Pods ask for its devices without a claim.
CLASS_RESOURCES: Final = "deviceclass.resource.kubernetes.io/"
# The feature gate that this, and `extendedResourceName` of a DeviceClass, hang on.
CLASS_RESOURCES_GATE: Final = "DRAExtendedResource"

# The NVIDIA container runtime reads which GPUs a container sees, and "void" is none.
VISIBLE_DEVICES: Final = "NVIDIA_VISIBLE_DEVICES"
NO_DEVICES: Final = "void"

DEFAULT_SCHEDULER: Final = "default-scheduler"
# The second scheduler, which asks Neuron's scheduler extension; Pods name it as theirs.
NEURON_SCHEDULER: Final = "neuron-scheduler"
# The version of the custom resources of Neuron's UltraServer operator, in the group of its driver;
# examples of the vendor's have another one, which no server has.
ULTRASERVER_API: Final = "v1beta1"

GPU_DRIVER: Final = "gpu.nvidia.com"
COMPUTE_DOMAIN_DRIVER: Final = "compute-domain.nvidia.com"
NEURON_DRIVER: Final = "neuron.aws.com"
EFA_DRIVER: Final = "dra.net"

# Gates of NVIDIA's driver for GPUs that something follows from; nvidia_gates.toml tells of all.
TIME_SLICING_GATE: Final = "TimeSlicingSettings"
MPS_GATE: Final = "MPSSupport"
PASSTHROUGH_GATE: Final = "PassthroughSupport"
DYNAMIC_MIG_GATE: Final = "DynamicMIG"
HEALTH_CHECK_GATE: Final = "NVMLDeviceHealthCheck"
CONSUMABLE_SHARES_GATE: Final = "ConsumableShares"
FABRIC_PARTITIONS_GATE: Final = "FabricManagerPartitioning"

GPU_CLASS: Final = "gpu.nvidia.com"
MIG_CLASS: Final = "mig.nvidia.com"
VFIO_CLASS: Final = "vfio.gpu.nvidia.com"
NEURON_CLASS: Final = "neuron.aws.com"
EFA_CLASS: Final = "efa.networking.k8s.aws"
COMPUTE_DOMAIN_CHANNEL_CLASS: Final = "compute-domain-default-channel.nvidia.com"
COMPUTE_DOMAIN_DAEMON_CLASS: Final = "compute-domain-daemon.nvidia.com"

CLAIM_KIND: Final = "ResourceClaim"
TEMPLATE_KIND: Final = "ResourceClaimTemplate"
# How an entry of a Pod's resourceClaims names an object of each of them.
CLAIM_FIELDS: Final = {
    "resourceClaimName": CLAIM_KIND,
    "resourceClaimTemplateName": TEMPLATE_KIND,
}

PCIE_ROOT_ATTRIBUTE: Final = "resource.kubernetes.io/pcieRoot"

BOTTLEROCKET_NVIDIA_SETTINGS: Final = "settings.kubelet-device-plugins.nvidia"
BOTTLEROCKET_NVIDIA_PLUGIN: Final = f"{BOTTLEROCKET_NVIDIA_SETTINGS}.enabled"
BOTTLEROCKET_NVIDIA_SHARING: Final = f"{BOTTLEROCKET_NVIDIA_SETTINGS}.device-sharing-strategy"
BOTTLEROCKET_NVIDIA_PARTITIONING: Final = (
    f"{BOTTLEROCKET_NVIDIA_SETTINGS}.device-partitioning-strategy"
)
BOTTLEROCKET_MIG_PROFILE: Final = f"{BOTTLEROCKET_NVIDIA_SETTINGS}.mig.profile"
BOTTLEROCKET_DEVICE_OWNERSHIP: Final = "settings.kubernetes.device-ownership-from-security-context"
BOTTLEROCKET_MAX_PODS: Final = "settings.kubernetes.max-pods"
BOTTLEROCKET_DRA_DRIVERS: Final = "settings.kubelet-dra-drivers"
BOTTLEROCKET_NVIDIA: Final = "nvidia"
BOTTLEROCKET_DRANET: Final = "net"
BOTTLEROCKET_NVIDIA_DRIVER: Final = f"{BOTTLEROCKET_DRA_DRIVERS}.{BOTTLEROCKET_NVIDIA}.enabled"

IMEX_UNIT: Final = "nvidia-imex.service"

DEFAULT_OWNER: Final = "default"
HOST_OWNER: Final = "host"
EXTERNAL_OWNER: Final = "external"

DRIVERS: Final = {
    DeviceType.NEURON: NEURON_DRIVER,
    DeviceType.GPU: GPU_DRIVER,
    DeviceType.COMPUTE_DOMAIN: COMPUTE_DOMAIN_DRIVER,
    DeviceType.EFA: EFA_DRIVER,
}
# The classes of what DRA drivers publish; of a GPU, the first is that of whole ones.
DEVICE_CLASSES: Final = {
    DeviceType.NEURON: (NEURON_CLASS,),
    DeviceType.GPU: (GPU_CLASS, MIG_CLASS, VFIO_CLASS),
    DeviceType.COMPUTE_DOMAIN: (COMPUTE_DOMAIN_DAEMON_CLASS, COMPUTE_DOMAIN_CHANNEL_CLASS),
    DeviceType.EFA: (EFA_CLASS,),
}
EXTENDED_RESOURCES: Final = {
    DeviceType.NEURON: (NEURON_RESOURCE, NEURON_CORE_RESOURCE),
    DeviceType.GPU: (GPU_RESOURCE,),
    DeviceType.EFA: (EFA_RESOURCE,),
}
TAINT_KEYS: Final = {
    DeviceType.GPU: GPU_RESOURCE,
    DeviceType.NEURON: NEURON_RESOURCE,
}


def device_type_of_class(device_class: str) -> DeviceType | None:
    """The devices that a class of the drivers is for; None for a class of the user's own."""
    return next((one for one, names in DEVICE_CLASSES.items() if device_class in names), None)


def ultraserver_label(size: int) -> str:
    """The label that nodes share which work together in an UltraServer, or in a part of one."""
    return f"neuron.amazonaws.com/ultraserver-server-id-{size}"


def offered_resources(device_type: DeviceType, offered: Mapping[str, int]) -> dict[str, int]:
    """What of the extended resources of a node is of a device type, parts and shares too."""
    domains = {name.partition("/")[0] for name in EXTENDED_RESOURCES.get(device_type, ())}
    return {name: n for name, n in offered.items() if name.partition("/")[0] in domains}


def device_group_attribute(size: int) -> str:
    """The attribute that equal Neuron devices, and their EFAs, of a connected group share."""
    return f"resource.aws.com/devicegroup{size}_id"


def mig_resource(profile: str) -> str:
    """The extended resource of a MIG profile where the device plugin tells profiles apart.

    Source: https://github.com/NVIDIA/k8s-device-plugin/blob/v0.20.0/internal/rm/rm.go
    """
    # Names of resources have no plus sign.
    return f"{NVIDIA_RESOURCES}mig-{profile.replace('+', '.')}"


def mechanism_label(device_type: DeviceType) -> str:
    """The label that tells people which mechanism serves a device type on a node."""
    return f"{LABEL_PREFIX}{device_type}"


def manager_label(device_type: DeviceType) -> str:
    """The label that names the one manager of a device type on a node."""
    return f"{LABEL_PREFIX}{device_type}-manager"
