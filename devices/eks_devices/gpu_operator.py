"""Which nodes NVIDIA's GPU operator serves, and what keeps it off the others.

The operator starts its Pods on every node with an NVIDIA GPU, its device plugin among them, which
would hand the GPUs out a second time. A label of a single one of them, such as
`nvidia.com/gpu.deploy.device-plugin=false`, does not last: the operator removes it while a new
node has no label of node feature discovery yet, and later sets it to "true". The label for all
of them stays, and is looked at first.

Source: https://github.com/NVIDIA/gpu-operator/blob/v26.7.0/controllers/state_manager.go and
https://github.com/NVIDIA/gpu-operator/issues/2288
"""

from __future__ import annotations

from .names import EXTERNAL_OWNER, GPU_OPERANDS_LABEL
from .plans import DevicePlan
from .vocabulary import DeviceType, Mechanism


def operator_serves(device: DevicePlan) -> bool:
    """Whether a device is of GPUs that the operator's device plugin may hand out.

    The operator's DRA driver belongs to another resource, a GPUCluster, which takes every GPU node
    of a cluster whatever the labels are.
    """
    return (
        device.device_type is DeviceType.GPU
        and device.mechanism is Mechanism.DEVICE_PLUGIN
        and device.owner == EXTERNAL_OWNER
    )


def gpu_operator_labels(device: DevicePlan) -> dict[str, str]:
    """The labels of a group's nodes that keep the operator off GPUs which another manager serves.

    They are the same whether the cluster has an operator or not, and keep its exporter of metrics
    and its discovery of features off those nodes too.

    Args:
        device: A device of the group.
    """
    if device.device_type is not DeviceType.GPU or operator_serves(device):
        return {}
    return {GPU_OPERANDS_LABEL: "false"}
