"""What reports need of a plan file. Other keys may be there; nobody reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from eks_devices import DeviceType, Finding, Mechanism, Severity, Taint, TaintEffect
from eks_devices.plans import PLAN_FILE_SCHEMA, PLAN_SCHEMA

from .claims import PlannedClaim, planned_claims
from .content import field, numbers, texts, understood

_EFA: Final = frozenset({"efa", "efa-only"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device type of a node group, and its manager."""

    device_type: DeviceType
    mechanism: Mechanism
    owner: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One node group."""

    name: str
    instance_type: str
    other_types: int
    capacity: str
    ami_type: str
    smallest: int
    desired: int | None
    largest: int
    start: str
    efas: int
    max_pods: int | None
    devices: tuple[Device, ...]
    taints: tuple[Taint, ...]
    extended_resources: dict[str, int]
    device_classes: tuple[str, ...]
    cut: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """One manager to install."""

    device_type: DeviceType
    mechanism: Mechanism
    owner: str
    settings: dict[str, str | int | bool]
    nodegroups: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nvidia:
    """What NVIDIA's managers have once."""

    mapped_resource: str | None
    claim_webhook: str | None
    network_policies: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Neuron:
    """What Neuron's managers have once."""

    scheduler_extension: bool
    health: bool
    recovery: bool
    ultraserver_operator: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The plan of one cluster."""

    kubernetes_version: str
    groups: tuple[Group, ...]
    drivers: tuple[Driver, ...]
    nvidia: Nvidia
    neuron: Neuron
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCluster:
    """A cluster, its plan and claims, how objects reach it, and the JSON of all in the file."""

    path: str
    plan: Plan
    claims: tuple[PlannedClaim, ...]
    json: dict[str, Any]
    claims_json: list[Any]
    delivery: tuple[str, ...]
    delivery_json: list[Any]
    nodegroup_names: dict[str, str]


def planned_clusters(content: Any) -> list[PlannedCluster]:
    """The clusters that the content of a plan file holds.

    Raises:
        OperationError: It is not what this version of eks-devices writes.
    """
    return understood(_clusters, content, f"a plan file of schema {PLAN_FILE_SCHEMA!r}")


def _clusters(content: Any) -> list[PlannedCluster]:
    _require_schema(content, PLAN_FILE_SCHEMA)
    return [_cluster(each) for each in field(content, "clusters", list)]


def _cluster(content: Any) -> PlannedCluster:
    path, json = field(content, "path", str), field(content, "plan", dict)
    plan = understood(_plan, json, f"a plan of schema {PLAN_SCHEMA!r}")
    return PlannedCluster(
        path=path,
        plan=plan,
        claims=planned_claims(content),
        json=json,
        claims_json=content.get("claims", []),
        delivery=_deliveries(content),
        delivery_json=content.get("delivery", []),
        nodegroup_names=_names(content),
    )


def _names(content: dict[str, Any]) -> dict[str, str]:
    """The names of groups in EKS; files of older versions tell none."""
    names = field(content, "nodegroup_names", dict) if "nodegroup_names" in content else {}
    return {name: field(names, name, str) for name in names}


def _deliveries(content: dict[str, Any]) -> tuple[str, ...]:
    """How objects reach a cluster, in words; files of older versions tell of nothing."""
    return tuple(map(_way, field(content, "delivery", list))) if "delivery" in content else ()


def _way(content: Any) -> str:
    kind = field(content, "kind", str)
    return f"GitOps, folder {field(content, 'directory', str)}" if kind == "gitops" else kind


def _require_schema(content: Any, schema: str) -> None:
    found = field(content, "schema", str)
    if found != schema:
        again = "synthesise again with this version of eks-devices"
        raise ValueError(f"its schema is {found!r:.80}; {again}")


def _plan(content: Any) -> Plan:
    _require_schema(content, PLAN_SCHEMA)
    return Plan(
        kubernetes_version=field(content, "kubernetes_version", str),
        groups=tuple(map(_group, field(content, "nodegroups", list))),
        drivers=tuple(map(_driver, field(content, "drivers", list))),
        nvidia=_nvidia(field(content, "nvidia", dict)),
        neuron=_neuron(field(content, "neuron", dict)),
        findings=tuple(map(_finding, field(content, "findings", list))),
    )


def _group(content: Any) -> Group:
    sizes = field(content, "sizes", dict)
    interfaces = field(content, "network_interfaces", list)
    return Group(
        name=field(content, "name", str),
        instance_type=field(content, "instance_type", str),
        other_types=len(texts(content, "instance_types")) - 1,
        capacity=_capacity(field(content, "capacity", dict)),
        ami_type=field(content, "ami_type", str),
        smallest=field(sizes, "min", int),
        desired=_number_or_none(sizes, "desired"),
        largest=field(sizes, "max", int),
        start=_start(content["scheduled_size"]),
        efas=sum(field(each, "InterfaceType", str) in _EFA for each in interfaces),
        max_pods=_number_or_none(content, "max_pods"),
        devices=tuple(map(_device, field(content, "devices", list))),
        taints=tuple(map(_taint, field(content, "taints", list))),
        extended_resources=numbers(content, "extended_resources"),
        device_classes=texts(content, "device_classes"),
        cut=_cut(content["mig"]),
    )


def _cut(content: Any) -> str:
    """How each GPU is cut; empty for whole ones."""
    if content is None:
        return ""
    if content["dynamic"] is True:
        return "cut on request"
    return f"each cut into {' '.join(texts(content, 'profiles'))}"


def _start(content: Any) -> str:
    """When nodes come and how many; empty where they come at deployment."""
    if content is None:
        return ""
    sizes = field(content, "sizes", dict)
    return f"{field(sizes, 'desired', int)} from {field(content, 'at', str)} UTC"


def _number_or_none(content: dict[str, Any], key: str) -> int | None:
    return None if content[key] is None else field(content, key, int)


def _capacity(content: dict[str, Any]) -> str:
    kind = field(content, "kind", str)
    return f"{kind} {field(content, 'reservation', str)}" if "reservation" in content else kind


def _device(content: Any) -> Device:
    return Device(
        device_type=DeviceType(field(content, "device_type", str)),
        mechanism=Mechanism(field(content, "mechanism", str)),
        owner=field(content, "owner", str),
        count=field(content, "count", int),
    )


def _taint(content: Any) -> Taint:
    return Taint(
        key=field(content, "key", str),
        value=field(content, "value", str),
        effect=TaintEffect(field(content, "effect", str)),
    )


def _driver(content: Any) -> Driver:
    settings = field(content, "settings", dict)
    return Driver(
        device_type=DeviceType(field(content, "device_type", str)),
        mechanism=Mechanism(field(content, "mechanism", str)),
        owner=field(content, "owner", str),
        settings={name: _setting(settings, name) for name in settings},
        nodegroups=texts(content, "nodegroups"),
    )


def _nvidia(content: dict[str, Any]) -> Nvidia:
    return Nvidia(
        mapped_resource=_text_or_none(content, "mapped_resource"),
        claim_webhook=_text_or_none(content, "claim_webhook"),
        network_policies=content["network_policies"] is True,
    )


def _neuron(content: dict[str, Any]) -> Neuron:
    health = content["health"]
    return Neuron(
        scheduler_extension=content["scheduler_extension"] is True,
        health=health is not None,
        recovery=health is not None and health["recovery"] is True,
        ultraserver_operator=content["ultraserver_operator"] is True,
    )


def _text_or_none(content: dict[str, Any], key: str) -> str | None:
    return None if content[key] is None else field(content, key, str)


def _setting(settings: dict[str, Any], name: str) -> str | int | bool:
    given = settings[name]
    return given if isinstance(given, (str, bool)) else field(settings, name, int)


def _finding(content: Any) -> Finding:
    return Finding(
        code=field(content, "code", str),
        severity=Severity(field(content, "severity", str)),
        path=field(content, "path", str),
        message=field(content, "message", str),
        fix=field(content, "fix", str) if "fix" in content else "",
    )
