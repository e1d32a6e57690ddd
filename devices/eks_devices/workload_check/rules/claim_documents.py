"""What the API server makes of claims, or asks of their namespaces, beside their form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._yaml_text import AsYaml, wrong_in_manifest
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
            elif space is not None and (said := _label(space)) != "true" and not _is_told(said):
                yield document, steps, _label_missing(steps, copy.namespace, said)


def admin_labels(whole: Whole) -> Iterator[ToldOfDocument]:
    """The label of a namespace that allows admin access is a text."""
    for document, copy in whole.readable_documents:
        if copy.kind == "Namespace" and _is_told(said := _label(copy)):
            steps = ("metadata", "labels", ADMIN_ACCESS_LABEL)
            fix = f'write {ADMIN_ACCESS_LABEL}: "{_as_text(said)}", in quotes'
            yield document, steps, wrong_in_manifest(path_of(steps), said, "a text", fix)


def _label(namespace: Document) -> Any:
    return mapping(namespace.metadata, "labels").get(ADMIN_ACCESS_LABEL)


def _is_told(label: Any) -> bool:
    """Whether a label is of a type that the API server refuses, or is not known before it runs."""
    return label is not None and not isinstance(label, str)


def _as_text(label: Any) -> str:
    return "true" if label is True else str(label).lower()


def _admin(document: Document) -> Iterator[Steps]:
    """Where a claim asks for admin access; alternatives do not have the field."""
    asked = (steps for steps, ask in asks_in(document) if ask.get(_ADMIN) is True)
    return ((*steps, _ADMIN) for steps in asked if "firstAvailable" not in steps)


def entries_in(document: Document, field: str) -> Iterator[tuple[Steps, Mapping[str, Any]]]:
    """The requests, or constraints, of a claim or template, where they are written."""
    if document.kind not in _KINDS:
        return
    base: Steps = ("spec",) if document.kind == CLAIM_KIND else ("spec", "spec")
    spec = mapping(document.content, "spec")
    devices = mapping(mapping(spec, "spec") if len(base) > 1 else spec, "devices")
    for index, one in mappings(devices, field):
        yield (*base, "devices", field, index), one


def asks_in(document: Document) -> Iterator[tuple[Steps, Mapping[str, Any]]]:
    """What a claim asks for, requests and alternatives, where it is written."""
    for steps, request in entries_in(document, "requests"):
        # Before v1beta2 a request is written without `exactly`.
        is_within = isinstance(request.get("exactly"), Mapping)
        yield ((*steps, "exactly"), request["exactly"]) if is_within else (steps, request)
        for at, option in mappings(request, "firstAvailable"):
            yield (*steps, "firstAvailable", at), option


def _label_missing(steps: Steps, namespace: str, said: str | None) -> Finding:
    label = f'{ADMIN_ACCESS_LABEL}: "true"'
    lacks = "lacks the label" if said is None else "has another value of the label"
    return fault(
        "NamespaceWithoutAdminAccess",
        path_of(steps),
        f"the namespace {namespace} among these manifests {lacks} that allows admin access, so the "
        "API server refuses the claim",
        got=AsYaml(namespace if said is None else said),
        allowed=f"a namespace with the label {label}",
        fix=f"{'add' if said is None else 'write'} {label} {'to' if said is None else 'among'} its "
        f"labels, or leave {_ADMIN} out",
        source=f"{_PAGE}#admin-access",
    )


def _label_needed(steps: Steps, namespace: str) -> Finding:
    return info(
        "AdminAccessLabelNeeded",
        path_of(steps),
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


SET_RULES = (admin_namespaces, admin_labels, counts_of_zero)
