"""Claims that exist by themselves, and the Pods that share them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._data import read_toml
from ...ami_releases import al2023_patch
from ...kubernetes import floors
from ...names import CLAIM_KIND
from ...support import find_support
from ...vocabulary import Compute, DeviceType, Feature, Mechanism
from ..claimed import PodClaim
from ..documents import mapping, mappings, sequence
from .claim_content import types_of
from .context import Context, Told
from .how_many import is_on_every_node, pods_at_once
from .whole import ToldOfDocument, Whole, of_pod

_HOSTNAME: Final = "kubernetes.io/hostname"
_PAGE: Final = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
)


def shared_claims(whole: Whole) -> Iterator[ToldOfDocument]:
    """What comes with one claim for several Pods."""
    users: dict[tuple[str, str], list[tuple[Context, PodClaim]]] = defaultdict(list)
    for context in whole.pods:
        for claim in context.claims:
            if claim.kind == CLAIM_KIND:
                users[context.pod.namespace, claim.object_name].append((context, claim))
    for found in users.values():
        total = sum(pods_at_once(one.pod) for one, _ in found)
        for context, claim in found:
            if total > 1 or is_on_every_node(context.pod):
                for rule in _RULES:
                    yield from of_pod(context, rule(context, claim, total))


def _on_one_node(context: Context, claim: PodClaim, total: int) -> Iterator[Told]:
    """Pods that share a claim run where its devices are; what keeps them apart keeps them off."""
    apart = _kept_apart(context)
    most = _most_pods(context)
    if apart:
        yield context.warn(
            claim.steps,
            "SharedClaimKeptApart",
            f"Pods that share the claim {claim.object_name} have to be on one node, and {apart}: "
            "all but one of them would wait for ever",
            fix="use a ResourceClaimTemplate, so that each Pod has devices of its own, or let "
            "the Pods run on one node",
            source=_PAGE,
        )
    elif total > most:
        yield context.warn(
            claim.steps,
            "TooManyClaimConsumers",
            f"{total} Pods share the claim {claim.object_name}, and at most {most} can at a time: "
            "they are all on one node, and wait for each other",
            fix="use a ResourceClaimTemplate, or fewer Pods",
            source=read_toml("limits.toml")["claims"]["source"],
        )
    else:
        yield context.tell(
            claim.steps,
            "SharedClaimOneNode",
            f"{total} Pods share the claim {claim.object_name}, so all of them run on the one node "
            "that has its devices",
            fix="use a ResourceClaimTemplate where each Pod needs devices of its own",
            source=_PAGE,
        )


def _most_pods(context: Context) -> int:
    """How many Pods may share a claim: as many as it has room for, and a node."""
    largest = read_toml("limits.toml")["max_pods"]["large"]
    rooms = [one.max_pods or largest for one in context.groups]
    consumers = read_toml("limits.toml")["claims"]["most_consumers"]
    return int(min(consumers, max(rooms, default=largest)))


def _kept_apart(context: Context) -> str:
    """What keeps the Pods of a template on nodes of their own; empty for nothing."""
    if is_on_every_node(context.pod):
        return "a DaemonSet runs one on each"
    count = pods_at_once(context.pod)
    if count <= 1:
        return ""
    affinity = mapping(mapping(context.spec, "affinity"), "podAntiAffinity")
    for _, term in mappings(affinity, "requiredDuringSchedulingIgnoredDuringExecution"):
        if _is_about_nodes(context, term):
            return "their anti-affinity allows one on each"
    for _, spread in mappings(context.spec, "topologySpreadConstraints"):
        skew = spread.get("maxSkew")
        strict = spread.get("whenUnsatisfiable") in (None, "DoNotSchedule")
        few = type(skew) is int and skew < count
        if strict and few and _is_about_nodes(context, spread):
            return f"their topology spread allows {skew} more on one than on another"
    return ""


def _is_about_nodes(context: Context, term: Mapping[str, Any]) -> bool:
    """Whether a term is about single nodes, and the Pods are among those that it counts."""
    namespaces = sequence(term, "namespaces")
    if term.get("topologyKey") != _HOSTNAME or (
        namespaces and context.pod.namespace not in namespaces
    ):
        return False
    labels, selector = mapping(context.pod.metadata, "labels"), mapping(term, "labelSelector")
    wanted = mapping(selector, "matchLabels")
    expressions = [one for _, one in mappings(selector, "matchExpressions")]
    return (
        bool(wanted or expressions)
        and all(labels.get(key) == value for key, value in wanted.items())
        and all(_selects(one, labels) for one in expressions)
    )


def _selects(expression: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    key, values = expression.get("key"), sequence(expression, "values")
    has = isinstance(key, str) and key in labels
    value = labels.get(key) if isinstance(key, str) else None
    match expression.get("operator"):
        case "In":
            return has and value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return has
        case "DoesNotExist":
            return not has
    return False


def _reused(context: Context, claim: PodClaim, _: int) -> Iterator[Told]:
    """A claim that another Pod has prepared, beside one of the Pod's own."""
    floor = floors()["reused-claim-node"]
    if len(context.claims) < 2:  # noqa: PLR2004  (a claim beside it)
        return
    for group in context.groups:
        version = group.kubernetes_version
        needed, pinned = floor.patches.get(version, 0), al2023_patch(group.release_version)
        if not needed or (pinned is not None and pinned >= needed):
            continue
        tell = context.tell if pinned is None else context.warn
        yield tell(
            claim.steps,
            "ReusedClaimFloor",
            f"{floor.needed_for} needs nodes of {version}.{needed} or later ({group.name}): "
            f"{floor.why}",
            fix="use a newer release of the AMI, or ask for all by requests of one claim",
            source=floor.source,
        )
        return


def _shared_efas(context: Context, claim: PodClaim, _: int) -> Iterator[Told]:
    """EFAs that several Pods share, which builds of DRANET differ about."""
    groups = context.groups_with(DeviceType.EFA, Mechanism.DRA)
    if DeviceType.EFA not in types_of(claim) or not groups:
        return
    support = find_support(
        DeviceType.EFA,
        Mechanism.DRA,
        Compute.MANAGED,
        groups[0].operating_system,
        family="",
        version=groups[0].kubernetes_version,
        feature=Feature.SHARED_CLAIM,
    )
    yield context.warn(
        claim.steps, support.code, support.message, fix=support.fix, source=support.source
    )


_RULES: Final = (_on_one_node, _reused, _shared_efas)
SET_RULES = (shared_claims,)
