"""Places in the manifests of claims that verdicts are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ..feasibility.telling.amounts_told import AMOUNT_NOT_THERE
from ..feasibility.verdicts import Verdict
from ..names import TEMPLATE_KIND
from .claimed import PodClaim
from .documents import Document, Steps, mapping, mappings, sequence
from .node_amounts import AMOUNTS

_EXACTLY: Final = "exactly"
_ALTERNATIVES: Final = "firstAvailable"
_SELECTORS: Final = "selectors"
_CAPACITY: Final = "capacity"


def place_in(manifest: Mapping[str, Any], verdict: Verdict) -> Steps:
    """The steps to what a verdict is about: a constraint, a selector's expression or a request.

    Those to all requests where it is about none, or about another claim's.

    Args:
        manifest: The claim or the template, in any version of the API.
        verdict: What a group's nodes make of it.
    """
    base = ("spec", "spec") if manifest.get("kind") == TEMPLATE_KIND else ("spec",)
    devices = mapping(manifest, "spec")
    devices = mapping(mapping(devices, "spec") if len(base) > 1 else devices, "devices")
    base = (*base, "devices")
    if verdict.constraint is not None:
        if verdict.constraint < len(sequence(devices, "constraints")):
            return (*base, "constraints", verdict.constraint)
        return (*base, "constraints")
    for steps, ask in _asks(devices, verdict.request):
        if verdict.code == AMOUNT_NOT_THERE and _CAPACITY in ask:
            return (*base, *steps, _CAPACITY)
        return (*base, *steps, *_expression(ask, verdict.selector))
    return (*base, "requests")


def places_in(
    claims: Iterable[PodClaim], verdict: Verdict | None
) -> Iterator[tuple[Document, Steps]]:
    """The claims of a Pod that are among the manifests, each with the part that is meant.

    A template that makes several of them is named once; none where the verdict is about the
    Pod's own CPUs or memory.

    Args:
        claims: The claims.
        verdict: What a group's nodes make of them; None where that says nothing.
    """
    if verdict is not None and verdict.code in AMOUNTS:
        return
    seen: set[tuple[Document, Steps]] = set()
    for one in claims:
        if one.document is None:
            continue
        is_meant = verdict is not None and verdict.claim == one.name
        steps = place_in(one.document.content, verdict) if verdict is not None and is_meant else ()
        if (one.document, steps) not in seen:
            yield one.document, steps
        seen.add((one.document, steps))


def expression_of(manifest: Mapping[str, Any], verdict: Verdict) -> str:
    """The expression that a verdict is about; empty where it is about none."""
    value: Any = manifest
    for step in place_in(manifest, verdict) if verdict.selector is not None else ():
        value = value[step]
    return value if isinstance(value, str) else ""


def _asks(devices: Mapping[str, Any], name: str) -> Iterator[tuple[Steps, Mapping[str, Any]]]:
    """What is asked for under the name that a claim's status has for it."""
    request_name, _, alternative = name.partition("/")
    for index, request in mappings(devices, "requests"):
        if request.get("name") != request_name:
            continue
        steps: Steps = ("requests", index)
        if not alternative:
            # Before v1beta2 a request is written without `exactly`.
            is_within = isinstance(request.get(_EXACTLY), Mapping)
            yield ((*steps, _EXACTLY), request[_EXACTLY]) if is_within else (steps, request)
        for at, option in mappings(request, _ALTERNATIVES):
            if alternative and option.get("name") == alternative:
                yield (*steps, _ALTERNATIVES, at), option


def _expression(ask: Mapping[str, Any], selector: int | None) -> Steps:
    selectors = sequence(ask, _SELECTORS)
    if selector is None or selector >= len(selectors):
        return ()
    if "expression" not in mapping(selectors[selector], "cel"):
        return (_SELECTORS, selector)
    return (_SELECTORS, selector, "cel", "expression")
