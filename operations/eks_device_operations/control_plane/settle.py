"""Applying and removing many objects, and waiting until a cluster has made up its mind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, TypeVar

from .client import Api, ApiError, Object

T = TypeVar("T")

_SECONDS: Final = 60
_SECONDS_BETWEEN_LOOKS: Final = 0.1
_QUIET_SECONDS: Final = 1.0


def wait_for(holds: Callable[[], T], what: str, *, seconds: float = _SECONDS) -> T:
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
    it is content with what it has. Pods that are on their way out are waited for as well.

    Raises:
        TimeoutError: Some have not; with the names of what is waited for.
    """
    deadline = time.monotonic() + seconds
    quiet_since, last = time.monotonic(), ""
    while time.monotonic() < quiet_since + _QUIET_SECONDS:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
        sets, pods = api.list("apps/v1", "DaemonSet"), api.list("v1", "Pod")
        waiting = [*_without_their_pods(sets), *_leaving(pods, sets)]
        if waiting and time.monotonic() > deadline:
            raise TimeoutError(f"after {seconds:.0f} s, still on the way: {', '.join(waiting)}")
        now = repr([(one["metadata"]["uid"], one["status"]) for one in sets])
        if waiting or now != last:
            quiet_since, last = time.monotonic(), now


def _without_their_pods(sets: Sequence[Object]) -> list[str]:
    return [one["metadata"]["name"] for one in sets if not _has_its_pods(one)]


def _leaving(pods: Sequence[Object], sets: Sequence[Object]) -> list[str]:
    """Pods that are being deleted, or will be, since their DaemonSet is gone."""
    there = {one["metadata"]["uid"] for one in sets}
    return [
        pod["metadata"]["name"]
        for pod in pods
        if "deletionTimestamp" in pod["metadata"]
        or any(
            owner["kind"] == "DaemonSet" and owner["uid"] not in there
            for owner in pod["metadata"].get("ownerReferences", ())
        )
    ]


def _is_gone(api: Api, item: Object) -> bool:
    return api.get(item) is None


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
    """Whether requests for the kind of a CRD find it; that it is established comes a bit before."""
    spec = crd["spec"]
    version = f"{spec['group']}/{spec['versions'][0]['name']}"
    try:
        api.collection(version, spec["names"]["kind"])
    except ApiError:
        return False
    return True
