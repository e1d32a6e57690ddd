"""Facts, rules, plans and claims for accelerated node groups on Amazon EKS.

Standard library only. `plan_cluster` turns node groups into one frozen plan, `device_support`
answers what works where, and the claim classes say what a Pod needs.
"""

from __future__ import annotations

from .capacity import Capacity, CapacityKind
from .claim_checks import ClaimChecks
from .claim_webhook import ClaimWebhook
from .claim_workloads import use_claims
from .claims import (
    AllocationMode,
    ChannelAllocation,
    ClaimSharing,
    ComputeDomain,
    DeviceCondition,
    DeviceNetwork,
    DeviceRequest,
    DeviceSelector,
    DeviceStatus,
    DeviceTaintEffect,
    DeviceToleration,
    DistinctAttribute,
    IommuBackendPolicy,
    MatchAttribute,
    OpaqueConfig,
    ResourceClaim,
    ResourceClaimTemplate,
    TimeSliceInterval,
    WholeNodeClaims,
    WholeNodeSplit,
    device_statuses,
    whole_node_claims,
)
from .cluster_planner import plan_cluster
from .components import Component
from .efa_installation import DranetBuild, EfaInstallation
from .efa_workloads import use_efa
from .findings import EksDevicesError, Finding, Severity
from .gpu_options import DeviceIdStrategy, DeviceListStrategy, GpuDriver, GpuPlugin
from .instance_types import AcceleratedInstanceType, Accelerator, CpuArchitecture, NetworkCard
from .maintenance import NodeRepair, RepairAction, RepairOverride, UpdateConfig, UpdateStrategy
from .mig import Mig, MigStrategy
from .network import NetworkInterface
from .neuron_health import NeuronError, NeuronHealth
from .neuron_installation import NeuronInstallation
from .neuron_workloads import use_neuron_scheduler
from .nodegroup_planner import plan_nodegroup
from .nvidia_installation import NvidiaInstallation
from .plans import ClusterPlan, DevicePlan, DriverPlan, NodegroupPlan, ScheduledSize
from .releases import DriverRelease, eks_registry
from .sharing import GpuSharing
from .spec import NodegroupOptions, NodegroupSpec
from .support import Support, device_support
from .taints import Taint, TaintEffect
from .ultraserver_workloads import FailureStrategy, ultraserver_workload
from .ultraservers import ultraserver_workers
from .user_data import UserData
from .vocabulary import Compute, DeviceType, Feature, Mechanism, OperatingSystem, Verdict
from .workloads import compute_domain_claim, hide_gpus, same_nvlink_partition

__all__ = [
    "AcceleratedInstanceType",
    "Accelerator",
    "AllocationMode",
    "Capacity",
    "CapacityKind",
    "ChannelAllocation",
    "ClaimChecks",
    "ClaimSharing",
    "ClaimWebhook",
    "ClusterPlan",
    "Component",
    "Compute",
    "ComputeDomain",
    "CpuArchitecture",
    "DeviceCondition",
    "DeviceIdStrategy",
    "DeviceListStrategy",
    "DeviceNetwork",
    "DevicePlan",
    "DeviceRequest",
    "DeviceSelector",
    "DeviceStatus",
    "DeviceTaintEffect",
    "DeviceToleration",
    "DeviceType",
    "DistinctAttribute",
    "DranetBuild",
    "DriverPlan",
    "DriverRelease",
    "EfaInstallation",
    "EksDevicesError",
    "FailureStrategy",
    "Feature",
    "Finding",
    "GpuDriver",
    "GpuPlugin",
    "GpuSharing",
    "IommuBackendPolicy",
    "MatchAttribute",
    "Mechanism",
    "Mig",
    "MigStrategy",
    "NetworkCard",
    "NetworkInterface",
    "NeuronError",
    "NeuronHealth",
    "NeuronInstallation",
    "NodeRepair",
    "NodegroupOptions",
    "NodegroupPlan",
    "NodegroupSpec",
    "NvidiaInstallation",
    "OpaqueConfig",
    "OperatingSystem",
    "RepairAction",
    "RepairOverride",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ScheduledSize",
    "Severity",
    "Support",
    "Taint",
    "TaintEffect",
    "TimeSliceInterval",
    "UpdateConfig",
    "UpdateStrategy",
    "UserData",
    "Verdict",
    "WholeNodeClaims",
    "WholeNodeSplit",
    "compute_domain_claim",
    "device_statuses",
    "device_support",
    "eks_registry",
    "hide_gpus",
    "plan_cluster",
    "plan_nodegroup",
    "same_nvlink_partition",
    "ultraserver_workers",
    "ultraserver_workload",
    "use_claims",
    "use_efa",
    "use_neuron_scheduler",
    "whole_node_claims",
]
