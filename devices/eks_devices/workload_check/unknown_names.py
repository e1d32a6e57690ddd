"""Names in Pods that lead to nothing that is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ..findings import Finding, warning
from ..names import CLAIM_FIELDS, TEMPLATE_KIND
from .claimed import KnownClaims, PodClaim
from .documents import Document, Steps, path_of, text_of
from .pods import PodTemplate
from .trainjobs import runtime_meant, runtime_name

_NAMELESS: Final = "the TrainJob has no name of a runtime that can be read"


def unknown_names(
    pod: PodTemplate, claims: Sequence[PodClaim], known: KnownClaims
) -> Iterator[tuple[Steps, Finding]]:
    """Names that lead to nothing that is known."""
    for one in claims:
        if not (one.is_known or _has_both(pod, one)):
            yield (
                one.steps,
                warning(
                    "ClaimNotFound",
                    path_of(one.steps),
                    f"the {one.kind} {pod.namespace}/{one.object_name} is neither among these "
                    "manifests nor in the plan, so it must be in the cluster already",
                    fix=known.elsewhere(one, pod.namespace) or "name the file that holds it too",
                ),
            )
    if text_of(pod.spec, "nodeName") and any(one.kind == TEMPLATE_KIND for one in claims):
        yield ("nodeName",), _named_node()


def _has_both(pod: PodTemplate, claim: PodClaim) -> bool:
    """Whether the entry of a claim names two, of which one has to go, as is told."""
    entry: Any = pod.spec
    for step in claim.steps:
        entry = entry[step]
    return all(entry.get(field) is not None for field in CLAIM_FIELDS)


def _named_node() -> Finding:
    return warning(
        "NodeNameSkipsScheduler",
        "nodeName",
        "the Pod names its node, so the scheduler passes it over, and nobody allocates its claims: "
        "it waits until somebody else does",
        fix="select the node instead: nodeSelector: {kubernetes.io/hostname: ...}",
        source="https://kubernetes.io/docs/concepts/scheduling-eviction/"
        "dynamic-resource-allocation/#pre-scheduled-pods",
    )


def unknown_runtime(
    pod: PodTemplate, documents: Sequence[Document]
) -> Iterator[tuple[Steps, Finding]]:
    """The runtime of a TrainJob that is not known, whose Pods may ask for more than the job says.

    Args:
        pod: The template.
        documents: The manifests, runtimes among them.
    """
    if pod.is_partial:
        name = runtime_name(pod.document)
        here = f"the runtime {name} is not among these manifests" if name else _NAMELESS
        more = (
            "name the file that holds the runtime too" if name else "write runtimeRef: {name: ...}"
        )
        yield (
            ("runtimeRef",),
            warning(
                "RuntimeNotFound",
                "spec.runtimeRef",
                f"{here}, so only what the TrainJob itself says of its Pods is looked at",
                fix=runtime_meant(pod.document, documents) or more,
            ),
        )
