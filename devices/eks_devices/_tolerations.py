"""The taints that a Pod spec tolerates, as it has to where its devices are claimed."""

from __future__ import annotations

from typing import Any

from ._pod_specs import POD_SPEC, PodSpec
from .labels import default_taint
from .taints import Taint
from .vocabulary import DeviceType


def tolerate(pod: PodSpec, accelerator: DeviceType) -> None:
    """Let Pods onto nodes with an accelerator, where they tolerate the default taint not already.

    EKS adds a toleration for the extended resources that a Pod asks for, and none for claims.

    Args:
        pod: The Pod spec, which is changed.
        accelerator: What the nodes have.

    Source: https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#extendedresourcetoleration
    """
    taint = default_taint(accelerator)
    if taint is not None:
        _tolerate(pod, taint, {"key": taint.key, "operator": "Exists"})


def tolerate_taint(pod: PodSpec, taint: Taint) -> None:
    """Let Pods onto nodes with a taint, where they tolerate it not already.

    Args:
        pod: The Pod spec, which is changed.
        taint: The taint.
    """
    value = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
    _tolerate(pod, taint, {"key": taint.key, **value, "effect": str(taint.effect)})


def _tolerate(pod: PodSpec, taint: Taint, toleration: dict[str, str]) -> None:
    given = [one for _, one in pod.entries(pod.values, "tolerations", POD_SPEC)]
    if not any(_covers(one, taint) for one in given):
        listed = pod.part(pod.values, "tolerations", list, POD_SPEC)
        pod.values["tolerations"] = [*listed, toleration]


def _covers(toleration: dict[str, Any], taint: Taint) -> bool:
    """Whether a toleration is known to be one of a taint, as Kubernetes compares them."""
    key, operator, value, effect = (
        given if isinstance(given, str) else ("" if given is None else None)
        for given in map(toleration.get, ("key", "operator", "value", "effect"))
    )
    if effect not in ("", taint.effect.value) or key not in ("", taint.key):
        return False
    if operator == "Exists":
        return True
    return key == taint.key and operator in ("", "Equal") and value == taint.value
