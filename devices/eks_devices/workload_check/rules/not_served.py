"""Fields and kinds of DRA that the cluster's API server does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...findings import Finding, fault, meant, warning
from ...kubernetes import gate_is_on, minors
from ...names import CLAIM_KIND, TEMPLATE_KIND
from ..claim_versions import GROUP
from ..documents import Steps, mapping, path_of
from .claim_documents import asks_in
from .whole import ToldOfDocument, Whole

_CLASS: Final = "DeviceClass"
_KINDS: Final = (CLAIM_KIND, TEMPLATE_KIND, _CLASS, "ResourceSlice")
# Kinds of newer versions; a misspelt one is none of these.
_OTHERS: Final = ("DeviceTaintRule", "ResourcePoolStatusRequest")
# Field of a request, its feature gate, and what the claim means without it.
_FIELDS: Final = (
    ("capacity", "DRAConsumableCapacity", "the claim gets whole devices, of any size"),
    ("tolerations", "DRADeviceTaints", "nothing is tolerated, and no device tainted either"),
)
_NAME: Final = "extendedResourceName"
_NAME_GATE: Final = "DRAExtendedResource"
_PAGE: Final = (
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
)


def dropped_fields(whole: Whole) -> Iterator[ToldOfDocument]:
    """Fields whose feature gate is off on EKS in the cluster's version."""
    version = whole.plan.kubernetes_version
    for document, copy in whole.readable_documents:
        for steps, ask in asks_in(copy):
            for field, gate, means in _FIELDS:
                if ask.get(field) and not gate_is_on(gate, version):
                    yield document, (*steps, field), _dropped((*steps, field), gate, version, means)
        named = mapping(copy.content, "spec").get(_NAME)
        if copy.kind == _CLASS and named and not gate_is_on(_NAME_GATE, version):
            at: Steps = ("spec", _NAME)
            means = "no Pod gets a device by that resource"
            yield document, at, _dropped(at, _NAME_GATE, version, means)


def _dropped(steps: Steps, gate: str, version: str, means: str) -> Finding:
    served = next((one for one in minors() if gate_is_on(gate, one)), "a later minor")
    return warning(
        "FieldNotServed",
        path_of(steps),
        f"Kubernetes {version} on EKS has {gate} off and drops the field without a word: {means}",
        fix=f"leave {steps[-1]} out, or upgrade the cluster to {served}",
        source=_PAGE,
    )


def unknown_kinds(whole: Whole) -> Iterator[ToldOfDocument]:
    """Kinds of the API of claims that are misspelt."""
    for document, copy in whole.readable_documents:
        is_known = copy.kind in (*_KINDS, *_OTHERS) or copy.kind.endswith("List")
        if copy.api_group == GROUP and copy.kind and not is_known:
            yield document, ("kind",), _unknown(copy.kind)


def _unknown(kind: str) -> Finding:
    return fault(
        "UnknownKind",
        "kind",
        f"the API {GROUP} has no such kind",
        got=kind,
        allowed=", ".join(_KINDS),
        fix=meant(kind, _KINDS) or "write one of these",
        source=_PAGE,
    )


SET_RULES = (dropped_fields, unknown_kinds)
