"""Whether a Pod may be on a node by its node selector and node affinity. Pure.

Source: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from eks_devices.workload_check.documents import mapping, mappings, sequence


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
    rule = _OPERATORS.get(str(expression.get("operator")))
    values = [str(one) for one in sequence(expression, "values")]
    return rule is not None and rule(labels.get(str(expression.get("key"))), values)


def _greater(has: str | None, values: list[str], *, less: bool = False) -> bool:
    try:
        number, limit = int(has or ""), int(values[0])
    except (IndexError, ValueError):
        return False
    return number < limit if less else number > limit


_OPERATORS: Final[Mapping[str, Callable[[str | None, list[str]], bool]]] = {
    "In": lambda has, values: has in values,
    "NotIn": lambda has, values: has not in values,
    "Exists": lambda has, _: has is not None,
    "DoesNotExist": lambda has, _: has is None,
    "Gt": _greater,
    "Lt": lambda has, values: _greater(has, values, less=True),
}
