"""What a Pod asks for beside claims, summed over its containers as the scheduler does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from .._pod_resources import extended_faults
from .._pod_specs import taken_at_once
from ..findings import Finding, fault
from ..names import CLASS_RESOURCES
from ..quantities import quantity_of
from .documents import Steps, mapping, path_of, steps_of
from .pods import Container, PodTemplate

CPU, MEMORY, HUGE_PAGES = "cpu", "memory", "hugepages-2Mi"
_ORDINARY: Final = (CPU, MEMORY, HUGE_PAGES)
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
    by_name: dict[str, list[tuple[Container, Fraction]]] = {}
    for one in pod.containers:
        for name, amount in _asked(one).items():
            by_name.setdefault(name, []).append((one, amount))
    of_pod = _asked_of(mapping(pod.spec, "resources"))
    devices, ordinary, most = [], [], []
    for name in sorted(by_name.keys() | of_pod.keys()):
        # Containers that ask for none change nothing.
        each = by_name.get(name, [])
        taken = of_pod.get(name) if name in of_pod else taken_at_once(each)
        if not taken or taken < 0:
            continue
        if name in _ORDINARY:
            ordinary.append((name, Fraction(taken)))
        elif is_extended(name) and Fraction(taken).denominator == 1:
            devices.append((name, int(taken)))
            most.append((name, int(max((amount for _, amount in each), default=0))))
    return Amounts(tuple(devices), tuple(ordinary), tuple(most))


def is_extended(name: str) -> bool:
    """Whether a resource is one that managers of devices bring."""
    if name.startswith(CLASS_RESOURCES):
        return True
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def _asked(container: Container) -> dict[str, Fraction]:
    return _asked_of(mapping(container.content, "resources"))


def _asked_of(resources: Mapping[str, Any]) -> dict[str, Fraction]:
    """Requests; a limit alone is its own request."""
    found = {**mapping(resources, "limits"), **mapping(resources, "requests")}
    known = {name: _quantity(one) for name, one in found.items() if isinstance(name, str)}
    return {name: one for name, one in known.items() if one is not None}


def _quantity(value: object) -> Fraction | None:
    """An amount; a number with a fraction is as good as its text."""
    return quantity_of(str(value) if isinstance(value, float) else value)


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
                    yield steps, _malformed(path_of(steps), value)


def _is_no_amount(name: object, value: object, *, told: bool) -> bool:
    """Whether a value is no quantity, and nobody has told so: limits of devices are told of."""
    if not isinstance(name, str) or (told and "/" in name and is_extended(name)):
        return False
    amount = _quantity(value)
    return value is not None and (amount is None or amount < 0)


def _malformed(path: str, value: object) -> Finding:
    return fault(
        "MalformedQuantity",
        path,
        "this is no amount that Kubernetes reads",
        got=value,
        allowed='an amount such as "4", "500m" or "16Gi"',
        fix="write the number and the unit without blanks",
        source=_PAGE,
    )
