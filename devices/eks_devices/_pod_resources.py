"""Extended resources among the limits and requests of a container."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ._yaml_text import AsYaml, wrong_in_manifest
from .findings import Finding, fault
from .quantities import quantity_of
from .typecheck import is_number_token, is_token

_WANTED: Final = "a whole number"
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
            yield from _not_whole(limit, f"{path}.limits[{name!r}]")
    for name, request in requests.items():
        if _is_extended(name) and request is not None and _differ(request, limits.get(name)):
            yield _not_equal(container, path, name, request, limits.get(name))


def _is_extended(name: object) -> bool:
    """Whether Kubernetes counts a resource, and does not know it itself."""
    if not isinstance(name, str) or name.startswith("requests."):
        return False
    return "/" in name and "kubernetes.io/" not in name


def _not_whole(limit: object, path: str) -> Iterator[Finding]:
    if is_token(limit) or is_number_token(limit):
        return
    fix = "write the number"
    if isinstance(limit, (bool, float, list, tuple, dict)):
        yield wrong_in_manifest(path, limit, _WANTED, fix)
    elif isinstance(limit, (int, str)):
        amount = quantity_of(limit)
        if amount is None or amount < 0 or amount.denominator != 1:
            message = "devices are counted in whole numbers"
            code = "MalformedQuantity"
            got = AsYaml(limit)
            yield fault(code, path, message, got=got, allowed=_WANTED, fix=fix, source=_PAGE)


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
    return fault(
        "RequestNotEqualToLimit",
        f"{path}.requests[{name!r}]",
        f"the API server takes a request of container {container} for {name} only with an "
        "equal limit",
        got=AsYaml({"request": request, "limit": limit}),
        allowed="a limit alone, or the same amount as limit and request",
        fix=f"write {name} among the limits of {container}; the request follows from it",
        source=_PAGE,
    )
