"""Where a search for devices is, and which places are alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from .agreement import Agreed
from .holdings import Holdings, Stock
from .problem import Problem


@dataclass(frozen=True, slots=True)
class Place:
    """What is held, in all and by the claim, and what constraints agreed on.

    `own` are the devices of the claim as bits, without those that can be shared. `counts` and
    `own_counts` are how many devices of each kind are held; see `weight`.
    """

    claim: int
    request: int
    held: Holdings
    own: int
    agreed: tuple[Agreed, ...]
    size: int
    counts: int = 0
    own_counts: int = 0

    @property
    def next_request(self) -> Place:
        """At the request after this one."""
        return replace(self, request=self.request + 1)


def weight(kind: int) -> int:
    """What a device of a kind adds to counts: each kind has some bits of the sum to itself."""
    return 1 << kind * _BITS


def counts_of(given: Problem, held: Holdings) -> int:
    """How many devices of each kind are held."""
    return sum(weight(kind) for at, kind in enumerate(given.kinds) if held.used >> at & 1)


# No node publishes more devices of a kind than these count.
_BITS: Final = 16


def kind_at(given: Problem, at: Place, device: int) -> object:
    """Equal for devices that no claim can tell apart at a place."""
    # Those that somebody has are free for administrators alone.
    kind = given.kinds[device], at.held.used >> device & 1
    if given.stock is None:
        return kind
    siblings = given.stock.set_of(device) if given.stock.has_siblings else None
    around = None if siblings is None else _state(given, given.stock, at, siblings)
    return kind, at.held.share_of(device), around


def key_of(given: Problem, at: Place) -> tuple[object, ...]:
    """What the rest of a search depends on; which of equal devices are used does not count."""
    where = (at.claim, at.request, at.size, at.agreed)
    stock = given.stock
    if stock is None:
        return (*where, at.counts, at.own_counts)
    alone = [one for one in _taken(at) if not stock.has_siblings or stock.set_of(one) is None]
    around: Counter[object] = Counter()
    if stock.has_siblings:
        for number, siblings in enumerate(stock.siblings):
            if state := _state(given, stock, at, number):
                around[tuple(given.kinds[one] for one in siblings), state] += 1
    return (*where, _counted(given, at, alone), frozenset(around.items()))


def _state(given: Problem, stock: Stock, at: Place, number: int) -> frozenset[object]:
    """What is taken of the devices that are cut from one set."""
    bits, held = stock.bits[number], at.held
    if not held.used & bits and not held.shares:
        return frozenset()
    return _counted(given, at, [one for one in _taken(at) if bits >> one & 1])


def _taken(at: Place) -> list[int]:
    """The devices that somebody has, or has a share of."""
    found = [device for device, _ in at.held.shares]
    left = at.held.used
    while left:
        last = left & -left
        found.append(last.bit_length() - 1)
        left ^= last
    return found


def _counted(given: Problem, at: Place, devices: Iterable[int]) -> frozenset[object]:
    """How many of each kind, with whether the claim has them and what is taken of them."""
    counts: dict[object, int] = {}
    kinds, own, shares = given.kinds, at.own, dict(at.held.shares)
    for device in devices:
        one = (kinds[device], own >> device & 1, shares.get(device))
        counts[one] = counts.get(one, 0) + 1
    return frozenset(counts.items())
