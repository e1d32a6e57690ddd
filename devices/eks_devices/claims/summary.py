"""What a claim asks for, in short, as a plan file tells it."""

from __future__ import annotations

from typing import Any

from .attributes import distinct_attributes, matched_attributes
from .compute_domain import ComputeDomain
from .objects import Claim
from .requests import DeviceRequest
from .templates import claimed_devices


def claim_summary(claim: Claim, manifest: dict[str, Any]) -> dict[str, Any]:
    """A claim as plain JSON values: its object, and what its manifest asks for.

    `selectors` counts the expressions of the user's own; what the others say has keys.

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
    pairs = zip(claim.requests, claimed_devices(manifest)["requests"], strict=True)
    told["requests"] = [_request(asked, made) for asked, made in pairs]
    told["match"] = matched_attributes(manifest)
    if distinct := distinct_attributes(manifest):
        told["distinct"] = distinct
    if claim.configs:
        told["configs"] = [one.driver for one in claim.configs]
    return told


def _request(asked: DeviceRequest, made: dict[str, Any]) -> dict[str, Any]:
    if not asked.alternatives:
        return _devices(asked, made["name"], made["exactly"])
    pairs = zip(asked.alternatives, made["firstAvailable"], strict=True)
    options = [_devices(one, option["name"], option) for one, option in pairs]
    return {"name": made["name"], "first_available": options}


def _devices(asked: DeviceRequest, name: str, exactly: dict[str, Any]) -> dict[str, Any]:
    told = {
        "name": name,
        "device_class": exactly["deviceClassName"],
        "count": exactly.get("count", "all"),
        "selectors": len(asked.selectors),
    }
    narrowed = {
        "profile": asked.profile,
        "ultraserver_mode": asked.mode,
        "instance_type": asked.instance_type,
        "driver_version": asked.driver_version,
        "logical_neuron_cores": asked.logical_neuron_cores,
        "capacity": exactly.get("capacity", {}).get("requests"),
        "admin_access": asked.admin_access or None,
        "tolerations": len(asked.tolerations) or None,
    }
    return told | {key: value for key, value in narrowed.items() if value is not None}
