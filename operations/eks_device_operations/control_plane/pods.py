"""Pods that want devices: what they ask for, where they land, and what they are given."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from eks_devices import Mechanism, NodegroupPlan
from eks_devices.names import DRIVERS, NODEGROUP_LABEL

from .client import Api, Object
from .settle import wait_for

_RESOURCES: Final = "resource.k8s.io/v1"
# The scheduler looks again at a Pod when something changed, after a pause that is shorter.
_SECONDS_TO_LOOK_AGAIN: Final = 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the scheduler made of a Pod: a node, or why there is none.

    Attributes:
        node: The node; empty when the Pod is refused.
        reason: The scheduler's word for a refusal: `Unschedulable` when no node fits,
            `SchedulerError` when an error ended the attempt, whatever other nodes have.
        message: What it says of it.
    """

    node: str = ""
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A device that a claim holds.

    Attributes:
        request: The request of the claim that it answers.
        driver: Whose it is.
        pool: The driver's name for where it is, which is the node.
        device: Its name there.
        attributes: Its published attributes, each name with its domain.
    """

    request: str
    driver: str
    pool: str
    device: str
    attributes: Mapping[str, Any]


def make_namespace(api: Api, name: str) -> None:
    """Make a namespace, and wait until Pods can be made there."""
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
    wait_for(lambda: api.find(account), f"the default ServiceAccount of {name}")


def missing_devices(api: Api, nodes: Mapping[str, NodegroupPlan]) -> list[str]:
    """What nodes do not offer of their plan: `<node>: <driver or extended resource>`.

    Args:
        api: An administrator's client.
        nodes: The group of each node.
    """
    offered = {one["metadata"]["name"]: one["status"] for one in api.list("v1", "Node")}
    slices = [one["spec"] for one in api.list(_RESOURCES, "ResourceSlice")]
    published = {(one["nodeName"], one["driver"]) for one in slices}
    missing = [
        f"{name}: {driver}"
        for name, group in nodes.items()
        for driver in _drivers(group)
        if (name, driver) not in published
    ]
    return missing + [
        f"{name}: {resource}"
        for name, group in nodes.items()
        for resource, count in group.extended_resources.items()
        if offered[name]["allocatable"].get(resource) != str(count)
    ]


def wait_offered(api: Api, nodes: Mapping[str, NodegroupPlan]) -> None:
    """Wait until nodes offer every device of their plan.

    Raises:
        TimeoutError: Some do not after two minutes; with what is missing.
    """
    try:
        wait_for(lambda: not missing_devices(api, nodes), "devices", seconds=120)
    except TimeoutError as error:
        raise TimeoutError(f"{error}: {', '.join(missing_devices(api, nodes))}") from error


def _drivers(group: NodegroupPlan) -> list[str]:
    by_dra = (one for one in group.devices if one.mechanism is Mechanism.DRA)
    return [DRIVERS[one.device_type] for one in by_dra]


def claim(
    kind: str, name: str, *requests: Object, namespace: str = "default", match: str = ""
) -> Object:
    """A claim as somebody writes it whom nobody checks.

    Args:
        kind: `ResourceClaim` or `ResourceClaimTemplate`.
        name: Its name.
        requests: What it asks for, in the API's own words.
        namespace: Its namespace.
        match: The attribute that all devices must share; none when empty.
    """
    devices: Object = {"requests": list(requests)}
    if match:
        devices["constraints"] = [{"matchAttribute": match}]
    spec = {"devices": devices}
    return {
        "apiVersion": _RESOURCES,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec if kind == "ResourceClaim" else {"spec": spec},
    }


def pod(
    name: str,
    *,
    namespace: str = "default",
    group: NodegroupPlan | None = None,
    templates: Iterable[str] = (),
    claims: Iterable[str] = (),
    limits: Mapping[str, int] | None = None,
    containers: int = 1,
    **spec: Any,
) -> Object:
    """A Pod as a user writes it.

    Args:
        name: Its name.
        namespace: Its namespace.
        group: The node group that it selects, and whose taints it tolerates.
        templates: ResourceClaimTemplates that it has a claim made from.
        claims: ResourceClaims that it shares with others.
        limits: Extended resources of each container.
        containers: How many containers there are; all of them use every claim.
        spec: Whatever else its spec says.
    """
    asked = [{"resourceClaimTemplateName": one} for one in templates]
    asked += [{"resourceClaimName": one} for one in claims]
    named = [{"name": f"devices-{index}"} | one for index, one in enumerate(asked)]
    resources = {
        "claims": [{"name": one["name"]} for one in named],
        "limits": {key: str(count) for key, count in (limits or {}).items()},
    }
    container = {"image": "example.com/job", "resources": resources}
    place = {} if group is None else _place(group)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "containers": [{"name": f"job-{index}"} | container for index in range(containers)],
            "resourceClaims": named,
            **place,
            **spec,
        },
    }


def _place(group: NodegroupPlan) -> Object:
    keys = dict.fromkeys(taint.key for taint in group.taints)
    return {
        "nodeSelector": {NODEGROUP_LABEL: group.labels[NODEGROUP_LABEL]},
        "tolerations": [{"key": key, "operator": "Exists"} for key in keys],
    }


def decision(api: Api, item: Object) -> Decision | None:
    """What the scheduler made of a Pod so far."""
    found = api.get(item)
    if found is None:
        return None
    if node := found["spec"].get("nodeName"):
        return Decision(node=node)
    conditions = found["status"].get("conditions", ())
    scheduled = (one for one in conditions if one["type"] == "PodScheduled")
    refusal = next((one for one in scheduled if one["status"] == "False"), None)
    return refusal and Decision(reason=refusal["reason"], message=refusal["message"])


def wait_bound(api: Api, item: Object) -> str:
    """Wait until a Pod has a node, and return its name.

    Raises:
        TimeoutError: It has none after a while; with what the scheduler said last.
    """

    def bound() -> Decision | None:
        found = decision(api, item)
        return found if found and found.node else None

    try:
        found = wait_for(bound, f"a node for {item['metadata']['name']}")
    except TimeoutError as error:
        raise TimeoutError(f"{error}: {decision(api, item)}") from error
    return found.node if found else ""


def wait_decided(api: Api, *items: Object, look_again: bool = True) -> list[Decision]:
    """Wait until the scheduler has made up its mind about Pods.

    Args:
        api: An administrator's client.
        items: The Pods.
        look_again: Leave it the time for a second look at Pods that it refuses: it may not have
            heard yet of a change just before them.
    """
    names = ", ".join(item["metadata"]["name"] for item in items)

    def all_decided() -> list[Decision]:
        found = [decision(api, item) for item in items]
        return [one for one in found if one] if all(found) else []

    decided = wait_for(all_decided, f"a decision on {names}", seconds=60)
    if all(one.node for one in decided) or not look_again:
        return decided
    time.sleep(_SECONDS_TO_LOOK_AGAIN)
    return wait_for(all_decided, f"a decision on {names}", seconds=60)


def claims_of(api: Api, item: Object) -> list[Object]:
    """The claims of a Pod, in the order in which it names them, as far as they exist."""
    found = api.get(item) or {"status": {}}
    statuses = found["status"].get("resourceClaimStatuses", ())
    made = {one["name"]: one.get("resourceClaimName") for one in statuses}
    asked = item["spec"]["resourceClaims"]
    names = [one.get("resourceClaimName") or made.get(one["name"]) for one in asked]
    space = item["metadata"]["namespace"]
    claims = {one["metadata"]["name"]: one for one in api.list(_RESOURCES, "ResourceClaim", space)}
    return [claims[name] for name in names if name in claims]


def given(api: Api, item: Object) -> list[Given]:
    """The devices that the claims of a Pod hold."""
    published = {
        (one["spec"]["driver"], one["spec"]["pool"]["name"], device["name"]): device
        for one in api.list(_RESOURCES, "ResourceSlice")
        for device in one["spec"]["devices"]
    }
    held = (claim.get("status", {}).get("allocation") for claim in claims_of(api, item))
    return [
        _given(result, published)
        for allocation in held
        if allocation
        for result in allocation["devices"]["results"]
    ]


def _given(result: Object, published: Mapping[tuple[str, str, str], Object]) -> Given:
    driver, pool, device = result["driver"], result["pool"], result["device"]
    attributes = published[driver, pool, device]["attributes"]
    return Given(
        request=result["request"],
        driver=driver,
        pool=pool,
        device=device,
        attributes={
            name if "/" in name else f"{driver}/{name}": next(iter(value.values()))
            for name, value in attributes.items()
        },
    )


def remove(api: Api, *items: Object) -> None:
    """Delete Pods, and wait until they and the claims that were made for them are gone."""
    names = {(item["metadata"]["namespace"], item["metadata"]["name"]) for item in items}
    for item in items:
        api.delete(item, gracePeriodSeconds=0)

    def gone() -> bool:
        pods = [one["metadata"] for one in api.list("v1", "Pod")]
        left = {(one["namespace"], one["name"]) for one in pods}
        for claim in api.list(_RESOURCES, "ResourceClaim"):
            owners = claim["metadata"].get("ownerReferences", ())
            left |= {(claim["metadata"]["namespace"], owner["name"]) for owner in owners}
        return names.isdisjoint(left)

    wait_for(gone, f"{', '.join(sorted(name for _, name in names))} gone")
