"""Why the constraint of a claim can never hold on a node, and what can be matched instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from ..devices import published_names
from ..search.endings import Cause
from ..search.problem import NOTHING, Option, Problem
from ..search.shared_values import held_by_a_value, most_of_a_value
from ..slices import NodeDevices
from ..wanted import Wanted
from .near import nearest_of_all

_LEAVE: Final = "leave the constraint out"
_MOST_NAMES: Final = 2
# Attributes of several drivers: these are there to be matched.
_SHARED: Final = "resource."


def constraint_cause(
    given: Problem, claim: int, index: int, node: NodeDevices, holds: Callable[[Wanted], bool]
) -> Cause:
    """The reason of a constraint that can never hold.

    Args:
        given: The claims and the devices.
        claim: The claim.
        index: The constraint.
        node: The node.
        holds: Whether a claim may be served by it.
    """
    constraint = given.wanted[claim].constraints[index]
    never = f"the constraint on {constraint.attribute} can never hold"
    cause = Cause("ConstraintNeverHolds", claim=claim, constraint=index)
    instead = list(_instead(given, claim, index, node, holds))
    if lacking := _lacking(given, claim, index):
        many = "requests" if len(lacking) > 1 else "request"
        text = f"devices of the {many} {' and '.join(lacking)} do not have the attribute"
        near = misspelt(given, claim, index)
        fix = near or ", or ".join([*_match(instead), _LEAVE])
        return replace(cause, text=f"{never}: {text}", fix=fix)
    if constraint.is_distinct:
        has = _values(given, claim, index)
        text = f"too few devices have a value that no other has, {has} of them"
        fix = f"ask for at most {has} devices under it, or {_LEAVE}"
        return replace(cause, text=f"{never}: {text}", fix=fix)
    why = "no value is shared by as many devices of each request as are wanted"
    held = held_by_a_value(given, claim, index)
    fewer = [f"ask for at most {one}" for one in most_of_a_value(given, claim, index)]
    fix = ", or ".join([*fewer, *_match(instead), _LEAVE])
    return replace(cause, text=f"{never}: {why}" + f": {held}" * bool(held), fix=fix)


def _about(given: Problem, claim: int, index: int) -> Iterator[tuple[str, list[Option]]]:
    """The requests that a constraint is about, each with the options of it."""
    for request, many in zip(given.wanted[claim].requests, given.options[claim], strict=True):
        if about := [one for one in many if index in one.constraints]:
            yield request.name, about


def _lacking(given: Problem, claim: int, index: int) -> list[str]:
    """The requests of whose devices none has the attribute."""
    values = given.values[claim][index]
    return [
        name
        for name, about in _about(given, claim, index)
        if all(values[at] == NOTHING for one in about for at in (*one.taken, *one.unclear))
    ]


def _values(given: Problem, claim: int, index: int) -> int:
    """How many values the devices have among them."""
    values, about = given.values[claim][index], _about(given, claim, index)
    found = {values[at] for _, many in about for one in many for at in one.candidates}
    return len(found - {NOTHING})


def misspelt(given: Problem, claim: int, index: int) -> str:
    """The attribute that is meant by one that no driver has; or nothing."""
    name = given.wanted[claim].constraints[index].attribute
    if any(name in known for known in published_names().values()):
        return ""
    about = (one for _, many in _about(given, claim, index) for one in many)
    return nearest_of_all(name, [one.ask.device_class for one in about])


def _match(names: list[str]) -> Iterator[str]:
    if names:
        yield f"match {' or '.join(names)}, which as many devices share"


def _instead(
    given: Problem, claim: int, index: int, node: NodeDevices, holds: Callable[[Wanted], bool]
) -> Iterator[str]:
    """The attributes by which the constraint could hold, those of the fewest devices first."""
    wanted = given.wanted[claim]
    constraint = wanted.constraints[index]
    if constraint.is_distinct:
        return
    left = _MOST_NAMES
    for name in _common(given, claim, index, node):
        if left and name != constraint.attribute:
            other = replace(constraint, attribute=name)
            if holds(replace(wanted, constraints=(other,))):
                left -= 1
                yield name


def _common(given: Problem, claim: int, index: int, node: NodeDevices) -> list[str]:
    """The attributes that devices of all requests have, and that tell these devices apart."""
    sets = [
        [node.devices[at] for one in many for at in one.candidates]
        for _, many in _about(given, claim, index)
    ]
    names = set.intersection(
        *({one for device in some for one in device.attributes} for some in sets)
    )
    devices = [one for some in sets for one in some]
    many = {name: len({repr(one.attributes.get(name)) for one in devices}) for name in names}
    telling = (name for name in names if many[name] > 1 or name.startswith(_SHARED))
    return sorted(telling, key=lambda one: (not one.startswith(_SHARED), -many[one], one))
