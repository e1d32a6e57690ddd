"""What a claim asks for, in short, as a plan file tells it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .compute_domain import ComputeDomain
from .on_nodegroup import Claim


def claim_summary(claim: Claim, manifest: dict[str, Any]) -> dict[str, Any]:
    """A claim as plain JSON values: its object, and what its manifest asks for.

    Args:
        claim: The claim.
        manifest: What `claim_manifest` made of it, with every count filled in.
    """
    told: dict[str, Any] = {
        "kind": manifest["kind"],
        "namespace": claim.namespace,
        "name": claim.name,
        "requests": [],
        "match": [],
    }
    if isinstance(claim, ComputeDomain):
        return told | {"nodes": claim.nodes, "channel_template": claim.channel}
    spec = manifest["spec"]
    devices = spec.get("spec", spec)["devices"]
    told["requests"] = list(map(_request, devices["requests"]))
    told["match"] = list(_matched(devices))
    return told


def _request(request: dict[str, Any]) -> dict[str, Any]:
    exactly = request["exactly"]
    told = {
        "name": request["name"],
        "device_class": exactly["deviceClassName"],
        "count": exactly["count"],
        "selectors": len(exactly.get("selectors", ())),
    }
    capacity = exactly.get("capacity", {}).get("requests")
    return told | ({"capacity": dict(capacity)} if capacity else {})


def _matched(devices: dict[str, Any]) -> Iterator[str]:
    for one in devices.get("constraints", ()):
        yield one["matchAttribute"]
