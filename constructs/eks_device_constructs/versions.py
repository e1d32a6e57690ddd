"""The Kubernetes version of a cluster, judged before any construct is made."""

from __future__ import annotations

from collections.abc import Sequence

from eks_devices import ClusterPlan, EksDevicesError, Finding, NodegroupPlan
from eks_devices.findings import fault
from eks_devices.fleet import join_plans
from eks_devices.kubernetes import KubernetesMinor, find_minor, minors, support_findings

_PATH = "version"


def cluster_minor(version: str) -> KubernetesMinor:
    """The minor of a new cluster.

    Raises:
        EksDevicesError: The minor is unknown, or too old to serve DRA.
    """
    minor = find_minor(version, _PATH)
    if isinstance(minor, Finding):
        raise EksDevicesError([minor])
    if not minor.serves_dra:
        raise EksDevicesError([_too_old(minor)])
    return minor


def _too_old(minor: KubernetesMinor) -> Finding:
    served = [one.version for one in minors().values() if one.serves_dra]
    return fault(
        "ClusterVersionTooOld",
        _PATH,
        "new clusters begin where Kubernetes serves resource.k8s.io/v1",
        got=minor.version,
        allowed=", ".join(served),
        fix=f"use eks.KubernetesVersion.of({served[0]!r}) or later",
        source=minor.source,
    )


def version_findings(minor: KubernetesMinor) -> tuple[Finding, ...]:
    """What is worth knowing of a cluster's version."""
    return support_findings(minor, _PATH)


def cluster_plan(minor: KubernetesMinor, plans: Sequence[NodegroupPlan]) -> ClusterPlan:
    """The plan of a cluster from the plans of its groups."""
    return join_plans(minor, tuple(plans))
