"""Extended resources among the limits and requests of a container."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ._pod_specs import AMOUNTS, Container, PodSpec
from .findings import Finding, fault
from .quantities import quantity_of
from .typecheck import is_number_token, is_token

_LIMITS, _REQUESTS = AMOUNTS
_PAGE: Final = "https://kubernetes.io/docs/tasks/configure-pod-container/extended-resource/"


def unequal_requests(pod: PodSpec, wanted: Callable[[str], bool]) -> Iterator[Finding]:
    """Faults of requests for extended resources that the API server refuses, in any container.

    Nobody can take more of such a resource than he asked for, so a request needs a limit, the
    same one; a limit alone is its own request.

    Args:
        pod: The Pod spec.
        wanted: Whether the resource of a name is meant.
    """
    for container in pod.containers:
        limits, requests = pod.amounts(container)
        for name, request in requests.items():
            meant = isinstance(name, str) and request is not None and wanted(name)
            if meant and _differ(request, limits.get(name)):
                yield _not_equal(container, name, request, limits.get(name))


def _differ(request: object, limit: object) -> bool:
    """Whether two amounts are known to differ; no limit differs from every request."""
    if limit is None:
        return True
    if any(is_token(one) or is_number_token(one) for one in (request, limit)):
        return False
    amounts = quantity_of(request), quantity_of(limit)
    # What is no quantity has another fault.
    return None not in amounts and amounts[0] != amounts[1]


def _not_equal(container: Container, name: str, request: object, limit: object) -> Finding:
    return fault(
        "RequestNotEqualToLimit",
        f"{container.path}.resources.{_REQUESTS}[{name!r}]",
        f"the API server takes a request of container {container.name} for {name} only with an "
        "equal limit",
        got={"request": request, "limit": limit},
        allowed="a limit alone, or the same amount as limit and request",
        fix=f"write {name} among the {_LIMITS} of {container.name}; the request follows from it",
        source=_PAGE,
    )
