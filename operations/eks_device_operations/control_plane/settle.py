"""Applying and removing many objects, and waiting until a cluster has made up its mind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final

from .client import Api, ApiError, Object

_SECONDS: Final = 30
_SECONDS_BETWEEN_LOOKS: Final = 0.1
_QUIET_SECONDS: Final = 1.0
_NOT_FOUND: Final = 404


def wait_for(holds: Callable[[], Any], what: str, *, seconds: float = _SECONDS) -> Any:
    """Wait until a question is answered with something true, and return the answer.

    Raises:
        TimeoutError: It is not after so many seconds; the message says `what` was waited for.
    """
    deadline = time.monotonic() + seconds
    while not (answer := holds()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {seconds:.0f} s, still waiting: {what}")
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    return answer


def apply_all(api: Api, items: Iterable[Object]) -> list[Object]:
    """Apply objects in their order, each CRD until it is served; what the server made of them."""
    made = []
    for item in items:
        made.append(api.apply(item))
        if item["kind"] == "CustomResourceDefinition":
            wait_for(partial(_is_served, api, item), f"{item['metadata']['name']} served")
    return made


def delete_all(api: Api, items: Sequence[Object]) -> None:
    """Delete objects, last first, and wait until none is there any more."""
    for item in reversed(items):
        api.delete(item)
    for item in items:
        wait_for(partial(_is_gone, api, item), f"{item['kind']} {item['metadata']['name']} gone")


def settle(api: Api, *, seconds: float = _SECONDS) -> None:
    """Wait until every DaemonSet has its Pods where it wants them, and keeps them for a moment.

    The moment is there because a controller takes some to see a node that just joined; until then
    it is content with what it has.

    Raises:
        TimeoutError: Some have not; with their names.
    """
    deadline = time.monotonic() + seconds
    quiet_since, last = time.monotonic(), ""
    while time.monotonic() < quiet_since + _QUIET_SECONDS:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
        sets = api.list("apps/v1", "DaemonSet")
        waiting = [one["metadata"]["name"] for one in sets if not _has_its_pods(one)]
        if waiting and time.monotonic() > deadline:
            raise TimeoutError(f"after {seconds:.0f} s, without their Pods: {', '.join(waiting)}")
        now = repr([(one["metadata"]["uid"], one["status"]) for one in sets])
        if waiting or now != last:
            quiet_since, last = time.monotonic(), now


def _has_its_pods(item: Object) -> bool:
    status = item["status"]
    wanted = status["desiredNumberScheduled"]
    return bool(
        status.get("observedGeneration") == item["metadata"]["generation"]
        and status.get("numberMisscheduled", 0) == 0
        and status.get("numberReady", 0) == wanted
        and status.get("updatedNumberScheduled", 0) == wanted
    )


def _is_served(api: Api, crd: Object) -> bool:
    found = api.get(crd) or {}
    conditions = found.get("status", {}).get("conditions") or ()
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)


def _is_gone(api: Api, item: Object) -> bool:
    try:
        return api.get(item) is None
    except ApiError as error:
        # The objects of a CRD that is gone have no path any more.
        if error.code == _NOT_FOUND:
            return True
        raise
