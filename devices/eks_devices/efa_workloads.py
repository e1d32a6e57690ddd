"""Pods that talk over Elastic Fabric Adapters: what they need beside the devices.

`use_efa` takes the plain mapping of a Pod spec, `{"containers": [...]}`, and returns a changed
copy. For a Job, a Deployment or a StatefulSet pass `manifest["spec"]["template"]["spec"]`.
Claims have to be in the spec before: `ultraserver_workers`, which adds one, goes first, and then
the spec is that of the Pods in its manifest.

DRANET gives the EFAs of a claim to every container of the Pod, init containers too: those that
must not reach the fabric belong into another Pod. EFA locks the memory that it sends from.
Bottlerocket raises the limit for that where a node has EFAs; on Amazon Linux 2023 a container has
IPC_LOCK and runs as root, or RLIMIT_MEMLOCK stands in containerd's base runtime spec.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ._data import read_toml
from ._efa_access import host_path_faults, lock
from ._efa_memory import hugepages_faults, reserve_hugepages, share_memory, shared_memory_faults
from ._pod_environment import add_variable, conflicts, variables
from ._pod_specs import POD_SPEC, Container, PodSpec, taken_at_once
from .findings import Finding, fault
from .instance_types import AcceleratedInstanceType, lookup
from .names import CLASS_RESOURCES, EFA_CLASS, EFA_RESOURCE
from .quantities import count_of
from .typecheck import boolean, plain_text

_RESOURCES: Final = (EFA_RESOURCE, f"{CLASS_RESOURCES}{EFA_CLASS}")
_ASK: Final = (
    f"add {EFA_RESOURCE} to the limits of a container, or a claim with DeviceRequest.efa() to the "
    "Pod and to the container's resources"
)
_PROVIDER: Final = ("FI_PROVIDER", "efa")
_RDMA: Final = ("FI_EFA_USE_DEVICE_RDMA", "1")
# Other spellings of the same wish.
_ON: Final = ("1", "true", "yes", "on")
_LIBFABRIC: Final = "https://ofiwg.github.io/libfabric/main/man/fi_efa.7.html"
_EFA: Final = "https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html"


def use_efa(
    pod_spec: Mapping[str, Any],
    *,
    containers: Sequence[str] | None = None,
    hugepages: str | None = "5120Mi",
    shared_memory: str | None = "8Gi",
    lock_memory: bool = False,
    environment: bool = False,
    instance_type: str | None = None,
) -> dict[str, Any]:
    """A Pod spec whose containers can use the EFAs that they ask for.

    Args:
        pod_spec: The Pod spec.
        containers: Names of those that use EFA; by default all with `vpc.amazonaws.com/efa` or
            any claim, whatever that is for, but no init containers. A named one has the
            resource, or its Pod a claim, whichever container lists it.
        hugepages: Pages of 2 MiB for each without its own, as request and limit; None for none.
            Nodes of Amazon Linux 2023 with EFA reserve 10256Mi, Bottlerocket showed 7040Mi.
        shared_memory: The most in /dev/shm, which they share and which counts as their memory,
            where one mounts nothing there itself; None for the container runtime's 64 MiB.
        lock_memory: Adds IPC_LOCK, for root only. Other users, and root without it, may lock as
            much as the node says: on Amazon Linux 2023 too little, unless user data raise it.
        environment: Sets FI_PROVIDER=efa, and FI_EFA_USE_DEVICE_RDMA=1 on a type with RDMA.
        instance_type: EC2 type of the nodes; checked against none by default.

    Raises:
        EksDevicesError: Every fault of the Pod spec and the options, `NoEfaRequested` among them,
            and what Kubernetes, the kernel or libfabric refuses: more EFAs than the type has;
            pages without memory or cpu; requests for pages or EFAs that are not the limit;
            IPC_LOCK of other users; RDMA that the type lacks; a volume with /dev/infiniband.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
    """
    pod, pages, shared = PodSpec(pod_spec), plain_text(hugepages), plain_text(shared_memory)
    chosen = _chosen(pod, containers)
    instance = _instance(pod, instance_type)
    pod.faults += list(_option_faults(pages, shared, lock_memory, environment))
    for one in chosen:
        reserve_hugepages(pod, one, pages)
        lock(pod, one, add=lock_memory is True)
        _tell_libfabric(pod, one, instance, add=environment is True)
    share_memory(pod, chosen, shared)
    pod.faults += [*_count_faults(pod, instance), *host_path_faults(pod)]
    return pod.checked()


def _option_faults(
    pages: object, shared: object, lock_memory: object, environment: object
) -> Iterator[Finding]:
    if pages is not None:
        yield from hugepages_faults(pages, "hugepages")
    if shared is not None:
        yield from shared_memory_faults(shared, "shared_memory")
    yield from boolean(lock_memory, "lock_memory")
    yield from boolean(environment, "environment")


def _instance(pod: PodSpec, name: object) -> AcceleratedInstanceType | None:
    """The type of a name, where it has EFA; otherwise a fault, and none for no name."""
    found = None if name is None else lookup(name, "instance_type")
    if isinstance(found, Finding):
        pod.faults.append(found)
    elif found and not found.max_efa_interfaces:
        pod.faults.append(
            fault(
                "EfaNotSupported",
                "instance_type",
                f"{found.name} has no EFA",
                got=name,
                allowed="an instance type with EFA",
                fix="use a larger size or another family, or leave EFA out of the Pod",
                source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html",
            )
        )
    return None if isinstance(found, Finding) else found


def _count_faults(pod: PodSpec, instance: AcceleratedInstanceType | None) -> Iterator[Finding]:
    """The fault of a Pod with more EFAs than a node of a type has; claims do not tell theirs."""
    if instance is None or not instance.max_efa_interfaces:
        return
    together = taken_at_once([(one, _efas(pod, one)) for one in pod.containers])
    if together > instance.max_efa_interfaces:
        yield fault(
            "TooManyEfas",
            f"{POD_SPEC}.containers",
            f"a node of {instance.name} has fewer EFAs than the containers of the Pod ask for, so "
            "it would wait for ever",
            got=together,
            allowed=f"at most {instance.max_efa_interfaces} for the containers of a Pod together",
            fix="ask for fewer, or name another instance_type if the nodes are of one",
            source=_EFA,
        )


def _efas(pod: PodSpec, container: Container) -> int:
    limits, requests = pod.amounts(container)
    return sum(count_of(limits.get(name, requests.get(name))) for name in _RESOURCES)


def _chosen(pod: PodSpec, names: object) -> list[Container]:
    """The containers that use EFA: those of these names, or without any those that ask for some."""
    return _with_efa(pod) if names is None else _named(pod, names)


def _with_efa(pod: PodSpec) -> list[Container]:
    """The containers that ask for EFAs, or for what may be some; none is a fault."""
    found = [one for one in pod.containers if not one.is_init and _may_use_efa(pod, one)]
    # Under DRA every container gets the EFAs of the Pod's claims.
    claims = pod.part(pod.values, "resourceClaims", list, POD_SPEC)
    if not found and not pod.faults:
        may = [one.name for one in pod.containers if claims or _may_use_efa(pod, one)]
        pod.faults.append(
            fault(
                "NoContainerWithEfa",
                f"{POD_SPEC}.containers",
                f"no container, init containers apart, asks for {EFA_RESOURCE} or lists a claim, "
                "so none is known to use EFA",
                got=[one.name for one in pod.containers],
                allowed=f"a container with a claim, or with {EFA_RESOURCE}",
                fix=f'name containers=["..."] that use EFA, of {", ".join(may)}' if may else _ASK,
                source=_EFA,
            )
        )
    return found


def _named(pod: PodSpec, names: object) -> list[Container]:
    """The containers of these names; one that surely gets no EFA is a fault."""
    readable, found = not pod.faults, pod.named(names)
    known = len(pod.faults)
    claims = pod.part(pod.values, "resourceClaims", list, POD_SPEC)
    # Under DRA every container gets the EFAs of the Pod's claims, which have to be readable.
    if readable and not claims and len(pod.faults) == known:
        pod.faults += [_without_efa(one) for one in found if not _may_use_efa(pod, one)]
    return found


def _without_efa(container: Container) -> Finding:
    return fault(
        "NoEfaRequested",
        f"{container.path}.resources",
        f"container {container.name} asks for no EFA, and the Pod has no claim that could be for "
        "some",
        got=container.name,
        allowed=f"containers with {EFA_RESOURCE}, or of a Pod with a claim",
        fix=f"{_ASK}, or leave the container out",
        source=_EFA,
    )


def _may_use_efa(pod: PodSpec, container: Container) -> bool:
    return pod.asks_for(container, _RESOURCES.__contains__) or bool(pod.claims(container))


def _has_rdma(instance: AcceleratedInstanceType | None) -> bool | None:
    """Whether EFAs of a type have RDMA read; None where that is not known."""
    if instance is None or instance.accelerator is None:
        return None
    return instance.family not in read_toml("efa_pods.toml")["rdma"]["families_without"]


def _tell_libfabric(
    pod: PodSpec, container: Container, instance: AcceleratedInstanceType | None, *, add: bool
) -> None:
    pod.faults += list(_rdma_faults(pod, container, instance))
    if not add:
        return
    pod.faults += list(conflicts(pod, container, *_PROVIDER, source=_LIBFABRIC))
    for name, value in [_PROVIDER, _RDMA] if _has_rdma(instance) else [_PROVIDER]:
        if not list(variables(pod, container, name)):
            add_variable(pod, container, name, value)


def _rdma_faults(
    pod: PodSpec, container: Container, instance: AcceleratedInstanceType | None
) -> Iterator[Finding]:
    if instance is None or _has_rdma(instance) is not False:
        return
    for path, one in variables(pod, container, _RDMA[0]):
        value = one.get("value")
        if isinstance(value, str) and value.lower() in _ON:
            yield fault(
                "NoDeviceRdma",
                path,
                f"EFAs of {instance.name} have no RDMA, and libfabric aborts where it is asked for",
                got=value,
                allowed="the variable on types with RDMA, or left out",
                fix="leave the variable out: libfabric uses RDMA where there is some",
                source=_LIBFABRIC,
            )
