"""A kubelet without a machine: it runs Pods in words, and gives their devices to its node.

It acts as its node, and a DRA driver acts with the token of its Pod, so the API server judges both
as it does in a real cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final

from eks_devices import Mechanism, NodegroupPlan
from eks_devices.names import DRIVERS
from eks_devices.resource_slices import resource_slices
from eks_devices.vocabulary import ManagerKey

from .client import Api, ApiError, Object
from .manager_pods import built_in_manager, manager_of, registered_resources, served_device

_LEASE_SECONDS: Final = 40
_NAMESPACE: Final = "kube-node-lease"
_SLICES: Final = "/apis/resource.k8s.io/v1/resourceslices"
_THE_SYSTEM: Final = "the operating system"


class Kubelet:
    """The kubelet of one node.

    Attributes:
        name: The name of its node.
        group: The plan of the node's group; None for a node that no plan knows.
        faults: Where it writes what went wrong, in words.
    """

    def __init__(self, api: Api, name: str, group: NodegroupPlan | None, faults: list[str]) -> None:
        self.name = name
        self.group = group
        self.faults = faults
        self._administrator = api
        self._api = api.as_user(f"system:node:{name}", "system:nodes")
        # By the Pod's uid.
        self._managers: dict[str, ManagerKey] = {}

    @property
    def managers(self) -> tuple[ManagerKey, ...]:
        """The managers that run on the node, that of its operating system too."""
        return tuple(sorted(self._managers.values()))

    def register(self, node: Object) -> None:
        """Join the cluster.

        Raises:
            ApiError: The API server does not let the node in.
        """
        spec = {"holderIdentity": self.name, "leaseDurationSeconds": _LEASE_SECONDS}
        self._api.create(self._lease | {"spec": spec | {"renewTime": _now()}})
        try:
            self._api.create(node)
        except ApiError:
            self._administrator.delete(self._lease)
            raise
        if self.group is not None and (built_in := built_in_manager(self.group)):
            self._start(_THE_SYSTEM, built_in, None)

    def beat(self) -> None:
        """Say that the node lives."""
        self._api.merge(self._api.path(self._lease), {"spec": {"renewTime": _now()}})

    def withdraw(self) -> None:
        """Leave the cluster with every Pod of the node, as when its instance is terminated."""
        api, of_node = self._administrator, f"spec.nodeName={self.name}"
        # The node goes first: while it is there, its DaemonSets make new Pods for it.
        api.delete({"apiVersion": "v1", "kind": "Node", "metadata": {"name": self.name}})
        for pod in api.list("v1", "Pod", fieldSelector=of_node):
            api.delete({"apiVersion": "v1", "kind": "Pod"} | pod, gracePeriodSeconds=0)
        for item in api.list("resource.k8s.io/v1", "ResourceSlice", fieldSelector=of_node):
            api.delete({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice"} | item)
        api.delete(self._lease)

    @property
    def _lease(self) -> Object:
        meta = {"name": self.name, "namespace": _NAMESPACE}
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta}

    def forget_all_but(self, uids: Collection[str]) -> None:
        """Stop the managers whose Pods are gone, in case nobody said so."""
        for uid in set(self._managers) - {*uids, _THE_SYSTEM}:
            self._stop(uid)

    def heed(self, pod: Object, *, gone: bool = False) -> None:
        """Do what a change of one of the node's Pods asks for."""
        meta = pod["metadata"]
        try:
            if gone:
                self._stop(meta["uid"])
            elif "deletionTimestamp" in meta:
                self._api.delete(pod, gracePeriodSeconds=0)
            elif pod["status"]["phase"] == "Pending":
                self._run(pod)
        except ApiError as error:
            # A Pod, or the node itself, may be gone by now.
            if error.code != HTTPStatus.NOT_FOUND:
                self._report(f"Pod {meta['namespace']}/{meta['name']}: {error}")

    def _run(self, pod: Object) -> None:
        meta = pod["metadata"]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/status"
        # A manager is ready when its node has the devices, as one with a probe is.
        if (key := manager_of(pod)) is not None:
            self._start(meta["uid"], key, pod)
        self._api.merge(path, {"status": _running(pod)})

    def _start(self, uid: str, key: ManagerKey, pod: Object | None) -> None:
        if uid in self._managers:
            return
        who = _words(key)
        if others := [other for other in self.managers if other[0] is key[0]]:
            self._report(f"{who} beside {', '.join(map(_words, others))}")
        device = served_device(self.group, key)
        if self.group is None or device is None:
            self._report(f"{who} has nothing to manage here")
        elif key[1] is Mechanism.DEVICE_PLUGIN:
            self._offer(registered_resources(self.group, key[0]))
        else:
            for item in resource_slices(self.group, device, node=self.name):
                self._publish(item, pod)
        self._managers[uid] = key

    def _stop(self, uid: str) -> None:
        key = self._managers.pop(uid, None)
        if key is None or self.group is None:
            return
        if key[1] is Mechanism.DEVICE_PLUGIN:
            self._offer(dict.fromkeys(registered_resources(self.group, key[0]), 0))
        else:
            mine = f"spec.nodeName={self.name},spec.driver={DRIVERS[key[0]]}"
            self._api.request("DELETE", _SLICES, query={"fieldSelector": mine})

    def _publish(self, item: Object, pod: Object | None) -> None:
        """Publish as the driver: with the token of its Pod, or as the node that runs it itself."""
        driver = self._api
        if pod is not None:
            driver = self._administrator.with_token(pod_token(self._administrator, pod))
        node = self._administrator.request("GET", f"/api/v1/nodes/{self.name}")
        owner = {"apiVersion": "v1", "kind": "Node", "name": self.name}
        item["metadata"]["ownerReferences"] = [owner | {"uid": node["metadata"]["uid"]}]
        driver.create(item)
        for warning in driver.warnings:
            self._report(f"{item['metadata']['name']}: {warning}")
        driver.pool.clear()

    def _offer(self, resources: Mapping[str, int]) -> None:
        amounts = {name: str(count) for name, count in resources.items()}
        status = {"capacity": amounts, "allocatable": amounts}
        self._api.merge(f"/api/v1/nodes/{self.name}/status", {"status": status})

    def _report(self, what: str) -> None:
        self.faults.append(f"node {self.name}: {what}")


def pod_token(api: Api, pod: Object) -> str:
    """A token as a kubelet puts it into a Pod: it names the Pod, and the Pod's node.

    Args:
        api: An administrator's client.
        pod: The Pod, bound to a node.
    """
    meta, account = pod["metadata"], pod["spec"]["serviceAccountName"]
    path = f"/api/v1/namespaces/{meta['namespace']}/serviceaccounts/{account}/token"
    bound = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}
    answer = api.request("POST", path, {"spec": {"boundObjectRef": bound}})
    return str(answer["status"]["token"])


def _words(key: ManagerKey) -> str:
    return f"a manager of {key[0]} by {key[1]}"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _running(pod: Object) -> Object:
    started = _now()
    conditions = ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    return {
        "phase": "Running",
        "startTime": f"{started[:19]}Z",
        "conditions": [{"type": one, "status": "True"} for one in conditions],
        "containerStatuses": [
            {
                "name": container["name"],
                "image": container["image"],
                "imageID": "",
                "ready": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": f"{started[:19]}Z"}},
            }
            for container in pod["spec"]["containers"]
        ],
    }
