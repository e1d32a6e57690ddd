"""Plans of clusters with the groups that a test is about."""

from __future__ import annotations

from typing import Any

from eks_devices import ClusterPlan, NodegroupSpec, plan_cluster


def cluster_of(
    *groups: dict[str, Any], kubernetes_version: str = "1.36", **options: Any
) -> ClusterPlan:
    """The plan of a cluster with groups g0, g1 and so on, each of at most one node."""
    specs = [NodegroupSpec(name=f"g{at}", max_size=1, **one) for at, one in enumerate(groups)]
    return plan_cluster(kubernetes_version=kubernetes_version, nodegroups=specs, **options)
