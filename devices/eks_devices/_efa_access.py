"""What keeps a container from the memory and the devices that EFA needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ._pod_specs import POD_SPEC, Container, PodSpec
from .findings import Finding, fault

_LOCK: Final = "IPC_LOCK"
_SPELLINGS: Final = (_LOCK, f"CAP_{_LOCK}")
_DEVICES: Final = ("dev", "infiniband")
_MEMLOCK: Final = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/2037"
_HOST_PATH: Final = "https://github.com/aws-samples/aws-do-eks/pull/63"


def lock(pod: PodSpec, container: Container, *, add: bool) -> None:
    """Let the root user of a container lock any amount of memory.

    Args:
        pod: The Pod spec, which gets the fault of a capability that does nothing.
        container: The container, which is changed.
        add: Whether it gets the capability; one that it has is looked at all the same.
    """
    context = pod.part(container.values, "securityContext", dict, container.path)
    path = f"{container.path}.securityContext"
    capabilities = pod.part(context, "capabilities", dict, path)
    added = pod.part(capabilities, "add", list, f"{path}.capabilities")
    has = any(isinstance(one, str) and one in _SPELLINGS for one in added)
    if has or add:
        pod.faults += list(_user_faults(pod, context, path))
    if add and not has:
        new = {**capabilities, "add": [*added, _LOCK]}
        container.values["securityContext"] = {**context, "capabilities": new}


def _user_faults(pod: PodSpec, context: dict[str, Any], path: str) -> Iterator[Finding]:
    """The fault of a capability that the user of a container cannot use."""
    of_pod = pod.part(pod.values, "securityContext", dict, POD_SPEC)
    user, never_root = (
        of_pod.get(name) if context.get(name) is None else context[name]
        for name in ("runAsUser", "runAsNonRoot")
    )
    other = isinstance(user, int) and not isinstance(user, bool) and user != 0
    if other or never_root is True:
        yield fault(
            "IpcLockNeedsRoot",
            path,
            f"{_LOCK} does nothing for another user than root, whose containers go on with the "
            "limit of the node",
            got={"runAsUser": user} if other else {"runAsNonRoot": True},
            allowed=f"{_LOCK} in containers that run as root",
            fix=f"run as root, or leave {_LOCK} out and raise the limit of the nodes: Bottlerocket "
            "does with EFA, Amazon Linux 2023 by RLIMIT_MEMLOCK in containerd's base runtime spec",
            source=_MEMLOCK,
        )


def host_path_faults(pod: PodSpec) -> Iterator[Finding]:
    """Faults of volumes with the RDMA devices of the node, those of other drivers among them."""
    for path, volume in pod.entries(pod.values, "volumes", POD_SPEC):
        given = pod.part(volume, "hostPath", dict, path).get("path")
        if isinstance(given, str) and _meets_devices(given):
            yield fault(
                "HostRdmaDevices",
                f"{path}.hostPath.path",
                "with the node's RDMA devices libfabric may find others than EFAs, offer no EFA, "
                "and leave the traffic to TCP",
                got=given,
                allowed=f"paths apart from /{'/'.join(_DEVICES)}",
                fix="leave the volume out: the manager of EFA gives containers their devices",
                source=_HOST_PATH,
            )


def _meets_devices(path: str) -> bool:
    """Whether a path is that of the devices, or above or below it."""
    parts = tuple(one for one in path.split("/") if one not in ("", "."))
    near = zip(parts, _DEVICES, strict=False)
    return path.startswith("/") and all(one == other for one, other in near)
