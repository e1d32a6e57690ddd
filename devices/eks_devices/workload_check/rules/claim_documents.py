"""What the API server makes of claims, or asks of their namespaces, beside their form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ...findings import Finding, fault, info, warning
from ...names import ADMIN_ACCESS_LABEL, CLAIM_KIND, TEMPLATE_KIND
from ..documents import Document, Steps, mapping, mappings, path_of
from .whole import ToldOfDocument, Whole

_KINDS: Final = (CLAIM_KIND, TEMPLATE_KIND)
_ADMIN: Final = "adminAccess"
_MODE: Final = "allocationMode"
_PAGE: Final = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
)


def admin_namespaces(whole: Whole) -> Iterator[ToldOfDocument]:
    """Claims with admin access are in namespaces with a label that allows it."""
    namespaces = {
        copy.name: copy for _, copy in whole.readable_documents if copy.kind == "Namespace"
    }
    # Those of the app have the label by the app, or its synthesis says so.
    of_app = {one.namespace for one in whole.readable_planned if any(_admin(one))}
    for document, copy in whole.readable_documents:
        for steps in _admin(copy):
            space = namespaces.get(copy.namespace)
            if space is None and copy.namespace not in of_app:
                yield document, steps, _label_needed(steps, copy.namespace)
            elif space is not None and not _allows(space):
                yield document, steps, _label_missing(steps, copy.namespace)


def _admin(document: Document) -> Iterator[Steps]:
    """Where a claim asks for admin access."""
    return (steps for steps, ask in asks_in(document) if ask.get(_ADMIN) is True)


def asks_in(document: Document) -> Iterator[tuple[Steps, Mapping[str, Any]]]:
    """What a claim asks for, requests and alternatives, where it is written."""
    if document.kind not in _KINDS:
        return
    base: Steps = ("spec",) if document.kind == CLAIM_KIND else ("spec", "spec")
    spec = mapping(document.content, "spec")
    devices = mapping(mapping(spec, "spec") if len(base) > 1 else spec, "devices")
    for index, request in mappings(devices, "requests"):
        steps = (*base, "devices", "requests", index)
        # Before v1beta2 a request is written without `exactly`.
        is_within = isinstance(request.get("exactly"), Mapping)
        yield ((*steps, "exactly"), request["exactly"]) if is_within else (steps, request)
        for at, option in mappings(request, "firstAvailable"):
            yield (*steps, "firstAvailable", at), option


def _allows(namespace: Document) -> bool:
    return mapping(namespace.metadata, "labels").get(ADMIN_ACCESS_LABEL) == "true"


def _label_missing(steps: Steps, namespace: str) -> Finding:
    return fault(
        "NamespaceWithoutAdminAccess",
        path_of((*steps, _ADMIN)),
        f"the namespace {namespace} among these manifests lacks the label that allows admin "
        "access, so the API server refuses the claim",
        got=namespace,
        allowed=f'a namespace with the label {ADMIN_ACCESS_LABEL}: "true"',
        fix=f'add {ADMIN_ACCESS_LABEL}: "true" to its labels, or leave {_ADMIN} out',
        source=f"{_PAGE}#admin-access",
    )


def _label_needed(steps: Steps, namespace: str) -> Finding:
    return info(
        "AdminAccessLabelNeeded",
        path_of((*steps, _ADMIN)),
        f"the API server refuses the claim unless the namespace {namespace}, which is not among "
        f'these manifests, has the label {ADMIN_ACCESS_LABEL}: "true"',
        fix=f'see that it has {ADMIN_ACCESS_LABEL}: "true", or leave {_ADMIN} out',
        source=f"{_PAGE}#admin-access",
    )


def counts_of_zero(whole: Whole) -> Iterator[ToldOfDocument]:
    """A count of zero is one that is left out, to the API server."""
    for document, copy in whole.readable_documents:
        for steps, ask in asks_in(copy):
            if type(ask.get("count")) is int and ask["count"] == 0 and ask.get(_MODE) != "All":
                yield document, (*steps, "count"), _one_device((*steps, "count"))


def _one_device(steps: Steps) -> Finding:
    return warning(
        "CountOfZero",
        path_of(steps),
        "the API server takes a count of 0 for one that is left out, so it asks for 1 device",
        fix="leave the request out if no device is wanted",
        source=_PAGE,
    )


SET_RULES = (admin_namespaces, counts_of_zero)
