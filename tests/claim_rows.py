"""Claims, their manifests and what is said of them, for tests of what claims may ask for."""

from __future__ import annotations

from typing import Any

import pytest

from eks_devices import (
    ClusterPlan,
    DeviceRequest,
    EksDevicesError,
    Finding,
    NodegroupPlan,
    NodegroupSpec,
    ResourceClaimTemplate,
    plan_cluster,
)
from eks_devices.claims.on_nodegroup import claim_findings, claim_manifest

WHERE = "claims.n/c."


def make(*requests: DeviceRequest, **options: Any) -> ResourceClaimTemplate:
    """The template `n/c`."""
    return ResourceClaimTemplate(name="c", namespace="n", requests=requests, **options)


def devices(claim: Any, on: str | None = None, *, version: str = "1.36") -> dict[str, Any]:
    """What the manifest of a template says of devices."""
    manifest = claim.to_dict(kubernetes_version=version, instance_type=on)
    found: dict[str, Any] = manifest["spec"]["spec"]["devices"]
    return found


def cluster(instance_type: str, *, version: str = "1.36", **options: Any) -> ClusterPlan:
    """The plan of a cluster with one group."""
    spec = NodegroupSpec(name="g", instance_type=instance_type, max_size=1, **options)
    return plan_cluster(kubernetes_version=version, nodegroups=[spec])


def group(instance_type: str, *, version: str = "1.36", **options: Any) -> NodegroupPlan:
    """The plan of a group."""
    return cluster(instance_type, version=version, **options).nodegroups[0]


def told(claim: Any, plan: NodegroupPlan) -> list[Finding]:
    """What is worth knowing of a claim on a group that serves it."""
    return claim_findings(claim, claim_manifest(claim, plan), plan)


def codes(claim: Any, plan: NodegroupPlan) -> set[str]:
    """The codes of it."""
    return {one.code for one in told(claim, plan)}


def faults(make_it: Any) -> dict[str, str]:
    """The codes of all faults of what is made, by their paths in the claim `n/c`."""
    with pytest.raises(EksDevicesError) as error:
        make_it()
    return {one.path.removeprefix(WHERE): one.code for one in error.value.faults}


def fault_of(make_it: Any) -> Finding:
    """The one fault of what is made."""
    with pytest.raises(EksDevicesError) as error:
        make_it()
    (found,) = error.value.faults
    return found
