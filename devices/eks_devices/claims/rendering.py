"""Requests of claims as `resource.k8s.io/v1` has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .selectors import own_expressions

if TYPE_CHECKING:
    from .requests import DeviceRequest


def rendered_request(
    request: DeviceRequest, counts: Sequence[int | None], instance_type: str | None
) -> dict[str, Any]:
    """A request of a claim.

    Args:
        request: A request without faults.
        counts: The number of devices, of a list for each alternative; None for all.
        instance_type: Type of the nodes; None where they may be of any.
    """
    if not request.alternatives:
        (count,) = counts
        return {"name": request.name, "exactly": _exactly(request, count, instance_type)}
    pairs = zip(request.alternatives, counts, strict=True)
    options = [{"name": one.name} | _exactly(one, count, instance_type) for one, count in pairs]
    return {"name": request.name, "firstAvailable": options}


def _exactly(
    request: DeviceRequest, count: int | None, instance_type: str | None
) -> dict[str, Any]:
    exactly: dict[str, Any] = {
        "deviceClassName": request.kind.device_class,
        "allocationMode": str(request.allocation),
    }
    if count is not None:
        exactly["count"] = count
    expressions = [*own_expressions(request, instance_type), *map(str, request.selectors)]
    if expressions:
        exactly["selectors"] = [{"cel": {"expression": text}} for text in expressions]
    if request.memory is not None:
        exactly["capacity"] = {"requests": {"memory": request.memory}}
    if request.tolerations:
        exactly["tolerations"] = [one.to_dict() for one in request.tolerations]
    if request.admin_access:
        exactly["adminAccess"] = True
    return exactly


def asks(request: dict[str, Any]) -> list[dict[str, Any]]:
    """What a rendered request asks for: of a list, each alternative."""
    found: list[dict[str, Any]] = request.get("firstAvailable") or [request["exactly"]]
    return found


def most_counted(request: dict[str, Any]) -> int:
    """The most devices that a rendered request counts; those of All are not counted."""
    return max(int(one.get("count", 0)) for one in asks(request))
