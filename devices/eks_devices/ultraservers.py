"""Jobs on Trainium UltraServers: groups of Pods, one on each of the nodes that work together.

`use_efa` needs the claim that `ultraserver_workers` adds: call it after, with the spec of the Pods
in the manifest, or before with a spec that has the claim already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ._pod_claims import list_claim, made_claim, names_of
from ._pod_specs import POD_SPEC, Container, PodSpec
from ._tolerations import tolerate
from .claims import DeviceRequest, RequestKind, ResourceClaimTemplate
from .claims.syntax import DRA_PAGE
from .claims.templates import DEFAULT_NAMESPACE
from .findings import Finding, fault
from .instance_types import AcceleratedInstanceType
from .names import (
    EFA_RESOURCE,
    NEURON_CORE_RESOURCE,
    NEURON_RESOURCE,
    RETIRED_NEURON_RESOURCE,
    ultraserver_label,
)
from .syntax import dns_label, dns_subdomain, well_formed
from .typecheck import plain_text, whole_number, wrong_type
from .vocabulary import DeviceType

_CLAIM: Final = "ultraserver-node"
_API: Final = "leaderworkerset.x-k8s.io/v1"
_EXCLUSIVE: Final = "leaderworkerset.sigs.k8s.io/exclusive-topology"
_PLUGIN_RESOURCES: Final = (NEURON_RESOURCE, NEURON_CORE_RESOURCE, RETIRED_NEURON_RESOURCE)
# One node of an UltraServer that starts again alone would not find its neighbours.
_RESTART: Final = "RecreateGroupOnPodRestart"
_MOST_GROUPS: Final = 1_000_000
# The workers of a group are a StatefulSet, <name>-<group>, whose name and a hyphen and ten
# characters are the value of a label: 63 characters.
_LONGEST_SET: Final = 52
_LWS: Final = "https://lws.sigs.k8s.io/docs/reference/leaderworkerset.v1/"
_NEURON: Final = "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/eks/dra.html"


def ultraserver_workers(
    pod_spec: Mapping[str, Any],
    *,
    name: str,
    claim: ResourceClaimTemplate | str,
    size: int = 4,
    replicas: int = 1,
    namespace: str = DEFAULT_NAMESPACE,
    containers: Sequence[str] | None = None,
) -> dict[str, Any]:
    """The manifest of a LeaderWorkerSet whose groups have an UltraServer, or a half, each.

    Each Pod claims a whole node, and tolerates its default taint, `aws.amazon.com/neuron`. The
    LeaderWorkerSet, whose controller a cluster needs, makes the headless Service, and tells
    containers LWS_LEADER_ADDRESS and LWS_WORKER_INDEX.

    Args:
        pod_spec: The spec of every Pod, leaders too: `{"containers": [...]}`.
        name: Name of the object, and of its Service; it begins with a letter.
        claim: The template that asks for an UltraServer node; of its name nothing is checked.
        size: Pods of a group, 2 or 4, four by default; the mode of the claim is the same.
        replicas: How many groups, one by default.
        namespace: Where the object and the template are, `default` when left out.
        containers: Names of the containers that use the node; by default the only one.

    Raises:
        EksDevicesError: Every fault: what is no Pod spec, malformed names and numbers, a template
            of another namespace or mode, and what no such Pod can have (`DevicesOfTwoManagers`).

    Source: https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/eks/dra.html
    """
    pod, name, namespace = PodSpec(pod_spec), plain_text(name), plain_text(namespace)
    pod.faults += list(_option_faults(name, namespace, size, replicas))
    pod.faults += [*_pod_faults(pod), *_plugin_faults(pod, claim)]
    template = _template(pod, claim, size=size, namespace=namespace)
    used = made_claim(pod, template, _CLAIM, _taken)
    list_claim(pod, _users(pod, used) if containers is None else pod.named(containers), used)
    tolerate(pod, DeviceType.NEURON)
    spec, placed = pod.checked(), {_EXCLUSIVE: ultraserver_label(size)}
    return {
        "apiVersion": _API,
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "namespace": namespace, "annotations": placed},
        "spec": {"replicas": replicas, "leaderWorkerTemplate": _group(spec, size)},
    }


def _group(spec: dict[str, Any], size: int) -> dict[str, Any]:
    """What a group is made of; without a template of its own the leader has that of the workers."""
    return {"size": size, "restartPolicy": _RESTART, "workerTemplate": {"spec": spec}}


def _option_faults(
    name: object, namespace: object, size: object, replicas: object
) -> Iterator[Finding]:
    yield from _name_faults(name, replicas)
    yield from dns_label(namespace, "namespace")
    yield from _size_faults(size)
    yield from whole_number(replicas, "replicas", lowest=0, highest=_MOST_GROUPS)


def _name_faults(name: object, replicas: object) -> Iterator[Finding]:
    last = replicas - 1 if type(replicas) is int and 0 < replicas <= _MOST_GROUPS else 0
    longest = _LONGEST_SET - len(f"-{last}")
    wrong = list(dns_label(name, "name"))
    yield from wrong or well_formed(
        name,
        "name",
        lambda given: given[0].isalpha() and len(given) <= longest,
        code="MalformedName",
        message="a Service and StatefulSets are called after the LeaderWorkerSet, which they "
        "could not be",
        allowed=f"a DNS label that begins with a letter, of at most {longest} characters",
        fix="choose another name",
        source=_LWS,
    )


def _sizes() -> list[int]:
    """How many nodes of an UltraServer with Neuron devices may work together."""
    every = [one for one in AcceleratedInstanceType.all() if one.device_type is DeviceType.NEURON]
    return sorted({size for one in every for size in one.ultraserver_sizes if size > 1})


def _size_faults(size: object) -> Iterator[Finding]:
    wrong = list(whole_number(size, "size", lowest=1))
    yield from wrong
    if not wrong and size not in _sizes():
        yield fault(
            "UltraServerSize",
            "size",
            "a group takes some or all nodes of one UltraServer, in one of its modes",
            got=size,
            allowed=", ".join(map(str, _sizes())),
            fix="choose an allowed size; a job on one node is no LeaderWorkerSet",
            source=_NEURON,
        )


def _pod_faults(pod: PodSpec) -> Iterator[Finding]:
    policy = pod.values.get("restartPolicy")
    if policy is not None and not (isinstance(policy, str) and policy == "Always"):
        yield fault(
            "RestartPolicyNotAllowed",
            f"{POD_SPEC}.restartPolicy",
            "a LeaderWorkerSet is made of StatefulSets, which restart every container",
            got=policy,
            allowed="Always, or none",
            fix="leave restartPolicy out",
            source=_LWS,
        )
    for path, one in pod.entries(pod.values, "resourceClaims", POD_SPEC):
        if one.get("resourceClaimName") is not None:
            yield fault(
                "SharedClaim",
                path,
                "the Pods of a group are on a node each, and a claim that they share is on one",
                got=one["resourceClaimName"],
                allowed="claims by resourceClaimTemplateName",
                fix="make a ResourceClaimTemplate of the claim, and name it",
                source=DRA_PAGE,
            )


def _plugin_faults(pod: PodSpec, claim: object) -> Iterator[Finding]:
    """Faults of containers that ask the device plugin for what the Pod claims."""
    claimed = {*_PLUGIN_RESOURCES}
    if isinstance(claim, ResourceClaimTemplate):
        efa = any(one.kind is RequestKind.EFA for one in _options(claim))
        claimed |= {EFA_RESOURCE} if efa else set()
    for one in pod.containers:
        asked = [name for name in sorted(claimed) if pod.asks_for(one, name.__eq__)]
        if asked:
            yield fault(
                "DevicesOfTwoManagers",
                f"{one.path}.resources",
                f"container {one.name} asks the device plugin for what the Pod claims by DRA, and "
                "a node has one manager of a device type, so the Pod would wait for ever",
                got=asked,
                allowed="the claim alone",
                fix="leave the resource out: the claim gives the whole node",
                source=_NEURON,
            )


def _template(pod: PodSpec, claim: object, *, size: object, namespace: object) -> str:
    """The name of the template, whose faults the Pod spec gets."""
    if isinstance(claim, ResourceClaimTemplate):
        pod.faults += list(_claim_faults(claim, size, namespace))
        return claim.name
    given = plain_text(claim)
    if isinstance(given, str):
        pod.faults += list(dns_subdomain(given, "claim"))
        return given
    wanted = "a ResourceClaimTemplate, or the name of one"
    fix = "pass ResourceClaimTemplate(requests=[DeviceRequest.ultraserver_node(...)])"
    pod.faults.append(wrong_type("claim", claim, wanted, fix))
    return ""


def _claim_faults(
    claim: ResourceClaimTemplate, size: object, namespace: object
) -> Iterator[Finding]:
    if not list(dns_label(namespace, "namespace")) and claim.namespace != namespace:
        yield fault(
            "ClaimInOtherNamespace",
            "claim",
            "Pods find templates in their own namespace only",
            got=claim.namespace,
            allowed="the namespace of the LeaderWorkerSet",
            fix=f'pass namespace="{claim.namespace}", or make the template in the other one',
            source=DRA_PAGE,
        )
    modes = [one.mode for one in _options(claim) if one.kind is RequestKind.ULTRASERVER_NODE]
    if not list(_size_faults(size)) and modes != [size]:
        known = ", ".join(f"mode {mode}" for mode in modes)
        other = f", or pass size={modes[0]}" if len(modes) == 1 and modes[0] in _sizes() else ""
        yield fault(
            "UltraServerMode",
            "claim",
            "each Pod of a group needs one node of an UltraServer, in the mode of the group's size",
            got=known or ", ".join(one.kind for one in claim.requests),
            allowed=f"mode {size}",
            fix=f"ask for one DeviceRequest.ultraserver_node(mode={size}){other}",
            source=_NEURON,
        )


def _options(claim: ResourceClaimTemplate) -> Iterator[DeviceRequest]:
    """The requests of a template, and the alternatives of lists."""
    return (option for one in claim.requests for option in one.options)


def _users(pod: PodSpec, claim: str) -> list[Container]:
    """The containers that use the claim: those that say so, or the only one."""
    every = [one for one in pod.containers if not one.is_init]
    saying = [one for one in every if claim in names_of(pod.claims(one))]
    if not saying and len(every) > 1:
        pod.faults.append(
            fault(
                "ContainersNeeded",
                "containers",
                "the Pod has several containers, and which of them uses the node is not known",
                got=None,
                allowed=", ".join(one.name for one in every),
                fix='name containers=["..."]',
                source=DRA_PAGE,
            )
        )
    return saying or every


def _taken(path: str, claim: dict[str, Any]) -> Finding:
    return fault(
        "ClaimNameTaken",
        path,
        "the Pod has another claim of this name, and a node is in one group at a time",
        got=claim.get("resourceClaimTemplateName"),
        allowed=f"{_CLAIM} for the node of the group",
        fix="rename the claim, or leave it out",
        source=DRA_PAGE,
    )
