"""Extended resources among the limits and requests of a container."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final, TypeGuard

from ._yaml_text import AsYaml, wrong_in_manifest
from .findings import Finding, fault
from .names import GPU_RESOURCE, NEURON_CORE_RESOURCE, NEURON_RESOURCE
from .quantities import quantity_of
from .syntax import is_extended_resource
from .typecheck import is_number_token, is_token

_WANTED: Final = "a whole number"
# How Pods get less than a whole device.
_LESS_THAN_ONE: Final = {
    GPU_RESOURCE: "; for less than a whole GPU let Pods share one by the node group's gpu_sharing= "
    "(time-slicing or MPS), or where GPUs are claimed by one ResourceClaim that all of them name, "
    "or cut GPUs that can be into MIG partitions by the group's mig=",
    NEURON_RESOURCE: f"; a core alone is {NEURON_CORE_RESOURCE}",
}
_PAGE: Final = "https://kubernetes.io/docs/tasks/configure-pod-container/extended-resource/"


def extended_faults(
    container: str, path: str, limits: Mapping[Any, Any], requests: Mapping[Any, Any]
) -> Iterator[Finding]:
    """Faults of amounts of devices, and of other extended resources, that the API server refuses.

    Nobody can take more of such a resource than he asked for, so a request needs a limit, the
    same one; a limit alone is its own request. They are counted in whole numbers.

    Args:
        container: The name of the container.
        path: Names its resources in faults.
        limits: Its limits.
        requests: Its requests.
    """
    for name, limit in limits.items():
        if _is_extended(name):
            yield from _not_whole(name, limit, f"{path}.limits[{name!r}]")
    for name, request in requests.items():
        if _is_extended(name) and request is not None and _differ(request, limits.get(name)):
            yield _not_equal(container, path, name, request, limits.get(name))


def _is_extended(name: object) -> TypeGuard[str]:
    return isinstance(name, str) and is_extended_resource(name)


def _not_whole(name: str, limit: object, path: str) -> Iterator[Finding]:
    if is_token(limit) or is_number_token(limit):
        return
    if isinstance(limit, (bool, list, tuple, dict)):
        yield wrong_in_manifest(path, limit, _WANTED, "write the number")
    elif isinstance(limit, (int, float, str)):
        amount = quantity_of(limit)
        if amount is None or amount < 0 or amount.denominator != 1:
            message = "devices are counted in whole numbers"
            code, fix, got = "MalformedQuantity", _whole(name, amount), AsYaml(limit)
            yield fault(code, path, message, got=got, allowed=_WANTED, fix=fix, source=_PAGE)


def _whole(name: str, amount: Fraction | None) -> str:
    """What to write for a number of devices that is none."""
    if amount is None or amount <= 0:
        return "write the number"
    return f"ask for {math.ceil(amount)}{_LESS_THAN_ONE.get(name, '')}"


def _differ(request: object, limit: object) -> bool:
    """Whether two amounts are known to differ; no limit differs from every request."""
    if limit is None:
        return True
    if any(is_token(one) or is_number_token(one) for one in (request, limit)):
        return False
    amounts = quantity_of(request), quantity_of(limit)
    # What is no quantity has another fault.
    return None not in amounts and amounts[0] != amounts[1]


def _not_equal(container: str, path: str, name: str, request: object, limit: object) -> Finding:
    what = f"write {name}" if limit is None else f"leave the request out, and write {name} once"
    return fault(
        "RequestNotEqualToLimit",
        f"{path}.requests[{name!r}]",
        f"the API server takes a request of container {container} for {name} only with an "
        "equal limit",
        got=AsYaml({"request": request, "limit": limit}),
        allowed="a limit alone, or the same amount as limit and request",
        fix=f"{what} among the limits of {container}; the request follows from it",
        source=_PAGE,
    )
