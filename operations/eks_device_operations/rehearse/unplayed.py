"""Why objects are not sent: no server and no controller for them runs here. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from eks_devices.workload_check.made_pods import TRAINER, expanded_kinds
from eks_devices.workload_check.trainjobs import RUNTIMES

from .files import Item

# Whose servers do not run here, or what the rehearsal plays itself.
_LEFT_OUT: Final = {
    "APIService": "its server does not run here",
    "MutatingWebhookConfiguration": "its webhook does not run here",
    "Node": "the nodes are those of the plan",
    "ResourceSlice": "the devices are those of the plan",
    "ValidatingWebhookConfiguration": "its webhook does not run here",
}


def why_left_out(item: Item, served: Collection[str]) -> str:
    """Why an object is not sent; empty for one that is.

    Args:
        item: An object that makes no Pods.
        served: The API groups that the server knows.
    """
    group = item.api_group
    if item.kind in _LEFT_OUT:
        return _LEFT_OUT[item.kind]
    if group in served:
        return ""
    if group == TRAINER and item.kind in RUNTIMES:
        return "no TrainJob of the files names it, and by itself a runtime makes no Pods"
    if known := expanded_kinds(group):
        return f"the kind is not played here; of {group} these are: {', '.join(known)}"
    return f"objects of {group} are not played here"
