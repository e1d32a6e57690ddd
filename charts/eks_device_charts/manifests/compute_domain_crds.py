"""The custom resources of ComputeDomains.

Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/releases/tag/v0.5.0
"""

from __future__ import annotations

from .objects import Object, metadata

GROUP = "resource.nvidia.com"
_VERSION = "v1beta1"
_READY = {"type": "string", "enum": ["Ready", "NotReady"], "default": "NotReady"}


def compute_domain_crds() -> list[Object]:
    """ComputeDomain, which users write, and ComputeDomainClique, which the driver does."""
    return [
        _crd("ComputeDomain", "computedomains", _compute_domain(), status=True),
        _crd("ComputeDomainClique", "computedomaincliques", _clique(), status=False),
    ]


def _crd(kind: str, plural: str, properties: Object, *, status: bool) -> Object:
    schema = {
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
        }
        | properties,
    }
    version: Object = {
        "name": _VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    if status:
        version["subresources"] = {"status": {}}
    names = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": plural,
        "singular": kind.lower(),
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata(f"{plural}.{GROUP}"),
        "spec": {"group": GROUP, "names": names, "scope": "Namespaced", "versions": [version]},
    }


def _compute_domain() -> Object:
    return {"spec": _spec(), "status": _status()}


def _spec() -> Object:
    template = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}},
    }
    channel = {
        "type": "object",
        "required": ["resourceClaimTemplate"],
        "properties": {
            "resourceClaimTemplate": template,
            "allocationMode": {"type": "string", "enum": ["All", "Single"], "default": "Single"},
        },
    }
    return {
        "type": "object",
        "required": ["channel"],
        "properties": {
            "numNodes": {"type": "integer", "minimum": 0, "default": 0},
            "channel": channel,
        },
        "x-kubernetes-validations": [
            {"rule": "self == oldSelf", "message": "a ComputeDomain's spec cannot change"}
        ],
    }


def _status() -> Object:
    nodes = _members(
        "name",
        {
            "name": {"type": "string"},
            "ipAddress": {"type": "string"},
            "cliqueID": {"type": "string"},
            "index": {"type": "integer"},
            "status": _READY,
        },
    )
    return {
        "type": "object",
        "required": ["status"],
        "properties": {"status": _READY, "nodes": nodes},
    }


def _clique() -> Object:
    daemons = _members(
        "nodeName",
        {
            "nodeName": {"type": "string"},
            "ipAddress": {"type": "string"},
            "cliqueID": {"type": "string"},
            "index": {"type": "integer"},
            "status": _READY,
        },
    )
    return {"daemons": daemons}


def _members(key: str, properties: Object) -> Object:
    return {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": [key],
        "items": {
            "type": "object",
            "required": ["cliqueID", "ipAddress", key],
            "properties": properties,
        },
    }
