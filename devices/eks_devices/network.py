"""The network interfaces of a launch template that give a node its EFAs.

Computed from the card data of a type; card lists that the rule cannot give are data.
Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from .findings import EksDevicesError, Finding, fault
from .instance_types import AcceleratedInstanceType, NetworkCard

_INTERFACE: Final = "interface"
_EFA: Final = "efa"
_EFA_ONLY: Final = "efa-only"
_SOURCE: Final = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInterface:
    """One interface of a launch template.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
    """

    network_card_index: int
    device_index: int
    """Position on its card; 0 on card 0 is the primary interface."""
    interface_type: str
    """`interface` (IP), `efa` (EFA and IP) or `efa-only` (EFA without an address)."""

    @property
    def takes_address(self) -> bool:
        """Whether the interface has an IP address."""
        return self.interface_type != _EFA_ONLY

    def to_dict(self) -> dict[str, int | str]:
        """The interface in EC2's own names."""
        return {
            "NetworkCardIndex": self.network_card_index,
            "DeviceIndex": self.device_index,
            "InterfaceType": self.interface_type,
        }


def efa_interfaces(
    instance_type: AcceleratedInstanceType, *, count: int, high_ip_bandwidth: bool = False
) -> tuple[NetworkInterface, ...]:
    """The interfaces that give a node `count` EFAs.

    The primary interface carries IP; each EFA is on a card of its own and takes no address. A
    count below the full number is spread evenly over the cards, so over the PCIe roots too.

    Args:
        instance_type: The type to launch.
        count: How many EFAs; 0 gives no interfaces, which leaves EC2's single primary one.
        high_ip_bandwidth: Add an IP interface on each card that AWS documents for it and that
            carries an EFA here.

    Raises:
        EksDevicesError: The type cannot have so many EFAs, or AWS documents no layout with more
            IP bandwidth for it.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
    """
    if type(count) is not int or not 0 <= count <= max_efa_count(instance_type):
        raise EksDevicesError((_count_fault(instance_type, count),))
    if count and high_ip_bandwidth and not instance_type.high_ip_cards:
        raise EksDevicesError((_bandwidth_fault(instance_type),))
    return _interfaces(instance_type, count, high_ip_bandwidth=high_ip_bandwidth)


def default_efa_count(instance_type: AcceleratedInstanceType) -> int:
    """How many EFAs the usual layout has: every one, unless AWS documents a smaller layout."""
    return len(_layouts(instance_type)[0])


def max_efa_count(instance_type: AcceleratedInstanceType) -> int:
    """How many EFAs the largest layout has; 0 without EFA support."""
    return len(_layouts(instance_type)[-1])


def eni_limited_max_pods(
    instance_type: AcceleratedInstanceType, interfaces: Iterable[NetworkInterface]
) -> int | None:
    """How many Pods get an address, without prefix delegation; None when limits are unknown.

    The VPC CNI attaches to card 0 only, and an `efa-only` interface takes a place there without
    carrying addresses.

    Source: https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/internal/kubelet/eni_max_pods.go
    """
    addresses = instance_type.ipv4_addresses_per_interface
    if addresses is None:
        return None
    taken = sum(
        each.network_card_index == 0 and each.interface_type == _EFA_ONLY for each in interfaces
    )
    return (instance_type.network_cards[0].max_interfaces - taken) * (addresses - 1) + 2


@functools.cache
def _interfaces(
    instance_type: AcceleratedInstanceType, count: int, *, high_ip_bandwidth: bool
) -> tuple[NetworkInterface, ...]:
    if not count:
        return ()
    cards = _spread_cards(instance_type, count)
    primary, *first = _on_card_0(instance_type.network_cards[0], has_efa=0 in cards)
    others = [_interface(card, 0, _EFA_ONLY) for card in cards if card]
    extra = [
        _interface(card, 1, _INTERFACE)
        for card in instance_type.high_ip_cards
        if high_ip_bandwidth and card in cards
    ]
    return (primary, *first, *others, *extra)


def _on_card_0(card: NetworkCard, *, has_efa: bool) -> list[NetworkInterface]:
    if has_efa and card.max_interfaces == 1:
        return [_interface(0, 0, _EFA)]
    primary = _interface(0, 0, _INTERFACE)
    return [primary, _interface(0, 1, _EFA_ONLY)] if has_efa else [primary]


def _spread_cards(instance_type: AcceleratedInstanceType, count: int) -> list[int]:
    layout = next(each for each in _layouts(instance_type) if len(each) >= count)
    return [layout[position * len(layout) // count] for position in range(count)]


@functools.cache
def _layouts(instance_type: AcceleratedInstanceType) -> tuple[tuple[int, ...], ...]:
    """Lists of cards that carry an EFA, fewest first; at least one, which may be empty."""
    if instance_type.efa_layouts:
        return instance_type.efa_layouts
    cards = [card.index for card in instance_type.network_cards if _takes_efa(card)]
    return (tuple(cards[: instance_type.max_efa_interfaces]),)


def _takes_efa(card: NetworkCard) -> bool:
    """Whether a card takes an EFA beside, or on card 0 with a single place as, its first one."""
    if card.index == 0 and card.max_interfaces == 1:
        return _EFA in card.interface_types
    return _EFA_ONLY in card.interface_types


def _interface(card: int, device: int, interface_type: str) -> NetworkInterface:
    return NetworkInterface(
        network_card_index=card, device_index=device, interface_type=interface_type
    )


def _count_fault(instance_type: AcceleratedInstanceType, count: object) -> Finding:
    most = max_efa_count(instance_type)
    return fault(
        "EfaCountOutOfRange",
        "efa",
        f"{instance_type.name} takes {most} EFAs at most",
        got=count,
        allowed=f"a whole number from 0 to {most}" if most else "0",
        fix="ask for fewer EFAs, or take a type with more" if most else "switch EFA off",
        source=_SOURCE,
    )


def _bandwidth_fault(instance_type: AcceleratedInstanceType) -> Finding:
    return fault(
        "HighIpBandwidthNotDocumented",
        "high_ip_bandwidth",
        f"AWS documents no layout with more IP bandwidth for {instance_type.name}",
        got=True,
        allowed="False",
        fix="leave high_ip_bandwidth off for this type",
        source=_SOURCE,
    )
