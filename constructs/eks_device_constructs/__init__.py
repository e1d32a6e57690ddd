"""AWS CDK constructs for EKS clusters with accelerated managed node groups."""

from __future__ import annotations

from .cluster import AcceleratedCluster
from .delivery import Delivery
from .drivers import DeviceDrivers, ExternalDrivers
from .nodegroup import AcceleratedNodegroup

__all__ = [
    "AcceleratedCluster",
    "AcceleratedNodegroup",
    "Delivery",
    "DeviceDrivers",
    "ExternalDrivers",
]
