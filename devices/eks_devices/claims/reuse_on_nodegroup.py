"""Claims that several Pods name, on nodes whose kubelet may fail to start the second Pod."""

from __future__ import annotations

from collections.abc import Iterator

from ..ami_releases import al2023_patch
from ..findings import Finding, info, warning
from ..kubernetes import floors
from ..plans import NodegroupPlan
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
