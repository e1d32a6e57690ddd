"""What rules over all manifests together look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ...findings import Finding
from ...plans import ClusterPlan
from ..documents import Document, Steps
from .context import Context, Told
from .readable import readable

ToldOfDocument = tuple[Document, Steps, Finding]
"""A finding, its manifest, and the steps to its place in there."""


# Without slots: what several rules ask for is worked out once.
@dataclass(frozen=True, kw_only=True, eq=False)
class Whole:
    """All manifests, the Pod templates in them, and the claims that the plan's app makes."""

    documents: Sequence[Document]
    pods: Sequence[Context]
    planned_claims: Sequence[Mapping[str, Any]]
    plan: ClusterPlan

    @cached_property
    def readable_documents(self) -> tuple[tuple[Document, Document], ...]:
        """Each manifest, and a copy of it in which nothing raises."""
        return tuple((one, _copy(one)) for one in self.documents)

    @cached_property
    def readable_planned(self) -> tuple[Document, ...]:
        """Copies of the manifests of the app's claims."""
        return tuple(_copy(Document(origin="", content=one)) for one in self.planned_claims)


def of_pod(context: Context, told: Iterator[Told]) -> Iterator[ToldOfDocument]:
    """What is told of a Pod template, as what is told of its manifest."""
    pod = context.given
    return ((pod.document, (*pod.steps, *steps), finding) for steps, finding in told)


def _copy(document: Document) -> Document:
    content = readable(document.content)
    return replace(document, content=content if isinstance(content, dict) else {})
