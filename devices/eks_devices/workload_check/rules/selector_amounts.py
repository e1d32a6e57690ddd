"""Selectors that every device meets, for they compare its memory with a few bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...feasibility.cel.expressions import selector
from ...feasibility.slices import NodeDevice
from ...feasibility.telling.amount_changes import FewBytes, few_bytes
from ...feasibility.telling.followed import followed
from ...findings import Finding, warning
from ..documents import Steps, mapping, mappings, path_of
from .claim_documents import asks_in
from .driver_classes import devices_of
from .whole import ToldOfDocument, Whole

_PAGE: Final = (
    "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/#Quantity"
)


def memory_without_unit(whole: Whole) -> Iterator[ToldOfDocument]:
    """A quantity without a unit is a number of bytes."""
    for document, copy in whole.readable_documents:
        for steps, ask in asks_in(copy):
            for index, one in mappings(ask, "selectors"):
                text = mapping(one, "cel").get("expression")
                at = (*steps, "selectors", index, "cel", "expression")
                if isinstance(text, str) and (found := next(few_bytes(text), None)):
                    yield document, at, _few(at, found, [*devices_of(whole.plan)])


def _few(steps: Steps, found: FewBytes, devices: list[NodeDevice]) -> Finding:
    having = [one for one in devices if found.name in one.capacity]
    taken = found.whole if selector(found.whole).problem is None else ""
    return warning(
        "MemoryWithoutUnit",
        path_of(steps),
        f"{found.part} asks for {found.written} bytes, which every device has",
        fix=followed(f"write {found.meant}", taken, having),
        source=_PAGE,
    )


SET_RULES = (memory_without_unit,)
