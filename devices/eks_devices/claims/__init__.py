"""Claims for devices as values: what a Pod asks for, and the objects that Kubernetes stores."""

from __future__ import annotations

from .compute_domain import ChannelAllocation, ComputeDomain
from .device_selectors import DeviceSelector
from .distinct import DistinctAttribute
from .kinds import AllocationMode, IommuBackendPolicy, RequestKind
from .match import MatchAttribute
from .opaque import OpaqueConfig
from .requests import DeviceRequest
from .sharing import ClaimSharing, TimeSliceInterval
from .status import DeviceCondition, DeviceNetwork, DeviceStatus, device_statuses
from .templates import ResourceClaim, ResourceClaimTemplate
from .tolerations import DeviceTaintEffect, DeviceToleration
from .whole_nodes import WholeNodeClaims, WholeNodeSplit, whole_node_claims

__all__ = [
    "AllocationMode",
    "ChannelAllocation",
    "ClaimSharing",
    "ComputeDomain",
    "DeviceCondition",
    "DeviceNetwork",
    "DeviceRequest",
    "DeviceSelector",
    "DeviceStatus",
    "DeviceTaintEffect",
    "DeviceToleration",
    "DistinctAttribute",
    "IommuBackendPolicy",
    "MatchAttribute",
    "OpaqueConfig",
    "RequestKind",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "TimeSliceInterval",
    "WholeNodeClaims",
    "WholeNodeSplit",
    "device_statuses",
    "whole_node_claims",
]
