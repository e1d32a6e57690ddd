"""Groups of connected Neuron devices, computed from the vendor's tables of devices and EFAs.

`data/neuron-efa-addresses.json` holds those tables, the EFA beside each Neuron device, and nothing
that is computed from them; ids and counts are computed here by the rule that the vendor states.

Source: https://github.com/aws-neuron/connected-device-maps-over-efa-for-neuron
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from eks_devices import (
    DeviceRequest,
    DeviceType,
    MatchAttribute,
    Mechanism,
    NodegroupPlan,
    NodegroupSpec,
    ResourceClaimTemplate,
    plan_nodegroup,
    published,
)
from eks_devices.resource_slices import resource_slice

VENDOR: dict[str, Any] = json.loads(
    (Path(__file__).parent / "data/neuron-efa-addresses.json").read_text(encoding="utf-8")
)
TYPES: dict[str, str] = VENDOR["types"]
# Those of the types that EC2 describes, so that groups of them can be planned.
PLANNED = ["trn1.32xlarge", "trn1n.32xlarge", "trn2.48xlarge", "trn2u.48xlarge"]
SIZES = (1, 4, 8, 16)


def members(name: str, index: int, size: int) -> list[str]:
    """The EFAs of the group of a device: of devices whose number divides to the same."""
    first = index - index % size
    table: list[str] = VENDOR[TYPES[name]]
    return table[first : first + size]


def group_id(name: str, index: int, size: int) -> str:
    """The id of a device's group: the EFA itself, or 16 digits of a hash over all of them."""
    efas = sorted(set(members(name, index, size)))
    if size == 1:
        return efas[0]
    return hashlib.sha256(",".join(efas).encode()).hexdigest()[:16]


def attributes(name: str, device_type: DeviceType) -> list[dict[str, Any]]:
    """The attributes of each device of a node."""
    plan = planned(name)
    device = next(one for one in plan.devices if one.device_type is device_type)
    found = resource_slice(plan, device, node="n")["spec"]["devices"]
    return [
        {key: next(iter(value.values())) for key, value in one["attributes"].items()}
        for one in found
    ]


def planned(name: str) -> NodegroupPlan:
    spec = NodegroupSpec(name="a", instance_type=name, max_size=1, mechanism=Mechanism.DRA)
    return plan_nodegroup(spec, kubernetes_version="1.34")


def groups_of(one: dict[str, Any]) -> dict[int, str]:
    return {size: one[f"resource.aws.com/devicegroup{size}_id"] for size in SIZES}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("size", SIZES)
def test_ids_of_every_mapped_type_are_those_of_the_rule(name, size):
    mapping = published.neuron_map(name)
    assert mapping is not None
    ids = mapping["efas"] if size == 1 else mapping[f"devicegroup{size}_id"]
    expected = [group_id(name, index, size) for index in range(16)]

    assert [ids[index // size] for index in range(16)] == expected
    assert published.device_group_sizes(name) == SIZES
    assert published.efa_per_device_group(name, size) == len(set(members(name, 0, size)))
    assert published.device_group_count(name, size) == len(set(expected))


def test_no_other_type_is_mapped():
    names = {*published.published()["neuronTypes"]}

    assert names == {*TYPES}
    for name in ("trn1.2xlarge", "trn2.3xlarge", "trn3e.24xlarge", "inf2.48xlarge"):
        assert published.neuron_map(name) is None
        assert published.device_group_count(name, 1) == 0


@pytest.mark.parametrize("name", PLANNED)
def test_each_neuron_device_carries_the_ids_of_the_rule(name):
    found = attributes(name, DeviceType.NEURON)

    assert [one["deviceId"] for one in found] == list(range(16))
    for index, one in enumerate(found):
        assert groups_of(one) == {size: group_id(name, index, size) for size in SIZES}


@pytest.mark.parametrize("name", PLANNED)
def test_each_efa_carries_the_ids_of_every_neuron_device_beside_it(name):
    found = {one["dra.net/pciAddress"]: one for one in attributes(name, DeviceType.EFA)}
    table = VENDOR[TYPES[name]]

    assert found.keys() == set(table)
    for index, address in enumerate(table):
        expected = {size: group_id(name, index, size) for size in SIZES}
        assert groups_of(found[address]) == expected


@pytest.mark.parametrize("name", ["trn1.2xlarge", "trn2.3xlarge", "inf2.48xlarge"])
def test_devices_of_other_types_carry_no_ids(name):
    for device in planned(name).devices:
        for one in attributes(name, device.device_type):
            assert not [key for key in one if "devicegroup" in key]


@pytest.mark.parametrize(
    ("name", "size", "efas", "claims"),
    [
        ("trn1.32xlarge", 1, 1, 8),
        ("trn1.32xlarge", 4, 2, 4),
        ("trn1.32xlarge", 8, 4, 2),
        ("trn1.32xlarge", 16, 8, 1),
        *((name, size, size, 16 // size) for name in PLANNED[1:] for size in SIZES),
    ],
)
def test_claims_of_a_group_and_its_efas_fill_a_node(name, size, efas, claims):
    """So many claims with an open EFA count find devices of one group, one after the other."""
    claim = ResourceClaimTemplate(
        name="c",
        requests=[DeviceRequest.neuron(size), DeviceRequest.efa()],
        match=MatchAttribute.DEVICE_GROUP,
    )
    manifest = claim.to_dict(kubernetes_version="1.34", instance_type=name)
    devices = manifest["spec"]["spec"]["devices"]
    asked = [one["exactly"]["count"] for one in devices["requests"]]
    key = devices["constraints"][0]["matchAttribute"]
    free = [
        Counter(one[key] for one in attributes(name, device))
        for device in (DeviceType.NEURON, DeviceType.EFA)
    ]

    assert asked == [size, efas]
    assert allocated(free, asked) == claims
    # Whoever asks for as many EFAs as devices gets nothing where devices share them.
    assert bool(allocated(free, [size, size])) == (size == efas)


def allocated(free: list[Counter[str]], asked: list[int]) -> int:
    """How many claims find all their devices within one group."""
    return sum(
        min(have[group] // count for have, count in zip(free, asked, strict=True))
        for group in free[0]
    )
