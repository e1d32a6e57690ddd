"""Which mechanism serves which device on which compute: the rows of support.toml, asked."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._data import read_toml
from .findings import Finding, raise_faults
from .instance_types import AcceleratedInstanceType, lookup
from .kubernetes import KubernetesMinor, find_minor, newest_minor, version_key
from .typecheck import member
from .vocabulary import Compute, DeviceType, Feature, Mechanism, OperatingSystem, Verdict

_UNDOCUMENTED = "no source that we read documents this combination"
_BEFORE_ALL, _AFTER_ALL = (0, 0), (99, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What the sources say of one combination of device, mechanism and node.

    `automatic` tells whether an automatic choice may use it, and `why_not` why it may not;
    `warn` whether using it by name deserves a warning. `rule` is the row of support.toml, and
    `option` the node group option that it is about, empty for the mechanism itself.
    """

    verdict: Verdict
    rule: str
    message: str
    fix: str
    source: str
    checked: str
    automatic: bool
    why_not: str
    warn: bool
    option: str = ""

    @property
    def code(self) -> str:
        """The code of findings made from the rule: `dra-below-1.34` is `DraBelow134`."""
        return "".join(part.capitalize() for part in self.rule.replace(".", "").split("-"))

    @property
    def allowed(self) -> bool:
        """Whether the combination may be used at all."""
        return self.verdict is not Verdict.NO


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    device: str
    mechanism: str
    feature: str
    families: frozenset[str]
    compute: frozenset[str]
    systems: frozenset[str]
    lowest: tuple[int, int]
    highest: tuple[int, int]
    support: Support


def device_support(
    *,
    device_type: DeviceType,
    mechanism: Mechanism,
    compute: Compute = Compute.MANAGED,
    operating_system: OperatingSystem | None = None,
    instance_type: str | None = None,
    kubernetes_version: str | None = None,
    feature: Feature | None = None,
) -> Support:
    """Answer whether a mechanism serves a device type somewhere, and who says so.

    Args:
        device_type: The kind of device.
        mechanism: DRA or the device plugin.
        compute: Who makes the nodes; managed node groups unless named.
        operating_system: AL2023 unless named, and in Auto Mode its own image.
        instance_type: An EC2 type; without it, rules for single families are left out.
        kubernetes_version: The cluster's minor; the newest known one unless named.
        feature: A use beyond whole devices, such as time-slicing.

    Raises:
        EksDevicesError: A value is unknown or has the wrong type.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/device-management.html
    """
    own = OperatingSystem.AUTO_MODE if compute is Compute.AUTO_MODE else OperatingSystem.AL2023
    system = own if operating_system is None else operating_system
    faults = [
        *member(device_type, DeviceType, "device_type"),
        *member(mechanism, Mechanism, "mechanism"),
        *member(compute, Compute, "compute"),
        *member(system, OperatingSystem, "operating_system"),
        *(() if feature is None else member(feature, Feature, "feature")),
    ]
    family, version = _known(instance_type, kubernetes_version, faults)
    return find_support(
        device_type, mechanism, compute, system, family=family, version=version, feature=feature
    )


def _known(
    instance_type: str | None, kubernetes_version: str | None, faults: list[Finding]
) -> tuple[str, str]:
    """The family and the minor that a question names; raises their faults with those given."""
    asked = newest_minor() if kubernetes_version is None else kubernetes_version
    minor = find_minor(asked, "kubernetes_version")
    instance = None if instance_type is None else lookup(instance_type, "instance_type")
    raise_faults([*faults, *(one for one in (instance, minor) if isinstance(one, Finding))])
    family = instance.family if isinstance(instance, AcceleratedInstanceType) else ""
    return family, minor.version if isinstance(minor, KubernetesMinor) else ""


@functools.cache
def find_support(
    device_type: DeviceType,
    mechanism: Mechanism,
    compute: Compute,
    operating_system: OperatingSystem,
    *,
    family: str,
    version: str,
    feature: Feature | None = None,
) -> Support:
    """`device_support` on checked values."""
    found = [
        rule
        for rule in _rules()
        if rule.feature in ("", feature or "")
        and rule.device in ("any", device_type)
        and rule.mechanism in ("any", mechanism)
        and compute in rule.compute
        and operating_system in rule.systems
        and _exists(compute, operating_system)
        and (not rule.families or family in rule.families)
        and rule.lowest <= version_key(version) <= rule.highest
    ]
    return _decide(found, feature)


def _exists(compute: Compute, system: OperatingSystem) -> bool:
    """Auto Mode starts its own image only, and nothing else starts that one."""
    in_auto_mode = compute is Compute.AUTO_MODE
    return compute is Compute.FARGATE or in_auto_mode == (system is OperatingSystem.AUTO_MODE)


def _decide(found: list[_Rule], feature: Feature | None) -> Support:
    """A "no" for every device first, then one for whole devices, then the answer itself."""
    for rule in found:
        if rule.device == "any" and rule.support.verdict is Verdict.NO:
            return rule.support
    whole = _most_specific(found, "")
    if feature is None or (whole is not None and not whole.allowed):
        return whole or _UNKNOWN
    return _most_specific(found, feature) or _UNKNOWN


def _most_specific(found: list[_Rule], feature: str) -> Support | None:
    asked = [rule for rule in found if rule.feature == feature]
    if not asked:
        return None
    return max(asked, key=lambda rule: (bool(rule.families), rule.device != "any")).support


@functools.cache
def _rules() -> tuple[_Rule, ...]:
    return tuple(_rule(row) for row in read_toml("support.toml")["rule"])


def _rule(row: Mapping[str, Any]) -> _Rule:
    return _Rule(
        device=row["device"],
        mechanism=row["mechanism"],
        feature=row.get("feature", ""),
        families=frozenset(row.get("families", ())),
        compute=frozenset(row["compute"]),
        systems=frozenset(row["operating_system"]),
        lowest=version_key(row["kubernetes_min"]) if "kubernetes_min" in row else _BEFORE_ALL,
        highest=version_key(row["kubernetes_max"]) if "kubernetes_max" in row else _AFTER_ALL,
        support=_support(row),
    )


def _support(row: Mapping[str, Any]) -> Support:
    verdict = Verdict(row["verdict"])
    return Support(
        verdict=verdict,
        rule=row["id"],
        message=row["message"],
        fix=row.get("fix", ""),
        source=row["source"],
        checked=str(row["checked"]),
        automatic=verdict is Verdict.YES and row.get("automatic", True),
        why_not=row.get("why_not", row["message"]),
        warn=row.get("warn", verdict in (Verdict.LIMITED, Verdict.UNPROVEN)),
        option=row.get("option", ""),
    )


_UNKNOWN = Support(
    verdict=Verdict.NO,
    rule="not-documented",
    message=_UNDOCUMENTED,
    fix="use a combination that device_support answers with yes",
    source="https://docs.aws.amazon.com/eks/latest/userguide/device-management.html",
    checked="2026-11-30",
    automatic=False,
    why_not=_UNDOCUMENTED,
    warn=False,
)
