"""AWS CDK constructs for EKS clusters with accelerated managed node groups."""

from __future__ import annotations

from .cluster import AcceleratedCluster
from .nodegroup import AcceleratedNodegroup

__all__ = ["AcceleratedCluster", "AcceleratedNodegroup"]
