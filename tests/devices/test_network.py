"""EFA layouts against the documented ones, and what must hold for every type and count."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_devices.findings import EksDevicesError
from eks_devices.instance_types import AcceleratedInstanceType
from eks_devices.network import (
    NetworkInterface,
    default_efa_count,
    efa_interfaces,
    eni_limited_max_pods,
    max_efa_count,
)

LAYOUTS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data/efa-layouts.json").read_text(encoding="utf-8")
)
ALL = AcceleratedInstanceType.all()
WITH_EFA = [each for each in (*ALL, *AcceleratedInstanceType.efa_only()) if each.max_efa_interfaces]


def of(name: str) -> AcceleratedInstanceType:
    return AcceleratedInstanceType.of(name)


def as_dicts(interfaces: tuple[NetworkInterface, ...]) -> list[dict[str, int | str]]:
    return [each.to_dict() for each in interfaces]


def layout(name: str, count: int, *, high_ip_bandwidth: bool = False) -> list[str]:
    """A layout as `card/device:type`."""
    found = efa_interfaces(of(name), count=count, high_ip_bandwidth=high_ip_bandwidth)
    return [
        f"{each.network_card_index}/{each.device_index}:{each.interface_type}" for each in found
    ]


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_full_layout_is_the_documented_one(name: str):
    documented, instance_type = LAYOUTS[name], of(name)

    assert default_efa_count(instance_type) == documented["efa_count"]
    interfaces = efa_interfaces(instance_type, count=default_efa_count(instance_type))
    assert as_dicts(interfaces) == documented["recommended"]
    pods = eni_limited_max_pods(instance_type, interfaces)
    assert pods == documented.get("eni_limited_max_pods")


def test_the_layouts_cover_every_accelerated_type_with_efa():
    assert sorted(LAYOUTS) == [each.name for each in ALL if each.max_efa_interfaces]
    assert len(LAYOUTS) == 44


@pytest.mark.parametrize("name", [each for each in LAYOUTS if "max_ip_bandwidth" in LAYOUTS[each]])
def test_the_layout_for_ip_bandwidth_is_the_documented_one(name: str):
    instance_type = of(name)

    interfaces = efa_interfaces(
        instance_type, count=default_efa_count(instance_type), high_ip_bandwidth=True
    )

    assert as_dicts(interfaces) == LAYOUTS[name]["max_ip_bandwidth"]


def test_only_documented_types_take_the_layout_for_ip_bandwidth():
    for each in WITH_EFA:
        if "max_ip_bandwidth" in LAYOUTS.get(each.name, {}):
            continue
        with pytest.raises(EksDevicesError, match="HighIpBandwidthNotDocumented"):
            efa_interfaces(each, count=1, high_ip_bandwidth=True)
        assert efa_interfaces(each, count=0, high_ip_bandwidth=True) == ()


def test_gb200_has_a_usual_layout_of_4_and_one_of_8():
    gb200 = of("p6e-gb200.36xlarge")

    assert (default_efa_count(gb200), max_efa_count(gb200)) == (4, 8)
    documented = LAYOUTS["p6e-gb200.36xlarge"]["alternative_8x200"]
    assert as_dicts(efa_interfaces(gb200, count=8)) == documented
    assert layout("p6e-gb200.36xlarge", 2) == ["0/0:interface", "1/0:efa-only", "9/0:efa-only"]
    assert len(efa_interfaces(gb200, count=5)) == 6


def test_fewer_efas_are_spread_over_the_pcie_roots():
    cards = [line for line in layout("p5.48xlarge", 8) if line.endswith("efa-only")]

    assert cards == ["0/1:efa-only", *(f"{card}/0:efa-only" for card in range(4, 32, 4))]


def test_fewer_efas_get_ip_interfaces_on_their_own_cards_only():
    extra = layout("p5.48xlarge", 2, high_ip_bandwidth=True)

    assert extra == ["0/0:interface", "0/1:efa-only", "16/0:efa-only", "16/1:interface"]


def test_b300_leaves_card_0_without_efa():
    assert layout("p6-b300.48xlarge", 1) == ["0/0:interface", "1/0:efa-only"]


def test_a_single_place_on_card_0_takes_an_efa_with_ip():
    assert layout("hpc6id.32xlarge", 2) == ["0/0:efa", "1/0:efa-only"]
    assert layout("hpc6id.32xlarge", 1) == ["0/0:efa"]


@pytest.mark.parametrize("name", ["i7ie.48xlarge", "i8ge.48xlarge"])
def test_two_cards_may_take_a_single_efa(name: str):
    assert layout(name, 1) == ["0/0:interface", "0/1:efa-only"]
    assert max_efa_count(of(name)) == 1


@pytest.mark.parametrize("each", WITH_EFA, ids=lambda each: each.name)
def test_every_count_gives_a_layout_that_ec2_accepts(each: AcceleratedInstanceType):
    for count in range(1, max_efa_count(each) + 1):
        for high in {False, bool(each.high_ip_cards)}:
            check_layout(each, efa_interfaces(each, count=count, high_ip_bandwidth=high), count)


def check_layout(
    each: AcceleratedInstanceType, interfaces: tuple[NetworkInterface, ...], count: int
) -> None:
    cards = {card.index: card for card in each.network_cards}
    efas = [one.network_card_index for one in interfaces if one.interface_type != "interface"]
    places = [(one.network_card_index, one.device_index) for one in interfaces]

    assert len(efas) == len(set(efas)) == count <= each.max_efa_interfaces
    assert len(set(places)) == len(places)
    assert places.count((0, 0)) == 1
    assert interfaces[0].interface_type != "efa-only"
    for one in interfaces:
        card = cards[one.network_card_index]
        assert one.device_index < card.max_interfaces
        assert one.interface_type in card.interface_types
    assert len(places) <= sum(card.max_interfaces for card in each.network_cards)


@given(st.sampled_from([each for each in WITH_EFA if not each.efa_layouts]), st.data())
def test_efas_are_spread_evenly_over_the_cards(each: AcceleratedInstanceType, data: st.DataObject):
    full, count = default_efa_count(each), data.draw(st.integers(1, default_efa_count(each)))

    cards = [efa_card(one) for one in efa_interfaces(each, count=full) if is_efa(one)]
    places = [
        cards.index(efa_card(one)) for one in efa_interfaces(each, count=count) if is_efa(one)
    ]

    gaps = [after - before for before, after in itertools.pairwise([*places, places[0] + full])]
    assert max(gaps) - min(gaps) <= 1


def is_efa(interface: NetworkInterface) -> bool:
    return interface.interface_type != "interface"


def efa_card(interface: NetworkInterface) -> int:
    return interface.network_card_index


def test_a_layout_is_computed_once():
    p5 = of("p5.48xlarge")

    assert efa_interfaces(p5, count=32) is efa_interfaces(p5, count=32)


def test_no_efa_needs_no_interface_of_ours():
    assert all(efa_interfaces(each, count=0) == () for each in ALL)
    assert default_efa_count(of("g5.xlarge")) == max_efa_count(of("g5.xlarge")) == 0


@pytest.mark.parametrize("count", [33, -1, True, 1.0, "1", None, [1]])
def test_a_count_out_of_range_is_refused(count: Any):
    with pytest.raises(EksDevicesError, match="0 to 32") as caught:
        efa_interfaces(of("p5.48xlarge"), count=count)

    assert caught.value.faults[0].code == "EfaCountOutOfRange"


def test_a_type_without_efa_refuses_any_count():
    with pytest.raises(EksDevicesError, match="switch EFA off"):
        efa_interfaces(of("inf2.48xlarge"), count=1)


def test_max_pods_counts_card_0_without_its_efa_only_interface():
    p5 = of("p5.48xlarge")

    assert eni_limited_max_pods(p5, ()) == 100
    assert eni_limited_max_pods(p5, efa_interfaces(p5, count=32)) == 51
    assert eni_limited_max_pods(of("p6e-gb200.36xlarge"), ()) is None
