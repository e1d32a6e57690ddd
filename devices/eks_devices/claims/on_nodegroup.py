"""Claims for the nodes of a planned group: whether its devices are claimed there at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .._data import read_toml
from ..efa_installation import DranetBuild
from ..findings import EksDevicesError, Finding, fault, info, raise_faults, warning
from ..instance_types import AcceleratedInstanceType
from ..names import NODEGROUP_LABEL
from ..plans import NodegroupPlan
from ..vocabulary import DeviceType
from .alignment import root_findings
from .asked import own_type
from .compute_domain import ComputeDomain
from .efas_on_nodegroup import efa_faults, efa_findings, manifest_requests
from .gpus_on_nodegroup import gpu_claim_faults, gpu_claim_findings
from .kinds import RequestKind
from .mechanism_on_nodegroup import mechanism_faults
from .neuron_findings import neuron_findings
from .requests import DeviceRequest
from .reuse_on_nodegroup import reuse_findings, shared_efa_faults, shared_efa_findings
from .templates import ResourceClaim, ResourceClaimTemplate

Claim = ResourceClaim | ResourceClaimTemplate | ComputeDomain

_MODES = "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/eks/dra.html"
_CLIQUES = (
    "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/main/"
    "cmd/compute-domain-daemon/cdclique.go"
)


def claim_manifest(
    claim: Claim, plan: NodegroupPlan, *, build: DranetBuild | None = None
) -> dict[str, Any]:
    """The manifest of a claim that Pods on the nodes of a group can use.

    Args:
        claim: The claim.
        plan: The plan of the group.
        build: The build of DRANET that serves it; not known unless named.

    Raises:
        EksDevicesError: Every fault of the claim on the group: `ClaimNeedsDra` for devices that
            its type has, and the group lacks or hands out by a device plugin,
            `ClaimNeedsFeatureGate` and `MemoryNeedsShares` for what its GPU driver does not do,
            `GpusNotCut`, `GpusAreCut` and `OtherPartitions` for GPUs that are not as it needs
            them, `TooManyDevices` for more EFAs or partitions than its nodes have,
            `ManifestTooLarge` for a text that kubectl cannot apply, `EfaSharedClaim` for EFAs
            that upstream's build gives to no second Pod, and the faults of the claim on the
            instance type.
    """
    faults, fitted, on = list(mechanism_faults(claim, plan)), claim, plan.instance_type
    if not isinstance(claim, ComputeDomain):
        faults += gpu_claim_faults(claim, plan)
        faults += shared_efa_faults(claim, plan, build)
        fitted = _fitted(claim, plan)
        named = own_type(claim)
        on = named if named in plan.instance_types else on
    try:
        manifest = fitted.to_dict(kubernetes_version=plan.kubernetes_version, instance_type=on)
    except EksDevicesError as error:
        raise EksDevicesError(_each_once([*faults, *error.faults])) from None
    faults += efa_faults(claim.path, manifest, plan)
    raise_faults([*faults, *_size_faults(claim.path, manifest)])
    return manifest


def _each_once(faults: list[Finding]) -> list[Finding]:
    """Of two faults that say the same of one value the first, which knows the group."""
    found: dict[tuple[str, str], Finding] = {}
    for one in faults:
        found.setdefault((one.code, one.path), one)
    return [*found.values()]


def claim_findings(
    claim: Claim,
    manifest: dict[str, Any],
    plan: NodegroupPlan,
    *,
    build: DranetBuild | None = None,
) -> list[Finding]:
    """What is worth knowing of a claim on a group, beside its faults.

    Args:
        claim: The claim.
        manifest: What `claim_manifest` made of it for the group.
        plan: The plan of the group.
        build: The build of DRANET that serves it; not known unless named.
    """
    if isinstance(claim, ComputeDomain):
        return list(_domain_findings(claim, plan))
    instance = AcceleratedInstanceType.of(plan.instance_type)
    return [
        *_search_findings(claim.path, manifest),
        *root_findings(claim, instance),
        *neuron_findings(claim, instance),
        *efa_findings(claim, manifest, plan),
        *_ultraserver_findings(claim, plan),
        *reuse_findings(claim, plan),
        *shared_efa_findings(claim, plan, build),
        *gpu_claim_findings(claim, plan),
    ]


def _domain_findings(domain: ComputeDomain, plan: NodegroupPlan) -> Iterator[Finding]:
    if domain.nodes > plan.max_size:
        yield warning(
            "DomainLargerThanNodegroup",
            f"{domain.path}.nodes",
            f"the domain waits for {domain.nodes} nodes, and group {plan.name} has at most "
            f"{plan.max_size}",
            fix="ask for fewer nodes, raise max_size, or see that other groups hold the rest",
        )
    size = _ultraserver_size(plan)
    if size and domain.nodes > size:
        yield warning(
            "DomainBeyondUltraServer",
            f"{domain.path}.nodes",
            f"the domain waits for {domain.nodes} nodes, and an UltraServer of group {plan.name} "
            f"has {size}: the driver joins the nodes of each UltraServer by themselves, so Pods "
            "of two UltraServers share no memory",
            fix=f"make a ComputeDomain of at most {size} nodes for each UltraServer, or a job "
            "that reaches the other UltraServers over EFA",
            source=_CLIQUES,
        )


def _ultraserver_findings(
    claim: ResourceClaim | ResourceClaimTemplate, plan: NodegroupPlan
) -> Iterator[Finding]:
    """The warning of more nodes that work together than the group can have."""
    for index, request in enumerate(claim.requests):
        if request.mode is not None and request.mode > plan.max_size:
            yield warning(
                "UltraServerLargerThanNodegroup",
                f"{claim.path}.requests[{index}].mode",
                f"{request.mode} nodes of an UltraServer work together, and group {plan.name} has "
                f"at most {plan.max_size}: the Pods would wait for the others",
                fix=f"raise max_size to {request.mode}, use a smaller mode, or see that other "
                "groups hold the rest of the same UltraServer",
                source=_MODES,
            )


def _ultraserver_size(plan: NodegroupPlan) -> int:
    """The most nodes of the group that are of one UltraServer; 0 where there are none."""
    sizes = AcceleratedInstanceType.of(plan.instance_type).ultraserver_sizes
    return plan.capacity.nodes or max(sizes, default=0)


def _search_findings(path: str, manifest: dict[str, Any]) -> Iterator[Finding]:
    limit = read_toml("limits.toml")["search"]
    devices = sum(one["exactly"]["count"] for one in manifest_requests(manifest))
    if devices > limit["quick"]:
        yield info(
            "LongSearch",
            f"{path}.requests",
            f"the claim asks for {devices} devices: {limit['message']}",
            fix="give Pods that take so many a group of their own and select it by "
            f"{NODEGROUP_LABEL}, and let a Pod name its claims for fewer devices first",
            source=limit["source"],
        )


def _fitted(
    claim: ResourceClaim | ResourceClaimTemplate, plan: NodegroupPlan
) -> ResourceClaim | ResourceClaimTemplate:
    """Without a match, an open EFA count is every EFA that the group's nodes have."""
    efa = plan.device_of(DeviceType.EFA)
    if claim.match is not None or efa is None:
        return claim
    return replace(claim, requests=[_filled(one, efa.count) for one in claim.requests])


def _filled(request: DeviceRequest, efas: int) -> DeviceRequest:
    is_open = request.kind is RequestKind.EFA and request.count is None
    return replace(request, count=efas) if is_open else request


def _size_faults(path: str, manifest: dict[str, Any]) -> Iterator[Finding]:
    """The fault of an object whose text does not fit into the annotation that kubectl writes."""
    limit = read_toml("limits.toml")["manifest"]
    size = len(json.dumps(manifest).encode())
    if size > limit["most_bytes"]:
        yield fault(
            "ManifestTooLarge",
            path,
            limit["message"],
            got=f"{size} bytes",
            allowed=f"at most {limit['most_bytes']} bytes",
            fix="shorten the selectors",
            source=limit["source"],
        )
