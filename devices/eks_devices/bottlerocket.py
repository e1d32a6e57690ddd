"""Settings of the operating system that follow from a group's devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._data import read_toml
from ._frozen import FrozenDict
from ._nested import merged, nested
from .findings import Finding, fault
from .mig import mig_bottlerocket_settings
from .names import (
    BOTTLEROCKET_DEVICE_OWNERSHIP,
    BOTTLEROCKET_MAX_PODS,
    BOTTLEROCKET_NVIDIA_DRIVER,
    BOTTLEROCKET_NVIDIA_PLUGIN,
    BOTTLEROCKET_NVIDIA_SETTINGS,
    BOTTLEROCKET_NVIDIA_SHARING,
    HOST_OWNER,
)
from .vocabulary import DeviceType, Feature, Mechanism, OperatingSystem

_SAME_NAME = ("device-id-strategy", "device-list-strategy", "pass-device-specs")
Setting = str | int | bool | FrozenDict[str, str]

if TYPE_CHECKING:
    from .gpu_options import GpuPlugin
    from .plans import DevicePlan, NodegroupPlan
    from .spec import NodegroupSpec


def bottlerocket_settings(
    spec: NodegroupSpec, devices: tuple[DevicePlan, ...], max_pods: int | None
) -> FrozenDict[str, Setting]:
    """Bottlerocket's settings by dotted name; AL2023 has none."""
    if spec.operating_system is not OperatingSystem.BOTTLEROCKET:
        return FrozenDict()
    settings: dict[str, Setting] = {}
    if max_pods is not None:
        settings[BOTTLEROCKET_MAX_PODS] = max_pods
    for device in devices:
        settings |= _device_settings(device)
        if spec.mig is not None and device.device_type is DeviceType.GPU:
            settings |= mig_bottlerocket_settings(spec.mig, spec.instance_type)
    return FrozenDict(sorted(settings.items()))


def plugin_value_faults(plugin: GpuPlugin, path: str) -> Iterator[Finding]:
    """Faults of options of the built-in device plugin with values that its settings do not take.

    Args:
        plugin: The options, without faults of their own.
        path: Names them in the faults.
    """
    for row in read_toml("bottlerocket_gpu.toml")["setting"]:
        name, values = row["key"].replace("-", "_"), row.get("values", ())
        given = getattr(plugin, name) if row["key"] in _SAME_NAME else None
        if given is not None and values and given not in values:
            yield fault(
                "ValueNotOnBottlerocket",
                f"{path}.{name}",
                "Bottlerocket takes no such value, and refuses every setting beside it: the nodes "
                "would not join",
                got=given,
                allowed=f"{', '.join(values)}, or None",
                fix="use one of these, or operating_system=OperatingSystem.AL2023",
                source=row["source"],
            )


def boot_settings(plan: NodegroupPlan) -> dict[str, Any]:
    """Everything that a plan sets on its Bottlerocket nodes, as nested tables.

    Sources: https://bottlerocket.dev/en/os/latest/concepts/bootstrap-commands/,
    https://bottlerocket.dev/en/os/latest/api/settings/kernel/
    """
    settings = nested(plan.bottlerocket_settings)
    if plan.hugepages_2mi is not None:
        sysctl = {"vm.nr_hugepages": str(plan.hugepages_2mi)}
        settings = merged(settings, {"settings": {"kernel": {"sysctl": sysctl}}})
    if plan.instance_store:
        storage = read_toml("user_data.toml")["storage"]
        # At every boot: what is bound does not outlive one, and a second `init` changes nothing.
        # Without its disks a node would fill the volume, so it must not join.
        command = {"commands": storage["commands"], "essential": True, "mode": "always"}
        commands = {"settings": {"bootstrap-commands": {storage["name"]: command}}}
        settings = merged(settings, commands)
    return settings


def node_taints(plan: NodegroupPlan) -> dict[str, list[str]]:
    """The taints of a plan as Bottlerocket has them: value and effect by key.

    Source: https://bottlerocket.dev/en/os/latest/api/settings/kubernetes/
    """
    taints: dict[str, list[str]] = {}
    for taint in plan.taints:
        taints.setdefault(taint.key, []).append(f"{taint.value}:{taint.effect}")
    return taints


def runs_built_in_plugin(group: NodegroupPlan) -> bool:
    """Whether the nodes of a group start NVIDIA's device plugin by themselves.

    The variants with NVIDIA's driver do, unless they are told not to.

    Source: https://bottlerocket.dev/en/os/latest/api/settings/kubelet-device-plugins/
    """
    return (
        group.operating_system is OperatingSystem.BOTTLEROCKET
        and group.device_of(DeviceType.GPU) is not None
        and group.bottlerocket_settings.get(BOTTLEROCKET_NVIDIA_PLUGIN, True) is not False
    )


def runs_built_in_driver(group: NodegroupPlan) -> bool:
    """Whether the nodes of a group start NVIDIA's DRA driver by themselves, as they are told to.

    Source: https://github.com/bottlerocket-os/bottlerocket/releases/tag/v1.66.0
    """
    return group.bottlerocket_settings.get(BOTTLEROCKET_NVIDIA_DRIVER) is True


def _device_settings(device: DevicePlan) -> dict[str, Setting]:
    if device.device_type is DeviceType.NEURON:
        # Without it Pods that do not run as root cannot open /dev/neuron*.
        return {BOTTLEROCKET_DEVICE_OWNERSHIP: True}
    if device.device_type is not DeviceType.GPU:
        return {}
    if device.owner != HOST_OWNER:
        # The built-in plugin would hand out the same GPUs as the group's manager.
        return {BOTTLEROCKET_NVIDIA_PLUGIN: False}
    if device.mechanism is Mechanism.DRA:
        # The driver starts only while the plugin, which is on by default, is off.
        return {BOTTLEROCKET_NVIDIA_PLUGIN: False, BOTTLEROCKET_NVIDIA_DRIVER: True}
    # The plugin is on by default, and releases before 1.63.0 refuse the setting that says so.
    return dict(_plugin_settings(device))


def _plugin_settings(device: DevicePlan) -> Iterator[tuple[str, Setting]]:
    """Settings of the built-in device plugin; its keys follow ours, except those of sharing."""
    told = device.settings
    for name in _SAME_NAME:
        if name in told:
            yield f"{BOTTLEROCKET_NVIDIA_SETTINGS}.{name}", told[name]
    if "sharing" in told:
        yield BOTTLEROCKET_NVIDIA_SHARING, told["sharing"]
        way = f"{BOTTLEROCKET_NVIDIA_SETTINGS}.{told['sharing']}"
        yield f"{way}.replicas", told["replicas"]
        # Unlike the plugin by itself, Bottlerocket renames and refuses unless it is told not to.
        yield f"{way}.rename-by-default", bool(told.get("rename"))
        if told["sharing"] == Feature.TIME_SLICING:
            only_one = bool(told.get("single-replica-requests"))
            yield f"{way}.fail-requests-greater-than-one", only_one
