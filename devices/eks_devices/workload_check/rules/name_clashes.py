"""Claims, templates and Pods of one name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ...findings import Finding, fault, warning
from ...names import CLAIM_KIND, TEMPLATE_KIND
from ..claim_versions import as_newest
from ..device_names import device_type_of
from ..documents import Document, frozen, mapping
from ..pods import pods_of
from .asking import asks_for
from .context import Context
from .whole import ToldOfDocument, Whole

_STEPS: Final = ("metadata", "name")
_UNCHANGING: Final = (("", "Pod"), ("batch", "Job"))
_APART: Final = ", unless the files are for two clusters"
_PODS: Final = "https://kubernetes.io/docs/concepts/workloads/pods/#pod-update-and-replacement"
_PAGE: Final = (
    "https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-claim-template-v1/"
)


def clashes(whole: Whole) -> Iterator[ToldOfDocument]:
    """Two objects of one kind, namespace and name, in the manifests or in the plan's app."""
    seen = {
        (one.kind, one.namespace, one.name): (one, "the app of the plan")
        for one in whole.readable_planned
    }
    for document, copy in whole.readable_documents:
        key = (copy.kind, copy.namespace, copy.name)
        if copy.kind not in (CLAIM_KIND, TEMPLATE_KIND) or not mapping(
            copy.content, "metadata"
        ).get("name"):
            continue
        first, origin = seen.setdefault(key, (copy, copy.place or "these manifests"))
        if first is copy:
            continue
        # Metadata can change later.
        if _spec(first) != _spec(copy):
            is_apart = not _is_planned(whole, first) and not first.is_sent_with(copy)
            yield document, _STEPS, (_clash_of_files if is_apart else _clash)(copy, origin)
        elif not _is_planned(whole, first):
            yield document, _STEPS, _repeated(copy, origin)


def _spec(document: Document) -> Any:
    """What an object asks for, in whichever version of the API it is written."""
    return frozen(as_newest(document.content).get("spec"))


def pod_clashes(whole: Whole) -> Iterator[ToldOfDocument]:
    """Two Pods, or Jobs, of one name, of which one at least has devices."""
    with_devices = {id(one.given.document) for one in whole.pods if _has_devices(one)}
    seen: dict[tuple[str, str, str], tuple[Document, Document]] = {}
    for document, copy in whole.readable_documents:
        key = (copy.kind, copy.namespace, copy.name)
        is_one = (copy.api_group, copy.kind) in _UNCHANGING
        if not is_one or not mapping(copy.content, "metadata").get("name"):
            continue
        first, of_first = seen.setdefault(key, (document, copy))
        if with_devices.isdisjoint({id(document), id(first)}):
            continue
        if _unchanging(of_first) != _unchanging(copy) and not _have_patch(of_first, copy):
            yield document, _STEPS, _clash_of_pods(copy, of_first)


def _have_patch(*documents: Document) -> bool:
    """Whether one of some objects is a part of another, for it has no image."""
    return any(
        "image" not in one.content
        for document in documents
        for pod in pods_of(document)
        for one in pod.containers
    )


def _unchanging(document: Document) -> object:
    """What the server lets nobody change; how many Pods a Job has is not of it."""
    spec = mapping(document.content, "spec")
    return spec.get("template") if document.kind == "Job" else spec


def _has_devices(context: Context) -> bool:
    return bool(context.claims) or any(
        asks_for(one, lambda name: device_type_of(name) is not None) for one in context.containers
    )


def _clash_of_pods(copy: Document, first: Document) -> Finding:
    is_apart = not first.is_sent_with(copy)
    return warning(
        "PodNameClash",
        ".".join(_STEPS),
        f"the {copy.kind} {copy.namespace}/{copy.name} stands already in "
        f"{first.place or 'these manifests'} and is another there; "
        f"{'in one cluster ' if is_apart else ''}the API server refuses to change it, or a Job's "
        "Pods, so this one never comes to be",
        fix=f"rename one of them{_APART if is_apart else ''}",
        source=_PODS,
    )


def _is_planned(whole: Whole, document: Document) -> bool:
    return any(document is one for one in whole.readable_planned)


def _clash(copy: Document, origin: str) -> Finding:
    return fault(
        "ClaimNameClash",
        ".".join(_STEPS),
        f"another {copy.kind} of this name asks for something else ({origin}), and the API server "
        "refuses to change one: Pods get what was there first",
        got=f"{copy.namespace}/{copy.name}",
        allowed="one object of a kind by each name in a namespace",
        fix="rename one of them, and the claims of the Pods that mean it",
        source=_PAGE,
    )


def _clash_of_files(copy: Document, origin: str) -> Finding:
    """Files may be for several clusters, overlays of kustomize for instance."""
    return warning(
        "ClaimNameClash",
        ".".join(_STEPS),
        f"the {copy.kind} {copy.namespace}/{copy.name} in {origin} asks for something else; in one "
        "cluster the API server refuses to change one: Pods get what was there first",
        fix=f"rename one of them{_APART}",
        source=_PAGE,
    )


def _repeated(copy: Document, origin: str) -> Finding:
    return warning(
        "ClaimWrittenTwice",
        ".".join(_STEPS),
        f"the {copy.kind} {copy.namespace}/{copy.name} is written twice ({origin})",
        fix="leave one of them out, before they differ",
        source=_PAGE,
    )


SET_RULES = (clashes, pod_clashes)
