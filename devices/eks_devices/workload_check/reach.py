"""Whether the Pods of a template may be on nodes of a group at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..instance_types import AcceleratedInstanceType
from ..names import INSTANCE_TYPE_LABEL
from ..plans import NodegroupPlan
from ..taints import Taint, TaintEffect
from .documents import mapping, mappings
from .pods import PodTemplate

Refusal = tuple[str, str]
"""Why Pods cannot be on a group's nodes: a code and the reason in words."""

_ARCHITECTURE: Final = "kubernetes.io/arch"


def refusal(pod: PodTemplate, group: NodegroupPlan) -> Refusal | None:
    """Why Pods of a template never come to nodes of a group; None where they may."""
    for key, wanted in mapping(pod.spec, "nodeSelector").items():
        if (has := labels_of(group).get(key)) != wanted:
            told = "no such label" if has is None else f"the label {key}={has}"
            return (
                "NodeSelectorDiffers",
                f"the Pod selects nodes by {key}={wanted}, and they have {told}",
            )
    for taint in group.taints:
        if taint.effect is not TaintEffect.PREFER_NO_SCHEDULE and not tolerates(pod, taint):
            return "TaintNotTolerated", f"the Pod does not tolerate the taint {taint} of the nodes"
    return None


def labels_of(group: NodegroupPlan) -> dict[str, str]:
    """The labels of a group's nodes that are known before they run."""
    instance = AcceleratedInstanceType.of(group.instance_type)
    known = {_ARCHITECTURE: str(instance.architecture), "kubernetes.io/os": "linux"}
    if len(group.instance_types) == 1:
        known[INSTANCE_TYPE_LABEL] = group.instance_type
    return known | dict(group.labels)


def tolerates(pod: PodTemplate, taint: Taint) -> bool:
    """Whether Pods of a template tolerate a taint, as Kubernetes compares them."""
    return any(_covers(one, taint) for _, one in mappings(pod.spec, "tolerations"))


def _covers(toleration: Mapping[str, Any], taint: Taint) -> bool:
    key, operator = toleration.get("key") or "", toleration.get("operator") or "Equal"
    if toleration.get("effect") not in (None, "", str(taint.effect)):
        return False
    if operator == "Exists":
        return key in ("", taint.key)
    return bool(key == taint.key and (toleration.get("value") or "") == taint.value)
