"""Folders of a node that managers use, and how a Pod mounts them."""

from __future__ import annotations

from typing import Final

from .objects import Object

DEVICE_PLUGINS: Final = "/var/lib/kubelet/device-plugins"
"""Where device plugins meet the kubelet."""
DRA_PLUGINS: Final = "/var/lib/kubelet/plugins"
"""Where a DRA driver has its socket and what it remembers."""
DRA_REGISTRY: Final = "/var/lib/kubelet/plugins_registry"
"""Where the kubelet discovers DRA drivers."""
CDI: Final = "/var/run/cdi"
"""Where a driver writes what the container runtime is to inject; the first driver makes it."""


def host_path(name: str, path: str, kind: str | None = None) -> Object:
    """A volume from the node's file system; nothing is checked or made unless `kind` says so."""
    source = {"path": path} | ({"type": kind} if kind else {})
    return {"name": name, "hostPath": source}


def mount(
    name: str, path: str, *, read_only: bool = False, propagation: str | None = None
) -> Object:
    """Where a container sees a volume."""
    found: Object = {"name": name, "mountPath": path}
    found |= {"readOnly": True} if read_only else {}
    return found | ({"mountPropagation": propagation} if propagation else {})
