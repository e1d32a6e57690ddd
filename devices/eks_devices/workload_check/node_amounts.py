"""CPUs, memory, huge pages and storage of nodes, and what keeps Pods that want more off."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from ..findings import question
from ..instance_store import storage_bytes
from ..quantities import MIB
from .amounts import CPU, HUGE_PAGES, MEMORY, STORAGE
from .huge_pages import PAGE_MIB, PREFIX, page_sizes, pages_meant, reserved_pages
from .nodes import GroupNode, Obstacle

AMOUNTS: Final = ("TooFewCpus", "TooLittleMemory", "TooLittleStorage", "TooFewHugePages")
"""What a node has too little of for Pods beside devices."""
_GIB: Final = 1024 * MIB
_TOO_SMALL: Final = 3


def of_amount(node: GroupNode, name: str, amount: Fraction) -> Obstacle | int | None:
    """How often a node has an amount that a Pod wants, or why it may not have it.

    Args:
        node: The node.
        name: What the Pod wants beside devices.
        amount: How much.

    Returns:
        None where nothing is known of it.
    """
    if pages := _no_such_pages(node, name):
        return pages
    has = _capacity(node, name)
    if has is not None:
        return int(has // amount) if has >= amount else _too_small(node, name, amount, has)
    if name == STORAGE:
        return None
    room = _usual_room(node, amount) if name == HUGE_PAGES else 0
    return room or _pages_unknown(node, name, amount)


def _pages_mib(node: GroupNode) -> int:
    """The memory that a node is known to set aside in huge pages, which is lost to the other."""
    return PAGE_MIB * (reserved_pages(node.group) or 0)


def _usual_room(node: GroupNode, amount: Fraction) -> int:
    """How many Pods have their huge pages of what nodes reserve unless told; 0 if unknown."""
    return int(_pages_mib(node) * MIB // amount)


def _no_such_pages(node: GroupNode, name: str) -> Obstacle | None:
    """Huge pages of a size that a node cannot have."""
    known = [f"{PREFIX}{one}" for one in page_sizes(node.instance.architecture)]
    if not name.startswith(PREFIX) or name in known:
        return None
    text = f"the nodes have no {name}, but {' and '.join(known)}"
    return Obstacle("TooFewHugePages", text, _TOO_SMALL, question([pages_meant(name)]))


def _pages_unknown(node: GroupNode, name: str, amount: Fraction) -> Obstacle:
    """Huge pages that a node has only if something besides the plan sets them aside."""
    mib = _pages_mib(node) if name == HUGE_PAGES else 0
    has = f"{mib} MiB" if mib else "none"
    wants = f"it wants {-(-amount // MIB)} MiB of {name}"
    text = f"{wants}, and as far as is known the nodes set {has} aside"
    return Obstacle("HugePagesUnknown", text, fix="hugepages_2mi of the group", is_certain=False)


def _capacity(node: GroupNode, name: str) -> Fraction | None:
    """The most that a node can have; less is left for Pods. None where it is not known."""
    pages = node.group.hugepages_2mi
    if name == CPU:
        return Fraction(node.instance.vcpus)
    if name == MEMORY:
        return Fraction((node.instance.memory_mib - _pages_mib(node)) * MIB)
    if name == HUGE_PAGES and pages is not None:
        return Fraction(pages * PAGE_MIB * MIB)
    storage = storage_bytes(node.group, node.instance) if name == STORAGE else None
    return None if storage is None else Fraction(storage)


def _too_small(node: GroupNode, name: str, amount: Fraction, has: Fraction) -> Obstacle:
    if name == CPU:
        text = f"it wants {float(amount):g} CPUs of a node with {int(has)}"
        return Obstacle("TooFewCpus", text, _TOO_SMALL, f"ask for fewer than {int(has)} CPUs")
    if name == STORAGE:
        return _too_little_storage(node, amount, has)
    most = f"{int(has // MIB)} MiB"
    text = f"it wants {-(-amount // MIB)} MiB of {name} of a node with at most {most}"
    if name == HUGE_PAGES:
        fix = f"ask for at most {int(has // MIB)}Mi; the group reserves pages by hugepages_2mi"
        return Obstacle("TooFewHugePages", text, _TOO_SMALL, fix)
    pages = _pages_mib(node)
    text += f", since {pages} MiB are set aside in huge pages" if pages else ""
    fix = f"ask for less {name} than {int(has // MIB)}Mi"
    return Obstacle("TooLittleMemory", text, _TOO_SMALL, fix)


def _too_little_storage(node: GroupNode, amount: Fraction, has: Fraction) -> Obstacle:
    most = int(has // _GIB)
    where = "local disks" if node.group.instance_store else "a volume"
    text = f"it wants {-(-amount // _GIB)} GiB of {STORAGE} of a node with {where} of {most} GiB"
    fix = f"ask for less {STORAGE} than {most}Gi"
    fix += "" if node.group.instance_store else ", or raise disk_gib of the group"
    return Obstacle("TooLittleStorage", text, _TOO_SMALL, fix)
