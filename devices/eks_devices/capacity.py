"""How a node group buys its instances."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from .findings import Finding, fault, raise_faults
from .kubernetes import is_token
from .typecheck import wrong_type

_RESERVATION_ID = re.compile(r"cr-[0-9a-f]{8}(?:[0-9a-f]{9})?", re.ASCII)
_GROUP_ARN = re.compile(
    r"arn:[a-z-]+:resource-groups:[a-z0-9-]+:[0-9]{12}:group/\S{1,300}", re.ASCII
)
_ALLOWED = "an id such as cr-0123456789abcdef0, or the ARN of a resource group of reservations"
_BLOCKS = "https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html"


class CapacityKind(StrEnum):
    """The purchase options of a node group; values are EC2's words for them."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    RESERVATION = "reservation"
    CAPACITY_BLOCK = "capacity-block"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """How a node group buys its instances; made by one of the four factories.

    `target` is the reservation, `key` what stands for it in plans and names when it is a token.
    """

    kind: CapacityKind
    target: str = ""
    key: str = ""

    @classmethod
    def on_demand(cls) -> Capacity:
        """Instances as they are available, at the on-demand price."""
        return cls(kind=CapacityKind.ON_DEMAND)

    @classmethod
    def spot(cls) -> Capacity:
        """Spare instances that EC2 may take back."""
        return cls(kind=CapacityKind.SPOT)

    @classmethod
    def reservation(cls, target: str, *, key: str | None = None) -> Capacity:
        """An On-Demand Capacity Reservation, by id or by the ARN of a resource group.

        Args:
            target: The id or ARN; it may be a token when `key` is given.
            key: A text that stands for the reservation in plans and names; the id by default.

        Raises:
            EksDevicesError: The id has the wrong form, or is a token without a key.
        """
        return _reserved(CapacityKind.RESERVATION, target, key)

    @classmethod
    def block(cls, target: str, *, key: str | None = None) -> Capacity:
        """A Capacity Block for ML, UltraServer blocks included, by the id of its reservation.

        Args:
            target: The id or ARN; it may be a token when `key` is given.
            key: A text that stands for the reservation in plans and names; the id by default.

        Raises:
            EksDevicesError: The id has the wrong form, or is a token without a key.

        Source: https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
        """
        return _reserved(CapacityKind.CAPACITY_BLOCK, target, key)

    @property
    def capacity_type(self) -> str:
        """The CapacityType of the EKS API."""
        names = {CapacityKind.SPOT: "SPOT", CapacityKind.CAPACITY_BLOCK: "CAPACITY_BLOCK"}
        return names.get(self.kind, "ON_DEMAND")

    @property
    def is_reserved(self) -> bool:
        """Whether instances come from a reservation, which two groups cannot use at once."""
        return self.kind in (CapacityKind.RESERVATION, CapacityKind.CAPACITY_BLOCK)

    @property
    def name(self) -> str:
        """What stands for the reservation in plans and names: never a token."""
        return self.key or self.target

    def to_dict(self) -> dict[str, str]:
        """The purchase option as plain values."""
        values = {"kind": str(self.kind), "capacity_type": self.capacity_type}
        return values | ({"reservation": self.name} if self.name else {})


def capacity_faults(capacity: Capacity, path: str) -> Iterator[Finding]:
    """Faults of a capacity that was not made by a factory."""
    key = None if _is_blank(capacity.key) else capacity.key
    if capacity.is_reserved:
        yield from (*_target_faults(capacity.target, key, path), *_key_faults(key, path))
    elif key is not None or not _is_blank(capacity.target):
        yield fault(
            "ReservationNotUsed",
            f"{path}.target",
            f"{capacity.kind} instances take no reservation",
            got=capacity.target or key,
            allowed="no target and no key",
            fix="use Capacity.reservation(id) or Capacity.block(id)",
        )


def _is_blank(text: object) -> bool:
    return isinstance(text, str) and not text


def _reserved(kind: CapacityKind, target: object, key: object) -> Capacity:
    raise_faults([*_target_faults(target, key, "capacity"), *_key_faults(key, "capacity")])
    return Capacity(kind=kind, target=str(target), key=str(key or ""))


def _target_faults(target: object, key: object, path: str) -> Iterator[Finding]:
    path, fix = f"{path}.target", "copy the id from the reservation's page in the EC2 console"
    if is_token(target):
        if key is None:
            message = "a reservation that is a token needs a key, because names must not change"
            fix = 'add key="...", a text that changes when the reservation does'
            yield fault(
                "ReservationKeyMissing", path, message, got=target, allowed=_ALLOWED, fix=fix
            )
    elif not isinstance(target, str):
        yield wrong_type(path, target, _ALLOWED, fix)
    elif not (_RESERVATION_ID.fullmatch(target) or _GROUP_ARN.fullmatch(target)):
        message = "this is not a capacity reservation"
        yield fault(
            "MalformedReservation",
            path,
            message,
            got=target,
            allowed=_ALLOWED,
            fix=fix,
            source=_BLOCKS,
        )


def _key_faults(key: object, path: str) -> Iterator[Finding]:
    wanted = "a text of 1 to 63 letters, digits, '.', '_' or '-'"
    if key is None or (isinstance(key, str) and re.fullmatch(r"[A-Za-z0-9._-]{1,63}", key)):
        return
    if isinstance(key, str) and not is_token(key):
        message, fix = "this key cannot stand in a name", "write a short word"
        yield fault("MalformedKey", f"{path}.key", message, got=key, allowed=wanted, fix=fix)
    else:
        yield wrong_type(f"{path}.key", key, wanted, "write a short word")
