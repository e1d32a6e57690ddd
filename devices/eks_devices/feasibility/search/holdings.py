"""What is taken of the devices of a node: whole devices, shares of some, and parts of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from ..slices import NodeDevices
from .amounts import Amounts


@dataclass(frozen=True, slots=True)
class Stock:
    """The devices that can be shared, and those that are cut from common counters.

    Devices and sets of counters go by index. `sizes` are the capacities of each device, `parts`
    what it consumes of the counters of sets, `counters` what each set has, and `siblings` the
    devices that are cut from each, also as `bits`.
    `has_siblings` says that each is cut from one at most, so that equal sets can be told.
    """

    shared: frozenset[int]
    sizes: tuple[Amounts, ...]
    parts: tuple[tuple[tuple[int, Amounts], ...], ...]
    counters: tuple[Amounts, ...]

    siblings: tuple[tuple[int, ...], ...] = field(init=False)
    bits: tuple[int, ...] = field(init=False)
    has_siblings: bool = field(init=False)

    def __post_init__(self) -> None:
        """Gather the devices that are cut from each set."""
        found: list[list[int]] = [[] for _ in self.counters]
        for device, parts in enumerate(self.parts):
            for at, _ in parts:
                found[at].append(device)
        object.__setattr__(self, "siblings", tuple(map(tuple, found)))
        bits = tuple(sum(1 << one for one in siblings) for siblings in found)
        object.__setattr__(self, "bits", bits)
        object.__setattr__(self, "has_siblings", all(len(one) <= 1 for one in self.parts))

    def set_of(self, device: int) -> int | None:
        """The set that a device is cut from; None for one that is whole."""
        parts = self.parts[device]
        return parts[0][0] if parts else None


def stock_of(node: NodeDevices) -> Stock | None:
    """What can be shared or cut on a node; None where each device is only had whole."""
    devices = node.devices
    shared = frozenset(at for at, one in enumerate(devices) if one.is_shared)
    if not shared and not any(one.consumes for one in devices):
        return None
    sets = {name: at for at, name in enumerate(node.counters)}
    parts = tuple(
        tuple(
            (sets[name], tuple(taken.get(one, 0) for one in node.counters[name]))
            for name, taken in device.consumes.items()
        )
        for device in devices
    )
    sizes = tuple(tuple(size.amount for size in one.sizes.values()) for one in devices)
    return Stock(shared, sizes, parts, tuple(tuple(one.values()) for one in node.counters.values()))


@dataclass(frozen=True, slots=True)
class Holdings:
    """What is taken: devices as bits, amounts of shared devices, and counters of each set."""

    used: int = 0
    shares: tuple[tuple[int, Amounts], ...] = ()
    spent: tuple[Amounts, ...] = ()

    def share_of(self, device: int) -> Amounts | None:
        """What is taken of a shared device; None for one that nobody has."""
        return next((taken for at, taken in self.shares if at == device), None)


NOTHING_HELD: Final = Holdings()


def has_room(stock: Stock, held: Holdings, device: int, amounts: Amounts) -> bool:
    """Whether a shared device has amounts left; any other one has."""
    if device not in stock.shared:
        return True
    before = held.share_of(device) or (0,) * len(amounts)
    return all(map(_fits, before, amounts, stock.sizes[device]))


def _fits(before: int, more: int, most: int) -> bool:
    return before + more <= most


def with_device(
    stock: Stock | None, held: Holdings, device: int, amounts: Amounts
) -> Holdings | None:
    """What is taken with one device more; None where counters do not suffice.

    The counters of a shared device are consumed with its first share.
    """
    if stock is None:
        return Holdings(held.used | 1 << device)
    before = held.share_of(device)
    spent = held.spent if before is not None else _spent(stock, held, device)
    if spent is None:
        return None
    if device not in stock.shared:
        return Holdings(held.used | 1 << device, held.shares, spent)
    taken = amounts if before is None else tuple(map(_sum, before, amounts))
    others = (one for one in held.shares if one[0] != device)
    return Holdings(held.used, tuple(sorted((*others, (device, taken)))), spent)


def _spent(stock: Stock, held: Holdings, device: int) -> tuple[Amounts, ...] | None:
    spent: Sequence[Amounts] = held.spent or [(0,) * len(one) for one in stock.counters]
    if not stock.parts[device]:
        return tuple(spent)
    found = list(spent)
    for at, consumed in stock.parts[device]:
        found[at] = tuple(map(_sum, found[at], consumed))
        if any(map(_exceeds, found[at], stock.counters[at])):
            return None
    return tuple(found)


def _sum(one: int, other: int) -> int:
    return one + other


def _exceeds(one: int, most: int) -> bool:
    return one > most
