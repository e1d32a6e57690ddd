"""Claims on nodes, each made up from its seed and number alone, so that any can be made again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any

from tests.feasibility_claims import claim as claim_of
from tests.feasibility_claims import exactly
from tests.generated.claims import AsPeopleWrite, Hostile, named
from tests.generated.expressions import Wild
from tests.generated.nodes import MADE_UP, Place, made_up

Json = dict[str, Any]

# So many claims in a row are for one made-up node.
_ON_ONE_NODE = 20


class Kind(StrEnum):
    """What a case is about."""

    REALISTIC = "realistic"
    """Claims as people write them, on a node of a planned group."""
    HOSTILE = "hostile"
    """Claims of all kinds on a node that is made up."""
    EXPRESSION = "expression"
    """Any expression, on a node with one device."""


@dataclass(frozen=True)
class Case:
    """The claims of a Pod, and the node that they are judged on."""

    kind: Kind
    name: str
    place: Place
    claims: list[Json]


def case(kind: Kind, seed: int, number: int, places: Sequence[Place]) -> Case:
    """A case by its seed and number; `places` are the nodes of the planned groups."""
    name = f"{kind}-{seed}-{number}"
    rng = Random(name)
    if kind is Kind.REALISTIC:
        place = rng.choice(places)
        return Case(kind, name, place, AsPeopleWrite(rng, place).pod())
    place = _made_up(kind, seed, number // _ON_ONE_NODE)
    if kind is Kind.HOSTILE:
        return Case(kind, name, place, Hostile(rng).pod())
    text = Wild(rng, MADE_UP).truth(2)
    return Case(kind, name, place, [named(claim_of(exactly("any", text, name="r0")), "c0")])


def _made_up(kind: Kind, seed: int, number: int) -> Place:
    name = f"{kind}-{seed}-node-{number}"
    rng = Random(name)
    if kind is Kind.EXPRESSION:
        found = made_up(rng, name, most=1)
        while sum(len(one["spec"]["devices"]) for one in found.slices) != 1:
            found = made_up(rng, name, most=1)
        return found
    return made_up(rng, name, most=40 if rng.random() < 0.05 else 8)
