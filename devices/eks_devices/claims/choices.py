"""What a claim may come to: with one alternative of each list, and a number for every All.

Rules look at claims of plain requests alone; where a claim has more than those, they look at each
choice, and what they find is told at the place where the user wrote it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any, Final

from ..findings import Finding
from .asked import Asked, Constraint
from .kinds import AllocationMode
from .match import MatchAttribute
from .opaque import OpaqueConfig
from .requests import DeviceRequest

MOST_CHOICES: Final = 512
"""More are not looked at: three lists of eight alternatives have so many."""

AllOf = Callable[[DeviceRequest], int]
"""How many devices a request for all of them gets."""

_REQUEST = re.compile(r"requests\[([0-9]+)\]", re.ASCII)
_CONSTRAINT = re.compile(r"constraints\[([0-9]+)\]", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A claim, or a part of one, with plain requests alone; `places` say where they are from."""

    path: str
    requests: tuple[DeviceRequest, ...]
    match: MatchAttribute | None
    constraints: tuple[Constraint, ...]
    places: tuple[str, ...]
    match_place: str = "match"
    constraint_places: tuple[str, ...] = ()
    configs: tuple[OpaqueConfig, ...] = ()

    def origin(self, step: str) -> str:
        """Where a request, a match or a constraint of the view is from."""
        if request := _REQUEST.fullmatch(step):
            return self.places[int(request[1])]
        if constraint := _CONSTRAINT.fullmatch(step):
            return self.constraint_places[int(constraint[1])]
        return self.match_place if step == "match" else step

    def placed(self, found: Finding) -> Finding:
        """A finding about the view as one about what it is a view of."""
        head, _, inner = found.path.partition(f"{self.path}.")
        if head or not inner:
            return found
        step, dot, rest = inner.partition(".")
        path = f"{self.path}.{self.origin(step)}{dot}{rest}"
        return found if path == found.path else replace(found, path=path)


def one_of(request: DeviceRequest) -> int:
    """The least that a request for all devices gets, where nothing is known of nodes."""
    del request
    return 1


def choices(asked: Asked, all_of: AllOf = one_of) -> Iterator[View]:
    """What a claim may come to, in the order of preference; the first `MOST_CHOICES` of it.

    Args:
        asked: The claim; its requests are without faults.
        all_of: How many devices stand for all of them.
    """
    options = [range(len(one.options)) for one in asked.requests]
    for picked in islice(product(*options), MOST_CHOICES):
        yield _view(asked, picked, all_of)


def is_plain(asked: Asked) -> bool:
    """Whether a claim has no alternatives, and no request for all devices."""
    return not any(one.alternatives or one.takes_all for one in asked.requests)


def has_more_choices(asked: Asked) -> bool:
    """Whether a claim may come to more than is looked at."""
    number = 1
    for one in asked.requests:
        number *= len(one.options)
    return number > MOST_CHOICES


def parts(view: Asked) -> Iterator[View]:
    """What of a claim without alternatives has to match, each with its match.

    Args:
        view: A claim of plain requests.
    """
    if view.match is not None:
        yield _part(view, view.match, "match")
    for index, one in enumerate(view.constraints):
        if isinstance(one, MatchAttribute):
            yield _part(view, one, f"constraints[{index}]")


def choice_faults(
    asked: Asked,
    rules: Callable[[View], Iterable[Finding]],
    all_of: AllOf = one_of,
    *,
    every: bool = False,
) -> list[Finding]:
    """The faults of a claim that has them however it is served; none where one choice has none.

    Args:
        asked: The claim.
        rules: The faults of a choice.
        all_of: How many devices stand for all of them.
        every: Whether the rules look at every choice, also after one without faults.
    """
    found: dict[Finding, None] = {}
    fits = has_more_choices(asked)
    for view in choices(asked, all_of):
        faults = [view.placed(one) for one in rules(view)]
        found |= dict.fromkeys(faults)
        fits = fits or not faults
        if not faults and not every:
            break
    return [] if fits else [*found]


def changed(value: Any, **fields: Any) -> Any:
    """A copy of a frozen value with other fields, which are not checked again."""
    new = copy.copy(value)
    for name, one in fields.items():
        object.__setattr__(new, name, one)
    return new


def _view(asked: Asked, picked: tuple[int, ...], all_of: AllOf) -> View:
    chosen = [one.options[at] for one, at in zip(asked.requests, picked, strict=True)]
    names = {
        f"{one.name}/{option.name}": one.name
        for one, option in zip(asked.requests, chosen, strict=True)
        if one.alternatives
    }
    names |= {one.name: one.name for one in asked.requests}
    kept = [(at, _narrowed(one, names)) for at, one in enumerate(asked.constraints)]
    constraints = [(at, one) for at, one in kept if one is not None]
    return View(
        path=asked.path,
        requests=tuple(
            _plain(option, one.name, all_of)
            for one, option in zip(asked.requests, chosen, strict=True)
        ),
        match=asked.match and _narrowed(asked.match, names),
        constraints=tuple(one for _, one in constraints),
        places=tuple(
            [*places_of(one, index)][at][0]
            for index, (one, at) in enumerate(zip(asked.requests, picked, strict=True))
        ),
        constraint_places=tuple(f"constraints[{at}]" for at, _ in constraints),
    )


def places_of(request: DeviceRequest, index: int) -> Iterator[tuple[str, DeviceRequest]]:
    """The options of a request of a claim, each with its place there."""
    for at, one in enumerate(request.options):
        yield f"requests[{index}]" + (f".alternatives[{at}]" if request.alternatives else ""), one


def _plain(option: DeviceRequest, name: str, all_of: AllOf) -> DeviceRequest:
    fields: dict[str, Any] = {} if option.name == name else {"name": name}
    if option.takes_all:
        fields |= {"allocation": AllocationMode.EXACT_COUNT, "count": all_of(option)}
    plain: DeviceRequest = changed(option, **fields) if fields else option
    return plain


def _narrowed(constraint: Any, names: dict[str, str]) -> Any:
    """A constraint on what was chosen; None where it is about other alternatives alone."""
    if not constraint.requests:
        return constraint
    left = tuple(dict.fromkeys(names[one] for one in constraint.requests if one in names))
    return changed(constraint, requests=left) if left else None


def _part(view: Asked, match: MatchAttribute, place: str) -> View:
    about = [
        (index, one)
        for index, one in enumerate(view.requests)
        if not match.requests or one.name in match.requests
    ]
    return View(
        path=view.path,
        requests=tuple(one for _, one in about),
        match=changed(match, requests=()),
        constraints=(),
        places=tuple(f"requests[{index}]" for index, _ in about),
        match_place=place,
    )
