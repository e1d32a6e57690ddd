"""The kubelets of a cluster: they join, say that they live, and heed their Pods."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http import HTTPStatus
from types import TracebackType
from typing import Final, Self

import urllib3

from eks_devices import NodegroupPlan
from eks_devices.vocabulary import ManagerKey

from .client import Api, ApiError, Object
from .kubelet import Kubelet

_SECONDS_BETWEEN_BEATS: Final = 10
_SECONDS_AFTER_A_FAULT: Final = 0.1
_PODS: Final = "/api/v1/pods"


class Kubelets:
    """Kubelets that are at work while this is entered.

    Attributes:
        faults: What went wrong on nodes, in words: a driver that may not publish, or two managers
            of one device type. A test that does not look here proves little.
    """

    def __init__(self, api: Api) -> None:
        self.faults: list[str] = []
        self._api = api
        self._nodes: dict[str, Kubelet] = {}
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        """Begin to heed Pods."""
        for work in (self._heed_pods, self._beat):
            threading.Thread(target=work, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the work, a watch with its next event; the nodes stay as they are."""
        self._ended.set()

    def join(self, node: Object, group: NodegroupPlan | None = None) -> None:
        """Register a node; one of a planned group offers devices when their managers run.

        Raises:
            ApiError: The API server does not let the node in.
        """
        kubelet = Kubelet(self._api, node["metadata"]["name"], group, self.faults)
        # Before it registers: its Pods may come at once.
        self._nodes[kubelet.name] = kubelet
        try:
            kubelet.register(node)
        except ApiError:
            del self._nodes[kubelet.name]
            raise

    def leave(self, name: str) -> None:
        """Take a node out of the cluster, with the Pods on it."""
        self._nodes.pop(name).withdraw()

    def names(self) -> tuple[str, ...]:
        """The nodes that joined and did not leave."""
        return tuple(self._nodes)

    def managers(self, name: str) -> tuple[ManagerKey, ...]:
        """The managers that run on a node, that of its operating system too."""
        return self._nodes[name].managers

    def _beat(self) -> None:
        while not self._ended.wait(_SECONDS_BETWEEN_BEATS):
            for kubelet in list(self._nodes.values()):
                self._try(kubelet.beat, f"the lease of node {kubelet.name}")

    def _heed_pods(self) -> None:
        while not self._ended.is_set():
            self._try(self._heed_all, "the Pods")
            self._ended.wait(_SECONDS_AFTER_A_FAULT)

    def _try(self, work: Callable[[], None], what: str) -> None:
        """Do a piece of work; a thread that died would be missed by nobody."""
        try:
            work()
        except urllib3.exceptions.HTTPError:
            # A connection may end at any time, and what was missed is in the next list.
            pass
        except Exception as error:  # noqa: BLE001
            gone = isinstance(error, ApiError) and error.code == HTTPStatus.NOT_FOUND
            if not gone and not self._ended.is_set():
                self.faults.append(f"{what}: {error!r}")

    def _heed_all(self) -> None:
        answer = self._api.request("GET", _PODS)
        uids = {pod["metadata"]["uid"] for pod in answer["items"]}
        for kubelet in list(self._nodes.values()):
            kubelet.forget_all_but(uids)
        for pod in answer["items"]:
            self._heed(pod)
        for event in self._api.watch(_PODS, answer["metadata"]["resourceVersion"]):
            if self._ended.is_set() or event["type"] == "ERROR":
                return
            self._heed(event["object"], gone=event["type"] == "DELETED")

    def _heed(self, pod: Object, *, gone: bool = False) -> None:
        kubelet = self._nodes.get(pod["spec"].get("nodeName", ""))
        if kubelet is not None:
            kubelet.heed({"apiVersion": "v1", "kind": "Pod"} | pod, gone=gone)
