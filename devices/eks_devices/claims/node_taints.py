"""Tolerations of devices that name taints of nodes."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, info
from ..plans import NodegroupPlan
from .choices import places_of
from .syntax import DRA_PAGE
from .templates import DeviceClaim


def node_taint_findings(claim: DeviceClaim, plan: NodegroupPlan) -> Iterator[Finding]:
    """The info of tolerations whose key is that of a taint of the nodes, which Pods tolerate.

    Alternatives that the group never serves are looked at too.
    """
    keys = {one.key for one in plan.taints}
    for index, request in enumerate(claim.requests):
        for place, option in places_of(request, index):
            for at, one in enumerate(option.tolerations):
                if one.key in keys:
                    yield _of_node(f"{claim.path}.{place}.tolerations[{at}].key", str(one.key))


def _of_node(path: str, key: str) -> Finding:
    return info(
        "NodeTaintTolerated",
        path,
        f"{key} is a taint of the group's nodes, and this tolerates taints of devices",
        fix="tolerate it in the Pod's spec, as use_claims does",
        source=DRA_PAGE,
    )
