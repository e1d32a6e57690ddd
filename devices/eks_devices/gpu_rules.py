"""What the options of the two GPU managers mean on the nodes of a group, and where they fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ._data import read_toml
from .bottlerocket import plugin_value_faults
from .feature_gates import (
    FeatureGate,
    changed_gates,
    feature_gates,
    gate_rule_faults,
    gates_source,
    gates_text,
)
from .findings import Finding, fault, warning
from .gpu_options import DeviceListStrategy, GpuDriver, GpuPlugin
from .gpu_parts import part_findings
from .gpu_taints import eviction_findings, toleration_findings
from .instance_faults import bare_metal_gpu_types
from .instance_types import AcceleratedInstanceType
from .interfaces import group_instances
from .kubernetes import gate_is_on, minors
from .mechanisms import Choice, feature_findings
from .names import DYNAMIC_MIG_GATE, MPS_GATE, SHARED_GPU_RESOURCE
from .spec import NodegroupSpec
from .vocabulary import DeviceType, Feature, Mechanism, OperatingSystem

Settings = tuple[tuple[str, str | int], ...]


def gpu_settings(spec: NodegroupSpec, mechanism: Mechanism) -> Settings:
    """What the manager of a group's GPUs is told beyond its defaults."""
    if DeviceType.GPU in spec.external:
        return ()
    if mechanism is Mechanism.DRA:
        return tuple(_driver_settings(spec))
    sharing = spec.gpu_sharing.settings() if spec.gpu_sharing else ()
    plugin = () if spec.gpu_plugin is None else tuple(_plugin_settings(spec.gpu_plugin))
    return tuple(sorted((*sharing, *plugin, *_mig_settings(spec))))


def _gates(spec: NodegroupSpec) -> dict[str, bool]:
    """The gates that a group names, and those that follow from its options."""
    dynamic = spec.mig is not None and spec.mig.is_dynamic
    named = spec.gpu_driver.gates if spec.gpu_driver else {}
    return named | ({DYNAMIC_MIG_GATE: True} if dynamic else {})


def _driver_settings(spec: NodegroupSpec) -> Iterator[tuple[str, str | int]]:
    driver = spec.gpu_driver or GpuDriver()
    if driver.consumable_shares is not None:
        yield "consumable-shares", str(driver.consumable_shares)
    gates = changed_gates(_gates(spec))
    if gates:
        yield "feature-gates", gates_text(gates)
    if driver.ignored_xids:
        yield "ignored-xids", _numbers(driver.ignored_xids)


def _mig_settings(spec: NodegroupSpec) -> Iterator[tuple[str, str | int]]:
    if spec.mig is not None and spec.mig.strategy is not None:
        yield "mig-strategy", str(spec.mig.strategy)


def _plugin_settings(plugin: GpuPlugin) -> Iterator[tuple[str, str | int]]:
    for name in ("device_id_strategy", "device_list_strategy"):
        if getattr(plugin, name) is not None:
            yield name.replace("_", "-"), str(getattr(plugin, name))
    if plugin.pass_device_specs is not None:
        yield "pass-device-specs", plugin.pass_device_specs
    for name in ("feature_discovery", "gdrcopy", "gds"):
        if getattr(plugin, name):
            yield name.replace("_", "-"), True
    if not plugin.health_checks:
        yield "ignored-health-checks", "all"
    elif plugin.ignored_xids:
        yield "ignored-health-checks", _numbers(plugin.ignored_xids)


def _numbers(values: Sequence[int]) -> str:
    return ",".join(map(str, sorted(set(values))))


def gpu_findings(
    spec: NodegroupSpec, instance: AcceleratedInstanceType, version: str, choice: Choice
) -> Iterator[Finding]:
    """Faults and warnings of the options of a group's GPU manager."""
    if choice.mechanism is Mechanism.DRA and spec.gpu_driver is not None:
        yield from _driver_findings(spec, spec.gpu_driver, instance, version)
    elif spec.gpu_driver is not None:
        yield _of_dra(spec, choice)
    if choice.mechanism is Mechanism.DEVICE_PLUGIN:
        yield from _plugin_findings(spec)
        yield from _list_strategy_findings(spec)
        yield from _client_faults(spec, instance)
        yield from part_findings(spec, instance)
        if spec.gpu_sharing is not None and spec.gpu_sharing.rename:
            at = f"{spec.path}.gpu_sharing.rename"
            yield from toleration_findings(spec, SHARED_GPU_RESOURCE, at)


def _driver_findings(
    spec: NodegroupSpec, driver: GpuDriver, instance: AcceleratedInstanceType, version: str
) -> Iterator[Finding]:
    path = f"{spec.path}.gpu_driver"
    if driver.host_service:
        yield from _host_findings(spec, instance.family, version)
        return
    gates, named = _gates(spec), driver.feature_gates
    yield from gate_rule_faults(gates, f"{path}.feature_gates", named=named)
    if driver.gates.get(MPS_GATE):
        yield from eviction_findings(spec)
    for name, on in driver.gates.items():
        if on:
            at = _gate_path(path, name, driver)
            yield from _gate_findings(spec, feature_gates()[name], at, instance, version)


def _gate_path(path: str, name: str, driver: GpuDriver) -> str:
    named = name in driver.feature_gates
    return f"{path}.feature_gates[{name}]" if named else f"{path}.consumable_shares"


def _gate_findings(
    spec: NodegroupSpec,
    gate: FeatureGate,
    path: str,
    instance: AcceleratedInstanceType,
    version: str,
) -> Iterator[Finding]:
    if gate.feature:
        yield from feature_findings(
            spec,
            Mechanism.DRA,
            Feature(gate.feature),
            path.removeprefix(f"{spec.path}."),
            got=gate.name,
            family=instance.family,
            version=version,
        )
    elif gate.kubernetes_gate and not gate_is_on(gate.kubernetes_gate, version):
        yield _kubernetes_fault(gate, path, version)
    # Of the types that EC2 may start, the first that has a hypervisor.
    others = (one for one in group_instances(spec, instance) if not one.bare_metal)
    virtual = next(others, None) if gate.bare_metal else None
    if virtual is not None:
        yield _bare_metal_fault(gate, path, virtual)
    elif gate.trap:
        message = f"{gate.name} is {gate.stage}: {gate.trap}"
        fix = "try it on a group of its own first"
        yield warning("FeatureGateStage", path, message, fix=fix, source=gates_source())


def _kubernetes_fault(gate: FeatureGate, path: str, version: str) -> Finding:
    on = [minor for minor in minors() if gate_is_on(gate.kubernetes_gate, minor)]
    return fault(
        "FeatureGateNeedsKubernetes",
        path,
        f"{gate.name} needs the Kubernetes gate {gate.kubernetes_gate}, which is off in "
        f"{version}, and EKS lets nobody switch gates",
        got=version,
        allowed=f"Kubernetes {', '.join(on)}" if on else "no minor so far",
        fix="upgrade the cluster" if on else "leave it out",
        source=str(read_toml("kubernetes.toml")["source"]),
    )


def _bare_metal_fault(gate: FeatureGate, path: str, instance: AcceleratedInstanceType) -> Finding:
    return fault(
        "FeatureGateNeedsBareMetal",
        path,
        f"{gate.name} needs an IOMMU, and {instance.name} runs under a hypervisor",
        got=instance.name,
        allowed=bare_metal_gpu_types(),
        fix="use a bare metal type, or leave the gate out",
        source=gates_source(),
    )


def _host_findings(spec: NodegroupSpec, family: str, version: str) -> Iterator[Finding]:
    path = "gpu_driver.host_service"
    if spec.operating_system is not OperatingSystem.BOTTLEROCKET:
        yield fault(
            "HostServiceNeedsBottlerocket",
            f"{spec.path}.{path}",
            "no other operating system has the DRA driver built in",
            got=str(spec.operating_system),
            allowed="OperatingSystem.BOTTLEROCKET",
            fix="leave host_service out: a DaemonSet runs the driver",
            source="https://github.com/bottlerocket-os/bottlerocket/releases/tag/v1.66.0",
        )
        return
    yield from feature_findings(
        spec,
        Mechanism.DRA,
        Feature.HOST_SERVICE,
        path,
        got="True",
        family=family,
        version=version,
    )


def _list_strategy_findings(spec: NodegroupSpec) -> Iterator[Finding]:
    plugin, mounts = spec.gpu_plugin, DeviceListStrategy.VOLUME_MOUNTS
    on_al2023 = spec.operating_system is OperatingSystem.AL2023
    if plugin is not None and plugin.device_list_strategy is mounts and on_al2023:
        row = read_toml("limits.toml")["volume_mounts"]
        path = f"{spec.path}.gpu_plugin.device_list_strategy"
        yield warning(
            "VolumeMountsStrategy", path, row["message"], fix=row["fix"], source=row["source"]
        )


def _client_faults(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """The fault of more MPS clients than a GPU of the type serves."""
    row, chips, sharing = read_toml("limits.toml")["mps"], instance.accelerator, spec.gpu_sharing
    most = row["most_by_gpu"].get(chips.name if chips else "", row["most"])
    if sharing is not None and sharing.feature is Feature.MPS and sharing.replicas > most:
        yield fault(
            "TooManyMpsClients",
            f"{spec.path}.gpu_sharing.replicas",
            f"{row['message']} of {instance.name}",
            got=sharing.replicas,
            allowed=f"2 to {most}",
            fix=f"use {most} replicas or fewer",
            source=row["source"],
        )


def _of_dra(spec: NodegroupSpec, choice: Choice) -> Finding:
    return fault(
        "OptionOfOtherMechanism",
        f"{spec.path}.gpu_driver",
        f"these are options of the DRA driver, and a device plugin serves the GPUs: "
        f"{choice.reason}",
        got=spec.gpu_driver,
        allowed="None with the device plugin",
        fix="name mechanism=Mechanism.DRA, or leave gpu_driver out",
    )


def _plugin_findings(spec: NodegroupSpec) -> Iterator[Finding]:
    plugin = spec.gpu_plugin
    if plugin is None or spec.operating_system is not OperatingSystem.BOTTLEROCKET:
        return
    yield from plugin_value_faults(plugin, f"{spec.path}.gpu_plugin")
    row = read_toml("support.toml")["built_in_plugin"]
    defaults = GpuPlugin()
    for name in row["options"]:
        if getattr(plugin, name) != getattr(defaults, name):
            yield fault(
                "OptionOfDaemonSet",
                f"{spec.path}.gpu_plugin.{name}",
                row["message"],
                got=getattr(plugin, name),
                allowed=row["allowed"],
                fix=row["fix"],
                source=row["source"],
            )
