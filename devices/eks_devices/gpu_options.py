"""Options of the two managers of NVIDIA GPUs on the nodes of a group, as values."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ._frozen import FrozenDict, copied_mapping
from .feature_gates import (
    GPU_COMPONENT,
    FeatureGate,
    feature_gates,
    gate_form_faults,
    gate_rule_faults,
)
from .findings import Finding, fault, raise_faults
from .names import CONSUMABLE_SHARES_GATE, HEALTH_CHECK_GATE
from .typecheck import (
    boolean,
    is_token,
    member,
    members,
    plain_text,
    whole_number,
    wrong_type,
)

_SHARES_PAGE = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/releases/tag/v0.5.0"
_PLUGIN_PAGE = "https://github.com/NVIDIA/k8s-device-plugin/releases/tag/v0.20.0"
_SHARE_WORDS = ("memory", "unlimited")
# The driver reads the number as an int of 64 bits, and exits when it does not fit.
_MOST_SHARES = 2**63 - 1
_MOST_XID = 65535
# There are fewer kinds of errors, and a process takes only so long a list in its environment.
_MOST_XIDS = 1000


class DeviceListStrategy(StrEnum):
    """How the device plugin tells the container runtime which GPUs a container gets.

    Source: https://github.com/NVIDIA/k8s-device-plugin
    """

    ENVVAR = "envvar"
    VOLUME_MOUNTS = "volume-mounts"
    CDI_ANNOTATIONS = "cdi-annotations"
    CDI_CRI = "cdi-cri"


class DeviceIdStrategy(StrEnum):
    """How the device plugin names a GPU to the container runtime."""

    UUID = "uuid"
    INDEX = "index"


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuDriver:
    """Options of the NVIDIA DRA driver on the nodes of a group.

    Args:
        feature_gates: Gates of the driver's part for GPUs, by name; each as the driver has it
            unless named. `DynamicMIG` and `ConsumableShares` follow from `mig=Mig.dynamic()` and
            from `consumable_shares`.
        consumable_shares: How many claims may have one GPU at once: a number, "memory" for as
            many as its memory is asked for, "unlimited". One claim unless named.
        ignored_xids: XID errors that leave a GPU healthy, beside those of applications, with the
            gate `NVMLDeviceHealthCheck`.
        host_service: Lets Bottlerocket run the driver that is built into it, without gates; a
            DaemonSet runs it unless named.

    Raises:
        EksDevicesError: With every fault of the values.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu
    """

    feature_gates: Mapping[str, bool] = dataclasses.field(default_factory=FrozenDict)
    consumable_shares: int | str | None = None
    ignored_xids: Sequence[int] = ()
    host_service: bool = False

    def __post_init__(self) -> None:
        """Copy collections, and raise EksDevicesError with every fault."""
        object.__setattr__(self, "feature_gates", copied_mapping(self.feature_gates))
        object.__setattr__(self, "consumable_shares", plain_text(self.consumable_shares))
        object.__setattr__(self, "ignored_xids", _frozen_list(self.ignored_xids))
        raise_faults(_driver_faults(self, "gpu_driver"))

    @property
    def gates(self) -> dict[str, bool]:
        """The gates that are named, and the one that follows from shares."""
        shares = {} if self.consumable_shares is None else {CONSUMABLE_SHARES_GATE: True}
        return {**self.feature_gates, **shares}


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuPlugin:
    """Options of the NVIDIA device plugin on the nodes of a group.

    None leaves a default to the plugin: on AL2023 `envvar`, `uuid` and no device nodes of its
    own, on Bottlerocket `cdi-cri`, `index` and device nodes.

    Args:
        gdrcopy: Gives every container with a GPU the device of GDRCopy.
        gds: Gives every container with a GPU the devices of GPUDirect Storage.
        device_list_strategy: How the container runtime learns which GPUs a container gets.
        device_id_strategy: Whether it learns them by UUID or by index.
        pass_device_specs: Names the device nodes to the kubelet too, which containers with
            pinned processors need; the plugin then runs privileged.
        health_checks: Takes GPUs with fatal errors out of service; on unless named.
        ignored_xids: XID errors that leave a GPU healthy, beside those of applications.
        feature_discovery: Runs GPU Feature Discovery on the nodes, which describes the GPUs to a
            Node Feature Discovery that you install; labels come from there.

    Raises:
        EksDevicesError: With every fault of the values.

    Source: https://github.com/NVIDIA/k8s-device-plugin
    """

    gdrcopy: bool = False
    gds: bool = False
    device_list_strategy: DeviceListStrategy | None = None
    device_id_strategy: DeviceIdStrategy | None = None
    pass_device_specs: bool | None = None
    health_checks: bool = True
    ignored_xids: Sequence[int] = ()
    feature_discovery: bool = False

    def __post_init__(self) -> None:
        """Copy the list, and raise EksDevicesError with every fault."""
        object.__setattr__(self, "ignored_xids", _frozen_list(self.ignored_xids))
        raise_faults(_plugin_faults(self, "gpu_plugin"))


def gpu_option_faults(driver: object, plugin: object, path: str) -> tuple[Finding, ...]:
    """Faults of options that are neither None nor of their class; others judged themselves."""
    found = []
    for name, value, kind in (
        ("gpu_driver", driver, GpuDriver),
        ("gpu_plugin", plugin, GpuPlugin),
    ):
        if value is not None and not isinstance(value, kind):
            fix = f"use {kind.__name__}(...)"
            found.append(wrong_type(f"{path}.{name}", value, f"a {kind.__name__}, or None", fix))
    return tuple(found)


def _frozen_list(value: Any) -> Any:
    given = members(value, ordered=True)
    return value if given is None else tuple(given)


def _driver_faults(driver: GpuDriver, path: str) -> tuple[Finding, ...]:
    at = f"{path}.feature_gates"
    form = list(gate_form_faults(driver.feature_gates, at, component=GPU_COMPONENT))
    found = [
        *form,
        *_share_faults(driver.consumable_shares, f"{path}.consumable_shares"),
        *_xid_faults(driver.ignored_xids, f"{path}.ignored_xids"),
        *boolean(driver.host_service, f"{path}.host_service"),
    ]
    if found:
        return tuple(found)
    found += gate_rule_faults(driver.gates, at)
    return (*found, *_effect_faults(driver, path))


def _share_faults(value: object, path: str) -> list[Finding]:
    words = ", ".join(f'"{one}"' for one in _SHARE_WORDS)
    wanted = f"a whole number from 2 to 2**63 - 1, {words}, or None"
    # Only a number or a text is compared: another value could raise.
    of_number = type(value) is int
    of_text = isinstance(value, str) and not is_token(value)
    if value is None or (of_text and value in _SHARE_WORDS):
        return []
    if type(value) is int and 1 < value <= _MOST_SHARES:
        return []
    if of_number or of_text:
        message = "the driver knows no such number of shares"
        fix = "write how many claims may have one GPU, 2 or more"
        return [
            fault(
                "OutOfRange", path, message, got=value, allowed=wanted, fix=fix, source=_SHARES_PAGE
            )
        ]
    return [wrong_type(path, value, wanted, "write a number of claims")]


def _xid_faults(values: object, path: str) -> Iterator[Finding]:
    if type(values) is not tuple:
        yield wrong_type(path, values, "a list of XID numbers", "write [79] for instance")
        return
    if len(values) > _MOST_XIDS:
        yield fault(
            "TooManyXids",
            path,
            "the list does not fit into the environment of a manager",
            got=f"{len(values)} numbers",
            allowed=f"at most {_MOST_XIDS}",
            fix="name each XID once, and only those that leave a GPU healthy",
        )
    for index, one in enumerate(values[:_MOST_XIDS]):
        yield from whole_number(one, f"{path}[{index}]", lowest=1, highest=_MOST_XID)


def _effect_faults(driver: GpuDriver, path: str) -> list[Finding]:
    """Options that say the same twice, or that would do nothing."""
    at, given = f"{path}.feature_gates", driver.feature_gates
    named = [feature_gates()[name] for name in given]
    found = [_follows(one, at, got=given[one.name]) for one in named if one.option]
    if driver.ignored_xids and not given.get(HEALTH_CHECK_GATE):
        found.append(_without_checks(driver, path))
    if driver.host_service and (driver.gates or driver.ignored_xids):
        found.append(_of_host(driver, path))
    return found


def _follows(gate: FeatureGate, path: str, *, got: bool) -> Finding:
    return fault(
        "FeatureGateOfOption",
        f"{path}[{gate.name}]",
        f"this gate follows from {gate.option}, which also says how it is used",
        got=got,
        allowed=gate.option,
        fix=f"leave the gate out, and use {gate.option}",
    )


def _without_checks(driver: GpuDriver, path: str) -> Finding:
    return fault(
        "IgnoredXidsWithoutChecks",
        f"{path}.ignored_xids",
        f"the driver watches for XIDs with the gate {HEALTH_CHECK_GATE} only",
        got=driver.ignored_xids,
        allowed="() without the gate",
        fix=f'add feature_gates={{"{HEALTH_CHECK_GATE}": True}}, or leave ignored_xids out',
    )


def _of_host(driver: GpuDriver, path: str) -> Finding:
    return fault(
        "HostServiceTakesNoOptions",
        f"{path}.host_service",
        "the driver that is built into Bottlerocket takes neither feature gates nor other options",
        got=driver.gates or driver.ignored_xids,
        allowed="host_service=True alone",
        fix="leave the other options out, or host_service",
        source="https://github.com/bottlerocket-os/bottlerocket-core-kit/pull/1035",
    )


def _plugin_faults(plugin: GpuPlugin, path: str) -> tuple[Finding, ...]:
    switches = ("gdrcopy", "gds", "health_checks", "feature_discovery")
    found = [one for name in switches for one in boolean(getattr(plugin, name), f"{path}.{name}")]
    found += boolean(plugin.pass_device_specs, f"{path}.pass_device_specs", optional=True)
    enums: tuple[tuple[str, type[StrEnum]], ...] = (
        ("device_list_strategy", DeviceListStrategy),
        ("device_id_strategy", DeviceIdStrategy),
    )
    for name, enum in enums:
        found += member(getattr(plugin, name), enum, f"{path}.{name}", optional=True)
    found += _xid_faults(plugin.ignored_xids, f"{path}.ignored_xids")
    return tuple(found or _idle_options(plugin, path))


def _idle_options(plugin: GpuPlugin, path: str) -> Iterator[Finding]:
    """Options that would do nothing beside others."""
    if plugin.ignored_xids and not plugin.health_checks:
        yield _no_checks(plugin, path)
    by_cdi = (DeviceListStrategy.CDI_ANNOTATIONS, DeviceListStrategy.CDI_CRI)
    if plugin.pass_device_specs and plugin.device_list_strategy in by_cdi:
        yield fault(
            "DeviceSpecsBesideCdi",
            f"{path}.pass_device_specs",
            "with CDI the runtime gives containers their device nodes, and the plugin names none",
            got=True,
            allowed="None or False with CDI",
            fix="leave pass_device_specs out",
            source=_PLUGIN_PAGE,
        )


def _no_checks(plugin: GpuPlugin, path: str) -> Finding:
    return fault(
        "IgnoredXidsWithoutChecks",
        f"{path}.ignored_xids",
        "without health checks no XID matters",
        got=plugin.ignored_xids,
        allowed="() without health checks",
        fix="leave ignored_xids out, or health_checks",
    )
