"""Claims for the nodes of a planned group: their manifests, and what is wrong or to know there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .._data import read_toml
from ..efa_installation import DranetBuild
from ..findings import EksDevicesError, Finding, fault, info, raise_faults
from ..instance_types import AcceleratedInstanceType
from ..names import NODEGROUP_LABEL
from ..plans import NodegroupPlan
from ..vocabulary import DeviceType
from .alignment import root_findings
from .asked import own_type
from .attributes import attribute_findings
from .compute_domain import ComputeDomain
from .driver_version import driver_version_findings
from .efas_on_nodegroup import efa_faults, efa_findings
from .gpus_on_nodegroup import gpu_claim_faults, gpu_claim_findings
from .kinds import RequestKind
from .mechanism_on_nodegroup import mechanism_faults
from .neuron_findings import neuron_findings
from .nodes_on_nodegroup import domain_findings, ultraserver_findings
from .objects import Claim
from .requests import DeviceRequest
from .reuse_on_nodegroup import reuse_findings, shared_efa_faults, shared_efa_findings
from .templates import DeviceClaim, claimed_devices


def claim_manifest(
    claim: Claim, plan: NodegroupPlan, *, build: DranetBuild | None = None
) -> dict[str, Any]:
    """The manifest of a claim that Pods on the nodes of a group can use.

    Args:
        claim: The claim.
        plan: The plan of the group.
        build: The build of DRANET that serves it; not known unless named.

    Raises:
        EksDevicesError: Every fault of the claim on the group: `DeviceNotOnNodegroup` for devices
            that its type has and the group lacks, `ClaimNeedsDra` for those that it hands out by
            a device plugin, `ClaimNeedsFeatureGate` and `MemoryNeedsShares` for what its GPU
            driver does not do, `GpusNotCut`, `GpusAreCut` and `OtherPartitions` for GPUs that are
            not as it needs them, `TooManyDevices` for more EFAs or partitions than its nodes have,
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
    if not isinstance(claim, ComputeDomain):
        faults += efa_faults(claim, manifest, plan)
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
        return list(domain_findings(claim, plan))
    instance = AcceleratedInstanceType.of(plan.instance_type)
    return [
        *_search_findings(claim.path, manifest),
        *attribute_findings(claim, manifest),
        *root_findings(claim, instance),
        *neuron_findings(claim, instance),
        *driver_version_findings(claim, plan),
        *efa_findings(claim, manifest, plan),
        *ultraserver_findings(claim, plan),
        *reuse_findings(claim, plan),
        *shared_efa_findings(claim, plan, build),
        *gpu_claim_findings(claim, plan),
    ]


def _search_findings(path: str, manifest: dict[str, Any]) -> Iterator[Finding]:
    limit = read_toml("limits.toml")["search"]
    devices = sum(one["exactly"]["count"] for one in claimed_devices(manifest)["requests"])
    if devices > limit["quick"]:
        yield info(
            "LongSearch",
            f"{path}.requests",
            f"the claim asks for {devices} devices: {limit['message']}",
            fix="give Pods that take so many a group of their own and select it by "
            f"{NODEGROUP_LABEL}, and let a Pod name its claims for fewer devices first",
            source=limit["source"],
        )


def _fitted(claim: DeviceClaim, plan: NodegroupPlan) -> DeviceClaim:
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
