"""Pods that claim devices: which claims a Pod has, and which of its containers use what of them.

`use_claims` takes the plain mapping of a Pod spec, `{"containers": [...]}`, and returns a changed
copy. For a Job, a Deployment or a StatefulSet pass `manifest["spec"]["template"]["spec"]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._claim_bindings import named_claims, uses_of
from ._data import read_toml
from ._pod_claims import add_claim, list_request
from ._pod_specs import POD_SPEC, PodSpec
from ._tolerations import tolerate, tolerate_taint
from .ami_releases import al2023_patch
from .claims.on_nodegroup import claim_manifest
from .claims.syntax import DRA_PAGE
from .claims.templates import DeviceClaim, ResourceClaim, ResourceClaimTemplate
from .claims.together_on_nodegroup import together_faults
from .claims.whole_nodes import WholeNodeClaims
from .findings import EksDevicesError, Finding, fault
from .kubernetes import floors
from .names import NODEGROUP_LABEL, POOL_LABEL, TAINT_KEYS
from .plans import NodegroupPlan
from .typecheck import (
    boolean,
    whole_number,
    wrong_type,
)

Claims = (
    Sequence[ResourceClaim | ResourceClaimTemplate | WholeNodeClaims]
    | Mapping[str, ResourceClaim | ResourceClaimTemplate]
    | WholeNodeClaims
)
"""The claims of a Pod, by the names that it has for them, or each by its own name."""

Users = Mapping[str, Sequence[str]] | Sequence[str]
"""The containers that use claims: all of them, or those that are named with each."""


def use_claims(
    pod_spec: Mapping[str, Any],
    claims: Claims,
    *,
    containers: Users | None = None,
    nodegroup: NodegroupPlan | None = None,
    select_nodes: bool = True,
    pods: int = 1,
) -> dict[str, Any]:
    """A Pod spec whose containers use claims.

    EKS adds no toleration to Pods with claims, so these tolerate the default taints of nodes with
    GPUs or Neuron devices, whichever the claims are for, and every taint of the node group.

    Args:
        pod_spec: The Pod spec.
        claims: A list of ResourceClaim and ResourceClaimTemplate, which the Pod calls by their own
            names, or a mapping of its names to them; all of the Pod's namespace.
        containers: Names of containers, each of which uses all claims; or a mapping of their names
            to what they use, "gpus" for a claim and "gpus/gpu-0" for a request of it. By default
            the only container.
        nodegroup: The plan of the group that has to serve the claims; by default any nodes may.
        select_nodes: Whether the Pod selects the nodes of the group, or of its pool.
        pods: How many Pods will have this spec, for claims that they share by name.

    Raises:
        EksDevicesError: Every fault: what is no Pod spec, unknown or no containers, claims and
            requests, `ClaimUsedByNone`, `ClaimNameTaken`, `NodeSelectorTaken`,
            `ClaimsOfTwoNamespaces`, `TooManyConsumers`, `ReusedClaimFloor` for a shared claim
            beside another; with a group, those of the claims there too, alone and together.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """
    pod = PodSpec(pod_spec)
    named = named_claims(pod, claims)
    pod.faults += whole_number(pods, "pods", lowest=1)
    pod.faults += boolean(select_nodes, "select_nodes")
    pod.faults += [*_namespace_faults(named), *_shared_faults(named, pods, nodegroup)]
    for name, claim in named.items():
        add_claim(pod, name, claim)
    for container, used in uses_of(pod, containers, named):
        for claim_name, request in used:
            list_request(pod, container, claim_name, request)
    _place(pod, named, nodegroup, select_nodes=select_nodes)
    return pod.checked()


def _place(
    pod: PodSpec,
    named: Mapping[str, DeviceClaim],
    group: object,
    *,
    select_nodes: bool,
) -> None:
    """Let the Pod onto the nodes that the claims are for, and onto no others if it selects."""
    kinds = {
        option.kind.device_type
        for claim in named.values()
        for one in claim.requests
        for option in one.options
    }
    for device_type in sorted(kinds & TAINT_KEYS.keys()):
        tolerate(pod, device_type)
    if group is None:
        return
    if not isinstance(group, NodegroupPlan):
        fix = "pass the plan of a group, group.plan"
        pod.faults.append(wrong_type("nodegroup", group, "a NodegroupPlan", fix))
        return
    pod.faults += _faults_there(named, group)
    for taint in group.taints:
        tolerate_taint(pod, taint)
    if select_nodes is True:
        _select(pod, POOL_LABEL if POOL_LABEL in group.labels else NODEGROUP_LABEL, group)


def _faults_there(named: Mapping[str, DeviceClaim], group: NodegroupPlan) -> Iterator[Finding]:
    """Faults of claims that the nodes of a group cannot serve, each claim judged once."""
    known: dict[int, dict[str, Any]] = {}
    for claim in {id(one): one for one in named.values()}.values():
        try:
            known[id(claim)] = claim_manifest(claim, group)
        except EksDevicesError as error:
            yield from error.faults
    if all(id(one) in known for one in named.values()):
        yield from together_faults([(one, known[id(one)]) for one in _each(named)], group)


def _each(named: Mapping[str, DeviceClaim]) -> Iterator[DeviceClaim]:
    """The claims that a Pod gets: a ResourceClaim is one, whatever it is called."""
    shared = {one.name: one for one in named.values() if isinstance(one, ResourceClaim)}
    yield from shared.values()
    yield from (one for one in named.values() if isinstance(one, ResourceClaimTemplate))


def _select(pod: PodSpec, key: str, group: NodegroupPlan) -> None:
    selector, value = pod.part(pod.values, "nodeSelector", dict, POD_SPEC), group.labels[key]
    if selector.get(key, value) != value:
        pod.faults.append(
            fault(
                "NodeSelectorTaken",
                f"{POD_SPEC}.nodeSelector",
                f"the Pod selects other nodes than those of group {group.name}",
                got=selector[key],
                allowed=f"{key}: {value}",
                fix="leave the selector out, or pass select_nodes=False",
            )
        )
    pod.values["nodeSelector"] = selector | {key: value}


def _namespace_faults(named: Mapping[str, DeviceClaim]) -> Iterator[Finding]:
    spaces = sorted({one.namespace for one in named.values()})
    if len(spaces) > 1:
        yield fault(
            "ClaimsOfTwoNamespaces",
            "claims",
            "a Pod finds claims and templates in its own namespace only",
            got=spaces,
            allowed="one namespace",
            fix="make the claims in the namespace of the Pod",
            source=DRA_PAGE,
        )


def _shared_faults(
    named: Mapping[str, DeviceClaim], pods: object, group: object
) -> Iterator[Finding]:
    """Faults of claims that more Pods share by name than can."""
    shared = [name for name, one in named.items() if isinstance(one, ResourceClaim)]
    if type(pods) is not int or pods < 1 + bool(shared) or not shared:
        return
    limit = read_toml("limits.toml")["claims"]
    if pods > limit["most_consumers"]:
        yield fault(
            "TooManyConsumers",
            "pods",
            "no more Pods can use a claim at once, all of them on its one node",
            got=pods,
            allowed=f"at most {limit['most_consumers']} Pods",
            fix="make several claims, or a ResourceClaimTemplate",
            source=limit["source"],
        )
    if isinstance(group, NodegroupPlan) and len(named) > 1:
        yield from _old_kubelet(group, shared[0])


def _old_kubelet(group: NodegroupPlan, shared: str) -> Iterator[Finding]:
    floor, pinned = floors()["reused-claim-node"], al2023_patch(group.release_version)
    needed = floor.patches.get(group.kubernetes_version, 0)
    if pinned is not None and pinned < needed:
        yield fault(
            "ReusedClaimFloor",
            f"claims.{shared}",
            f"{floor.needed_for} needs nodes of {group.kubernetes_version}.{needed} or later: "
            f"{floor.why}",
            got=group.release_version,
            allowed=f"a release with {group.kubernetes_version}.{needed} or later",
            fix="use a newer release of the AMI, or one claim with two requests",
            source=floor.source,
        )
