"""Claims for the nodes of a planned group: their manifests, and what is wrong or to know there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from .._data import read_toml
from ..efa_installation import DranetBuild
from ..findings import EksDevicesError, Finding, fault, info, raise_faults
from ..instance_types import AcceleratedInstanceType
from ..names import NODEGROUP_LABEL
from ..plans import NodegroupPlan
from .alignment import root_findings
from .all_on_nodegroup import all_on_nodegroup, all_on_nodegroup_faults, fitted_claim
from .alternatives_on_nodegroup import alternative_findings, as_claim, told_once
from .asked import own_type
from .attributes import attribute_findings
from .choices import View, choice_faults, choices, is_plain, parts
from .compute_domain import ComputeDomain
from .configs_on_nodegroup import config_findings
from .differing import differing_findings
from .driver_version import driver_version_findings
from .efas_on_nodegroup import efa_faults, efa_findings
from .gpus_on_nodegroup import gpu_claim_faults, gpu_claim_findings
from .mechanism_on_nodegroup import mechanism_faults
from .neuron_findings import neuron_findings
from .node_taints import node_taint_findings
from .nodes_on_nodegroup import domain_findings, ultraserver_findings
from .objects import Claim
from .rendering import most_counted
from .reuse_on_nodegroup import reuse_findings, shared_efa_faults, shared_efa_findings
from .selectors_on_nodegroup import selector_faults, selector_findings
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
    if isinstance(claim, ComputeDomain):
        faults = [*mechanism_faults(claim, plan)]
        try:
            manifest = claim.to_dict(
                kubernetes_version=plan.kubernetes_version, instance_type=plan.instance_type
            )
        except EksDevicesError as error:
            raise EksDevicesError(_each_once([*faults, *error.faults])) from None
    else:
        manifest, faults = _judged(claim, plan, build)
    raise_faults([*faults, *_size_faults(claim.path, manifest)])
    return manifest


def written_manifest(claim: DeviceClaim, plan: NodegroupPlan) -> dict[str, Any]:
    """The manifest of a claim for a group, whose devices and drivers need not serve it.

    Args:
        claim: The claim.
        plan: The plan of the group, which fills open counts.

    Raises:
        EksDevicesError: Every fault of the claim on the instance type.
    """
    fitted, all_of = fitted_claim(claim, plan), partial(all_on_nodegroup, plan)
    return fitted.to_dict_of(plan.kubernetes_version, _type_of(claim, plan), all_of)


def _judged(
    claim: DeviceClaim, plan: NodegroupPlan, build: DranetBuild | None
) -> tuple[dict[str, Any], list[Finding]]:
    """The manifest of a claim, and the faults of it that only the group has."""
    fitted, all_of = fitted_claim(claim, plan), partial(all_on_nodegroup, plan)
    own = [*all_on_nodegroup_faults(claim, plan)]
    if is_plain(fitted):
        manifest, faults = _of_choice(fitted, plan, build)
    else:
        faults = choice_faults(
            fitted, lambda view: _of_choice(as_claim(fitted, view), plan, build)[1], all_of
        )
        manifest = None
    try:
        manifest = manifest or written_manifest(claim, plan)
    except EksDevicesError as error:
        raise EksDevicesError(_each_once([*own, *faults, *error.faults])) from None
    return manifest, [*own, *faults]


def _of_choice(
    claim: DeviceClaim, plan: NodegroupPlan, build: DranetBuild | None
) -> tuple[dict[str, Any] | None, list[Finding]]:
    """The manifest of a claim of plain requests, where it has one, and its faults on a group."""
    faults = [
        *mechanism_faults(claim, plan),
        *gpu_claim_faults(claim, plan),
        *shared_efa_faults(claim, plan, build),
        *selector_faults(claim, plan),
    ]
    try:
        manifest = claim.to_dict_of(plan.kubernetes_version, _type_of(claim, plan), None)
    except EksDevicesError as error:
        return None, _each_once([*faults, *error.faults])
    return manifest, [*faults, *efa_faults(claim, manifest, plan)]


def _type_of(claim: DeviceClaim, plan: NodegroupPlan) -> str:
    """The type to judge a claim on: one that it names, where the group may have it."""
    named = own_type(claim)
    return named if named in plan.instance_types else plan.instance_type


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
    fitted, all_of = fitted_claim(claim, plan), partial(all_on_nodegroup, plan)
    whole = [
        *_search_findings(claim.path, manifest),
        *node_taint_findings(claim, plan),
        *config_findings(claim, plan),
    ]
    if is_plain(fitted):
        return [*whole, *_choice_findings(fitted, manifest, plan, build)]
    judged: list[tuple[View, list[Finding]]] = []
    found: list[Finding] = []
    for view in choices(fitted, all_of):
        choice = as_claim(fitted, view)
        made, faults = _of_choice(choice, plan, build)
        judged.append((view, faults))
        if made is not None and not faults:
            found += map(view.placed, _choice_findings(choice, made, plan, build))
    found = [*alternative_findings(fitted, plan, judged), *told_once(found)]
    return [*whole, *found]


def _choice_findings(
    claim: DeviceClaim, manifest: dict[str, Any], plan: NodegroupPlan, build: DranetBuild | None
) -> Iterator[Finding]:
    instance = AcceleratedInstanceType.of(plan.instance_type)
    yield from attribute_findings(claim, manifest)
    for part in parts(claim):
        yield from map(part.placed, root_findings(part, instance))
    yield from neuron_findings(claim, instance)
    yield from driver_version_findings(claim, plan)
    yield from differing_findings(claim, plan)
    yield from efa_findings(claim, manifest, plan)
    yield from selector_findings(claim)
    yield from ultraserver_findings(claim, plan)
    yield from reuse_findings(claim, plan)
    yield from shared_efa_findings(claim, plan, build)
    yield from gpu_claim_findings(claim, plan)


def _search_findings(path: str, manifest: dict[str, Any]) -> Iterator[Finding]:
    limit = read_toml("limits.toml")["search"]
    devices = sum(map(most_counted, claimed_devices(manifest)["requests"]))
    if devices > limit["quick"]:
        yield info(
            "LongSearch",
            f"{path}.requests",
            f"the claim asks for {devices} devices: {limit['message']}",
            fix="give Pods that take so many a group of their own and select it by "
            f"{NODEGROUP_LABEL}, and let a Pod name its claims for fewer devices first",
            source=limit["source"],
        )


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
