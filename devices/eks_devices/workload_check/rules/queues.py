"""Queues of Pods, and claims that their schedulers refuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..._data import read_toml
from ...names import CLAIM_KIND
from ...vocabulary import DeviceType
from ..claimed import PodClaim
from ..documents import mapping
from .claim_content import asks_of, labels_of, types_of
from .context import Context, Told


def kueue_claims(context: Context) -> Iterator[Told]:
    """Claims of Pods in a queue of Kueue that it never admits."""
    facts = read_toml("pod_rules.toml")["kueue"]
    if _queue(context, facts["label"]) is None:
        return
    for claim in context.claims:
        for code, what, instead in _refused(claim, facts):
            yield context.warn(
                claim.steps,
                code,
                f"the Pods are in a queue of Kueue ({facts['label']}), which does not admit "
                f"{what} of the claim {claim.name}: they would stay suspended",
                fix=f"{instead}, or leave the label of the queue out",
                source=facts["source"],
            )


def _refused(claim: PodClaim, facts: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """What Kueue refuses of a claim: code, words, and what to write instead."""
    if claim.kind == CLAIM_KIND:
        yield (
            "KueueRefusesNamedClaim",
            "the reference to a ResourceClaim that exists",
            "use a ResourceClaimTemplate, so that each Pod has a claim of its own",
        )
    found = asks_of(claim)
    if any(one.is_alternative for one in found):
        yield (
            "KueueRefusesFirstAvailable",
            "the alternatives (firstAvailable)",
            "ask for one kind of device by `exactly`",
        )
    if any(one.mode in facts["modes"] for one in found):
        yield (
            "KueueRefusesAll",
            "allocationMode: All",
            "write the count of devices",
        )
    if any(one.is_admin for one in found):
        yield "KueueRefusesAdminAccess", "adminAccess", "leave adminAccess out"


def _queue(context: Context, label: str) -> Any:
    """The queue of Pods: by a label of theirs, or of what makes them; None for none."""
    for metadata in (context.pod.metadata, context.pod.document.metadata):
        labels = mapping(metadata, "labels")
        if labels.get(label) not in (None, ""):
            return labels[label]
    return None


def kai_claims(context: Context) -> Iterator[Told]:
    """Claims that Pods in a queue of KAI share, which it wants in the same queue."""
    facts = read_toml("pod_rules.toml")["kai"]
    queue = _queue(context, facts["label"])
    if queue is None:
        return
    for claim in context.claims:
        other = labels_of(claim).get(facts["label"])
        if claim.manifest is None or other == queue or not _is_for_gpus(claim):
            continue
        told = "has no such label" if other is None else f"has the label {other}"
        named = claim.kind == CLAIM_KIND
        where = "metadata.labels" if named else "spec.metadata.labels"
        tell = context.warn if named else context.tell
        yield tell(
            claim.steps,
            "KaiQueueOfClaim",
            f"the Pods are in the queue {queue} of KAI, and the claim {claim.name} {told}: KAI "
            + (
                "schedules no Pod that shares a claim of another queue"
                if named
                else "wants it on the claims of its queues"
            ),
            fix=f'write {facts["label"]}: "{queue}" among {where} of {claim.object_name}',
            source=facts["source"] if named else facts["template_source"],
        )


def _is_for_gpus(claim: PodClaim) -> bool:
    return bool({DeviceType.GPU, None} & types_of(claim))


RULES = (kueue_claims, kai_claims)
