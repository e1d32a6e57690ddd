"""Fields and kinds of DRA that the cluster's API server does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._yaml_text import AsYaml
from ...feasibility.reading.api_minors import GATES, Api, api_of
from ...feasibility.reading.misplaced import by_capacity
from ...findings import Finding, fault, meant, warning
from ...kubernetes import gate_is_on, minors
from ..claim_versions import GROUP
from ..claimed import KINDS, is_misspelt
from ..documents import Steps, mapping, path_of, text_of
from .claim_documents import asks_in, entries_in
from .whole import ToldOfDocument, Whole

_CLASS: Final = "DeviceClass"
# Field of a request, and what the claim means without it.
_FIELDS: Final = {
    "capacity": "the claim gets whole devices, of any size",
    "tolerations": "nothing is tolerated, and no device tainted either",
    "derivedAttributes": "nothing is derived",
}
_MATCH, _DISTINCT = "matchAttribute", "distinctAttribute"
_NAME: Final = "extendedResourceName"
_PAGE: Final = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
)


def dropped_fields(whole: Whole) -> Iterator[ToldOfDocument]:
    """Fields whose feature gate is off on EKS in the cluster's version."""
    api = api_of(whole.plan.kubernetes_version)
    lost = api.dropped | api.idle
    for document, copy in whole.readable_documents:
        for steps, ask in asks_in(copy):
            for field, means in _FIELDS.items():
                if ask.get(field) and field in lost:
                    at: Steps = (*steps, field)
                    yield document, at, _dropped(at, api, means, _instead(field, ask))
        named = mapping(copy.content, "spec").get(_NAME)
        if copy.kind == _CLASS and named and _NAME in lost:
            at = ("spec", _NAME)
            yield document, at, _dropped(at, api, "no Pod gets a device by that resource")


def _instead(field: str, ask: Mapping[str, Any]) -> str:
    """What to write in the place of a field; empty for none."""
    amounts = mapping(ask, "capacity") if field == "capacity" else {}
    return by_capacity(amounts, text_of(ask, "deviceClassName")) if amounts else ""


def _dropped(steps: Steps, api: Api, means: str, instead: str = "") -> Finding:
    field = str(steps[-1])
    gate = GATES[field]
    served = next((one for one in minors() if gate_is_on(gate, one)), "")
    does = "keeps the field, which nobody reads" if field in api.idle else _DROPS
    return warning(
        "FieldNotServed",
        path_of(steps),
        f"Kubernetes {api.version} on EKS has {gate} off and {does}: {means}",
        fix=f"leave {field} out"
        + f" and {instead}" * bool(instead)
        + f", or upgrade the cluster to {served}" * bool(served),
        source=_PAGE,
    )


_DROPS: Final = "drops the field without a word"


def unread_distinct(whole: Whole) -> Iterator[ToldOfDocument]:
    """An attribute that is to differ beside one that is to match, which alone is read."""
    for document, copy in whole.readable_documents:
        for steps, one in entries_in(copy, "constraints"):
            if one.get(_DISTINCT) is not None and one.get(_MATCH) is not None:
                at = (*steps, _DISTINCT)
                yield document, at, _unread(at, whole.plan.kubernetes_version)


def _unread(steps: Steps, version: str) -> Finding:
    is_served = gate_is_on(GATES["capacity"], version)
    return warning(
        "FieldNotServed",
        path_of(steps),
        f"of a constraint with both, {_MATCH} alone is read, so devices need not differ",
        fix=f"write {_DISTINCT} in a constraint of its own"
        if is_served
        else f"leave {_DISTINCT} out",
        source=_PAGE,
    )


def unknown_kinds(whole: Whole) -> Iterator[ToldOfDocument]:
    """Kinds of the API of claims that are misspelt."""
    for document, copy in whole.readable_documents:
        if is_misspelt(copy):
            yield document, ("kind",), _unknown(copy.kind)


def _unknown(kind: str) -> Finding:
    return fault(
        "UnknownKind",
        "kind",
        f"the API {GROUP} has no such kind",
        got=AsYaml(kind),
        allowed=", ".join(KINDS),
        fix=meant(kind, KINDS) or "write one of these",
        source=_PAGE,
    )


SET_RULES = (dropped_fields, unread_distinct, unknown_kinds)
