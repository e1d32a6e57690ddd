"""Manifests as values that cannot change, whatever was passed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from .._frozen import FrozenDict
from .._json_values import frozen_mapping
from ..findings import Finding, warning
from .documents import Document, plain
from .report import Remark

# Schemas are large, and make no Pods.
_SCHEMA: Final = "CustomResourceDefinition"


def readable_documents(documents: Iterable[Document]) -> tuple[list[Document], list[Remark]]:
    """The documents that can be read, and what is told of the others."""
    found: list[Document] = []
    told: list[Remark] = []
    for one in documents:
        if type(one.content) is FrozenDict:
            found.append(one)
            continue
        copy = frozen_mapping(one.content, "manifest", "a manifest", "pass it as a dict")
        if isinstance(copy, FrozenDict):
            found.append(replace(one, content=plain(copy)))
        elif not (isinstance(one.content, dict) and one.content.get("kind") == _SCHEMA):
            told.append(Remark(document=_empty(one), steps=(), finding=_unread(copy)))
    return found, told


def readable_manifests(manifests: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The manifests that can be read."""
    copies = (frozen_mapping(one, "claim", "a manifest", "pass a dict") for one in manifests)
    return [plain(one) for one in copies if isinstance(one, FrozenDict)]


def _empty(document: Document) -> Document:
    """A document that cannot be read, without its content."""
    return replace(document, content=FrozenDict())


def _unread(why: Finding | Any) -> Finding:
    text = f"this manifest is not looked at: {why.message}"
    return warning("ManifestNotRead", "", text, fix=why.fix)
