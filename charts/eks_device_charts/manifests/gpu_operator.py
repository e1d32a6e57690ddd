"""Values for the Helm chart of NVIDIA's GPU operator, beside the managers of a plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eks_devices import ClusterPlan, DevicePlan, DeviceType, NodegroupPlan, OperatingSystem
from eks_devices.findings import Finding, fault, raise_faults
from eks_devices.gpu_operator import gpu_operator_labels, operator_serves
from eks_devices.names import GPU_OPERANDS_LABEL, MIG_CONFIG_LABEL
from eks_devices.typecheck import wrong_type

_CONTROLLER = "https://github.com/NVIDIA/gpu-operator/blob/main/controllers/state_manager.go"
_PLATFORMS = "https://github.com/NVIDIA/gpu-driver-container/issues/416"


def gpu_operator_values(plan: ClusterPlan) -> dict[str, Any]:
    """Helm values with which NVIDIA's GPU operator serves its node groups of a plan, and no others.

    Its groups are those with `external={DeviceType.GPU}` and the device plugin; without any, its
    plugin is off. Driver and container toolkit are off: the images of the nodes bring both. Node
    feature discovery is on, because the operator calls a node without its labels one without GPUs,
    and sets `nvidia.com/gpu.present` to "false" there. The MIG manager is on where a group of the
    operator's has the label `nvidia.com/mig.config`, and leaves the GPUs of other groups as they
    are. What is not named here, exporters of metrics among it, is yours: put your own values file
    after this one. The names are those of chart 26.7.0; older charts ignore what they do not know.

    Args:
        plan: The plan of a cluster.

    Raises:
        EksDevicesError: Every fault: `OperatorOnBottlerocket` for a group of the operator's on
            Bottlerocket, which runs a plugin of its own, `OperatorShutOut` for one whose labels
            keep the operator off, and, where its plugin is on, `TwoGpuManagers` for a group of
            another manager whose labels let the operator in.

    Source: https://github.com/NVIDIA/gpu-operator/tree/v26.7.0/deployments/gpu-operator
    """
    raise_faults(_faults(plan))
    return _values(_served(plan))


def _values(served: list[NodegroupPlan]) -> dict[str, Any]:
    return {
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        # The AMIs' containerd takes CDI devices; the NRI plugin would need the operator's toolkit.
        "cdi": {"enabled": True, "nriPluginEnabled": False},
        "devicePlugin": {
            "enabled": bool(served),
            # Some releases mount every EFA device into every container with a GPU otherwise.
            "env": [{"name": "MOFED_ENABLED", "value": "false"}],
        },
        # It runs on the operator's own nodes alone: a label keeps it off the others.
        "gfd": {"enabled": bool(served)},
        "migManager": {
            "enabled": any(MIG_CONFIG_LABEL in group.labels for group in served),
            # The chart's default would undo the partitions of every group without the label.
            "config": {"default": ""},
        },
        "sandboxWorkloads": {"enabled": False},
        # The other resource brings a DRA driver to every GPU node, and no label keeps it off.
        "clusterPolicy": {"deployCR": True},
        "gpuCluster": {"deployCR": False},
        "nfd": {"enabled": True},
        # The chart tolerates the one taint that NVIDIA names; groups have taints of their own.
        "daemonsets": {"tolerations": [{"operator": "Exists"}]},
        "node-feature-discovery": {"worker": {"tolerations": [{"operator": "Exists"}]}},
    }


def _gpus(group: NodegroupPlan) -> Iterator[DevicePlan]:
    """The GPUs of a group, where it has any."""
    yield from (one for one in group.devices if one.device_type is DeviceType.GPU)


def _served(plan: ClusterPlan) -> list[NodegroupPlan]:
    return [group for group in plan.nodegroups if any(map(operator_serves, _gpus(group)))]


def _faults(plan: object) -> Iterator[Finding]:
    if not isinstance(plan, ClusterPlan):
        yield wrong_type("plan", plan, "a ClusterPlan", "pass what plan_cluster returns")
        return
    served = _served(plan)
    for group in served:
        if group.operating_system is OperatingSystem.BOTTLEROCKET:
            yield _on_bottlerocket(group)
        if group.labels.get(GPU_OPERANDS_LABEL) == "false":
            yield _shut_out(group)
    for group in plan.nodegroups if served else ():
        wanted = {
            key: value for gpu in _gpus(group) for key, value in gpu_operator_labels(gpu).items()
        }
        for label, value in wanted.items():
            if group.labels.get(label) != value:
                yield _two_managers(group, label, value)


def _on_bottlerocket(group: NodegroupPlan) -> Finding:
    return fault(
        "OperatorOnBottlerocket",
        f"nodegroups.{group.name}.external",
        "Bottlerocket brings a device plugin of its own, and is none of the operator's platforms",
        got=str(group.operating_system),
        allowed="AL2023 for groups of the operator's",
        fix="leave GPU out of external for this group, or choose OperatingSystem.AL2023",
        source=_PLATFORMS,
    )


def _shut_out(group: NodegroupPlan) -> Finding:
    return fault(
        "OperatorShutOut",
        f"nodegroups.{group.name}.labels",
        "the label keeps the operator off nodes that it is to serve, so nothing would hand out "
        "their GPUs",
        got="false",
        allowed=f"no label {GPU_OPERANDS_LABEL}",
        fix="leave the label out, or GPU out of external",
        source=_CONTROLLER,
    )


def _two_managers(group: NodegroupPlan, label: str, value: str) -> Finding:
    return fault(
        "TwoGpuManagers",
        f"nodegroups.{group.name}.labels",
        "the operator's device plugin would start beside the manager of these GPUs",
        got=group.labels.get(label),
        allowed=f"{label}={value}",
        fix="leave the label to the library, or give the group to the operator: "
        "external={DeviceType.GPU}",
        source=_CONTROLLER,
    )
