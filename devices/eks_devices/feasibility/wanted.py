"""What a claim asks for, as the allocator reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._frozen import FrozenDict


@dataclass(frozen=True, slots=True)
class Toleration:
    """A taint of devices that a request puts up with; a part that is empty stands for any."""

    key: str
    is_any_value: bool
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Devices of a class; `count` is None for all that match.

    `amounts` are what is asked of their capacities, by name.
    """

    name: str
    device_class: str
    count: int | None
    selectors: tuple[str, ...]
    admin: bool = False
    amounts: FrozenDict[str, Any] = field(default_factory=FrozenDict)
    tolerations: tuple[Toleration, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """A request of a claim: the first of its `options` that can be had.

    One without alternatives has one option, of its own name.
    """

    name: str
    options: tuple[Ask, ...]
    is_prioritised: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """How a claim's status names the request, by its options."""
        if not self.is_prioritised:
            return (self.name,)
        return tuple(f"{self.name}/{one.name}" for one in self.options)

    @property
    def all_is_alternative(self) -> bool:
        """Whether All is asked for by an alternative that is not the first."""
        return any(one.count is None for one in self.options[1:])


@dataclass(frozen=True, slots=True)
class Constraint:
    """An attribute that devices of some requests must share; of all requests without names.

    Where the constraint is distinct, no two of them may have the same.
    """

    attribute: str
    requests: frozenset[str] = frozenset()
    is_distinct: bool = False

    def applies(self, request: str, option: str) -> bool:
        """Whether the constraint is about the devices of a request, taken by one of its options."""
        return not self.requests or not self.requests.isdisjoint((request, f"{request}/{option}"))


@dataclass(frozen=True, slots=True)
class Wanted:
    """A claim as the allocator reads it. Claims that differ in their names alone are equal.

    One that is named is one claim for all Pods that name it; of others each Pod has its own.
    """

    path: str = field(compare=False)
    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...] = ()
    is_named: bool = False
