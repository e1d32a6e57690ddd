"""The constraints of a claim: whether they name what there is, and how Kubernetes has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._data import read_toml
from ..findings import Finding, fault, meant
from ..typecheck import wrong_type
from .asked import Asked, Constraint, count_of
from .choices import choices, parts
from .configs import claim_configs
from .distinct import DistinctAttribute
from .kinds import RequestKind
from .match import MatchAttribute
from .requests import DeviceRequest
from .syntax import DRA_PAGE

_WANTED = "a list of MatchAttribute and DistinctAttribute"


def constraint_type_faults(constraints: object, path: str) -> Iterator[Finding]:
    """Faults of constraints that are of the wrong Python type, or too many."""
    if type(constraints) is not tuple:
        fix = 'write [MatchAttribute.PCIE_ROOT.over("gpu", "efa")]'
        yield wrong_type(path, constraints, _WANTED, fix)
        return
    limit = read_toml("limits.toml")["claims"]
    if len(constraints) > limit["most_constraints"]:
        yield fault(
            "TooManyConstraints",
            path,
            "Kubernetes takes no more constraints in a claim",
            got=len(constraints),
            allowed=f"at most {limit['most_constraints']}, the match among them",
            fix="split the claim",
            source=limit["source"],
        )
    for index, one in enumerate(constraints):
        if not isinstance(one, (MatchAttribute, DistinctAttribute)):
            fix = "use MatchAttribute or DistinctAttribute"
            yield wrong_type(f"{path}[{index}]", one, "a constraint", fix)


def all_constraints(asked: Asked) -> Iterator[tuple[str, Constraint]]:
    """The constraints of a claim, the match among them, each with its place."""
    if asked.match is not None:
        yield "match", asked.match
    for index, one in enumerate(asked.constraints):
        yield f"constraints[{index}]", one


def named_faults(asked: Asked) -> Iterator[Finding]:
    """Faults of constraints on requests that the claim does not have."""
    known = [*request_names(asked)]
    for place, constraint in all_constraints(asked):
        for index, name in enumerate(constraint.requests):
            if name not in known:
                yield unknown_request(name, f"{asked.path}.{place}.requests[{index}]", known)


def config_faults(asked: Asked) -> Iterator[Finding]:
    """Faults of configurations for requests that the claim does not have, and of too many."""
    known, limit = [*request_names(asked)], read_toml("limits.toml")["claims"]
    for index, config in enumerate(asked.configs):
        for at, name in enumerate(config.requests):
            if name not in known:
                path = f"{asked.path}.configs[{index}].requests[{at}]"
                yield unknown_request(name, path, known)
    number = len(asked.configs) + len(claim_configs(asked.requests))
    if number > limit["most_configs"]:
        yield fault(
            "TooManyConfigs",
            f"{asked.path}.configs",
            "Kubernetes takes no more configurations in a claim, those of options among them",
            got=number,
            allowed=f"at most {limit['most_configs']}",
            fix="name several requests in one OpaqueConfig, or split the claim",
            source=limit["source"],
        )


def request_names(asked: Asked) -> Iterator[str]:
    """The names of requests, and of their alternatives."""
    for one in asked.requests:
        yield one.name
        yield from (f"{one.name}/{option.name}" for option in one.alternatives)


def unknown_request(name: str, path: str, known: list[str]) -> Finding:
    """The fault of a name that no request of a claim has."""
    return fault(
        "UnknownRequest",
        path,
        "the claim has no request of this name",
        got=name,
        allowed=", ".join(known),
        fix=meant(name, known) or "name a request of the claim",
        source=DRA_PAGE,
    )


def size_faults(asked: Asked) -> Iterator[Finding]:
    """The fault of a device group whose size depends on which alternative a request gets."""
    for place, sizes in _group_sizes(asked).items():
        if len(sizes) > 1:
            yield fault(
                "DeviceGroupOpen",
                f"{asked.path}.{place}",
                "the size of a device group is the number of Neuron devices, and that depends on "
                "which alternative is served",
                got=sorted(sizes),
                allowed="one number of Neuron devices",
                fix="write a constraint for each alternative: "
                'MatchAttribute.DEVICE_GROUP.over("<request>/<alternative>")',
                source=DRA_PAGE,
            )


def _group_sizes(asked: Asked) -> dict[str, set[int]]:
    """The numbers of Neuron devices that sized groups may have, by the place of the constraint."""
    sizes: dict[str, set[int]] = {}
    for view in choices(asked):
        for part in parts(view):
            if part.match is not None and part.match.is_sized:
                found = sizes.setdefault(view.origin(part.match_place), set())
                found.add(count_of(part, RequestKind.NEURON))
    return sizes


def covers(constraint: Constraint, request: DeviceRequest, option: DeviceRequest) -> bool:
    """Whether a constraint is about the devices that a request gets by one of its options."""
    names = (
        {request.name, f"{request.name}/{option.name}"} if request.alternatives else {request.name}
    )
    return not constraint.requests or not names.isdisjoint(constraint.requests)


def rendered_constraints(asked: Asked, most_devices: int) -> list[dict[str, Any]]:
    """The constraints as `resource.k8s.io/v1` has them.

    Args:
        asked: A claim without faults.
        most_devices: The devices that the claim gets at most: one has nothing to match.
    """
    sizes = _group_sizes(asked)
    return [
        _rendered(asked, one, *sizes.get(place, {0}))
        for place, one in all_constraints(asked)
        if place != "match" or most_devices > 1
    ]


def _rendered(asked: Asked, constraint: Constraint, neuron_devices: int) -> dict[str, Any]:
    names = [*constraint.requests] or [one.name for one in asked.requests]
    if isinstance(constraint, DistinctAttribute):
        return {"requests": names, "distinctAttribute": constraint.attribute}
    return {"requests": names, "matchAttribute": constraint.attribute_for(neuron_devices)}
