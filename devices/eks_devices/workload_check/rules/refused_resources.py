"""Huge pages that the API server refuses, and a resource that nobody offers any more."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from ...findings import question
from ...names import NEURON_CORE_RESOURCE, NEURON_RESOURCE, RETIRED_NEURON_RESOURCE
from ...quantities import amount_shown, quantity_of
from ...vocabulary import DeviceType, Mechanism
from ..documents import Steps
from ..huge_pages import PREFIX, page_size, pages_meant
from ..pods import Container
from .asking import amounts, asks_for
from .context import Context, Told
from .readable import UNKNOWN

_BESIDE: Final = ("cpu", "memory")
_PAGES: Final = "https://kubernetes.io/docs/tasks/manage-hugepages/scheduling-hugepages/"
_PLUGIN: Final = "https://docs.aws.amazon.com/eks/latest/userguide/device-management-neuron.html"


def huge_pages(context: Context) -> Iterator[Told]:
    """Huge pages have one amount as limit and request, in whole pages, beside memory or cpu."""
    for container in context.containers:
        limits, requests = amounts(container)
        names = dict.fromkeys(one for one in (*limits, *requests) if one.startswith(PREFIX))
        steps = (*container.steps, "resources")
        for name in names:
            yield from _size_faults(context, container, name)
        if names and not any(one in limits or one in requests for one in _BESIDE):
            yield context.error(
                steps,
                "HugePagesNeedMemory",
                "the API server takes huge pages only beside memory or cpu of the same container",
                got=[*names],
                allowed="a container with memory or cpu among its requests or limits",
                fix="add memory to the requests of the container",
                source=_PAGES,
            )


def _size_faults(context: Context, container: Container, name: str) -> Iterator[Told]:
    limits, requests = amounts(container)
    limit, request = limits.get(name), requests.get(name)
    if UNKNOWN in (limit, request):
        return
    page = page_size(name)
    for field, given in (("limits", limit), ("requests", request)):
        steps = (*container.steps, "resources", field, name)
        if given is not None and page and not _is_multiple(given, page):
            yield _no_whole_pages(context, steps, name, given)
            return
    if request is not None and quantity_of(request) != quantity_of(limit):
        yield context.error(
            (*container.steps, "resources", "requests", name),
            "HugePagesNotEqual",
            "the API server takes huge pages only where request and limit are the same",
            got={"request": request, "limit": limit},
            allowed="a limit alone, or the same amount as limit and request",
            fix=f"write {name} among the limits; the request follows from it",
            source=_PAGES,
        )


def _is_multiple(given: Any, page: Fraction) -> bool:
    amount = quantity_of(given)
    # What is no amount at all is told of with those of other resources.
    return amount is None or amount < 0 or amount % page == 0


def _no_whole_pages(context: Context, steps: Steps, name: str, given: Any) -> Told:
    return context.error(
        steps,
        "MalformedQuantity",
        "huge pages are counted in whole ones; a number without a unit is one of bytes",
        got=given,
        allowed=f"a multiple of {name.removeprefix(PREFIX)} with its unit",
        fix=_whole_pages(name, given),
        source=_PAGES,
    )


def _whole_pages(name: str, given: Any) -> str:
    if (near := pages_meant(name)) != name:
        return question([near])
    amount, page = quantity_of(given), page_size(name)
    if amount is None or page is None or str(given).strip().isdigit():
        return 'write the amount with its unit, such as "5120Mi"'
    return f'write "{amount_shown(math.ceil(amount / page) * page)}"'


def retired_resources(context: Context) -> Iterator[Told]:
    """What the Neuron device plugin called devices once.

    Where DRA hands out all of them, Pods that no group serves are told to claim them.
    """
    kind = DeviceType.NEURON
    if context.groups_with(kind) == context.groups_with(kind, Mechanism.DRA) != []:
        return
    for container in context.containers:
        if asks_for(container, RETIRED_NEURON_RESOURCE.__eq__):
            limits, _ = amounts(container)
            field = "limits" if RETIRED_NEURON_RESOURCE in limits else "requests"
            yield context.error(
                (*container.steps, "resources", field, RETIRED_NEURON_RESOURCE),
                "RetiredResource",
                f"no device plugin offers {RETIRED_NEURON_RESOURCE} any more, so the Pod would "
                "wait for ever",
                got=RETIRED_NEURON_RESOURCE,
                allowed=f"{NEURON_RESOURCE} or {NEURON_CORE_RESOURCE}",
                fix=f"ask for {NEURON_RESOURCE}, which counts the same devices",
                source=_PLUGIN,
            )


RULES = (huge_pages, retired_resources)
