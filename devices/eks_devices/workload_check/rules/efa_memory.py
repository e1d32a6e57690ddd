"""Memory and the network of Pods with EFA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..._data import read_toml
from ..._pod_specs import is_lasting
from ...names import CLASS_RESOURCES, EFA_CLASS, EFA_DRIVER
from ...plans import NodegroupPlan
from ...quantities import MIB, quantity_of
from ...vocabulary import DeviceType, OperatingSystem
from ..documents import mapping, sequence
from ..huge_pages import PAGE_MIB, reserved_pages
from ..pods import Container
from .asking import amount, asks_for
from .claim_content import types_of
from .context import Context, Told
from .efa_use import takes_efa
from .readable import UNKNOWN

_CLASS_RESOURCE: Final = f"{CLASS_RESOURCES}{EFA_CLASS}"
_HUGEPAGES: Final = "hugepages-2Mi"
_MOST_NAMED: Final = 4
_SPELLINGS: Final = ("IPC_LOCK", "CAP_IPC_LOCK")
_RAISE: Final = (
    "Bottlerocket does with EFA, Amazon Linux 2023 by RLIMIT_MEMLOCK in containerd's base runtime "
    "spec"
)
_NODE_EFA: Final = "https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html"
_REGISTERED: Final = "https://github.com/ofiwg/libfabric/issues/9739"
_MEMLOCK: Final = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/2037"
_DRANET: Final = "https://github.com/kubernetes-sigs/dranet/blob/v1.4.0/pkg/driver/nri_hooks.go"


def efa_without_huge_pages(context: Context) -> Iterator[Told]:
    """Containers with EFAs and without huge pages."""
    facts = read_toml("pod_rules.toml")
    usual, most = facts["efa_huge_pages"][0]["usual"], facts["efa_ordinary_pages"]["most"]
    for container in context.containers:
        if not is_lasting(container) or not takes_efa(context, container):
            continue
        if amount(container, _HUGEPAGES) is None:
            yield context.warn(
                (*container.steps, "resources"),
                "EfaWithoutHugePages",
                f"container {container.name} takes EFAs and no huge pages: without them libfabric "
                "has its buffers in ordinary pages, and registers less memory for its EFAs, where "
                f"users report an end at {most}",
                fix=f'add {_HUGEPAGES}: "{usual}" to its limits, beside memory or cpu; '
                + _for_all_pods(context),
                source=_REGISTERED,
            )


def _for_all_pods(context: Context) -> str:
    """What nodes have of huge pages, and how they get more."""
    groups = context.groups_with(DeviceType.EFA)
    sizes = {one.name: pages * PAGE_MIB for one in groups if (pages := reserved_pages(one))}
    told = ", ".join(f"{name} has {size}Mi" for name, size in list(sizes.items())[:_MOST_NAMED])
    text = "each node has to have as much for all its Pods together"
    return f"{text}: {told}, or what its hugepages_2mi says" if told else text


def more_huge_pages_than_nodes(context: Context) -> Iterator[Told]:
    """Huge pages of which no node that the Pod may come to has so many."""
    for container in context.containers:
        given = amount(container, _HUGEPAGES)
        wanted = quantity_of(given) if given is not UNKNOWN else None
        if not wanted or wanted <= 0:
            continue
        groups = [one for one in context.groups if one.devices]
        # Groups that say how many they reserve are told of with what else nodes lack.
        if all(one.hugepages_2mi is not None for one in groups):
            continue
        most = [reserved_pages(one) for one in groups]
        known = [one for one in most if one is not None]
        if known and len(known) == len(most) and max(known) * PAGE_MIB * MIB < wanted:
            told = {group.name: f"{(reserved_pages(group) or 0) * PAGE_MIB}Mi" for group in groups}
            yield context.warn(
                (*container.steps, "resources"),
                "TooManyHugePages",
                f"container {container.name} wants {given} of huge pages, and nodes reserve less: "
                + ", ".join(f"{name} {size}" for name, size in told.items()),
                fix="ask for less, or give the node group more by hugepages_2mi",
                source=_NODE_EFA,
            )


def little_locked_memory(context: Context) -> Iterator[Told]:
    """Containers with EFAs whose user locks no more memory than the node lets everybody."""
    for container in context.containers:
        if not takes_efa(context, container) or not _is_other_user(context, container):
            continue
        steps = (*container.steps, "securityContext")
        if _has_lock(container):
            yield context.warn(
                steps,
                "IpcLockNeedsRoot",
                f"{_SPELLINGS[0]} does nothing for another user than root, whose containers go on "
                "with the limit of the node",
                fix=f"run as root, or leave {_SPELLINGS[0]} out and raise the limit: {_RAISE}",
                source=_MEMLOCK,
            )
        elif names := [one.name for one in _with_little(context)]:
            yield context.tell(
                steps,
                "EfaLockedMemory",
                f"EFA locks the memory that it sends from, and nodes of {', '.join(names)} let "
                f"container {container.name}, which does not run as root, lock little",
                fix=f"run as root with {_SPELLINGS[0]}, or raise the limit: {_RAISE}",
                source=_MEMLOCK,
            )


def _with_little(context: Context) -> list[NodegroupPlan]:
    """Groups with EFA on whose nodes the limit is low, as far as it is known."""
    return [
        one
        for one in context.groups_with(DeviceType.EFA)
        if one.operating_system is OperatingSystem.AL2023
        and one.user_data is None
        and one.ami_id is None
    ]


def _is_other_user(context: Context, container: Container) -> bool:
    user, never_root = (_of_both(context, container, one) for one in ("runAsUser", "runAsNonRoot"))
    return (type(user) is int and user != 0) or (user is None and never_root is True)


def _has_lock(container: Container) -> bool:
    """Whether a container has the capability, as privileged ones have all."""
    added = sequence(mapping(_security(container), "capabilities"), "add")
    return any(isinstance(one, str) and one in _SPELLINGS for one in added)


def _security(container: Container) -> Any:
    return mapping(container.content, "securityContext")


def _of_both(context: Context, container: Container, name: str) -> Any:
    """A setting of the container, or else of its Pod."""
    own = _security(container).get(name)
    return mapping(context.spec, "securityContext").get(name) if own is None else own


def efa_claim_on_host_network(context: Context) -> Iterator[Told]:
    """A Pod in the network of its node, with a claim for EFAs."""
    if context.spec.get("hostNetwork") is not True:
        return
    # From Kubernetes 1.36 on, a resource that is named after the class is a claim too.
    by_class = any(asks_for(one, _CLASS_RESOURCE.__eq__) for one in context.containers)
    if by_class or any(DeviceType.EFA in types_of(claim) for claim in context.claims):
        yield context.error(
            ("hostNetwork",),
            "EfaClaimOnHostNetwork",
            f"the DRA driver of EFA ({EFA_DRIVER}) starts no Pod with its devices in the network "
            "of the node, so the Pod would wait for ever",
            got=True,
            allowed="a network of the Pod's own beside claims for EFA",
            fix="leave hostNetwork out, or use the device plugin for EFA",
            source=_DRANET,
        )


RULES = (
    efa_without_huge_pages,
    more_huge_pages_than_nodes,
    little_locked_memory,
    efa_claim_on_host_network,
)
