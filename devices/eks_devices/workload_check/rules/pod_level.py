"""Resources of a Pod as a whole, and amounts that are more than their limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from ...findings import meant
from ...quantities import quantity_of
from ..amounts import CPU, HUGE_PAGES, MEMORY, STORAGE, taken_of
from ..documents import Steps, mapping
from .asking import amounts
from .context import Context, Told
from .readable import UNKNOWN

_RESOURCES: Final = "resources"
_CLAIMS: Final = "claims"
_FIELDS: Final = ("limits", "requests")
_PAGES: Final = "hugepages-"
_OF_PODS: Final = (CPU, MEMORY)
# What may be limited to more than is asked for; other resources have one amount.
_LIMITED: Final = (CPU, MEMORY, STORAGE)
_PAGE: Final = (
    "https://kubernetes.io/docs/tasks/configure-pod-container/assign-pod-level-resources/"
)
_AMOUNTS: Final = "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/"


def of_pods(context: Context) -> Iterator[Told]:
    """What a Pod itself has of resources is cpu, memory and huge pages: no devices, no claims."""
    resources = mapping(context.spec, _RESOURCES)
    for name in resources:
        if name == _CLAIMS:
            yield _no_claims(context)
        elif name not in _FIELDS:
            yield _no_field(context, name)
    for field in _FIELDS:
        for name in mapping(resources, field):
            if name not in _OF_PODS and not name.startswith(_PAGES):
                yield _not_of_pods(context, field, name)


def _no_claims(context: Context) -> Told:
    return context.error(
        (_RESOURCES, _CLAIMS),
        "MisplacedClaimField",
        "the API server takes no claims in the resources of a Pod as a whole",
        got=_CLAIMS,
        allowed="resources.claims of containers",
        fix="list them in the containers that use them",
        source=_PAGE,
    )


def _no_field(context: Context, name: str) -> Told:
    return context.error(
        (_RESOURCES, name),
        "UnknownField",
        "the API has no such field, so kubectl refuses the Pod, and others lose what it says",
        got=name,
        allowed=", ".join(_FIELDS),
        fix=meant(name, _FIELDS) or "leave it out",
        source=_PAGE,
    )


def _not_of_pods(context: Context, field: str, name: str) -> Told:
    return context.error(
        (_RESOURCES, field, name),
        "PodLevelResource",
        "the API server takes no such resource in the resources of a Pod as a whole",
        got=name,
        allowed="cpu, memory, hugepages-<size>",
        fix="move it to the limits of the container that uses it",
        source=_PAGE,
    )


def above_limit(context: Context) -> Iterator[Told]:
    """A request is at most its limit."""
    resources = mapping(context.spec, _RESOURCES)
    limits, requests = (mapping(resources, one) for one in _FIELDS)
    yield from _above(context, (_RESOURCES,), limits, requests)
    for container in context.containers:
        yield from _above(context, (*container.steps, _RESOURCES), *amounts(container))


def _above(
    context: Context, at: Steps, limits: Mapping[str, Any], requests: Mapping[str, Any]
) -> Iterator[Told]:
    for name in _LIMITED:
        limit, request = _known(limits.get(name)), _known(requests.get(name))
        if limit is not None and request is not None and request > limit:
            yield context.error(
                (*at, "requests", name),
                "RequestAboveLimit",
                "the API server takes no request for more than the limit",
                got={"request": requests[name], "limit": limits[name]},
                allowed=f"at most {limits[name]}",
                fix=f"raise the limit to {requests[name]}, or ask for {limits[name]}",
                source=_AMOUNTS,
            )


def _known(value: Any) -> Fraction | None:
    return None if value is UNKNOWN else quantity_of(value)


def above_pod(context: Context) -> Iterator[Told]:
    """The limit of a container is at most that of its Pod."""
    whole = mapping(mapping(context.spec, _RESOURCES), "limits")
    for container in context.containers if whole else ():
        limits, _ = amounts(container)
        for name in (CPU, MEMORY):
            most, limit = _known(whole.get(name)), _known(limits.get(name))
            if most is not None and limit is not None and limit > most:
                yield context.error(
                    (*container.steps, _RESOURCES, "limits", name),
                    "RequestAboveLimit",
                    "the API server takes no limit of a container above that of its Pod",
                    got=limits[name],
                    allowed=f"at most {whole[name]}",
                    fix=f"raise the limit in the Pod's resources to {limits[name]}, or lower this",
                    source=_PAGE,
                )


def below_containers(context: Context) -> Iterator[Told]:
    """What a Pod as a whole asks for is at least what its containers do."""
    resources = mapping(context.spec, _RESOURCES)
    each = taken_of({**context.spec, _RESOURCES: {}, "overhead": {}}) if resources else {}
    # Limits of cpu and memory are held against those of containers.
    for field, names in (("requests", _OF_PODS), ("limits", (HUGE_PAGES,))):
        for name in names:
            given = mapping(resources, field).get(name)
            asked, taken = _known(given), each.get(name)
            if asked is not None and taken is not None and asked < taken:
                yield _below(context, (_RESOURCES, field, name), given, taken)


def _below(context: Context, steps: Steps, given: Any, taken: Fraction) -> Told:
    return context.error(
        steps,
        "PodLevelResource",
        "the API server takes no less for the Pod as a whole than its containers ask for",
        got=given,
        allowed=f"at least {float(taken):g}" + ("" if steps[-1] == CPU else " bytes"),
        fix="ask for as much as the containers do together, or leave theirs out",
        source=_PAGE,
    )


RULES = (of_pods, above_limit, above_pod, below_containers)
