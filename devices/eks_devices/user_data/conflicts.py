"""Where a user's own user data contradicts what the plan or EKS sets on a node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .._data import read_toml
from .._nested import differences, found, same
from ..bottlerocket import boot_settings, node_taints
from ..findings import Finding, fault, shown
from ..names import (
    BOTTLEROCKET_DRA_DRIVERS,
    BOTTLEROCKET_DRANET,
    BOTTLEROCKET_NVIDIA,
    BOTTLEROCKET_NVIDIA_PARTITIONING,
    BOTTLEROCKET_NVIDIA_PLUGIN,
    BOTTLEROCKET_NVIDIA_SHARING,
    EXTERNAL_OWNER,
    GPU_PRESENT_LABEL,
    HOST_OWNER,
    LABEL_PREFIX,
)
from ..vocabulary import DeviceType, Mechanism, OperatingSystem
from .containerd import lost_settings
from .kubelet_gates import refused_gates

if TYPE_CHECKING:
    from ..plans import DevicePlan, NodegroupPlan

_RAID0 = "RAID0"
_LABELS = "settings.kubernetes.node-labels"
_TAINTS = "settings.kubernetes.node-taints"
_COMMANDS = "settings.bootstrap-commands"
_HOST_DRIVERS = {BOTTLEROCKET_NVIDIA: DeviceType.GPU, BOTTLEROCKET_DRANET: DeviceType.EFA}
_STORAGE = "ephemeral-storage"
_NODEADM = "https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/"


def user_data_conflicts(plan: NodegroupPlan, path: str) -> Iterator[Finding]:
    """What a user's own user data sets otherwise than the plan or EKS, key by key.

    Values that agree are no conflict.

    Args:
        plan: The drawn plan of a group.
        path: How faults name the user data, "nodegroups.trn2.user_data".
    """
    if plan.user_data is None:
        return
    if plan.operating_system is OperatingSystem.BOTTLEROCKET:
        yield from _settings_conflicts(plan, plan.user_data.settings(), path)
        return
    for config in plan.user_data.node_configs():
        yield from _node_config_conflicts(plan, config, path)


def _conflict(
    path: str, key: str, own: object, *, plans: object, by: str, fix: str, source: str
) -> Finding:
    return fault(
        "UserDataConflict",
        f"{path}.{key}",
        f"your user data sets {key}, which is {by}",
        got=own,
        allowed=plans if isinstance(plans, str) else shown(plans),
        fix=fix,
        source=source,
    )


def _node_config_conflicts(
    plan: NodegroupPlan, config: Mapping[str, Any], path: str
) -> Iterator[Finding]:
    facts = read_toml("user_data.toml")["node_config"]
    for row in facts["owned"]:
        if row["own_image"] is (plan.ami_id is not None):
            yield from _owned_conflicts(row, config, path)
    kubelet = found(config, ["spec", "kubelet"]) or {}
    yield from _pod_conflicts(plan, kubelet, path)
    yield from _gate_conflicts(plan, kubelet, path)
    yield from _storage_conflicts(plan, config, path)
    for key, value, row in lost_settings(plan, config):
        told = {name: row[name] for name in ("plans", "by", "source")}
        yield _conflict(path, key, value, fix="leave it out: the image sets it", **told)
    own = kubelet.get("config") or {}
    for keys, mine, its in differences(own, plan.kubelet, ("spec", "kubelet", "config")):
        by, fix = "set by the option kubelet too", "set it in one of the two"
        yield _conflict(path, ".".join(keys), mine, plans=its, by=by, fix=fix, source=_NODEADM)


def _owned_conflicts(
    row: Mapping[str, Any], config: Mapping[str, Any], path: str
) -> Iterator[Finding]:
    told = {name: row[name] for name in ("by", "fix", "source")}
    for key in row["keys"]:
        own = found(config, key.split("."))
        if own is not None:
            yield _conflict(path, key, own, plans="nothing here", **told)


def _pod_conflicts(plan: NodegroupPlan, kubelet: Mapping[str, Any], path: str) -> Iterator[Finding]:
    if plan.max_pods is None:
        return
    most = (kubelet.get("config") or {}).get("maxPods")
    given = {
        # The kubelet does not start with 50.0.
        "config.maxPods": None if type(most) is int and most == plan.max_pods else most,
        "maxPodsExpression": kubelet.get("maxPodsExpression"),
    }
    for key, own in given.items():
        if own is not None:
            by, fix = "set from the interfaces of the instance type", "use max_pods=..."
            told = {"plans": f"maxPods {plan.max_pods}", "by": by, "fix": fix}
            yield _conflict(path, f"spec.kubelet.{key}", own, source=_NODEADM, **told)


def _gate_conflicts(
    plan: NodegroupPlan, kubelet: Mapping[str, Any], path: str
) -> Iterator[Finding]:
    """Feature gates with which the kubelet does not start, or that the group's claims need."""
    by_claims = any(device.mechanism is Mechanism.DRA for device in plan.devices)
    for one in refused_gates(kubelet, plan.kubernetes_version, by_claims=by_claims):
        row = one.row
        told = {"plans": one.plans, "by": f"wrong here: {row['reason']}", "fix": row["fix"]}
        yield _conflict(path, f"spec.kubelet.{one.key}", one.got, source=row["source"], **told)


def _storage_conflicts(
    plan: NodegroupPlan, config: Mapping[str, Any], path: str
) -> Iterator[Finding]:
    keys = ("spec", "instance", "localStorage", "strategy")
    own = found(config, keys)
    is_array = isinstance(own, str) and own.upper() == _RAID0
    if own is None or is_array is plan.instance_store or not (is_array or plan.instance_store):
        return
    yield _conflict(
        path,
        ".".join(keys),
        own,
        plans=_RAID0 if plan.instance_store else "no array of local disks",
        by="set by the option instance_store",
        fix="use instance_store=True" if is_array else "pass instance_store=False beside it",
        source=_NODEADM,
    )


def _settings_conflicts(
    plan: NodegroupPlan, own: Mapping[str, Any], path: str
) -> Iterator[Finding]:
    facts = read_toml("user_data.toml")["bottlerocket"]
    for row in facts["owned"]:
        value = found(own, row["key"].split("."))
        if value is not None:
            by, plans = "the cluster's own", "the value of the cluster"
            yield _setting(path, row["key"], value, plans, by)
    for keys, mine, its in differences(own, boot_settings(plan)):
        yield _setting(path, ".".join(keys), mine, its, "set by the plan too")
    yield from _gpu_conflicts(plan, own, path)
    yield from _driver_conflicts(plan, own, path)
    yield from _label_conflicts(plan, own, path)
    yield from _taint_conflicts(plan, own, path)
    yield from _command_conflicts(plan, own, path)
    for row in facts["hugepages"] if plan.hugepages_2mi is not None else ():
        value = found(own, row["key"])
        if value is not None and str(value) != str(plan.hugepages_2mi):
            by = "set by the option hugepages_2mi"
            yield _setting(path, ".".join(row["key"]), value, plan.hugepages_2mi, by)


def _setting(path: str, key: str, own: object, plans: object, by: str) -> Finding:
    facts = read_toml("user_data.toml")["bottlerocket"]
    fixes = [fix for prefix, fix in facts["options"].items() if key.startswith(prefix)]
    fix, source = (fixes or ["leave it out"])[0], facts["sources"]["merge"]
    return _conflict(path, key, own, plans=plans, by=by, fix=fix, source=source)


def _device(plan: NodegroupPlan, kind: DeviceType) -> DevicePlan | None:
    return next((one for one in plan.devices if one.device_type is kind), None)


def _gpu_conflicts(plan: NodegroupPlan, own: Mapping[str, Any], path: str) -> Iterator[Finding]:
    """What the user sets of the built-in plugin while it serves the GPUs, as it does by default."""
    gpu = _device(plan, DeviceType.GPU)
    if plan.bottlerocket_settings.get(BOTTLEROCKET_NVIDIA_PLUGIN) is False:
        yield from _idle_conflicts(own, path)
    if gpu is None or gpu.owner != HOST_OWNER or gpu.mechanism is Mechanism.DRA:
        return
    by = "how the built-in device plugin serves the GPUs of the plan"
    default: dict[str, Any] = {BOTTLEROCKET_NVIDIA_PLUGIN: True}
    if "sharing" not in gpu.settings:
        default[BOTTLEROCKET_NVIDIA_SHARING] = "none"
    if plan.mig is None:
        default[BOTTLEROCKET_NVIDIA_PARTITIONING] = "none"
    for key, value in default.items():
        mine = found(own, key.split("."))
        if mine is not None and not same(mine, value):
            yield _setting(path, key, mine, value, by)


def _idle_conflicts(own: Mapping[str, Any], path: str) -> Iterator[Finding]:
    """What the user sets of the built-in plugin while it is off: nothing reads it."""
    source = read_toml("user_data.toml")["bottlerocket"]["sources"]["plugin_off"]
    for key in (BOTTLEROCKET_NVIDIA_PARTITIONING, BOTTLEROCKET_NVIDIA_SHARING):
        mine = found(own, key.split("."))
        if mine is not None and not same(mine, "none"):
            by = "for the built-in device plugin, which is off here: it does nothing"
            fix = "leave it out, or name Mechanism.DEVICE_PLUGIN, with mig or gpu_sharing"
            yield _conflict(path, key, mine, plans="none", by=by, fix=fix, source=source)


def _driver_conflicts(plan: NodegroupPlan, own: Mapping[str, Any], path: str) -> Iterator[Finding]:
    """DRA drivers of the host: each would be a second manager, unless the user said that it is one.

    Source: https://github.com/bottlerocket-os/bottlerocket-settings-sdk
    """
    source = read_toml("user_data.toml")["bottlerocket"]["sources"]["host_services"]
    drivers = found(own, BOTTLEROCKET_DRA_DRIVERS.split("."))
    for name, driver in drivers.items() if isinstance(drivers, Mapping) else ():
        kind = _HOST_DRIVERS.get(name)
        device = _device(plan, kind) if kind else None
        enabled = isinstance(driver, Mapping) and driver.get("enabled") is True
        if device is None or not enabled or _is_own_dra(device):
            continue
        yield _conflict(
            path,
            f"{BOTTLEROCKET_DRA_DRIVERS}.{name}.enabled",
            own=True,
            plans=False,
            by=f"a second manager of {kind} devices: the plan's is {device.owner}, by "
            f"{device.mechanism}",
            fix=f"leave it out, or name Mechanism.DRA and {kind} as external",
            source=source,
        )


def _is_own_dra(device: DevicePlan) -> bool:
    """Whether a driver of the host is the plan's manager, or somebody else's that is named."""
    return device.owner in (EXTERNAL_OWNER, HOST_OWNER) and device.mechanism is Mechanism.DRA


def _label_conflicts(plan: NodegroupPlan, own: Mapping[str, Any], path: str) -> Iterator[Finding]:
    labels = found(own, _LABELS.split("."))
    for key, value in labels.items() if isinstance(labels, Mapping) else ():
        ours = key.startswith(LABEL_PREFIX) or key == GPU_PRESENT_LABEL
        if value != plan.labels.get(key, None if ours else value):
            plans = plan.labels.get(key, "no such label")
            yield _setting(path, f"{_LABELS}.{key}", value, plans, "a label of the node group")


def _taint_conflicts(plan: NodegroupPlan, own: Mapping[str, Any], path: str) -> Iterator[Finding]:
    taints = found(own, _TAINTS.split("."))
    ours = node_taints(plan)
    for key, value in taints.items() if isinstance(taints, Mapping) else ():
        given = value if isinstance(value, tuple) else [value]
        if key in ours and sorted(map(str, given)) != sorted(ours[key]):
            by = "a taint of the node group"
            yield _setting(path, f"{_TAINTS}.{key}", value, ", ".join(ours[key]), by)


def _command_conflicts(plan: NodegroupPlan, own: Mapping[str, Any], path: str) -> Iterator[Finding]:
    """Commands that join the local disks a second time: the second one fails, and the boot."""
    named = found(own, _COMMANDS.split(".")) if plan.instance_store else None
    ours = read_toml("user_data.toml")["storage"]["name"]
    for name, command in named.items() if isinstance(named, Mapping) else ():
        commands = command.get("commands") if isinstance(command, Mapping) else None
        lines = commands if isinstance(commands, tuple) else ()
        if name != ours and any(isinstance(one, tuple) and _STORAGE in one for one in lines):
            by, plans = "done by the option instance_store too", f"{_COMMANDS}.{ours}"
            yield _setting(path, f"{_COMMANDS}.{name}", command, plans, by)
