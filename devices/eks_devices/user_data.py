"""The user data of a node, as a pure function of its group's plan."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ._data import read_toml
from ._mime import multipart
from ._settings_text import merged, write_settings
from .bottlerocket import boot_settings, node_taints
from .findings import Finding, fault, raise_faults
from .plans import NodegroupPlan
from .typecheck import wrong_type
from .user_data_parts import PartKind, too_large
from .vocabulary import OperatingSystem

_LOGICAL_CORES_FILE = "/opt/aws/neuron/logical_nc_config"
_DROP_IN = "/etc/eks/nodeadm.d/50-eks-devices.json"
# The last file of sysctl.d wins, and EFA's installer has one too.
_HUGE_PAGES_FILE = "/etc/sysctl.d/99-eks-devices.conf"
_TEMPLATES = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAccess:
    """What a node with an image of a user's own needs to join its cluster; texts may be tokens.

    Args:
        name: The cluster's name.
        endpoint: The URL of its API server.
        certificate_authority: The certificate of its API server, in base64 as EKS shows it.
        service_cidr: The address range of its Services, which AL2023 needs.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    """

    name: str
    endpoint: str
    certificate_authority: str
    service_cidr: str | None = None


def user_data(plan: NodegroupPlan, *, access: ClusterAccess | None = None) -> str | None:
    """The user data of a group's nodes, None where nothing differs from the AMI's own.

    EKS merges it with its own part, which joins the node to the cluster. Beside an image of a
    user's own it merges nothing: then the text is complete.

    Args:
        plan: The plan of the group.
        access: The cluster; read only for an image of a user's own, which needs it.

    Raises:
        EksDevicesError: `ClusterAccessMissing` for an image of a user's own.

    Sources: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html,
    https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html,
    https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/README.md
    """
    if plan.ami_id is None:
        return _rendered(plan, None)
    raise_faults(_access_faults(plan, access))
    return _rendered(plan, access)


def user_data_size_faults(plan: NodegroupPlan, path: str) -> Iterator[Finding]:
    """The fault of user data that EC2 refuses for its size, what joins the node included.

    Args:
        plan: The drawn plan of a group.
        path: How faults name the user data, "nodegroups.trn2.user_data".
    """
    unknown = ClusterAccess(name="", endpoint="", certificate_authority="", service_cidr="")
    text = _rendered(plan, unknown if plan.ami_id is not None else None)
    limit = read_toml("user_data.toml")["size"]
    size, most = len((text or "").encode()), limit["most"] - limit["joining"]
    if size > most:
        yield too_large(path, size, f"at most {most} bytes, beside the part that joins the node")


def _rendered(plan: NodegroupPlan, access: ClusterAccess | None) -> str | None:
    if plan.operating_system is OperatingSystem.BOTTLEROCKET:
        return _settings(plan, access) or None
    parts = list(_parts(plan, access))
    return multipart(parts) if parts else None


def _access_faults(plan: NodegroupPlan, access: object) -> Iterator[Finding]:
    path = f"nodegroups.{plan.name}.ami_id"
    needed = ["name", "endpoint", "certificate_authority"]
    needed += ["service_cidr"] if plan.operating_system is OperatingSystem.AL2023 else []
    if access is not None and not isinstance(access, ClusterAccess):
        yield wrong_type(f"{path}.access", access, "a ClusterAccess", "use ClusterAccess(...)")
        return
    missing = [name for name in needed if not getattr(access, name, None)]
    wrong = [name for name in needed if not isinstance(getattr(access, name, None), str)]
    if missing or wrong:
        yield fault(
            "ClusterAccessMissing",
            path,
            "beside an image of your own EKS adds nothing that joins the nodes, so the user "
            f"data needs {', '.join(dict.fromkeys([*missing, *wrong]))} of the cluster",
            got=access,
            allowed="a cluster whose name, endpoint, certificate and service range are known",
            fix="name them where the cluster is imported, or leave ami_id out",
            source=_TEMPLATES,
        )


def _parts(plan: NodegroupPlan, access: ClusterAccess | None) -> Iterator[tuple[str, str]]:
    commands = [
        *_logical_core_commands(plan.logical_neuron_cores),
        *_mask_commands(plan),
        *_node_config_commands(plan.max_pods),
        *_huge_page_commands(plan.hugepages_2mi),
    ]
    if commands:
        yield PartKind.SHELL, "\n".join(["#!/bin/bash", "set -euo pipefail", *commands, ""])
    for part in plan.user_data.parts if plan.user_data else ():
        yield part.kind, part.body()
    # Of several NodeConfigs the last one wins.
    spec = _node_spec(plan, access)
    if spec:
        yield PartKind.NODE_CONFIG, _node_config(spec)


def _logical_core_commands(size: int | None) -> Iterator[str]:
    # The Neuron device plugin reads the file when it starts, so it is written at boot.
    if size is not None:
        yield f"mkdir -p {_LOGICAL_CORES_FILE.rpartition('/')[0]}"
        yield f"echo NEURON_LOGICAL_NC_CONFIG={size} > {_LOGICAL_CORES_FILE}"


def _mask_commands(plan: NodegroupPlan) -> Iterator[str]:
    for unit in plan.masked_units:
        yield f"systemctl mask --now {unit}"


def _node_config_commands(max_pods: int | None) -> Iterator[str]:
    # EKS adds a maxPods of its own to user data, which knows nothing of efa-only interfaces and
    # wins over a NodeConfig there; a drop-in wins over both, and nodeadm reads it after this.
    if max_pods is not None:
        text = _node_config({"kubelet": {"config": {"maxPods": max_pods}}})
        yield f"mkdir -p {_DROP_IN.rpartition('/')[0]}"
        yield f"cat > {_DROP_IN} <<'NODECONFIG'\n{text}NODECONFIG"


def _huge_page_commands(pages: int | None) -> Iterator[str]:
    # The kubelet counts the pages when it starts, which is after this.
    if pages is not None:
        yield f"echo vm.nr_hugepages={pages} > {_HUGE_PAGES_FILE}"
        yield f"sysctl -w vm.nr_hugepages={pages}"


def _node_spec(plan: NodegroupPlan, access: ClusterAccess | None) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    if access is not None:
        spec["cluster"] = {
            "name": access.name,
            "apiServerEndpoint": access.endpoint,
            "certificateAuthority": access.certificate_authority,
            "cidr": access.service_cidr,
        }
    if plan.instance_store:
        spec["instance"] = {"localStorage": {"strategy": "RAID0"}}
    config: dict[str, Any] = dict(plan.kubelet)
    if access is not None and plan.max_pods is not None:
        config["maxPods"] = plan.max_pods
    flags = [] if access is None else list(_flags(plan))
    kubelet = {"config": config, "flags": flags}
    filled = {name: value for name, value in kubelet.items() if value}
    return spec | ({"kubelet": filled} if filled else {})


def _flags(plan: NodegroupPlan) -> Iterator[str]:
    labels = ",".join(f"{key}={value}" for key, value in sorted(plan.labels.items()))
    taints = ",".join(str(taint) for taint in plan.taints)
    yield from [f"--node-labels={labels}"] if labels else ()
    yield from [f"--register-with-taints={taints}"] if taints else ()


def _node_config(spec: dict[str, Any]) -> str:
    facts = read_toml("user_data.toml")["node_config"]
    config = {"apiVersion": facts["api_version"], "kind": facts["kind"], "spec": spec}
    return json.dumps(config, indent=2) + "\n"


def _settings(plan: NodegroupPlan, access: ClusterAccess | None) -> str:
    """Bottlerocket's settings: the user's and the plan's in one text."""
    settings = dict(plan.user_data.settings()) if plan.user_data else {}
    settings = merged(settings, boot_settings(plan))
    if access is not None:
        kubernetes: dict[str, Any] = {
            "api-server": access.endpoint,
            "cluster-certificate": access.certificate_authority,
            "cluster-name": access.name,
            "node-labels": dict(plan.labels),
            "node-taints": node_taints(plan),
        }
        filled = {name: value for name, value in kubernetes.items() if value != {}}
        settings = merged(settings, {"settings": {"kubernetes": filled}})
    return write_settings(settings)
