"""Whether a Pod may be on a node by its node selector and node affinity. Pure.

Source: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eks_devices.workload_check.affinity import expression_holds
from eks_devices.workload_check.documents import mapping, mappings, sequence, text_of


def selects(spec: Mapping[str, Any], labels: Mapping[str, str], name: str) -> bool:
    """Whether a Pod selects a node with these labels and this name."""
    selector = mapping(spec, "nodeSelector")
    if any(labels.get(key) != wanted for key, wanted in selector.items()):
        return False
    affinity = mapping(mapping(spec, "affinity"), "nodeAffinity")
    required = mapping(affinity, "requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return True
    return any(_term(one, labels, name) for _, one in mappings(required, "nodeSelectorTerms"))


def _term(term: Mapping[str, Any], labels: Mapping[str, str], name: str) -> bool:
    by_label = list(mappings(term, "matchExpressions"))
    by_field = list(mappings(term, "matchFields"))
    if not by_label and not by_field:
        return False
    return all(_holds(one, labels) for _, one in by_label) and all(
        _holds(one, {"metadata.name": name}) for _, one in by_field
    )


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    values = tuple(str(one) for one in sequence(expression, "values"))
    has = labels.get(text_of(expression, "key"))
    return expression_holds(text_of(expression, "operator"), has, values) is True
