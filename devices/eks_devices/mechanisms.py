"""Which mechanism serves each device of a group, who owns it, and why."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ._data import read_toml
from .ami_releases import release_settles
from .findings import Finding, fault, warning
from .kubernetes import KubernetesMinor
from .sharing import SHARING_FEATURES
from .spec import NodegroupSpec
from .support import Support, find_support
from .vocabulary import Compute, DeviceType, Feature, Mechanism, OperatingSystem

_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/device-management.html"
_ALIGNED = "claims align two device types only when both are claims"


@dataclass(frozen=True, slots=True)
class Choice:
    """A mechanism and the reason for it; `automatic` when nobody named it."""

    mechanism: Mechanism
    reason: str
    automatic: bool


def named_mechanism(spec: NodegroupSpec, device: DeviceType) -> Mechanism | None:
    """The mechanism that the user names for a device type, None where none is named."""
    if device is DeviceType.COMPUTE_DOMAIN:
        return None
    if isinstance(spec.mechanism, Mapping):
        return spec.mechanism.get(device)
    return spec.mechanism


def choose(
    spec: NodegroupSpec, device: DeviceType, family: str, version: str, accelerator: Choice | None
) -> Choice:
    """Choose the mechanism of one device type; a named one is never changed.

    Args:
        spec: The group.
        device: The device type.
        family: The family of the instance type, `trn2`.
        version: A Kubernetes minor that serves DRA, or one where every mechanism is named.
        accelerator: The choice for the group's accelerator, which unnamed EFA follows.
    """
    named = named_mechanism(spec, device)
    if named is not None:
        return Choice(named, "named by the node group", automatic=False)
    if device is DeviceType.COMPUTE_DOMAIN:
        return Choice(Mechanism.DRA, "ComputeDomains exist under DRA only", automatic=False)
    if device is DeviceType.EFA and accelerator is not None:
        reason = f"follows the accelerator, because {_ALIGNED}"
        return Choice(accelerator.mechanism, reason, automatic=True)
    return _automatic(spec, device, family, version)


def _automatic(spec: NodegroupSpec, device: DeviceType, family: str, version: str) -> Choice:
    support = _support(spec, device, Mechanism.DRA, family, version)
    if not support.automatic:
        return Choice(Mechanism.DEVICE_PLUGIN, support.why_not, automatic=True)
    for row in declared_against_dra(spec, device):
        reason = f"{row['option']} is declared, and {row['reason']}"
        return Choice(Mechanism.DEVICE_PLUGIN, reason, automatic=True)
    return Choice(Mechanism.DRA, support.message, automatic=True)


@functools.cache
def _against_dra() -> tuple[dict[str, Any], ...]:
    return tuple(read_toml("support.toml")["against_dra"])


def declared_against_dra(spec: NodegroupSpec, device: DeviceType) -> Iterator[dict[str, Any]]:
    """The rows of what the group declares that speaks against DRA."""
    for row in _against_dra():
        if device in row["devices"] and getattr(spec, row["option"]):
            yield row


def _support(
    spec: NodegroupSpec,
    device: DeviceType,
    mechanism: Mechanism,
    family: str,
    version: str,
    *,
    system: OperatingSystem | None = None,
    feature: Feature | None = None,
) -> Support:
    """What the sources say of a device and mechanism on the nodes of a group."""
    return find_support(
        device,
        mechanism,
        Compute.MANAGED,
        system or spec.operating_system,
        family=family,
        version=version,
        feature=feature,
    )


def choice_findings(
    spec: NodegroupSpec, device: DeviceType, choice: Choice, family: str, version: str
) -> Iterator[Finding]:
    """Faults and warnings of a mechanism for a device type of a group."""

    def ask(mechanism: Mechanism = choice.mechanism, **other: Any) -> Support:
        return _support(spec, device, mechanism, family, version, **other)

    support = ask()
    if support.option == "operating_system":
        allowed = [str(one) for one in OperatingSystem if ask(system=one).allowed]
        yield from _judged(spec, support, support.option, str(spec.operating_system), allowed)
    else:
        allowed = [f"Mechanism.{one.name}" for one in Mechanism if ask(one).allowed]
        yield from _judged(spec, support, _option(device), str(choice.mechanism), allowed)
    by_plugin = device is DeviceType.GPU and choice.mechanism is Mechanism.DEVICE_PLUGIN
    if by_plugin and spec.gpu_sharing is not None:
        feature = spec.gpu_sharing.feature
        allowed = [str(one) for one in SHARING_FEATURES if ask(feature=one).allowed]
        yield from _judged(spec, ask(feature=feature), "gpu_sharing", str(feature), allowed)
    if choice.mechanism is Mechanism.DRA and named_mechanism(spec, device) is not None:
        for row in declared_against_dra(spec, device):
            if row["when_named"] != "none":
                yield _against(row, spec)


def feature_findings(
    spec: NodegroupSpec,
    mechanism: Mechanism,
    feature: Feature,
    option: str,
    *,
    got: str,
    family: str,
    version: str,
) -> Iterator[Finding]:
    """Faults and warnings of a use of a group's GPUs that an option asks for.

    Args:
        spec: The group.
        mechanism: The mechanism of its GPUs.
        feature: The use.
        option: The option, as findings name it: "gpu_driver.host_service".
        got: What was given, in words.
        family: The family of the instance type.
        version: The minor of the cluster.
    """
    support = _support(spec, DeviceType.GPU, mechanism, family, version, feature=feature)
    given = f"{got}, on Kubernetes {version}"
    yield from _judged(spec, support, option, given, ["without it"])


def _option(device: DeviceType) -> str:
    return "compute_domains" if device is DeviceType.COMPUTE_DOMAIN else "mechanism"


def _judged(
    spec: NodegroupSpec, support: Support, option: str, got: str, allowed: list[str]
) -> Iterator[Finding]:
    path = f"{spec.path}.{option}"
    if not support.allowed:
        yield fault(
            support.code,
            path,
            support.message,
            got=got,
            allowed=", ".join(allowed) or "nothing here; see the fix",
            fix=support.fix,
            source=support.source,
        )
    elif support.warn and not release_settles(spec, support):
        yield warning(support.code, path, support.message, fix=support.fix, source=support.source)


def _against(row: dict[str, Any], spec: NodegroupSpec) -> Finding:
    option, path = row["option"], f"{spec.path}.{row['option']}"
    given = getattr(spec, option)
    message = f"DRA is named and {option} is declared, but {row['reason']}"
    fix = f"use mechanism=Mechanism.DEVICE_PLUGIN, or leave {option} out"
    if row["when_named"] == "fault":
        return fault(
            "DeclaredAgainstDra",
            path,
            message,
            got=given if isinstance(given, bool) else f"a {type(given).__name__}",
            allowed="nothing beside Mechanism.DRA",
            fix=fix,
            source=row["source"],
        )
    return warning("DeclaredAgainstDra", path, message, fix=fix, source=row["source"])


def unnamed_faults(
    spec: NodegroupSpec, devices: tuple[DeviceType, ...], minor: KubernetesMinor
) -> Iterator[Finding]:
    """Faults of device types that need a named mechanism and have none."""
    for device in devices:
        if device is DeviceType.COMPUTE_DOMAIN or named_mechanism(spec, device) is not None:
            continue
        follows = device is DeviceType.EFA and named_mechanism(spec, devices[0]) is not None
        if device in spec.external:
            yield _unnamed(
                spec,
                device,
                "somebody else's manager serves this device type, and "
                "nothing here can know by which mechanism",
            )
        elif not minor.serves_dra and not follows:
            yield _unnamed(
                spec,
                device,
                f"there is no default mechanism on Kubernetes "
                f"{minor.version}, which serves DRA as a beta only",
            )


def _unnamed(spec: NodegroupSpec, device: DeviceType, message: str) -> Finding:
    return fault(
        "MechanismRequired",
        f"{spec.path}.mechanism",
        f"{device}: {message}",
        got=spec.mechanism,
        allowed=", ".join(f"Mechanism.{one.name}" for one in Mechanism),
        fix="name the mechanism, for example mechanism=Mechanism.DEVICE_PLUGIN",
        source=_GUIDE,
    )


def is_built_in(spec: NodegroupSpec, device: DeviceType, mechanism: Mechanism) -> bool:
    """Whether the operating system itself runs the manager of a device type of a group."""
    if device is not DeviceType.GPU or spec.operating_system is not OperatingSystem.BOTTLEROCKET:
        return False
    if mechanism is Mechanism.DEVICE_PLUGIN:
        return True
    return spec.uses_host_service
