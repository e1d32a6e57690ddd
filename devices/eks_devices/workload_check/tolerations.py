"""Whether Pods tolerate the taints of nodes, with what Kubernetes and EKS add to them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .._data import read_toml
from ..kubernetes import gate_is_on
from ..names import CLASS_RESOURCES
from ..taints import Taint, TaintEffect
from .documents import mappings
from .nodes import GroupNode, Obstacle
from .pods import PodTemplate
from .toleration_form import COMPARED, GATE, as_meant

_NUMBER: Final = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)

Toleration = Mapping[str, Any]


def tolerations_of(pod: PodTemplate, resources: tuple[str, ...]) -> tuple[Toleration, ...]:
    """What the Pods of a template tolerate.

    EKS adds a toleration for each extended resource that a Pod asks for, and none for claims. The
    controller of DaemonSets adds some for what befalls nodes.

    Args:
        pod: The template.
        resources: The extended resources that its Pods ask for.

    Source: https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#extendedresourcetoleration
    """
    # Of what is misspelt, that is told, and not what comes of it.
    own = [as_meant(one) for _, one in mappings(pod.spec, "tolerations")]
    added: list[Toleration] = [
        {"key": name, "operator": "Exists", "effect": str(TaintEffect.NO_SCHEDULE)}
        for name in resources
        if not name.startswith(CLASS_RESOURCES)
    ]
    if pod.document.kind == "DaemonSet":
        added += [{"key": key, "operator": "Exists"} for key in _facts("daemon_set", "keys")]
    return (*own, *added)


def taint_obstacles(
    node: GroupNode, tolerations: tuple[Toleration, ...], *, is_certain: bool
) -> Iterator[Obstacle]:
    """The taints of a node that Pods do not tolerate.

    Args:
        node: The node.
        tolerations: What they tolerate.
        is_certain: Whether more tolerations, of another place, are out of the question.
    """
    for taint in node.group.taints:
        if taint.effect is TaintEffect.PREFER_NO_SCHEDULE or taint.key in _facts("start", "taints"):
            continue
        if not any(covers(one, taint, node.group.kubernetes_version) for one in tolerations):
            entry = f"{{key: {taint.key}, operator: Exists}}"
            yield Obstacle(
                "TaintNotTolerated",
                f"the Pod does not tolerate the taint {taint} of the nodes",
                distance=1,
                fix=f"add an entry to the tolerations of the Pod's spec: {entry}",
                is_certain=is_certain,
            )


def covers(toleration: Toleration, taint: Taint, version: str) -> bool:
    """Whether a toleration is one of a taint, as Kubernetes compares them."""
    key, operator = toleration.get("key") or "", toleration.get("operator") or "Equal"
    if toleration.get("effect") not in (None, "", str(taint.effect)):
        return False
    if key not in ("", taint.key):
        return False
    if operator == "Exists":
        return True
    value = toleration.get("value") or ""
    if operator in COMPARED:
        return gate_is_on(GATE, version) and _compares(str(operator), value, taint.value)
    return bool(operator == "Equal" and value == taint.value)


def _compares(operator: str, tolerated: object, value: str) -> bool:
    numbers = [one for one in (tolerated, value) if isinstance(one, str) and _NUMBER.fullmatch(one)]
    if len(numbers) < 2:  # noqa: PLR2004
        return False
    most, has = map(int, numbers)
    return has < most if operator == "Lt" else has > most


@functools.cache
def _facts(table: str, key: str) -> frozenset[str]:
    return frozenset(read_toml("node_labels.toml")[table][key])
