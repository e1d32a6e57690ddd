"""Pods on nodes with NVIDIA GPUs: what a Pod spec needs beside its requests for devices.

Each function takes the plain mapping of a Pod spec, `{"containers": [...]}`, and returns a changed
copy; what it does not write stays as it was, tokens included. For a Job, a Deployment or a
StatefulSet pass `manifest["spec"]["template"]["spec"]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ._affinity import require_neighbours, require_nodes
from ._frozen import copied_mapping
from ._pod_claims import list_claim, made_claim, names_of
from ._pod_environment import add_variable, conflicts, variables
from ._pod_specs import POD_SPEC, Container, PodSpec
from ._tolerations import tolerate
from .claims import ComputeDomain
from .claims.syntax import DRA_PAGE
from .claims.syntax import labels as label_faults
from .findings import Finding, fault
from .instance_faults import nvlink_fault
from .instance_types import lookup
from .names import (
    GPU_CLIQUE_LABEL,
    INSTANCE_TYPE_LABEL,
    NO_DEVICES,
    NODEGROUP_LABEL,
    VISIBLE_DEVICES,
)
from .syntax import label_value
from .typecheck import as_list, members, plain_text, wrong_type
from .vocabulary import DeviceType

_CLAIM: Final = "compute-domain-channel"
_RUNTIME: Final = (
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/"
    "docker-specialized.html"
)
_KUBELET: Final = "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/kubelet_pods.go"
_PODS: Final = "https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/"


def hide_gpus(
    pod_spec: Mapping[str, Any], *, containers: Sequence[str] | None = None
) -> dict[str, Any]:
    """A Pod spec in which containers that ask for no GPU see none.

    Amazon Linux 2023 runs every container with NVIDIA's runtime, and CUDA images ask it for all
    GPUs: a side-car of such an image sees, and can use, GPUs that belong to other Pods.

    Args:
        pod_spec: The Pod spec.
        containers: Names of the containers, init containers too. By default every one that has
            neither a claim nor an extended resource of NVIDIA's, unless it sets
            NVIDIA_VISIBLE_DEVICES itself, as an exporter of metrics does on purpose. A container
            whose claims are for other devices alone, such as EFA, has to be named.

    Raises:
        EksDevicesError: Every fault: what is no Pod spec, `UnknownContainer`, and for a named
            container `ContainerTakesGpus` where it asks for GPUs by an extended resource, which
            the variable would take from it again, and `EnvironmentConflict` where it sets the
            variable to something else; `RequestNotEqualToLimit` for GPUs of any container.

    Source: https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html
    """
    pod = PodSpec(pod_spec)
    if containers is None:
        chosen = [one for one in pod.containers if not pod.claims(one) and not pod.takes_gpus(one)]
    else:
        chosen = pod.named(containers)
        pod.faults += [found for one in chosen for found in _hiding_faults(pod, one)]
    for one in chosen:
        if not list(variables(pod, one, VISIBLE_DEVICES)):
            add_variable(pod, one, VISIBLE_DEVICES, NO_DEVICES)
    return pod.checked()


def _hiding_faults(pod: PodSpec, container: Container) -> Iterator[Finding]:
    if pod.takes_gpus(container):
        yield fault(
            "ContainerTakesGpus",
            f"{container.path}.resources",
            f"the container asks for GPUs, and {VISIBLE_DEVICES} of a Pod spec wins over the one "
            "that the device plugin sets: it would get none",
            got=container.name,
            allowed="containers without GPUs",
            fix="leave the container out, or its GPUs",
            source=_KUBELET,
        )
    yield from conflicts(pod, container, VISIBLE_DEVICES, NO_DEVICES, source=_RUNTIME)


def same_nvlink_partition(
    pod_spec: Mapping[str, Any],
    *,
    labels: Mapping[str, str],
    nodegroups: Sequence[str] = (),
    instance_types: Sequence[str] = (),
) -> dict[str, Any]:
    """A Pod spec whose Pods all run in one NVLink partition, where GPUs share memory.

    Nodes of a partition share the value of the label `nvidia.com/gpu.clique`. The ComputeDomain
    plugin of the DRA driver sets it on its nodes, or GPU feature discovery; Pods stay pending while
    no node has it. What the spec says of affinity already holds as before.

    Args:
        pod_spec: The Pod spec.
        labels: Labels that all Pods of the job have and no other Pods of the namespace, such as
            `batch.kubernetes.io/job-name`. The Pods of this spec must have them too, or the first
            one waits for ever.
        nodegroups: Names of node groups, as `eks-devices/nodegroup` has them; nodes of any by
            default.
        instance_types: EC2 types with NVLink across nodes; nodes of any type by default.

    Raises:
        EksDevicesError: Every fault: what is no Pod spec, `RequestNotEqualToLimit`, malformed
            labels or none, names that no label can have, and types without NVLink across nodes.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
    """
    pod, wanted = PodSpec(pod_spec), copied_mapping(labels)
    pod.faults += label_faults(wanted, "labels")
    if isinstance(wanted, Mapping) and not wanted:
        pod.faults.append(_no_labels())
    values = {
        NODEGROUP_LABEL: list(_label_values(pod, nodegroups, "nodegroups")),
        INSTANCE_TYPE_LABEL: list(_nvlink_types(pod, instance_types)),
    }
    expressions = [
        {"key": key, "operator": "In", "values": names} for key, names in values.items() if names
    ]
    require_neighbours(pod, wanted, topology=GPU_CLIQUE_LABEL)
    require_nodes(pod, expressions)
    return pod.checked()


def _no_labels() -> Finding:
    return fault(
        "NoLabels",
        "labels",
        "without a label every Pod of the namespace would belong to the job",
        got={},
        allowed="one label or more that only Pods of the job have",
        fix='name the job, labels={"batch.kubernetes.io/job-name": "train"}',
        source=_PODS,
    )


def _texts(pod: PodSpec, given: object, path: str) -> list[Any]:
    """The members of a list of names, each once; what is no list is a fault."""
    found = members(given, ordered=True)
    if found is None:
        pod.faults.append(wrong_type(path, given, "a list of names", as_list(given, path, "...")))
    return [plain_text(one) for one in found or ()]


def _label_values(pod: PodSpec, given: object, path: str) -> Iterator[str]:
    for index, one in enumerate(_texts(pod, given, path)):
        wrong = list(label_value(one, f"{path}[{index}]", shortest=1))
        pod.faults += wrong
        yield from () if wrong else (one,)


def _nvlink_types(pod: PodSpec, given: object) -> Iterator[str]:
    for index, one in enumerate(_texts(pod, given, "instance_types")):
        path = f"instance_types[{index}]"
        instance = lookup(one, path)
        if isinstance(instance, Finding):
            pod.faults.append(instance)
        elif not instance.nvlink_domain:
            pod.faults.append(nvlink_fault(instance, path, one))
        else:
            yield instance.name


def compute_domain_claim(
    pod_spec: Mapping[str, Any],
    domain: ComputeDomain,
    *,
    containers: Sequence[str] | None = None,
) -> dict[str, Any]:
    """A Pod spec whose Pods join a ComputeDomain: they claim its channel, in its namespace.

    Pods with claims get no toleration by themselves, so these tolerate the default taint of nodes
    with GPUs, `nvidia.com/gpu`, unless the spec says so already.

    Args:
        pod_spec: The Pod spec.
        domain: The ComputeDomain of the job; its Pods have to be in its namespace.
        containers: Names of the containers that use the channel. By default those that ask for
            devices: by an extended resource of NVIDIA's, or by a claim of any kind, because a Pod
            spec does not tell what a claim is for. Init containers have to be named.

    Raises:
        EksDevicesError: Every fault: what is no Pod spec, `UnknownContainer`,
            `NoContainerWithGpus` where none is named and none asks for a device,
            `RequestNotEqualToLimit` for GPUs of a container, and `ClaimNameTaken` where the Pod
            is in another domain already.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu
    """
    pod = PodSpec(pod_spec)
    if not isinstance(domain, ComputeDomain):
        wanted = "a ComputeDomain"
        pod.faults.append(wrong_type("domain", domain, wanted, 'pass ComputeDomain(name="...")'))
    template = domain.channel if isinstance(domain, ComputeDomain) else ""
    name = made_claim(pod, template, _CLAIM, _taken)
    chosen = _with_devices(pod, name) if containers is None else pod.named(containers)
    list_claim(pod, chosen, name)
    tolerate(pod, DeviceType.GPU)
    return pod.checked()


def _with_devices(pod: PodSpec, channel: str) -> list[Container]:
    """The containers that ask for devices beside the channel; none is a fault."""
    found = [
        one
        for one in pod.containers
        if not one.is_init
        and (pod.takes_gpus(one) or any(name != channel for name in names_of(pod.claims(one))))
    ]
    if not found and not pod.faults:
        pod.faults.append(
            fault(
                "NoContainerWithGpus",
                f"{POD_SPEC}.containers",
                "no container asks for a device, so none is known to use the channel",
                got=[one.name for one in pod.containers],
                allowed="a container with a claim or an extended resource for GPUs",
                fix='add the GPUs first, or name containers=["..."]',
                source=DRA_PAGE,
            )
        )
    return found


def _taken(path: str, claim: dict[str, Any]) -> Finding:
    return fault(
        "ClaimNameTaken",
        path,
        "the Pod has another claim of this name, and a node is in one ComputeDomain at a time",
        got=claim.get("resourceClaimTemplateName"),
        allowed=f"{_CLAIM} for the channel of one domain",
        fix="name one ComputeDomain for the Pod, or rename the claim that is no channel",
        source=DRA_PAGE,
    )
