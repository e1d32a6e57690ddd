"""Claims that several Pods name, on nodes where the second Pod may fail to start."""

from __future__ import annotations

from collections.abc import Iterator

from ..ami_releases import al2023_patch
from ..efa_installation import DranetBuild
from ..findings import Finding, fault, info, warning
from ..kubernetes import floors
from ..plans import NodegroupPlan
from ..support import Support, find_support
from ..vocabulary import Compute, DeviceType, Feature, Mechanism
from .templates import DeviceClaim, ResourceClaim

_UNKNOWN = "which build serves these nodes is not known here"


def reuse_findings(claim: DeviceClaim, plan: NodegroupPlan) -> Iterator[Finding]:
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
    claim: DeviceClaim, plan: NodegroupPlan, build: DranetBuild | None
) -> Iterator[Finding]:
    """The warning of EFAs that several Pods share, which builds of DRANET differ about.

    Args:
        claim: The claim.
        plan: The plan of the group.
        build: The build that serves the group, None where it is not known.
    """
    support = _shared_claim(plan)
    message = support.message if build else f"{support.message}; {_UNKNOWN}"
    for path in _shared_efas(claim):
        yield warning(support.code, path, message, fix=support.fix, source=support.source)


def shared_efa_faults(
    claim: DeviceClaim, plan: NodegroupPlan, build: DranetBuild | None
) -> Iterator[Finding]:
    """The fault of EFAs that several Pods share, where upstream's build refuses such a claim."""
    support = _shared_claim(plan)
    for path in _shared_efas(claim) if build is DranetBuild.UPSTREAM else ():
        yield fault(
            support.code,
            path,
            f"the {build} build of DRANET prepares no claim that more than one Pod has reserved: "
            "every Pod but the first would wait for ever",
            got="a claim that Pods share by its name",
            allowed="a claim template, or DranetBuild.EKS",
            fix=support.fix,
            source=support.source,
        )


def _shared_efas(claim: DeviceClaim) -> Iterator[str]:
    """The paths of requests for EFAs that several Pods may share."""
    for index, request in enumerate(claim.requests) if isinstance(claim, ResourceClaim) else ():
        if request.kind.device_type is DeviceType.EFA:
            yield f"{claim.path}.requests[{index}]"


def _shared_claim(plan: NodegroupPlan) -> Support:
    return find_support(
        DeviceType.EFA,
        Mechanism.DRA,
        Compute.MANAGED,
        plan.operating_system,
        family="",
        version=plan.kubernetes_version,
        feature=Feature.SHARED_CLAIM,
    )
