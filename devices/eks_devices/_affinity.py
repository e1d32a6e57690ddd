"""What a Pod spec requires of nodes and of other Pods, beside what it requires already."""

from __future__ import annotations

import copy
from typing import Any, Final

from ._pod_specs import POD_SPEC, PodSpec

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PATH: Final = f"{POD_SPEC}.affinity"


def require_neighbours(pod: PodSpec, labels: Any, *, topology: str) -> None:
    """Require Pods with some labels on nodes with the same value of a node label.

    Args:
        pod: The Pod spec, which is changed.
        labels: Labels of the Pods.
        topology: The label of nodes.
    """
    pods = _section(pod, "podAffinity")
    terms = pods[_REQUIRED] = pod.part(pods, _REQUIRED, list, f"{_PATH}.podAffinity")
    selector = {"matchLabels": dict(labels) if isinstance(labels, dict) else {}}
    term = {"labelSelector": selector, "topologyKey": topology}
    if not _holds(terms, term):
        terms.append(term)


def require_nodes(pod: PodSpec, expressions: list[dict[str, Any]]) -> None:
    """Require something of nodes, in every alternative that the Pod spec has already.

    Args:
        pod: The Pod spec, which is changed.
        expressions: What is required; without any nothing changes.
    """
    if not expressions:
        return
    nodes = _section(pod, "nodeAffinity")
    path = f"{_PATH}.nodeAffinity"
    required = nodes[_REQUIRED] = pod.part(nodes, _REQUIRED, dict, path)
    terms = list(pod.entries(required, "nodeSelectorTerms", f"{path}.{_REQUIRED}"))
    for at, term in terms:
        own = pod.part(term, "matchExpressions", list, at)
        # An empty alternative means no node at all, and must not come to mean these.
        if own or pod.part(term, "matchFields", list, at):
            new = [copy.deepcopy(one) for one in expressions if not _holds(own, one)]
            term["matchExpressions"] = [*own, *new]
    if not terms:
        required["nodeSelectorTerms"] = [{"matchExpressions": copy.deepcopy(expressions)}]


def _section(pod: PodSpec, name: str) -> dict[str, Any]:
    """A part of the affinity, which is made where there is none."""
    affinity = pod.values["affinity"] = pod.part(pod.values, "affinity", dict, POD_SPEC)
    section = affinity[name] = pod.part(affinity, name, dict, _PATH)
    return section


def _holds(entries: list[Any], entry: dict[str, Any]) -> bool:
    """Whether a list of a user's holds an entry; what cannot be compared is another one."""
    try:
        return entry in entries
    except Exception:  # noqa: BLE001  (values of a user's may refuse to be compared)
        return False
