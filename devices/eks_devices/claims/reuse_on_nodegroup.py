"""Claims that several Pods name, on nodes where the second Pod may fail to start."""

from __future__ import annotations

from collections.abc import Iterator

from ..ami_releases import al2023_patch
from ..findings import Finding, info, warning
from ..kubernetes import floors
from ..plans import NodegroupPlan
from ..support import find_support
from ..vocabulary import Compute, DeviceType, Feature, Mechanism
from .templates import ResourceClaim, ResourceClaimTemplate


def reuse_findings(
    claim: ResourceClaim | ResourceClaimTemplate, plan: NodegroupPlan
) -> Iterator[Finding]:
    """The patch of Kubernetes that nodes need for a claim which Pods share.

    A warning where the pinned release of the nodes is older, else an info: which patch a release
    of Bottlerocket or an image of the user's has, its name does not tell.
    """
    version, floor = plan.kubernetes_version, floors()["reused-claim-node"]
    needed, pinned = floor.patches.get(version, 0), al2023_patch(plan.release_version)
    if not isinstance(claim, ResourceClaim) or (0 if pinned is None else pinned) >= needed:
        return
    tell = info if pinned is None else warning
    yield tell(
        "ReusedClaimFloor",
        claim.path,
        f"{floor.needed_for} needs nodes of {version}.{needed} or later: {floor.why}",
        fix="use a newer release of the AMI, or let Pods that name this claim name no other",
        source=floor.source,
    )


def shared_efa_findings(
    claim: ResourceClaim | ResourceClaimTemplate, plan: NodegroupPlan
) -> Iterator[Finding]:
    """The warning of EFAs that several Pods share, which releases of DRANET differ about."""
    if not isinstance(claim, ResourceClaim):
        return
    support = find_support(
        DeviceType.EFA,
        Mechanism.DRA,
        Compute.MANAGED,
        plan.operating_system,
        family="",
        version=plan.kubernetes_version,
        feature=Feature.SHARED_CLAIM,
    )
    for index, request in enumerate(claim.requests):
        if request.kind.device_type is DeviceType.EFA:
            path = f"{claim.path}.requests[{index}]"
            yield warning(
                support.code, path, support.message, fix=support.fix, source=support.source
            )
