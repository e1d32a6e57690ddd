"""Manifests of Pods and claims, and what is said of them on a plan."""

from __future__ import annotations

import functools
from typing import Any

from eks_devices import Capacity, ClusterPlan, Mechanism, NodegroupSpec, plan_cluster
from eks_devices.workload_check import Document, PodVerdicts, WorkloadReport, check_workloads

GPU, EFA, NEURON = "gpu.nvidia.com", "efa.networking.k8s.aws", "neuron.aws.com"
TOLERATION = {"operator": "Exists"}
PLUGIN, DRA = Mechanism.DEVICE_PLUGIN, Mechanism.DRA
BLOCK = Capacity.block("cr-0123456789abcdef0")


@functools.cache
def plan_of(*groups: tuple[str, str, Any], version: str = "1.36") -> ClusterPlan:
    """The plan of groups, each with a name, an instance type and options as pairs."""
    specs = [
        NodegroupSpec(name=name, instance_type=kind, **{"max_size": 2, **dict(options)})
        for name, kind, options in groups
    ]
    return plan_cluster(kubernetes_version=version, nodegroups=specs)


def group(name: str, kind: str, **options: Any) -> tuple[str, str, Any]:
    """A group of `plan_of`."""
    return name, kind, tuple(options.items())


P5 = group("p5", "p5.48xlarge", mechanism=DRA)
P4D = group("p4d", "p4d.24xlarge", mechanism=PLUGIN)
G6E = group("g6e", "g6e.12xlarge", mechanism=PLUGIN)
L4 = group("l4", "g6.12xlarge", mechanism=PLUGIN)
TRN2 = group("trn2", "trn2.48xlarge", mechanism=DRA)
TRN1 = group("trn1", "trn1.32xlarge", mechanism=PLUGIN)


def request(device_class: str = GPU, count: int = 1, *selectors: str, **more: Any) -> Any:
    """A request of a claim; its name is the first word of the class."""
    exactly: dict[str, Any] = {"deviceClassName": device_class, "count": count, **more}
    if selectors:
        exactly["selectors"] = [{"cel": {"expression": one}} for one in selectors]
    return {"name": device_class.partition(".")[0], "exactly": exactly}


def template(name: str, *requests: Any, namespace: str = "", **more: Any) -> dict[str, Any]:
    """A ResourceClaimTemplate."""
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": metadata,
        "spec": {"spec": {"devices": {"requests": list(requests), **more}}},
    }


def pod(
    *templates: str, limits: Any = None, name: str = "pod", kind: str = "Pod", **spec: Any
) -> dict[str, Any]:
    """A Pod whose container has claims from templates, and limits."""
    claims = [{"name": one, "resourceClaimTemplateName": one} for one in templates]
    resources: dict[str, Any] = {"claims": [{"name": one} for one in templates]}
    if limits is not None:
        resources["limits"] = limits
    return {
        "apiVersion": "v1" if kind == "Pod" else "example.com/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "tolerations": [dict(TOLERATION)],
            "containers": [{"name": "main", "image": "x", "resources": resources}],
            **({"resourceClaims": claims} if claims else {}),
            **spec,
        },
    }


def checked(plan: ClusterPlan, *manifests: Any, **options: Any) -> WorkloadReport:
    """The report of manifests."""
    documents = [Document(origin=str(at), content=one) for at, one in enumerate(manifests)]
    return check_workloads(documents, plan, **options)


def codes(report: WorkloadReport) -> list[str]:
    """The codes of all findings, in their order, without what rules tell of these plain Pods."""
    found = [one.finding.code for one in report.remarks]
    return [one for one in found if one not in ("ClaimNotListed", "EfaWithoutHugePages")]


def said(found: PodVerdicts) -> dict[str, tuple[str, str]]:
    """Status and code by group."""
    return {one.nodegroup: (str(one.status), one.code) for one in found.verdicts}


def verdict(plan: ClusterPlan, *manifests: Any, **options: Any) -> dict[str, tuple[str, str]]:
    """Status and code by group, of the one kind of Pod in manifests."""
    (found,) = checked(plan, *manifests, **options).pods
    return said(found)


def message(report: WorkloadReport, code: str) -> str:
    """The message and the fix of the first finding with a code."""
    found = next(one.finding for one in report.remarks if one.finding.code == code)
    return f"{found.message} | {found.fix}"
