"""Manifests of which only the deployment knows some values: what of them can be judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ..names import CLAIM_KIND, TEMPLATE_KIND
from ..typecheck import is_number_token, is_token
from ..workload_check import Document

RESOURCE_GROUP: Final = "resource.k8s.io"
_DEEPEST: Final = 64
# What else of a Pod says on which nodes it is.
_LEFT_OUT: Final = ("affinity", "nodeName", "schedulerName", "os")
_ANYWHERE: Final = {"operator": "Exists"}


def is_claim(document: Document) -> bool:
    """Whether a manifest is of a claim, or of a template."""
    return document.kind in (CLAIM_KIND, TEMPLATE_KIND) and document.api_group == RESOURCE_GROUP


def is_class(document: Document) -> bool:
    """Whether a manifest is of a DeviceClass."""
    return document.kind == "DeviceClass" and document.api_group == RESOURCE_GROUP


def judgeable(documents: Sequence[Document]) -> list[Document]:
    """Manifests as far as they can be judged: what is not known speaks for a Pod, never against it.

    Claims with unknown parts are left out, as are those of a DeviceClass with some. Of Pods,
    unknown labels that they select are left out, and unknown tolerations tolerate all.
    """
    unclear = [one for one in documents if _is_resource(one) and has_unknown(_judged_parts(one))]
    classes = {one.name for one in unclear if is_class(one)}
    left_out = {id(one) for one in unclear}
    return [
        one if _is_resource(one) else replace(one, content=_hopeful(one.content))
        for one in documents
        if id(one) not in left_out and not (is_claim(one) and classes & {*_classes_in(one.content)})
    ]


def has_unknown(value: object, depth: int = 0) -> bool:
    """Whether a value holds something that only the deployment knows, or nests too deeply."""
    if isinstance(value, Mapping):
        inside = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple)):
        inside = [*value]
    else:
        return is_unknown(value)
    return depth > _DEEPEST or any(has_unknown(one, depth + 1) for one in inside)


def is_unknown(value: object) -> bool:
    """Whether a single value is only known at the deployment."""
    return is_token(value) or is_number_token(value)


def _is_resource(document: Document) -> bool:
    return is_claim(document) or is_class(document)


def _judged_parts(document: Document) -> list[object]:
    """Everything but labels and annotations, which nothing here reads."""
    metadata = document.metadata
    return [metadata.get("name"), metadata.get("namespace"), document.content.get("spec")]


def _classes_in(value: object, depth: int = 0) -> Iterable[str]:
    """The names of DeviceClasses anywhere in a manifest."""
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        name = value.get("deviceClassName")
        if isinstance(name, str):
            yield name
        for one in value.values():
            yield from _classes_in(one, depth + 1)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _classes_in(one, depth + 1)


def _hopeful(value: Any) -> Any:
    """A manifest whose Pods go wherever the known part of it lets them."""
    if not has_unknown(value):
        return value
    return _rewritten(value, 0)


def _rewritten(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        return None
    if isinstance(value, Mapping):
        return {
            key: _REWRITERS.get(key, _rewritten)(one, depth + 1)
            for key, one in value.items()
            if not (key in _LEFT_OUT and has_unknown(one))
        }
    if isinstance(value, (list, tuple)):
        return [_rewritten(one, depth + 1) for one in value]
    return value


def _known_labels(value: Any, depth: int) -> Any:
    """What Pods select, without what is not known."""
    if not isinstance(value, Mapping):
        return {} if has_unknown(value) else value
    del depth
    return {key: one for key, one in value.items() if not has_unknown([key, one])}


def _wide_tolerations(value: Any, depth: int) -> Any:
    if not isinstance(value, (list, tuple)):
        return [_ANYWHERE] if has_unknown(value) else value
    del depth
    return [_ANYWHERE if has_unknown(one) else one for one in value]


_REWRITERS: Final = {"nodeSelector": _known_labels, "tolerations": _wide_tolerations}
