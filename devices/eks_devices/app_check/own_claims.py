"""Claims that are made for a node group: on its nodes, and on those of all other groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ..claims.elsewhere import elsewhere_findings
from ..claims.templates import DeviceClaim
from ..feasibility import Status, Verdict, check_claims
from ..findings import Finding, fault, info, warning
from ..names import NODEGROUP_LABEL, POOL_LABEL
from ..plans import ClusterPlan, NodegroupPlan
from ..taints import TaintEffect
from ..workload_check.fixes import named

# What the rules of claims say already, by the code of the verdict.
_SAID: Final = {
    "ConstraintNeverHolds": ("AttributeNotPublished", "PcieRootUnknown"),
    "KnownAtRunTime": ("PcieRootUnknown",),
}
_OF_ATTRIBUTE: Final = ("ExpressionFails", "AttributeNeverPublished")
# What is not known of the types themselves, or not looked at, tells nothing of this claim.
_SILENT: Final = ("NoPublishedData", "NotJudged")
# What the API server refuses, it refuses for every group.
_OF_CLAIM: Final = "ExpressionInvalid"
_NEVER: Final = (Status.INFEASIBLE, Status.ERROR)
_SOURCE: Final = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
)


def claim_faults(
    claim: DeviceClaim,
    manifest: Mapping[str, Any],
    groups: Sequence[NodegroupPlan],
    said: Iterable[Finding] = (),
) -> list[Finding]:
    """What keeps nodes from serving a claim that is made for them, and what cannot be told.

    Args:
        claim: The claim.
        manifest: What `claim_manifest` made of it.
        groups: The groups that the claim is for, more than one for a pool.
        said: What was found already, which is not told twice.

    Raises:
        EksDevicesError: The extra `check` is not installed, `CheckExtraMissing`.
    """
    codes = {one.code for one in said}
    alike: dict[tuple[Status, str, str], tuple[Verdict, list[NodegroupPlan]]] = {}
    for group in groups:
        (found,) = check_claims([manifest], group)
        if found.status is not Status.FEASIBLE and codes.isdisjoint(_SAID.get(found.code, ())):
            key = found.status, found.code, found.reason
            alike.setdefault(key, (found, []))[1].append(group)
    told = (_of_verdict(claim.path, found, where) for found, where in alike.values())
    return [one for one in told if one is not None]


def not_repeated(said: Iterable[Finding], more: Sequence[Finding]) -> list[Finding]:
    """What the rules of a claim say, without what the verdict of its nodes says of an attribute.

    Args:
        said: What the rules say.
        more: What `claim_faults` says.
    """
    verdicts = [one.message for one in more if one.code in _OF_ATTRIBUTE]
    return [
        one
        for one in said
        if one.code != "AttributeNotPublished" or not _is_in(_names_in(one.message), verdicts)
    ]


def _names_in(message: str) -> set[str]:
    return {word for word in message.replace(",", " ").split() if "/" in word}


def _is_in(names: Iterable[str], messages: Sequence[str]) -> bool:
    return any(name in _names_in(message) for name in names for message in messages)


def _of_verdict(path: str, found: Verdict, groups: Sequence[NodegroupPlan]) -> Finding | None:
    status, code, reason = found.status, found.code, found.reason
    where = named([one.name for one in groups])
    if status is Status.UNKNOWN:
        if code in _SILENT:
            return None
        message = f"whether nodes of {where} can serve the claim is not known: {reason}"
        return info(code, path, message, source=_SOURCE)
    message = f"no node of {where} can ever serve the claim: {reason}"
    if status is Status.ERROR and code != _OF_CLAIM:
        message = f"no Pod of the claim is ever placed while there are nodes of {where}: {reason}"
    return fault(
        code,
        path,
        message,
        got=groups[0].instance_type,
        allowed="a claim that a node with nothing on it can serve",
        fix=found.fix or "change the request, or add the claim to a group whose nodes can serve it",
        source=_SOURCE,
    )


def fleet_findings(
    claim: DeviceClaim,
    manifest: Mapping[str, Any],
    own: Sequence[NodegroupPlan],
    plan: ClusterPlan,
    *,
    is_named: bool = False,
) -> Iterator[Finding]:
    """What is worth knowing of a claim beside the groups of the cluster that it is not made for.

    Left out are groups with taints that those of the claim do not have, as Pods on these nodes
    need not tolerate them.

    Args:
        claim: The claim.
        manifest: What `claim_manifest` made of it.
        own: The groups that it is made for.
        plan: All groups of the cluster.
        is_named: Whether Pods of the app name the claim, so that they are told where they may go.

    Raises:
        EksDevicesError: The extra `check` is not installed, `CheckExtraMissing`.
    """
    # A claim that its own nodes never serve is told by them; to keep its Pods there gains nothing.
    if is_named or not own or _is_never_served(manifest, own, plan):
        return
    names = {one.name for one in own}
    groups = [one for one in plan.nodegroups if one.name not in names and _is_reachable(one, own)]
    found = check_claims([manifest], replace(plan, nodegroups=tuple(groups)))
    yield from _stopping(claim.path, found, own)
    fitting = {one.nodegroup for one in found if one.status is Status.FEASIBLE}
    serving = [one for one in groups if one.name in fitting]
    if serving and not any(elsewhere_findings(claim, own[0], serving)):
        yield info(
            "ClaimServedElsewhere",
            claim.path,
            f"nodes of {named([one.name for one in serving])} can serve the claim too, so "
            "its Pods may come to them",
            fix=f"have its Pods choose nodes by {_selector(own[0])} to keep them on these alone",
            source=_SOURCE,
        )


def _is_never_served(
    manifest: Mapping[str, Any], own: Sequence[NodegroupPlan], plan: ClusterPlan
) -> bool:
    found = check_claims([manifest], replace(plan, nodegroups=tuple(own)))
    return all(one.status in _NEVER for one in found)


def _is_reachable(group: NodegroupPlan, own: Sequence[NodegroupPlan]) -> bool:
    """Whether Pods that may be on all nodes of their own groups may be on another one's."""
    tolerated = {(taint.key, taint.value) for one in own for taint in one.taints}
    return all(
        (taint.key, taint.value) in tolerated
        for taint in group.taints
        if taint.effect is not TaintEffect.PREFER_NO_SCHEDULE
    )


def _stopping(
    path: str, verdicts: Sequence[Verdict], own: Sequence[NodegroupPlan]
) -> Iterator[Finding]:
    """The warnings of groups at which the scheduler ends its attempt at a Pod, by reason."""
    names: dict[str, dict[str, None]] = {}
    for one in verdicts:
        if one.status is Status.ERROR and one.code != _OF_CLAIM:
            names.setdefault(one.reason, {})[one.nodegroup] = None
    for reason, groups in names.items():
        yield warning(
            "ClaimStopsScheduling",
            path,
            f"while there are nodes of {named([*groups])}, the scheduler ends its attempt "
            f"at a Pod of the claim there, also for nodes that could serve it: {reason}",
            fix=f"have its Pods choose nodes by {_selector(own[0])}: at others the scheduler then "
            "does not look",
            source=_SOURCE,
        )


def _selector(group: NodegroupPlan) -> str:
    key = POOL_LABEL if POOL_LABEL in group.labels else NODEGROUP_LABEL
    return f"{key}: {group.labels[key]}"
