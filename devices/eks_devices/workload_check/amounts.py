"""What a Pod asks for beside claims, summed over its containers as the scheduler does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from .._pod_resources import extended_faults
from .._pod_specs import taken_at_once
from .._yaml_text import AsYaml
from ..findings import Finding, fault
from ..quantities import amount_meant, quantity_of
from ..syntax import is_extended_resource
from .documents import Steps, mapping, path_of, steps_of
from .huge_pages import PREFIX, page_size
from .pods import Container, PodTemplate, containers_of

CPU, MEMORY, HUGE_PAGES = "cpu", "memory", "hugepages-2Mi"
STORAGE: Final = "ephemeral-storage"
ORDINARY: Final = (CPU, MEMORY, HUGE_PAGES, STORAGE)
"""What nodes are held against besides devices."""

_OWN_DOMAIN: Final = "kubernetes.io/"
_ByName = dict[str, list[tuple[Container, Fraction]]]
_PAGE: Final = "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/"


@dataclass(frozen=True, slots=True)
class Amounts:
    """What a Pod holds at once, by the names of resources; sorted, without what is zero.

    `most` is the largest amount that a single container asks for, of what is counted in devices.
    """

    devices: tuple[tuple[str, int], ...]
    ordinary: tuple[tuple[str, Fraction], ...]
    most: tuple[tuple[str, int], ...] = field(default=())


def amounts_of(pod: PodTemplate) -> Amounts:
    """What the Pods of a template hold at once."""
    each = _by_name(containers_of(pod.spec))
    devices, ordinary, most = [], [], []
    for name, taken in sorted(_taken(pod.spec, each).items()):
        if taken <= 0:
            continue
        if name in ORDINARY or (name.startswith(PREFIX) and page_size(name)):
            ordinary.append((name, taken))
        elif _is_counted(name) and taken.denominator == 1:
            devices.append((name, int(taken)))
            of_one = (amount for _, amount in each.get(name, ()))
            most.append((name, int(max(of_one, default=0))))
    return Amounts(tuple(devices), tuple(ordinary), tuple(most))


def taken_of(spec: Mapping[str, Any]) -> dict[str, Fraction]:
    """What a Pod holds at once of each resource, by the spec of the Pod.

    Source: https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/
    """
    return _taken(spec, _by_name(containers_of(spec)))


def _taken(spec: Mapping[str, Any], each: _ByName) -> dict[str, Fraction]:
    # Containers that ask for none change nothing; what the Pod itself asks for comes first.
    of_containers = {name: Fraction(taken_at_once(some)) for name, some in each.items()}
    found = of_containers | _asked_of(mapping(spec, "resources"))
    for name, amount in _amounts(mapping(spec, "overhead")).items():
        found[name] = found.get(name, Fraction(0)) + amount
    return found


def _by_name(containers: Iterable[Container]) -> _ByName:
    found: _ByName = {}
    for one in containers:
        for name, amount in _asked_of(mapping(one.content, "resources")).items():
            found.setdefault(name, []).append((one, amount))
    return found


def _is_counted(name: str) -> bool:
    """Whether a resource is counted in devices, by plugins or by a DeviceClass.

    What has a domain of Kubernetes' own is none that plugins offer, and the scheduler counts it.
    """
    return _OWN_DOMAIN in name or is_extended_resource(name)


def _asked_of(resources: Mapping[str, Any]) -> dict[str, Fraction]:
    """Requests; a limit alone is its own request."""
    return _amounts({**mapping(resources, "limits"), **mapping(resources, "requests")})


def _amounts(given: Mapping[Any, Any]) -> dict[str, Fraction]:
    known = {name: quantity_of(one) for name, one in given.items() if isinstance(name, str)}
    return {name: one for name, one in known.items() if one is not None}


def amount_faults(pod: PodTemplate) -> Iterator[tuple[Steps, Finding]]:
    """Amounts that the API server refuses, with the steps to each from the Pod's spec."""
    for one in pod.containers:
        path = path_of((*one.steps, "resources"))
        resources = mapping(one.content, "resources")
        limits, requests = mapping(resources, "limits"), mapping(resources, "requests")
        for found in extended_faults(one.name, path, limits, requests):
            yield steps_of(found.path), found
        for field_name, amounts in (("limits", limits), ("requests", requests)):
            for name, value in amounts.items():
                if _is_no_amount(name, value, told=field_name == "limits"):
                    steps = (*one.steps, "resources", field_name, name)
                    yield steps, _malformed(path_of(steps), name, value)


def _is_no_amount(name: object, value: object, *, told: bool) -> bool:
    """Whether a value is no quantity; of limits of extended resources it is told already."""
    if not isinstance(name, str) or (told and is_extended_resource(name)):
        return False
    if name == "claims":
        # It is at the wrong place, which a rule tells.
        return False
    amount = quantity_of(value)
    return value is not None and (amount is None or amount < 0)


def _as_amount(name: str, value: object) -> str:
    """What to write for an amount of a resource that is none."""
    if name == CPU:
        return amount_meant(value, otherwise="a number of CPUs, such as 2 or 500m")
    return amount_meant(value, otherwise="the number") if _is_counted(name) else amount_meant(value)


def _malformed(path: str, name: str, value: object) -> Finding:
    return fault(
        "MalformedQuantity",
        path,
        "this is no amount that Kubernetes reads",
        got=AsYaml(value),
        allowed='an amount such as "4", "500m" or "16Gi"',
        fix=_as_amount(name, value),
        source=_PAGE,
    )
