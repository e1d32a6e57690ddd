"""The namespaces that objects need and no file has. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from eks_devices.names import ADMIN_ACCESS_LABEL
from eks_devices.workload_check.documents import mapping, mappings

from .files import Item, Object
from .workloads import Workload

_THERE: Final = ("default", "kube-node-lease", "kube-public", "kube-system")


def missing_namespaces(
    items: Sequence[Item], workloads: Iterable[Workload], namespace: str
) -> list[Object]:
    """The namespaces to make, by name.

    One in which the plan's app has a claim with admin access has the label that this needs, as the
    app makes it; in those of files alone it would hide that they lack it.

    Args:
        items: The objects that are no workloads, those of the plan among them.
        workloads: The workloads.
        namespace: Where objects are that name no namespace.
    """
    given = {one.name for one in items if one.kind == "Namespace"}
    wanted = {namespace, *(one.namespace for one in workloads)}
    wanted |= {one.namespace for one in items if one.namespace}
    labelled = {one.namespace for one in items if one.is_planned and _has_admin_access(one.content)}
    return [
        _namespace(name, is_labelled=name in labelled)
        for name in sorted(wanted - given - {*_THERE})
    ]


def _namespace(name: str, *, is_labelled: bool) -> Object:
    labels = {"labels": {ADMIN_ACCESS_LABEL: "true"}} if is_labelled else {}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, **labels}}


def told(namespace: Mapping[str, Any]) -> str:
    """A namespace that was made, in words."""
    meta = mapping(namespace, "metadata")
    label = f" with the label {ADMIN_ACCESS_LABEL}" if "labels" in meta else ""
    return f"namespace {meta['name']}{label}"


def _has_admin_access(content: Mapping[str, Any]) -> bool:
    """Whether a request of a claim, or of a template of claims, is for admin access."""
    spec = mapping(content, "spec")
    devices = mapping(mapping(spec, "spec") or spec, "devices")
    asked = (mapping(one, "exactly") for _, one in mappings(devices, "requests"))
    return any(one.get("adminAccess") is True for one in asked)
