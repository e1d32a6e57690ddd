"""Facts of the catalogue in the words of a report."""

from __future__ import annotations

from collections.abc import Iterable

from eks_devices import AcceleratedInstanceType, NetworkCard, NetworkInterface

_MIB_PER_GIB = 1024


def chips(instance: AcceleratedInstanceType) -> str:
    """`16 x Trainium2`, or `1/8 x L4` for a fraction of a GPU."""
    found = instance.accelerator
    if found is None:
        return ""
    count = str(found.count) if found.partition == 1 else f"1/{round(1 / found.partition)}"
    return f"{count} x {found.name}"


def gib(mib: int | None) -> str:
    """Memory in GiB, rounded to a tenth; empty where none is published."""
    return "" if mib is None else f"{round(mib / _MIB_PER_GIB, 1):g} GiB"


def number(count: int | None) -> str:
    """A number; empty for none at all and where it is not known."""
    return str(count) if count else ""


def ranges(numbers: Iterable[int]) -> str:
    """Sorted whole numbers in short: `0,2-15`."""
    spans: list[list[int]] = []
    for each in numbers:
        if spans and each == spans[-1][1] + 1:
            spans[-1][1] = each
        else:
            spans.append([each, each])
    return ",".join(f"{low}-{high}" if high > low else f"{low}" for low, high in spans)


def interface_ranges(interfaces: Iterable[NetworkInterface]) -> str:
    """Interfaces as card/device:type, alike ones together: `0/0:interface 1-15/0:efa-only`."""
    cards: dict[tuple[int, str], list[int]] = {}
    for each in interfaces:
        alike = (each.device_index, each.interface_type)
        cards.setdefault(alike, []).append(each.network_card_index)
    return " ".join(f"{ranges(on)}/{device}:{kind}" for (device, kind), on in cards.items())


def card_ranges(instance: AcceleratedInstanceType) -> list[str]:
    """The network cards, alike ones together: index, places, what they take, bandwidth."""
    cards: dict[str, list[int]] = {}
    for card in instance.network_cards:
        cards.setdefault(_card(card), []).append(card.index)
    return [f"{ranges(indexes)}: {text}" for text, indexes in cards.items()]


def _card(card: NetworkCard) -> str:
    places = f"{card.max_interfaces} interface{'s' if card.max_interfaces > 1 else ''}"
    speed = "" if card.bandwidth_gbps is None else f", {card.bandwidth_gbps:g} Gbps"
    return f"{places} ({', '.join(card.interface_types)}){speed}"
