"""Where a search for devices is, and which places are alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from .agreement import Agreed
from .holdings import Holdings, Stock
from .problem import Problem


@dataclass(frozen=True, slots=True)
class Place:
    """What is held, in all and by the claim, and what constraints agreed on.

    `own` are the devices of the claim as bits, without those that can be shared.
    """

    claim: int
    request: int
    held: Holdings
    own: int
    agreed: tuple[Agreed, ...]
    size: int

    @property
    def next_request(self) -> Place:
        """At the request after this one."""
        return replace(self, request=self.request + 1)


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
    stock = given.stock
    counts: Counter[object] = Counter()
    for device, kind in enumerate(given.kinds):
        used = at.held.used >> device & 1
        share = at.held.share_of(device) if at.held.shares else None
        if not used and share is None:
            continue
        if stock is None or not stock.has_siblings or stock.set_of(device) is None:
            counts[kind, bool(at.own >> device & 1), share] += 1
    if stock is not None and stock.has_siblings:
        for number, siblings in enumerate(stock.siblings):
            state = _state(given, stock, at, number)
            if state:
                counts[tuple(given.kinds[one] for one in siblings), state] += 1
    return (at.claim, at.request, at.size, at.agreed, frozenset(counts.items()))


def _state(given: Problem, stock: Stock, at: Place, number: int) -> frozenset[object]:
    """What is taken of the devices that are cut from one set."""
    found = []
    for device in stock.siblings[number]:
        share = at.held.share_of(device) if at.held.shares else None
        if at.held.used >> device & 1 or share is not None:
            found.append((given.kinds[device], bool(at.own >> device & 1), share))
    return frozenset(Counter(found).items())
