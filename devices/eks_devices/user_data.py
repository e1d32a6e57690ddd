"""The user data of a node, as a pure function of its group's plan."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .plans import NodegroupPlan
from .vocabulary import OperatingSystem

_BOUNDARY = "EKS-DEVICES"
_LOGICAL_CORES_FILE = "/opt/aws/neuron/logical_nc_config"
_DROP_IN = "/etc/eks/nodeadm.d/50-eks-devices.json"


def user_data(plan: NodegroupPlan) -> str | None:
    """The user data of a group's nodes, None where nothing differs from the AMI's own.

    EKS merges it with its own part, which joins the node to the cluster.

    Sources: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html,
    https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html,
    https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/README.md
    """
    if plan.operating_system is OperatingSystem.BOTTLEROCKET:
        return _toml(plan) or None
    parts = list(_parts(plan))
    return _multipart(parts) if parts else None


def _parts(plan: NodegroupPlan) -> Iterator[tuple[str, str]]:
    commands = [
        *_logical_core_commands(plan.logical_neuron_cores),
        *_mask_commands(plan),
        *_node_config_commands(plan.max_pods),
    ]
    if commands:
        yield "text/x-shellscript", "\n".join(["#!/bin/bash", "set -euo pipefail", *commands, ""])


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
        yield f"mkdir -p {_DROP_IN.rpartition('/')[0]}"
        yield f"cat > {_DROP_IN} <<'NODECONFIG'\n{_node_config(max_pods)}NODECONFIG"


def _node_config(max_pods: int) -> str:
    config = {
        "apiVersion": "node.eks.aws/v1alpha1",
        "kind": "NodeConfig",
        "spec": {"kubelet": {"config": {"maxPods": max_pods}}},
    }
    return json.dumps(config, indent=2) + "\n"


def _multipart(parts: list[tuple[str, str]]) -> str:
    head = f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="{_BOUNDARY}"\n\n'
    body = "".join(
        f'--{_BOUNDARY}\nContent-Type: {kind}; charset="us-ascii"\n\n{text}\n'
        for kind, text in parts
    )
    return f"{head}{body}--{_BOUNDARY}--\n"


def _toml(plan: NodegroupPlan) -> str:
    """Bottlerocket's settings: a table per prefix, in the subset that EKS can merge."""
    tables: dict[str, list[str]] = {}
    for name, value in plan.bottlerocket_settings.items():
        table, _, key = name.rpartition(".")
        tables.setdefault(table, []).append(f"{key} = {json.dumps(value)}")
    return "\n".join(
        f"[{table}]\n" + "\n".join(sorted(lines)) + "\n" for table, lines in sorted(tables.items())
    )
