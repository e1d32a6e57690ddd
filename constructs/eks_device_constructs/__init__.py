"""AWS CDK constructs for EKS clusters with accelerated managed node groups."""

from __future__ import annotations

from eks_devices.system_nodes import SystemNodegroupOptions

from .charts_at_synth import check_charts
from .cluster import AcceleratedCluster
from .cluster_options import ClusterOptions
from .delivery import Delivery
from .drivers import DeviceDrivers, ExternalDrivers
from .nodegroup import AcceleratedNodegroup
from .pool import AcceleratedNodegroupPool, NodegroupSizes, PoolOptions
from .references import AuthenticationMode, ClusterReference
from .system_nodegroup import SystemNodegroup

__all__ = [
    "AcceleratedCluster",
    "AcceleratedNodegroup",
    "AcceleratedNodegroupPool",
    "AuthenticationMode",
    "ClusterOptions",
    "ClusterReference",
    "Delivery",
    "DeviceDrivers",
    "ExternalDrivers",
    "NodegroupSizes",
    "PoolOptions",
    "SystemNodegroup",
    "SystemNodegroupOptions",
    "check_charts",
]
