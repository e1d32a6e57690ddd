"""Lets the nodes of a plan join, with all that their managers would offer, in no time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eks_device_charts.manifests import ImageSource, device_manifests
from eks_devices import ClusterPlan
from eks_devices.feasibility.classes import installed_classes
from eks_devices.workload_check.claimed import channel_template

from ..control_plane import Api, apply_all
from .files import Item, Object
from .fleet import NodesOfGroup, node_objects
from .send import at_once
from .standing import NodeFacts

# Images are pulled by nobody here; the Region is needed to name some.
_REGION: Final = "us-east-2"
_NEEDED: Final = ("CustomResourceDefinition", "DeviceClass")
_RESOURCES: Final = "resource.k8s.io/v1"


def join_all(
    api: Api, plan: ClusterPlan, fleet: Sequence[NodesOfGroup], *, kubelet_version: str
) -> dict[str, NodeFacts]:
    """Install the classes and kinds of a plan's drivers, and let its nodes join.

    DaemonSets and controllers are not installed: nothing would run them.

    Returns:
        What is known of each node, by its name.
    """
    apply_all(api, driver_objects(plan))
    made = [
        (nodes.name, objects)
        for nodes in fleet
        for objects in node_objects(nodes, kubelet_version=kubelet_version)
    ]
    at_once(lambda one: [api.create(item) for item in one[1]], made)
    return {node["metadata"]["name"]: NodeFacts.of(node, name) for name, (node, *_) in made}


def driver_objects(plan: ClusterPlan) -> list[Object]:
    """The CRDs and DeviceClasses of a plan's drivers, of those of others too."""
    emitted = device_manifests(plan, images=ImageSource(region=_REGION))
    found = [one for one in emitted if one["kind"] in _NEEDED]
    there = {one["metadata"]["name"] for one in found}
    wanted = {name for group in plan.nodegroups for name in group.device_classes}
    known = installed_classes()
    return found + [_class(name, known[name]) for name in sorted(wanted - there) if name in known]


def _class(name: str, expressions: Sequence[str]) -> Object:
    selectors = [{"cel": {"expression": one}} for one in expressions]
    return {
        "apiVersion": _RESOURCES,
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": selectors},
    }


def channel_templates(items: Sequence[Item], namespace: str) -> Iterator[Item]:
    """The templates that the controller of ComputeDomains makes for their channels."""
    for item in items:
        if item.kind != "ComputeDomain":
            continue
        if made := channel_template(item.content, item.namespace or namespace):
            yield Item(file=item.file, content=made, document=item.document, base=item.base)
