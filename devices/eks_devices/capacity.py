"""How a node group buys its instances."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from .findings import Finding, fault, raise_faults
from .typecheck import boolean, is_token, plain_text, whole_number, wrong_type

_RESERVATION_ID = re.compile(r"cr-[0-9a-f]{8}(?:[0-9a-f]{9})?", re.ASCII)
_GROUP_ARN = re.compile(
    r"arn:[a-z-]+:resource-groups:[a-z0-9-]+:[0-9]{12}:group/\S{1,300}", re.ASCII
)
_KEY = re.compile(r"[A-Za-z0-9._-]{1,63}", re.ASCII)
_KEY_FORM = "1 to 63 letters, digits, '.', '_' or '-'"
_BLOCKS = "https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html"
_RESERVATIONS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html"


class CapacityKind(StrEnum):
    """The purchase options of a node group; values are EC2's words for them."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    RESERVATION = "reservation"
    CAPACITY_BLOCK = "capacity-block"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """How a node group buys its instances; made by one of the six factories.

    `key` is what stands for a reservation in plans and names when its id is a token; `start` is
    when nodes are to come, `nodes` the size of an UltraServer.
    """

    kind: CapacityKind
    reservation_id: str = ""
    resource_group_arn: str = ""
    key: str = ""
    start: datetime | None = None
    ultraserver: bool = False
    nodes: int | None = None

    def __post_init__(self) -> None:
        """Keep another kind of text as the text itself."""
        for name in ("reservation_id", "resource_group_arn", "key"):
            object.__setattr__(self, name, plain_text(getattr(self, name)))

    @classmethod
    def on_demand(cls) -> Capacity:
        """Instances as they are available, at the on-demand price."""
        return cls(kind=CapacityKind.ON_DEMAND)

    @classmethod
    def spot(cls) -> Capacity:
        """Spare instances that EC2 may take back."""
        return cls(kind=CapacityKind.SPOT)

    @classmethod
    def reservation(
        cls, reservation_id: str, *, key: str | None = None, start: datetime | None = None
    ) -> Capacity:
        """One On-Demand Capacity Reservation; its nodes run in its Availability Zone.

        Args:
            reservation_id: The id, `cr-...`; it may be a token when `key` is given.
            key: A word that stands for the reservation in plans and names; the id by default.
            start: When the group is to get its nodes, with a time zone; at deployment unless
                named.

        Raises:
            EksDevicesError: The id has the wrong form, or is a token without a key.
        """
        kind = CapacityKind.RESERVATION
        return _checked(cls(**_given(kind, key, reservation_id=reservation_id, start=start)))

    @classmethod
    def reservation_group(cls, resource_group_arn: str, *, key: str | None = None) -> Capacity:
        """A resource group of On-Demand Capacity Reservations, and nothing beside it.

        Args:
            resource_group_arn: The ARN of the group; it may be a token when `key` is given.
            key: A word that stands for the group in plans and names; the ARN by default.

        Raises:
            EksDevicesError: The ARN has the wrong form, or is a token without a key.

        Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
        """
        kind = CapacityKind.RESERVATION
        return _checked(cls(**_given(kind, key, resource_group_arn=resource_group_arn)))

    @classmethod
    def block(
        cls, reservation_id: str, *, key: str | None = None, start: datetime | None = None
    ) -> Capacity:
        """A Capacity Block for ML.

        Args:
            reservation_id: The id of the block's reservation, `cr-...`; it may be a token when
                `key` is given.
            key: A word that stands for the block in plans and names; the id by default.
            start: When the block starts, with a time zone: the group has no nodes before, and
                EKS gives it `desired_size` then. Left out, as it should be once it has passed,
                sizes hold from deployment on.

        Raises:
            EksDevicesError: The id has the wrong form, or is a token without a key.

        Source: https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
        """
        kind = CapacityKind.CAPACITY_BLOCK
        return _checked(cls(**_given(kind, key, reservation_id=reservation_id, start=start)))

    @classmethod
    def ultraserver_block(
        cls,
        reservation_id: str,
        *,
        nodes: int | None = None,
        key: str | None = None,
        start: datetime | None = None,
    ) -> Capacity:
        """A Capacity Block of one UltraServer: instances that share NVLink or NeuronLink.

        Args:
            reservation_id: The id of the block's reservation, as for `block`.
            nodes: Instances of the UltraServer; not judged unless named.
            key: As for `block`.
            start: As for `block`.

        Raises:
            EksDevicesError: The id has the wrong form, or is a token without a key.

        Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
        """
        given = _given(CapacityKind.CAPACITY_BLOCK, key, reservation_id=reservation_id, start=start)
        return _checked(cls(**given, ultraserver=True, nodes=nodes))

    @property
    def capacity_type(self) -> str:
        """The CapacityType of the EKS API."""
        names = {CapacityKind.SPOT: "SPOT", CapacityKind.CAPACITY_BLOCK: "CAPACITY_BLOCK"}
        return names.get(self.kind, "ON_DEMAND")

    @property
    def is_reserved(self) -> bool:
        """Whether instances come from a reservation, which has no room for two groups at once."""
        return self.kind in (CapacityKind.RESERVATION, CapacityKind.CAPACITY_BLOCK)

    @property
    def starts_at(self) -> str:
        """The start as an ISO time in UTC, without a zone; empty where none was named."""
        return f"{self.start.astimezone(UTC):%Y-%m-%dT%H:%M:%S}" if self.start else ""

    @property
    def identity(self) -> str:
        """The reservation itself where it is known, else what stands for it."""
        literal = self.reservation_id or self.resource_group_arn
        return self.key if is_token(literal) else literal

    @property
    def name(self) -> str:
        """What stands for the reservation in plans and names: never a token."""
        return self.key or self.reservation_id or self.resource_group_arn

    def to_dict(self) -> dict[str, Any]:
        """The purchase option as plain values."""
        values: dict[str, Any] = {"kind": str(self.kind), "capacity_type": self.capacity_type}
        values |= {"reservation": self.name} if self.name else {}
        values |= {"start": self.starts_at} if self.start else {}
        return values | ({"ultraserver_nodes": self.nodes} if self.ultraserver else {})


def _given(kind: CapacityKind, key: object, **target: object) -> dict[str, Any]:
    return {"kind": kind, **target} | ({} if key is None else {"key": key})


def _checked(capacity: Capacity) -> Capacity:
    raise_faults(capacity_faults(capacity, "capacity"))
    return capacity


def _is_empty(value: object) -> bool:
    """Whether nothing was given; a value that is no text may refuse to be compared."""
    return isinstance(value, str) and not str.__len__(value)


def capacity_faults(capacity: Capacity, path: str) -> Iterator[Finding]:
    """Faults of a capacity, whoever made it."""
    targets = {
        name: value
        for name in ("reservation_id", "resource_group_arn")
        if not _is_empty(value := getattr(capacity, name))
    }
    fits = _TARGETS.get(capacity.kind, {})
    for name, value in targets.items():
        if name in fits and len(targets) == 1:
            yield from _target_faults(name, value, capacity.key, path)
        else:
            yield _unfit(capacity, f"{path}.{name}", value)
    if fits and not targets:
        yield from _target_faults("reservation_id", "", capacity.key, path)
    if not _is_empty(capacity.key):
        yield from _key_faults(capacity, path)
    if capacity.start is not None:
        yield from _start_faults(capacity, f"{path}.start")
    yield from boolean(capacity.ultraserver, f"{path}.ultraserver")
    yield from whole_number(capacity.nodes, f"{path}.nodes", lowest=1, optional=True)
    if capacity.nodes is not None and capacity.ultraserver is False:
        yield _unfit(capacity, f"{path}.nodes", capacity.nodes)


# What a purchase option may name, and how it is written.
_TARGETS: dict[CapacityKind, dict[str, tuple[re.Pattern[str], str]]] = {
    CapacityKind.RESERVATION: {
        "reservation_id": (_RESERVATION_ID, "an id such as cr-0123456789abcdef0"),
        "resource_group_arn": (_GROUP_ARN, "the ARN of a resource group of reservations"),
    },
    CapacityKind.CAPACITY_BLOCK: {
        "reservation_id": (_RESERVATION_ID, "an id such as cr-0123456789abcdef0"),
    },
}


def _unfit(capacity: Capacity, path: str, value: object) -> Finding:
    return fault(
        "ReservationNotUsed",
        path,
        f"{capacity.kind} instances take no such reservation, or not two of them",
        got=value,
        allowed="one reservation, of a kind that fits",
        fix="use one of the factories of Capacity: reservation, reservation_group, block, "
        "ultraserver_block",
        source=_BLOCKS,
    )


def _target_faults(name: str, value: object, key: str, path: str) -> Iterator[Finding]:
    pattern, allowed = _TARGETS[CapacityKind.RESERVATION][name]
    path, fix = f"{path}.{name}", "copy it from the reservation's page in the EC2 console"
    if is_token(value):
        if key == "":
            message = "a reservation that is a token needs a key, because names must not change"
            fix = 'add key="...", a word that changes when the reservation does'
            yield fault("ReservationKeyMissing", path, message, got=value, allowed=allowed, fix=fix)
    elif not isinstance(value, str):
        yield wrong_type(path, value, allowed, fix)
    elif not pattern.fullmatch(value):
        message = "this is not such a reservation"
        yield fault(
            "MalformedReservation",
            path,
            message,
            got=value,
            allowed=allowed,
            fix=fix,
            source=_RESERVATIONS,
        )


def _start_faults(capacity: Capacity, path: str) -> Iterator[Finding]:
    start = capacity.start
    allowed = "a datetime with a time zone, such as datetime(2026, 12, 5, 11, 30, tzinfo=UTC)"
    if not isinstance(start, datetime) or not _is_a_moment(start):
        yield wrong_type(path, start, allowed, "pass a datetime with tzinfo")
    elif not capacity.is_reserved:
        yield _unfit(capacity, path, start)


def _is_a_moment(start: datetime) -> bool:
    """Whether a time has a zone, and a time in UTC: at the ends of the calendar some have none."""
    try:
        return start.utcoffset() is not None and start.astimezone(UTC) is not None
    except Exception:  # noqa: BLE001  (zones are code of whoever made them)
        return False


def _key_faults(capacity: Capacity, path: str) -> Iterator[Finding]:
    key, path = capacity.key, f"{path}.key"
    if not isinstance(key, str) or is_token(key):
        yield wrong_type(path, key, _KEY_FORM, "write a short word")
    elif not capacity.is_reserved:
        yield _unfit(capacity, path, key)
    elif not _KEY.fullmatch(key):
        yield fault(
            "MalformedKey",
            path,
            "this key cannot stand in a name",
            got=key,
            allowed=_KEY_FORM,
            fix="write a short word",
        )
