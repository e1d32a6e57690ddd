"""What a claim asks for, in short, as a plan file tells it."""

from __future__ import annotations

from typing import Any

from .attributes import matched_attributes
from .compute_domain import ComputeDomain
from .objects import Claim
from .templates import claimed_devices


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
    devices = claimed_devices(manifest)
    told["requests"] = list(map(_request, devices["requests"]))
    told["match"] = matched_attributes(manifest)
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
