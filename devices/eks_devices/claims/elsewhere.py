"""Where a claim of a group may be allocated beside the group, and not be served."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..findings import Finding, info
from ..names import NODEGROUP_LABEL, POOL_LABEL
from ..plans import NodegroupPlan
from .alternatives_on_nodegroup import as_claim
from .choices import choices
from .compute_domain import ComputeDomain
from .gpus_on_nodegroup import missing_gates
from .objects import Claim

_SOURCE = "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"


def elsewhere_findings(
    claim: Claim,
    plan: NodegroupPlan,
    plans: Iterable[NodegroupPlan],
) -> Iterator[Finding]:
    """What is worth knowing of a claim beside the other groups of the cluster.

    The scheduler knows devices and not what their drivers were told, so it may give the claim a
    GPU of a group whose driver then starts no Pod of it. Requests with selectors of a user's own
    are left out: they may choose the nodes.

    Args:
        claim: A claim without faults on its own group.
        plan: That group; for a claim of a pool, one of its groups.
        plans: The groups of the cluster.
    """
    if isinstance(claim, ComputeDomain):
        return
    found = [as_claim(claim, view) for view in choices(claim)]
    lost = [
        one.name
        for one in plans
        if any(list(missing_gates(choice, one, selected=False)) for choice in found)
    ]
    if lost:
        key = POOL_LABEL if POOL_LABEL in plan.labels else NODEGROUP_LABEL
        yield info(
            "ClaimFitsOtherGroups",
            f"{claim.path}.requests",
            f"the scheduler may give the claim a GPU of {', '.join(lost)}, where the driver has "
            "the gate that it needs off and starts no Pod of it",
            fix=f"let its Pods select {key}: {plan.labels[key]}",
            source=_SOURCE,
        )
