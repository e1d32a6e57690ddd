"""Where a search for devices is, and which places are alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
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


@dataclass(slots=True)
class Likeness:
    """Tells which devices, and which places, are alike to the rest of a search."""

    given: Problem
    _states: dict[object, object] = field(default_factory=dict)

    def kind(self, at: Place, device: int) -> object:
        """Equal for devices that no claim can tell apart at a place."""
        # Those that somebody has are free for administrators alone.
        kind = self.given.kinds[device], at.held.used >> device & 1
        stock = self.given.stock
        if stock is None:
            return kind
        number = stock.set_of(device) if stock.has_siblings else None
        share = at.held.share_of(device) if at.held.shares else None
        return kind, share, None if number is None else self._state(stock, at, number)

    def key(self, at: Place) -> tuple[object, ...]:
        """What the rest of a search depends on; which of equal devices are used does not count."""
        where = (at.claim, at.request, at.size, at.agreed)
        stock = self.given.stock
        if stock is None:
            return (*where, at.counts, at.own_counts)
        around: Counter[object] = Counter()
        alone = -1
        if stock.has_siblings:
            for number, kinds in enumerate(self._kinds_of_sets(stock)):
                alone &= ~stock.bits[number]
                if state := self._state(stock, at, number):
                    around[kinds, state] += 1
        return (*where, self._counted(at, alone), frozenset(around.items()))

    def _kinds_of_sets(self, stock: Stock) -> list[tuple[int, ...]]:
        found = self._states.get("kinds")
        if not isinstance(found, list):
            found = [tuple(self.given.kinds[one] for one in many) for many in stock.siblings]
            self._states["kinds"] = found
        return found

    def _state(self, stock: Stock, at: Place, number: int) -> object:
        """What is taken of the devices that are cut from one set."""
        bits = stock.bits[number]
        if at.held.shares:
            return self._counted(at, bits)
        key = (number, at.held.used & bits, at.own & bits)
        if key not in self._states:
            self._states[key] = self._counted(at, bits)
        return self._states[key]

    def _counted(self, at: Place, bits: int) -> frozenset[object]:
        """How many of each kind are taken, with whether the claim has them, or what of them."""
        counts: dict[object, int] = {}
        for device, share in at.held.shares:
            if bits >> device & 1:
                one = (self.given.kinds[device], share)
                counts[one] = counts.get(one, 0) + 1
        left = at.held.used & bits
        while left:
            last = left & -left
            left ^= last
            own = bool(at.own & last)
            taken = (self.given.kinds[last.bit_length() - 1], own)
            counts[taken] = counts.get(taken, 0) + 1
        return frozenset(counts.items())
