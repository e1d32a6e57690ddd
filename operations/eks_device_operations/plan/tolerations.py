"""The taints of node groups, and who has to write tolerations for them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from eks_devices import Mechanism, TaintEffect

from .._output import short
from .plan_file import Group


def taint_row(group: Group) -> list[str]:
    """A group and its taints, in kubectl's form."""
    return [group.name, ", ".join(map(str, group.taints))]


def claims_note(groups: Sequence[Group]) -> str:
    """Which taints Pods with claims must tolerate; empty when there is none.

    EKS adds tolerations for extended resources alone, and a claim is none.
    Source: https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#extendedresourcetoleration
    """
    tainted: dict[str, list[str]] = {}
    for group in groups:
        for taint in group.taints:
            if _has_claims(group) and taint.effect is not TaintEffect.PREFER_NO_SCHEDULE:
                tainted.setdefault(short(str(taint)), []).append(short(group.name))
    if not tainted:
        return ""
    parts = [
        f"{taint} (group{'s' if len(names) > 1 else ''} {', '.join(names)})"
        for taint, names in tainted.items()
    ]
    return (
        f"Pods with claims must tolerate: {'; '.join(parts)}. "
        "EKS adds tolerations only to Pods that ask for extended resources."
    )


def _has_claims(group: Group) -> bool:
    return any(device.mechanism is Mechanism.DRA for device in group.devices)
