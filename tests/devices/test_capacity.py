"""How instances are bought: the factories, tokens, and what plans show."""

import dataclasses
import pickle

import pytest
from tests.hostile import TOKEN

from eks_devices import Capacity, CapacityKind

ID = "cr-0123456789abcdef0"
GROUP = "arn:aws:resource-groups:us-east-2:111122223333:group/training"


@pytest.mark.parametrize(
    ("capacity", "kind", "capacity_type", "reserved"),
    [
        (Capacity.on_demand(), CapacityKind.ON_DEMAND, "ON_DEMAND", False),
        (Capacity.spot(), CapacityKind.SPOT, "SPOT", False),
        (Capacity.reservation(ID), CapacityKind.RESERVATION, "ON_DEMAND", True),
        (Capacity.block(ID), CapacityKind.CAPACITY_BLOCK, "CAPACITY_BLOCK", True),
    ],
)
def test_the_ways_to_buy(
    capacity: Capacity, kind: CapacityKind, capacity_type: str, reserved: bool
):
    assert capacity.kind is kind
    assert capacity.capacity_type == capacity_type
    assert capacity.is_reserved is reserved
    assert capacity.reservation_id == capacity.name == (ID if reserved else "")


@pytest.mark.parametrize("reservation_id", [ID, "cr-0a1b2c3d"])
def test_ids_are_taken(reservation_id: str):
    assert Capacity.reservation(reservation_id).reservation_id == reservation_id
    assert Capacity.block(reservation_id).name == reservation_id


@pytest.mark.parametrize(
    "arn",
    [
        GROUP,
        "arn:aws-cn:resource-groups:cn-north-1:111122223333:group/a-b_c",
        "arn:aws-us-gov:resource-groups:us-gov-west-1:111122223333:group/x",
    ],
)
def test_groups_of_reservations_are_taken(arn: str):
    capacity = Capacity.reservation_group(arn)

    assert (capacity.resource_group_arn, capacity.name) == (arn, arn)
    assert (capacity.reservation_id, capacity.capacity_type) == ("", "ON_DEMAND")


def test_a_key_stands_for_a_token():
    capacity = Capacity.block(TOKEN, key="july")

    assert (capacity.reservation_id, capacity.key, capacity.name) == (TOKEN, "july", "july")
    assert capacity.to_dict() == {
        "kind": "capacity-block",
        "capacity_type": "CAPACITY_BLOCK",
        "reservation": "july",
    }


def test_a_key_stands_for_an_id_too():
    assert Capacity.reservation(ID, key="a.B_c-1").name == "a.B_c-1"


@pytest.mark.parametrize(
    ("capacity", "values"),
    [
        (Capacity.on_demand(), {"kind": "on-demand", "capacity_type": "ON_DEMAND"}),
        (Capacity.spot(), {"kind": "spot", "capacity_type": "SPOT"}),
        (
            Capacity.reservation(ID),
            {"kind": "reservation", "capacity_type": "ON_DEMAND", "reservation": ID},
        ),
    ],
)
def test_a_capacity_as_plain_values(capacity: Capacity, values: dict[str, str]):
    assert capacity.to_dict() == values


def test_a_capacity_is_a_value():
    capacity = Capacity.block(ID)

    assert capacity == Capacity.block(ID)
    assert hash(capacity) == hash(Capacity.block(ID))
    assert capacity != Capacity.reservation(ID)
    assert pickle.loads(pickle.dumps(capacity)) == capacity  # noqa: S301 - our own bytes
    with pytest.raises(dataclasses.FrozenInstanceError):
        capacity.key = "x"  # type: ignore[misc]
