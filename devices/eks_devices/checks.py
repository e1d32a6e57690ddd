"""Faults of a node group whatever its instance type is: types, names, sizes, owners."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ._data import read_toml
from ._frozen import FrozenDict
from .ami_releases import release_faults
from .amis import image_faults
from .capacity import Capacity, CapacityKind, capacity_faults
from .findings import Finding, fault
from .gpu_options import gpu_option_faults
from .labels import label_faults, pool_faults, taint_faults
from .maintenance_checks import maintenance_faults
from .mig import mig_form_faults
from .mixed_types import type_list_faults
from .names import DEFAULT_OWNER, EXTERNAL_OWNER, HOST_OWNER
from .nodegroup_rules import disk_faults, nodegroup_name_faults, size_faults
from .placement import placement_form_faults
from .sharing import sharing_faults
from .spec import NodegroupOptions, NodegroupSpec
from .syntax import ipv4_range, well_formed
from .tags import tag_faults
from .template_overrides import override_faults
from .typecheck import (
    boolean,
    is_token,
    member,
    path_step,
    text,
    unknown_option,
    whole_number,
    wrong_type,
)
from .user_data import user_data_faults
from .user_data.kubelet import hugepages_faults, kubelet_faults
from .vocabulary import DeviceType, Mechanism, OperatingSystem

_AMAZON_LINUX_2 = re.compile(
    r"al2(?![0-9])|amazon[ -_]?linux[ -_]?2(?!0)", re.ASCII | re.IGNORECASE
)
_LONGEST_SCOPE = 54
_SCOPE = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,52}[a-z0-9])?", re.ASCII)
_SWITCHES = (
    "autoscaled",
    "high_ip_bandwidth",
    "shared_devices",
    "preemption",
    "neuron_cores",
    "vpc_cni",
)
_OPEN_SWITCHES = ("compute_domains", "instance_store")
_COUNTS = ("max_pods", "logical_neuron_cores")
# Fields of a NodegroupSpec that the constructs fill in from something else.
_OF_CONSTRUCTS = {
    "external": "pass drivers=ExternalDrivers(foreign={DeviceType.GPU}), for instance",
    "subnet_cidrs": "pass subnet=...",
    "subnet_count": "pass subnet=...",
}


def type_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults that a group has whatever its instance type is."""
    path = spec.path
    yield from _option_faults(spec)
    yield from nodegroup_name_faults(spec.name, f"{path}.name")
    yield from _capacity_faults(spec)
    yield from _system_faults(spec)
    yield from _mechanism_faults(spec)
    yield from _size_faults(spec)
    yield from _switch_faults(spec, path)
    if not isinstance(spec.efa, bool):
        yield from whole_number(spec.efa, f"{path}.efa", lowest=0, optional=True)
    if spec.gpu_sharing is not None:
        yield from sharing_faults(spec.gpu_sharing, f"{path}.gpu_sharing")
    yield from gpu_option_faults(spec.gpu_driver, spec.gpu_plugin, path)
    if spec.mig is not None:
        yield from mig_form_faults(spec.mig, f"{path}.mig")
    yield from disk_faults(spec.disk_gib, f"{path}.disk_gib")
    yield from label_faults(spec)
    yield from taint_faults(spec)
    yield from tag_faults(spec.tags, f"{path}.tags")
    yield from release_faults(spec)
    yield from image_faults(spec)
    yield from type_list_faults(spec)
    yield from placement_form_faults(spec)
    yield from maintenance_faults(spec)
    yield from override_faults(spec)
    yield from user_data_faults(spec)
    yield from kubelet_faults(spec)
    yield from hugepages_faults(spec)
    yield from _subnet_faults(spec)
    yield from _owner_faults(spec)


def _switch_faults(spec: NodegroupSpec, path: str) -> Iterator[Finding]:
    for name in _SWITCHES:
        yield from boolean(getattr(spec, name), f"{path}.{name}")
    for name in _OPEN_SWITCHES:
        yield from boolean(getattr(spec, name), f"{path}.{name}", optional=True)
    for name in _COUNTS:
        yield from whole_number(getattr(spec, name), f"{path}.{name}", lowest=1, optional=True)


def _option_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    if type(spec.unknown_options) is tuple:
        for option in spec.unknown_options:
            known = NodegroupOptions.__annotations__
            found = unknown_option(option, known, spec.path, of="a node group")
            instead = _OF_CONSTRUCTS.get(option) if isinstance(option, str) else None
            yield replace(found, fix=instead) if instead else found
    else:
        path, wanted = f"{spec.path}.unknown_options", "a tuple of names"
        yield wrong_type(path, spec.unknown_options, wanted, "leave it out")
    if spec.max_size is None:
        yield missing_option(spec, "max_size")


def missing_option(spec: NodegroupSpec, name: str) -> Finding:
    """The fault of a required option that was not given."""
    return fault(
        "MissingOption",
        f"{spec.path}.{name}",
        f"a node group needs {name}",
        got=None,
        allowed=f"a value for {name}",
        fix=f"add {name}=...",
    )


def _capacity_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    path, capacity = f"{spec.path}.capacity", spec.capacity
    if isinstance(capacity, Capacity) and isinstance(capacity.kind, CapacityKind):
        yield from capacity_faults(capacity, path)
    else:
        factories = (
            "Capacity.on_demand(), .spot(), .reservation(id), "
            ".reservation_group(arn), .block(id) or .ultraserver_block(id)"
        )
        yield wrong_type(path, capacity, factories, f"use one of {factories}")


def _system_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    path, system = f"{spec.path}.operating_system", spec.operating_system
    if isinstance(system, str) and _AMAZON_LINUX_2.match(system):
        yield _amazon_linux_2(system, path)
        return
    yield from member(system, OperatingSystem, path)
    if system is OperatingSystem.AUTO_MODE:
        yield fault(
            "NoNodegroupInAutoMode",
            path,
            "only Auto Mode itself starts its image",
            got=str(system),
            allowed="OperatingSystem.AL2023, OperatingSystem.BOTTLEROCKET",
            fix="choose AL2023 or Bottlerocket",
            source="https://docs.aws.amazon.com/eks/latest/userguide/automode.html",
        )


def _amazon_linux_2(system: str, path: str) -> Finding:
    row = read_toml("amis.toml")["amazon_linux_2"]
    return fault(
        "AmazonLinux2",
        path,
        row["message"],
        got=system,
        allowed="OperatingSystem.AL2023, OperatingSystem.BOTTLEROCKET",
        fix="choose AL2023",
        source=row["source"],
    )


def _mechanism_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    path, named = f"{spec.path}.mechanism", spec.mechanism
    if isinstance(named, FrozenDict):
        for device, mechanism in named.items():
            yield from member(device, DeviceType, path)
            yield from member(mechanism, Mechanism, f"{path}[{path_step(device)}]")
            if device is DeviceType.COMPUTE_DOMAIN and mechanism is Mechanism.DEVICE_PLUGIN:
                yield fault(
                    "ComputeDomainNeedsDra",
                    path,
                    "no device plugin serves ComputeDomains",
                    got=str(mechanism),
                    allowed="Mechanism.DRA",
                    fix="name Mechanism.DRA, or compute_domains=False",
                )
    elif named is not None and not isinstance(named, Mechanism):
        wanted = "a Mechanism, a mapping of DeviceType to Mechanism, or None"
        yield wrong_type(path, named, wanted, "use Mechanism.DRA or Mechanism.DEVICE_PLUGIN")


def _size_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    return size_faults(
        spec.path,
        min_size=spec.min_size,
        max_size=spec.max_size,
        desired_size=spec.desired_size,
        autoscaled=spec.autoscaled,
        lowest=0,
    )


def _subnet_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    if type(spec.subnet_count) is int and spec.subnet_count == 0:
        yield fault(
            "NoSubnets",
            f"{spec.path}.subnet",
            "there is no private subnet for the nodes",
            got="0 subnets",
            allowed="one private subnet or more",
            fix="use a network with private subnets, or pass subnet=...",
        )
    else:
        path = f"{spec.path}.subnet_count"
        most = read_toml("limits.toml")["sizes"]["most"]
        yield from whole_number(spec.subnet_count, path, lowest=1, highest=most, optional=True)
    yield from _range_faults(spec.subnet_cidrs, f"{spec.path}.subnet_cidrs")


def _range_faults(ranges: object, path: str) -> Iterator[Finding]:
    fix = "leave it out where it is unknown"
    if type(ranges) is not tuple:
        yield wrong_type(path, ranges, "a list of IPv4 ranges such as 10.0.0.0/18", fix)
        return
    for index, one in enumerate(ranges):
        yield from well_formed(
            one,
            f"{path}[{index}]",
            ipv4_range,
            code="MalformedCidr",
            message="this is no range of IPv4 addresses",
            allowed="a range such as 10.0.0.0/18",
            fix=fix,
            source=read_toml("limits.toml")["subnets"]["source"],
        )


def _owner_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    path = f"{spec.path}.external"
    if type(spec.external) is not tuple:
        yield wrong_type(
            path, spec.external, "a collection of DeviceType", "use a set of DeviceType"
        )
    else:
        for device in spec.external:
            yield from member(device, DeviceType, path)
    yield from text(spec.scope_address, f"{spec.path}.scope_address", "a text", "leave it out")
    yield from () if spec.pool is None else pool_faults(spec.pool, f"{spec.path}.pool")
    yield from () if spec.scope is None else scope_faults(spec.scope, f"{spec.path}.scope")


def scope_faults(scope: object, path: str) -> Iterator[Finding]:
    """The fault of a name that no scoped installation can have."""
    taken = (DEFAULT_OWNER, HOST_OWNER, EXTERNAL_OWNER)
    allowed = (
        f"1 to {_LONGEST_SCOPE} lower-case letters, digits or '-', none of {', '.join(taken)}, and "
        f"not beginning with {DEFAULT_OWNER}-"
    )
    if not isinstance(scope, str) or is_token(scope):
        yield wrong_type(path, scope, allowed, "write the scope as a text")
    elif scope in taken or scope.startswith(f"{DEFAULT_OWNER}-") or not _SCOPE.fullmatch(scope):
        yield fault(
            "MalformedScope",
            path,
            "the scope's name cannot stand in labels and object names",
            got=scope,
            allowed=allowed,
            fix="choose another name",
        )
