"""What happens to the Pods of a rehearsal, while it happens; what a kubelet would do is played."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

import urllib3

from ..control_plane import Api, ApiError
from .workloads import MARK

_PODS: Final = "/api/v1/pods"
_SECONDS_AFTER_A_FAULT: Final = 0.1
_READY: Final = ("PodScheduled", "Initialized", "ContainersReady", "Ready")


@dataclass(frozen=True, slots=True, kw_only=True)
class PodState:
    """A Pod as it is: on a node, refused by the scheduler, or neither yet.

    Attributes:
        workload: The number of its workload.
        namespace: Its namespace.
        name: Its name.
        node: Where it is; empty while it has no node.
        reason: The scheduler's word for a refusal; empty without one.
        message: What it says of it.
        spec: Its spec, as the API server completed it.
        claims: The ResourceClaims of its spec that were made for it, by their names there; that
            for its extended resources has an empty name.
    """

    workload: int
    namespace: str
    name: str
    node: str
    reason: str
    message: str
    spec: Mapping[str, Any]
    claims: Mapping[str, str]

    @property
    def standing(self) -> tuple[str, str]:
        """What stays as it is once the scheduler has made up its mind."""
        return self.node, self.reason


class PodWatch:
    """Follows the Pods of the workloads while it is entered.

    Attributes:
        evicted: How many Pods of each workload had a node and lost it to others.
    """

    def __init__(self, api: Api) -> None:
        self.evicted: dict[int, int] = {}
        self._api = api
        self._states: dict[str, PodState] = {}
        self._leaving: set[str] = set()
        self._changed = time.monotonic()
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        """Begin to follow Pods."""
        threading.Thread(target=self._follow, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it, with the next event."""
        self._ended.set()

    def pods(self) -> list[PodState]:
        """The Pods that are there and stay."""
        with self._lock:
            return list(self._states.values())

    def quiet_seconds(self) -> float:
        """For how long no Pod came, went, got a node or was refused for another reason."""
        with self._lock:
            return time.monotonic() - self._changed

    def _follow(self) -> None:
        while not self._ended.is_set():
            try:
                self._follow_once()
            except (ApiError, urllib3.exceptions.HTTPError, ValueError):
                # What was missed is in the next list.
                self._ended.wait(_SECONDS_AFTER_A_FAULT)

    def _follow_once(self) -> None:
        answer = self._api.request("GET", _PODS)
        there = {pod["metadata"]["uid"] for pod in answer["items"]}
        for uid in set(self._states) - there:
            self._forget(uid)
        for pod in answer["items"]:
            self._note(pod)
        for event in self._api.watch(_PODS, answer["metadata"]["resourceVersion"]):
            if self._ended.is_set() or event["type"] == "ERROR":
                return
            if event["type"] == "DELETED":
                self._forget(event["object"]["metadata"]["uid"])
            else:
                self._note(event["object"])

    def _note(self, pod: Mapping[str, Any]) -> None:
        meta = pod["metadata"]
        mark = meta.get("annotations", {}).get(MARK, "")
        if not mark.isdecimal():
            return
        uid, state = meta["uid"], _state(pod, int(mark))
        if "deletionTimestamp" in meta:
            self._let_go(pod, state)
            return
        with self._lock:
            before = self._states.get(uid)
            self._states[uid] = state
            if before is None or before.standing != state.standing:
                self._changed = time.monotonic()
        if state.node and (before is None or not before.node) and _is_in_order(pod):
            self._api.merge(f"{_path(state)}/status", {"status": _running()})

    def _let_go(self, pod: Mapping[str, Any], state: PodState) -> None:
        """End a Pod that has to go, as its kubelet would."""
        uid = pod["metadata"]["uid"]
        if uid in self._leaving:
            return
        self._leaving.add(uid)
        self._forget(uid)
        if state.node:
            self.evicted[state.workload] = self.evicted.get(state.workload, 0) + 1
        self._api.delete({"apiVersion": "v1", "kind": "Pod"} | dict(pod), gracePeriodSeconds=0)

    def _forget(self, uid: str) -> None:
        with self._lock:
            if self._states.pop(uid, None) is not None:
                self._changed = time.monotonic()


def _state(pod: Mapping[str, Any], workload: int) -> PodState:
    meta, spec, status = pod["metadata"], pod["spec"], pod.get("status", {})
    refusal = next(_refusals(status), {})
    return PodState(
        workload=workload,
        namespace=meta["namespace"],
        name=meta["name"],
        node=spec.get("nodeName", ""),
        reason=refusal.get("reason", ""),
        message=refusal.get("message", ""),
        spec=spec,
        claims=dict(_claims(spec, status)),
    )


def _refusals(status: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    for one in status.get("conditions", ()):
        if one["type"] == "PodScheduled" and one["status"] == "False":
            yield one


def _claims(spec: Mapping[str, Any], status: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for one in spec.get("resourceClaims", ()):
        if name := one.get("resourceClaimName"):
            yield one["name"], name
    for one in status.get("resourceClaimStatuses", ()):
        if name := one.get("resourceClaimName"):
            yield one["name"], name
    if extended := status.get("extendedResourceClaimStatus"):
        yield "", extended["resourceClaimName"]


def _is_in_order(pod: Mapping[str, Any]) -> bool:
    """Whether a Pod is of a StatefulSet, which waits for each before it makes the next."""
    owners = pod["metadata"].get("ownerReferences", ())
    return any(one["kind"] == "StatefulSet" for one in owners)


def _path(state: PodState) -> str:
    return f"/api/v1/namespaces/{state.namespace}/pods/{state.name}"


def _running() -> Mapping[str, Any]:
    conditions = [{"type": one, "status": "True"} for one in _READY]
    return {"phase": "Running", "conditions": conditions}
