"""Claims for devices as values: what a Pod asks for, and the objects that Kubernetes stores."""

from __future__ import annotations

from .compute_domain import ChannelAllocation, ComputeDomain
from .kinds import IommuBackendPolicy, RequestKind
from .match import MatchAttribute
from .requests import DeviceRequest
from .sharing import ClaimSharing, TimeSliceInterval
from .templates import ResourceClaim, ResourceClaimTemplate

__all__ = [
    "ChannelAllocation",
    "ClaimSharing",
    "ComputeDomain",
    "DeviceRequest",
    "IommuBackendPolicy",
    "MatchAttribute",
    "RequestKind",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "TimeSliceInterval",
]
