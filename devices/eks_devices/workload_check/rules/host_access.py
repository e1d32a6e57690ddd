"""Ways around the managers of devices: the node's own files, and privileged containers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from ..._data import read_toml
from ...names import (
    CLASS_RESOURCES,
    GPU_PRESENT_LABEL,
    INSTANCE_TYPE_LABEL,
    LABEL_PREFIX,
    MANAGED_BY_LABEL,
    MANAGED_BY_US,
)
from ...plans import NodegroupPlan
from ..device_names import device_type_of
from ..documents import Steps, mapping, mappings
from ..pods import Container
from .asking import asks_for, is_privileged
from .claim_content import asks_of
from .context import Context, Told, names_of_claims
from .how_many import is_on_every_node

_SECURITY: Final = "https://kubernetes.io/docs/tasks/configure-pod-container/security-context/"
_ALL_DEVICES: Final = "/dev"
_SOCKETS: Final = "sockets"


def asks_for_devices(container: Container) -> bool:
    """Whether a container asks for devices, by an extended resource or by a claim."""
    return bool(names_of_claims(container)) or asks_for(container, is_device)


def is_device(resource: str) -> bool:
    """Whether an extended resource is of devices that this library knows, or of a DeviceClass."""
    return resource.startswith(CLASS_RESOURCES) or device_type_of(resource) is not None


def host_paths(context: Context) -> Iterator[Told]:
    """Volumes with devices of the node, with its drivers, or with sockets of the kubelet."""
    if _is_ours(context):
        return
    rows = read_toml("pod_rules.toml")["host_path"]
    if _is_manager(context):
        # What hands devices out reaches them past any manager.
        rows = [one for one in rows if one["kind"] == _SOCKETS]
    for index, volume in mappings(context.spec, "volumes"):
        path = mapping(volume, "hostPath").get("path")
        if not isinstance(path, str) or not path.startswith("/"):
            continue
        steps: Steps = ("volumes", index, "hostPath", "path")
        parts = _parts(path)
        row = next((one for one in rows if _meets(parts, _parts(one["path"]))), None)
        if row is not None:
            yield from _TOLD[row["kind"]](context, steps, path, row)
        elif parts == _parts(_ALL_DEVICES) and _may_use_devices(context):
            yield _devices(context, steps, path, "all devices of the node", "")


def _is_ours(context: Context) -> bool:
    """Whether Pods are of a manager that this library installs."""
    owners = (context.pod.metadata, context.pod.document.metadata)
    return any(mapping(one, "labels").get(MANAGED_BY_LABEL) == MANAGED_BY_US for one in owners)


def _is_manager(context: Context) -> bool:
    """Whether Pods look like a manager of devices: by the files that they reach, and by a name."""
    rows = read_toml("pod_rules.toml")
    meant = [_parts(one["path"]) for one in rows["host_path"] if one["kind"] == _SOCKETS]
    paths = [mapping(one, "hostPath").get("path") for _, one in mappings(context.spec, "volumes")]
    reaches = any(
        isinstance(path, str) and any(_meets(_parts(path), one) for one in meant) for path in paths
    )
    texts = [context.pod.document.name]
    texts += [str(one.content.get(key)) for one in context.containers for key in ("name", "image")]
    words = {part for text in texts for part in re.split(r"[-_./:@]", text.lower())}
    return reaches and any(one in words for one in rows["device_managers"]["words"])


def _parts(path: str) -> list[str]:
    return [one for one in path.split("/") if one not in ("", ".")]


def _meets(parts: list[str], meant: list[str]) -> bool:
    """Whether a path is the one that is meant, or below it; a `*` ends a name."""
    if len(parts) < len(meant):
        return False
    return all(
        part.startswith(one[:-1]) if one.endswith("*") else part == one
        for part, one in zip(parts, meant, strict=False)
    )


def _may_use_devices(context: Context) -> bool:
    """Whether Pods ask for devices, or may come to nodes that have some."""
    return any(map(asks_for_devices, context.containers)) or bool(_with_devices(context))


def _with_devices(context: Context) -> list[NodegroupPlan]:
    return [one for one in context.groups if one.devices]


def _of_devices(context: Context, steps: Steps, path: str, row: dict[str, Any]) -> Iterator[Told]:
    if _may_use_devices(context):
        yield _devices(context, steps, path, row["of"], row["source"])


def _devices(context: Context, steps: Steps, path: str, what: str, source: str) -> Told:
    return context.warn(
        steps,
        "HostDevices",
        f"the volume brings {what} ({path}) past their manager: a container opens them only where "
        "it is privileged, and then uses devices that belong to other Pods",
        fix="leave the volume out, and ask for the devices: who hands them out puts their files "
        "into the container",
        source=source or _SECURITY,
    )


def _of_rdma(context: Context, steps: Steps, path: str, row: dict[str, Any]) -> Iterator[Told]:
    if _may_use_devices(context):
        yield context.warn(
            steps,
            "HostRdmaDevices",
            f"with the node's RDMA devices ({path}) libfabric may find others than EFAs, offer no "
            "EFA, and leave the traffic to TCP",
            fix="leave the volume out: the manager of EFA gives containers their devices",
            source=row["source"],
        )


def _of_driver(context: Context, steps: Steps, path: str, row: dict[str, Any]) -> Iterator[Told]:
    if any(map(asks_for_devices, context.containers)):
        yield context.warn(
            steps,
            "HostDriver",
            f"the volume brings files of {row['of']} ({path}) from one kind of node; containers "
            "that ask for devices get what fits their node without it",
            fix="leave the volume out",
            source=row["source"],
        )


def _of_sockets(context: Context, steps: Steps, path: str, row: dict[str, Any]) -> Iterator[Told]:
    groups = _with_devices(context)
    if groups and _is_manager(context):
        yield context.warn(
            steps,
            "DeviceManagerSocket",
            f"the Pods look like another manager of devices, with the files of {row['of']} "
            f"({path}), on nodes of {', '.join(one.name for one in groups)}, whose devices have "
            "one already: two of them hand out the same devices",
            fix="keep a second manager off these nodes by their labels, or leave the volume out",
            source=row["source"],
        )


_TOLD: Final = {
    "devices": _of_devices,
    "rdma": _of_rdma,
    "driver": _of_driver,
    "sockets": _of_sockets,
}


def privileged_containers(context: Context) -> Iterator[Told]:
    """Containers that see all devices of their node, in Pods that ask for some."""
    if _is_ours(context) or _is_manager(context) or _is_admin(context):
        return
    asking = any(map(asks_for_devices, context.containers))
    for container in context.containers:
        if not is_privileged(container):
            continue
        steps = (*container.steps, "securityContext", "privileged")
        if asking:
            yield context.warn(
                steps,
                "PrivilegedSeesAllDevices",
                f"container {container.name} is privileged, so it sees all devices of its node, "
                "those of other Pods among them, whatever the Pod asks for",
                fix="leave `privileged` out, and add the capabilities that the container needs",
                source=_SECURITY,
            )
        elif _is_meant_for_devices(context):
            yield context.tell(
                steps,
                "PrivilegedOnDeviceNodes",
                f"container {container.name} is privileged and asks for no device: on nodes of "
                f"{', '.join(one.name for one in _with_devices(context))} it sees the devices of "
                "all Pods",
                fix="leave `privileged` out, ask for the devices, or keep the Pod off these nodes",
                source=_SECURITY,
            )


def _is_admin(context: Context) -> bool:
    """Whether the Pods' claims are for devices that others use, as those of exporters are."""
    found = [one.is_admin for claim in context.claims for one in asks_of(claim)]
    return bool(found) and all(found)


def _is_meant_for_devices(context: Context) -> bool:
    """Whether Pods are sent to nodes with devices; agents that run on each node are left out."""
    selects = any(map(_is_of_devices, mapping(context.spec, "nodeSelector")))
    keys = [one.get("key") for _, one in mappings(context.spec, "tolerations")]
    tolerates = any(isinstance(one, str) and is_device(one) for one in keys)
    if is_on_every_node(context.pod) or not (selects or tolerates):
        return False
    return bool(_with_devices(context))


def _is_of_devices(label: str) -> bool:
    """Whether a label tells nodes with devices from others."""
    return label in (INSTANCE_TYPE_LABEL, GPU_PRESENT_LABEL) or label.startswith(LABEL_PREFIX)


RULES = (host_paths, privileged_containers)
