"""Items of Lists that are no objects, which kubectl refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from .._yaml_text import wrong_in_manifest
from ..findings import Finding
from ..typecheck import is_token
from .documents import Document, Steps, is_list, item_of, path_of

_ITEMS: Final = "items"


def item_faults(documents: Iterable[Document]) -> Iterator[tuple[Document, Steps, Finding]]:
    """The faults of items of Lists, in Lists too, each with its List and the steps to it.

    Objects of others' kinds may be called Lists and have items of any form.

    Args:
        documents: The manifests, with Lists as they are written.

    Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#collections
    """
    for one in documents:
        if not is_list(one):
            continue
        items = one.content[_ITEMS]
        if isinstance(items, (list, tuple)):
            yield from _of_items(one, items)
        elif _is_of_kubernetes(one) and not (items is None or is_token(items)):
            fix = "write a list: - and each object indented below"
            yield one, (_ITEMS,), wrong_in_manifest(_ITEMS, items, "a list of objects", fix)


def _of_items(
    document: Document, items: Iterable[object]
) -> Iterator[tuple[Document, Steps, Finding]]:
    for index, item in enumerate(items):
        if isinstance(item, Mapping):
            yield from item_faults([item_of(document, index, item)])
        elif _is_of_kubernetes(document) and not is_token(item):
            steps = (_ITEMS, index)
            fix = "write the object, with apiVersion, kind and metadata, or leave the item out"
            yield document, steps, wrong_in_manifest(path_of(steps), item, "an object", fix)


def _is_of_kubernetes(document: Document) -> bool:
    """Whether a kind is one of Kubernetes' own, by its group; others may list what they like."""
    group = document.api_group
    return "." not in group or (group.endswith(".k8s.io") and not group.endswith(".x-k8s.io"))
