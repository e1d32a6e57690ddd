"""What a label that no node has, or the value of one, may be meant for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from ..findings import alike, question
from ..names import INSTANCE_TYPE_LABEL, NVIDIA_RESOURCES
from .nodes import GroupNode

_LONGEST_LIST: Final = 4
_DISCOVERY: Final = (
    "labels that describe GPUs are there where GPU feature discovery runs, "
    "gpu_plugin=GpuPlugin(feature_discovery=True) of a group on the device plugin; or "
)
_OF_DEVICES: Final = re.compile("gpu|accelerator|nvidia|neuron", re.IGNORECASE)
_WORD: Final = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Hint:
    """What to select instead, and whether the node is the one that is meant."""

    fix: str = ""
    is_meant: bool = False


class Hints:
    """Tells what labels are meant for; what is alike is looked for once.

    Args:
        nodes: All nodes.
    """

    def __init__(self, nodes: Collection[GroupNode]) -> None:
        self._values: dict[str, set[str]] = {}
        for one in nodes:
            for key, value in one.labels.items():
                self._values.setdefault(key, set()).add(value)
        self._known: dict[tuple[str, tuple[str, ...]], list[str]] = {}

    def of(self, key: str, wanted: tuple[str, ...], node: GroupNode) -> Hint:
        """What to select instead of a label that a node does not have.

        Args:
            key: The label; empty where it is about none.
            wanted: The values that are selected.
            node: The node.
        """
        if not key:
            return Hint()
        if key in self._values:
            return self._of_value(key, wanted, node)
        if key.startswith(NVIDIA_RESOURCES):
            found = self._of_devices(wanted, node)
            return Hint(_DISCOVERY + found.fix, found.is_meant)
        return self._of_key(key, wanted, node)

    def _of_value(self, key: str, wanted: tuple[str, ...], node: GroupNode) -> Hint:
        """Of a label that nodes have, by the value that another value stands for."""
        values = self._values[key]
        if not values.isdisjoint(wanted):
            return Hint()
        near, has = self._near(key, wanted), node.labels.get(key, "")
        if has in near or (has and key == INSTANCE_TYPE_LABEL and _names_device(wanted, node)):
            return Hint(f"write {key}: {has}", is_meant=True)
        return Hint(question(near[:2]) or f"nodes have {key}: {_listed(values)}")

    def _near(self, key: str, wanted: tuple[str, ...]) -> list[str]:
        """The values of a label that are like others: alike, or more than a family's name."""
        if (key, wanted) not in self._known:
            values = self._values.get(key, set())
            found = [*_begun(wanted, values)] or [
                x for one in wanted for x in alike(one, values)[:1]
            ]
            self._known[key, wanted] = found
        return self._known[key, wanted]

    def _of_key(self, key: str, wanted: tuple[str, ...], node: GroupNode) -> Hint:
        """Of a label that no node has."""
        labels = self._labels_like(key)
        for label in labels[:1]:
            has = node.labels.get(label, "")
            if has in wanted or (has and has in self._near(label, wanted)):
                return Hint(f"write {label}: {has}", is_meant=True)
        if _OF_DEVICES.search(key):
            return self._of_devices(wanted, node)
        return Hint(question(labels))

    def _labels_like(self, key: str) -> list[str]:
        """The labels of nodes that are spelled like another one, or but for the domain."""
        known = sorted(one for one in self._values if not one.startswith("beta."))
        own = {one.rpartition("/")[2]: one for one in known}
        return alike(key, known) or [own[one] for one in alike(key.rpartition("/")[2], own)[:1]]

    def _of_devices(self, wanted: tuple[str, ...], node: GroupNode) -> Hint:
        """Of a label that describes devices: the type of the instance does so as well."""
        if _names_device(wanted, node):
            return Hint(f"select by {INSTANCE_TYPE_LABEL}: {node.instance.name}", is_meant=True)
        types = _listed(self._values[INSTANCE_TYPE_LABEL])
        return Hint(f"select by {INSTANCE_TYPE_LABEL}, of which nodes have {types}")


def _begun(wanted: Iterable[str], values: Collection[str]) -> list[str]:
    """The values of which others are the beginning, as a family is of a type."""
    begun = tuple(f"{one.casefold()}." for one in wanted if one)
    return sorted(one for one in values if one.casefold().startswith(begun))


def _names_device(wanted: Iterable[str], node: GroupNode) -> bool:
    """Whether a value tells the model of a node's devices."""
    words = {word for one in wanted for word in _WORD.findall(one.casefold())}
    return not words.isdisjoint(_device_words(node))


def _device_words(node: GroupNode) -> list[str]:
    device = node.instance.accelerator
    return _WORD.findall(device.name.casefold()) if device else []


def _listed(values: Collection[str]) -> str:
    more = ", ..." if len(values) > _LONGEST_LIST else ""
    return ", ".join(sorted(values)[:_LONGEST_LIST]) + more
