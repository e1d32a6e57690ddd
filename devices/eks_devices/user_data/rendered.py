"""The user data of a node, as a pure function of its group's plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .._data import read_toml
from .._nested import merged
from ..bottlerocket import boot_settings, node_taints
from ..mig import mig_commands
from ..vocabulary import OperatingSystem
from .access import ClusterAccess
from .bottlerocket_toml import write_settings
from .mime import multipart
from .parts import PartKind, compact_json

if TYPE_CHECKING:
    from ..plans import NodegroupPlan

_LOGICAL_CORES_FILE = "/opt/aws/neuron/logical_nc_config"
_DROP_IN = "/etc/eks/nodeadm.d/50-eks-devices.json"
# The last file of sysctl.d wins, and EFA's installer has one too.
_HUGE_PAGES_FILE = "/etc/sysctl.d/99-eks-devices.conf"


def rendered(plan: NodegroupPlan, access: ClusterAccess | None) -> str | None:
    """The user data, with what joins the nodes to a cluster where one is given."""
    if plan.operating_system is OperatingSystem.BOTTLEROCKET:
        return _settings(plan, access) or None
    parts = list(_parts(plan, access))
    return multipart(parts) if parts else None


def _parts(plan: NodegroupPlan, access: ClusterAccess | None) -> Iterator[tuple[str, str]]:
    commands = [
        *_logical_core_commands(plan.logical_neuron_cores),
        *_mask_commands(plan),
        *(mig_commands(plan.mig, plan.instance_type) if plan.mig else ()),
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
    return compact_json({"apiVersion": facts["api_version"], "kind": facts["kind"], "spec": spec})


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
