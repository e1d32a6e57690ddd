"""Whether a node has what a Pod asks for by resources: devices of plugins, CPUs, memory, pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from ..feasibility.class_names import class_called
from ..feasibility.classes import installed_classes
from ..findings import alike, meant
from ..kubernetes import gate_is_on
from ..names import (
    CLASS_RESOURCES,
    CLASS_RESOURCES_GATE,
    DEVICE_CLASSES,
    EXTENDED_RESOURCES,
    EXTERNAL_OWNER,
    GPU_CLASS,
    NVIDIA_RESOURCES,
    RETIRED_NEURON_RESOURCE,
    SHARED_GPU_RESOURCE,
    device_type_of_class,
    offered_resources,
)
from ..plans import ClusterPlan, DevicePlan
from ..vocabulary import DeviceType, Feature, Mechanism
from .amounts import Amounts
from .device_names import DEVICES, device_type_of
from .documents import Document, mapping, text_of
from .node_amounts import of_amount
from .nodes import GroupNode, Obstacle
from .partitions import is_partition, no_partition

_FAR, _OTHER_WAY, _MISSPELT, _TOO_MANY_TOO = 8, 4, 2, 2
# What managers may offer elsewhere, by settings that a node of a plan need not have.
_OTHER_NAMES: Final = frozenset(one for some in EXTENDED_RESOURCES.values() for one in some) | {
    RETIRED_NEURON_RESOURCE,
    SHARED_GPU_RESOURCE,
}


@dataclass(frozen=True, slots=True)
class OnNode:
    """What a node makes of a Pod's resources.

    `by_class` are those that it can only have by DRA: resource, class and count; `fits` is how many
    such Pods it has room for, None where nothing limits them.
    """

    obstacles: tuple[Obstacle, ...]
    by_class: tuple[tuple[str, str, int], ...]
    fits: int | None


class ResourceCheck:
    """Holds the amounts of Pods against nodes.

    Args:
        plan: The node groups.
        classes: The DeviceClasses among the manifests.
    """

    def __init__(self, plan: ClusterPlan, classes: tuple[Document, ...]) -> None:
        self._version = plan.kubernetes_version
        self._by_dra = gate_is_on(CLASS_RESOURCES_GATE, self._version)
        self._classes: dict[str, str] = {}
        self._class_names = {*installed_classes(), *(one.name for one in classes)}
        for one in classes if self._by_dra else ():
            name = text_of(mapping(one.content, "spec"), "extendedResourceName")
            self._classes |= {name: one.name} if name else {}
        if mapped := plan.nvidia.mapped_resource(self._version):
            self._classes.setdefault(mapped, GPU_CLASS)
        self._offered = {name for group in plan.nodegroups for name in group.extended_resources}
        self._known: dict[tuple[Amounts, int], OnNode] = {}

    def is_device(self, name: str) -> bool:
        """Whether a resource is one of the devices that node groups are about."""
        return bool(
            name in self._offered
            or name in self._classes
            or name.startswith(CLASS_RESOURCES)
            or device_type_of(name)
        )

    def class_of(self, name: str) -> str:
        """The DeviceClass by which a resource is had where no plugin offers it, or empty."""
        if name in self._classes:
            return self._classes[name]
        is_class = self._by_dra and name.startswith(CLASS_RESOURCES)
        return name.removeprefix(CLASS_RESOURCES) if is_class else ""

    def is_class(self, name: str) -> bool:
        """Whether a name is that of a DeviceClass."""
        return name in self._class_names

    def named_after(self, device_class: str) -> list[str]:
        """The resources that stand for devices of a class, those that it names itself first."""
        own = [name for name, one in self._classes.items() if one == device_class]
        return [*own, f"{CLASS_RESOURCES}{device_class}"]

    def on_node(self, amounts: Amounts, node: GroupNode) -> OnNode:
        """What a node makes of the amounts of a Pod."""
        key = amounts, id(node)
        if key not in self._known:
            self._known[key] = self._on_node(amounts, node)
        return self._known[key]

    def _on_node(self, amounts: Amounts, node: GroupNode) -> OnNode:
        obstacles: list[Obstacle] = []
        by_class: list[tuple[str, str, int]] = []
        fits: list[int] = []
        offered = node.group.extended_resources
        most = dict(amounts.most)
        for name, wanted in amounts.devices:
            if name in offered:
                fits.append(offered[name] // wanted)
                obstacles += _offered(node, name, wanted, most.get(name, 0))
            elif (device_class := self.class_of(name)) and _may_be_claimed(node, name):
                by_class.append((name, device_class, wanted))
            else:
                obstacles.append(_counted(self._missing(node, name), node, name, wanted))
        for name, amount in amounts.ordinary:
            found = of_amount(node, name, amount)
            if isinstance(found, Obstacle):
                obstacles.append(found)
            elif found is not None:
                fits.append(found)
        if node.group.max_pods is not None:
            fits.append(node.group.max_pods)
        return OnNode(tuple(obstacles), tuple(by_class), min(fits, default=None))

    def _missing(self, node: GroupNode, name: str) -> Obstacle:
        """Why a node has nothing of a resource."""
        if name.startswith(CLASS_RESOURCES) and not self._by_dra:
            text = (
                f"Kubernetes {self._version} has no resources named after DeviceClasses, and {name}"
                " is nothing there"
            )
            return self._not_served(node, text, name.removeprefix(CLASS_RESOURCES))
        kind = device_type_of(name)
        if kind is None:
            text = f"nobody here knows who offers {name}"
            return Obstacle("ResourceUnknown", text, is_certain=False)
        device = node.group.device_of(kind)
        if device is None:
            return Obstacle("NoSuchDevices", f"the nodes have no {DEVICES[kind]}", _FAR)
        return self._not_offered(node, device, name)

    def _not_served(self, node: GroupNode, text: str, device_class: str) -> Obstacle:
        """A resource that is named after a class, which may be misspelt."""
        near = [device_class] if self.is_class(device_class) else [class_called(device_class)]
        near = [*filter(None, near)] or alike(device_class, self._class_names)
        kind = device_type_of_class(near[0]) if near else None
        device = node.group.device_of(kind) if kind else None
        if kind is not None and device is None:
            return Obstacle("NoSuchDevices", f"the nodes have no {DEVICES[kind]}", _FAR)
        if kind is not None and device and device.mechanism is Mechanism.DEVICE_PLUGIN:
            return _other_name(node, kind, f"{CLASS_RESOURCES}{device_class}")
        claim = _claim(near[0]) if near else ""
        fix = "" if near else "claim devices instead, of a class of the cluster"
        return Obstacle("ResourceNotServed", text, _OTHER_WAY, fix, claim=claim)

    def _not_offered(self, node: GroupNode, device: DevicePlan, name: str) -> Obstacle:
        """Why a node whose devices a resource may be of has nothing of it."""
        if device.owner == EXTERNAL_OWNER:
            text = f"{DEVICES[device.device_type]} are handed out by somebody else's manager"
            return Obstacle("OwnerUnknown", text, is_certain=False)
        if is_partition(name) and (told := no_partition(node, device, name)) is not None:
            return told
        if near := self._meant(node, name):
            text = f"{name} is no resource of {DEVICES[device.device_type]}"
            return Obstacle("OtherResource", text, _MISSPELT, near)
        if device.mechanism is Mechanism.DRA:
            return self._claimed(device.device_type, name)
        return _other_name(node, device.device_type, name)

    def _meant(self, node: GroupNode, name: str) -> str:
        """What a name that no manager has may stand for, of what a node has; empty if nothing."""
        if name in _OTHER_NAMES or is_partition(name) or name.startswith(CLASS_RESOURCES):
            return ""
        known = {*node.group.extended_resources, *self._classes}
        device_class = name.rpartition("/")[2]
        if self._by_dra and device_class in self._class_names and _may_be_claimed(node, name):
            known.add(f"{CLASS_RESOURCES}{device_class}")
        return meant(name, known)

    def _claimed(self, kind: DeviceType, name: str) -> Obstacle:
        """A resource of devices that are handed out by DRA."""
        why = f"their {DEVICES[kind]} are handed out by DRA, and no DeviceClass stands for {name}"
        if not self._by_dra:
            why += f" on Kubernetes {self._version}"
        first = DEVICE_CLASSES[kind][0]
        return Obstacle("ClaimedDevices", why, _OTHER_WAY, claim=_claim(first))


def _counted(obstacle: Obstacle, node: GroupNode, name: str, wanted: int) -> Obstacle:
    """What is told of devices that are to be claimed, with how many of a node's."""
    kind = device_type_of(name)
    device = node.group.device_of(kind) if kind else None
    whole = (*EXTENDED_RESOURCES.get(kind, ())[:1], RETIRED_NEURON_RESOURCE) if kind else ()
    is_whole = name in whole or name.startswith(CLASS_RESOURCES)
    if not obstacle.claim or device is None or not is_whole or node.group.mig is not None:
        return obstacle
    has = device.count
    count = f" and count: {min(wanted, has)}" if wanted > 1 else ""
    if wanted <= has:
        return replace(obstacle, claim=obstacle.claim + count)
    return replace(
        obstacle,
        reason=f"{obstacle.reason}, and a node has {has} of the {wanted} that it wants",
        distance=obstacle.distance + _TOO_MANY_TOO,
        claim=f"{obstacle.claim}{count}, all that a node has",
    )


def claim_instead(claims: Sequence[str]) -> str:
    """How a Pod has the devices by one claim that it asks for by resources.

    Args:
        claims: What the request for each kind of device has to say.
    """
    each = "a request for each: " if len(claims) > 1 else ""
    return (
        f"claim them instead: resourceClaims of a ResourceClaimTemplate with {each}"
        f"{', '.join(claims)}"
    )


def _claim(name: str) -> str:
    return f"deviceClassName: {name}"


def _may_be_claimed(node: GroupNode, name: str) -> bool:
    """Whether a node may have a resource by DRA: others say what they hand out instead."""
    kind = device_type_of(name)
    device = node.group.device_of(kind) if kind else None
    if device is None:
        return kind is None
    return device.mechanism is Mechanism.DRA and device.owner != EXTERNAL_OWNER


def _offered(node: GroupNode, name: str, wanted: int, most: int) -> Iterator[Obstacle]:
    has = node.group.extended_resources[name]
    if wanted > has:
        text = f"it wants {wanted} {name} of a node that offers {has}"
        yield Obstacle(
            "TooFewDevices", text, too_many(wanted, has), f"ask for at most {has} {name}"
        )
    elif most > 1 and _only_one(node, name):
        text = f"their plugin refuses containers that ask for more than one share, {name}"
        yield Obstacle(
            "SharesOneByOne", text, too_many(2, 1), f"ask for 1 {name} in each container"
        )


def too_many(wanted: int | Fraction, has: int) -> int:
    """How far a number is from one that a node has."""
    return 3 if wanted <= 2 * has else 5


def _only_one(node: GroupNode, name: str) -> bool:
    gpus = node.group.device_of(DeviceType.GPU)
    if gpus is None or not name.startswith(NVIDIA_RESOURCES):
        return False
    told: Mapping[str, Any] = gpus.settings
    return bool(told.get("single-replica-requests")) or told.get("sharing") == str(Feature.MPS)


def _other_name(node: GroupNode, kind: DeviceType, name: str) -> Obstacle:
    offered = offered_resources(kind, node.group.extended_resources)
    shown = ", ".join(f"{key}: {count}" for key, count in offered.items()) or "nothing of it"
    return Obstacle(
        "OtherResource",
        f"the nodes do not offer {name}, but {shown}",
        _OTHER_WAY,
        f"ask for {' or '.join(offered)}" if offered else "",
    )
