"""Manifests of claims, and what is said of them on groups of several types."""

from __future__ import annotations

import functools
from typing import Any

from eks_devices import ClusterPlan, DeviceType, Mechanism, NodegroupSpec, plan_cluster
from eks_devices.feasibility import Verdict, check_claims

GPU, EFA, NEURON = "gpu.nvidia.com", "efa.networking.k8s.aws", "neuron.aws.com"
PCIE_ROOT = "resource.kubernetes.io/pcieRoot"
BY_DRA = {DeviceType.GPU: Mechanism.DRA, DeviceType.EFA: Mechanism.DRA}


def exactly(device_class: str, *selectors: str, name: str = "", **more: Any) -> dict[str, Any]:
    """A request; its name is the first word of the class unless one is given."""
    ask = {"deviceClassName": device_class, **more}
    if selectors:
        ask["selectors"] = [{"cel": {"expression": one}} for one in selectors]
    return {"name": name or device_class.partition(".")[0], "exactly": ask}


def first_of(*requests: dict[str, Any], name: str = "first") -> dict[str, Any]:
    """A request for the first of others."""
    options = [{"name": f"o{at}", **one["exactly"]} for at, one in enumerate(requests)]
    return {"name": name, "firstAvailable": options}


def match(attribute: str, *requests: str) -> dict[str, Any]:
    """A constraint."""
    return {"matchAttribute": attribute, **({"requests": [*requests]} if requests else {})}


def claim(*parts: dict[str, Any]) -> dict[str, Any]:
    """A claim of requests and constraints."""
    requests = [one for one in parts if "name" in one]
    constraints = [one for one in parts if "name" not in one]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"devices": {"requests": requests, "constraints": constraints}},
    }


def template(*parts: dict[str, Any]) -> dict[str, Any]:
    """A template of such claims, of which each Pod has one."""
    one = claim(*parts)
    return one | {"kind": "ResourceClaimTemplate", "spec": {"spec": one["spec"]}}


@functools.cache
def group_of(instance_type: str, *, version: str = "1.36", **options: Any) -> ClusterPlan:
    """The plan of a cluster with one group, with EFAs where the type has them."""
    spec = NodegroupSpec(name="g", instance_type=instance_type, max_size=1, **options)
    return plan_cluster(kubernetes_version=version, nodegroups=[spec])


def verdict(instance_type: str, *claims: Any, **options: Any) -> Verdict:
    """What is said of a Pod's claims on a group of a type."""
    (found,) = check_claims(claims, group_of(instance_type, **options))
    return found


def said(instance_type: str, *claims: Any, **options: Any) -> tuple[str, str]:
    """Status and code of a verdict."""
    found = verdict(instance_type, *claims, **options)
    return str(found.status), found.code
