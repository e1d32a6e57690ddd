"""Faults of a node group whatever its instance type is: types, names, sizes, owners."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ._data import read_toml
from ._frozen import FrozenDict
from .ami_releases import release_form_faults
from .capacity import Capacity, CapacityKind, capacity_faults
from .findings import Finding, fault
from .kubelet_settings import hugepages_faults, kubelet_faults
from .labels import label_faults, taint_faults
from .maintenance_checks import maintenance_faults
from .names import DEFAULT_OWNER, EXTERNAL_OWNER, HOST_OWNER
from .node_checks import node_faults, release_faults
from .own_user_data import user_data_faults
from .sharing import sharing_faults
from .spec import NodegroupOptions, NodegroupSpec
from .template_overrides import override_faults
from .typecheck import boolean, is_token, member, path_step, whole_number, wrong_type
from .vocabulary import DeviceType, Mechanism, OperatingSystem

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?", re.ASCII)
_AMAZON_LINUX_2 = re.compile(
    r"al2(?![0-9])|amazon[ -_]?linux[ -_]?2(?!0)", re.ASCII | re.IGNORECASE
)
_LONGEST_SCOPE = 54
_SCOPE = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,52}[a-z0-9])?", re.ASCII)
_SWITCHES = ("autoscaled", "high_ip_bandwidth", "shared_devices", "preemption", "neuron_cores")


def type_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    """Faults that a group has whatever its instance type is."""
    path = spec.path
    yield from _option_faults(spec)
    yield from _name_faults(spec)
    yield from _capacity_faults(spec)
    yield from _system_faults(spec)
    yield from _mechanism_faults(spec)
    yield from _size_faults(spec)
    for name in _SWITCHES:
        yield from boolean(getattr(spec, name), f"{path}.{name}")
    yield from boolean(spec.compute_domains, f"{path}.compute_domains", optional=True)
    yield from whole_number(spec.max_pods, f"{path}.max_pods", lowest=1, optional=True)
    disk = read_toml("limits.toml")["disk"]
    yield from whole_number(
        spec.disk_gib,
        f"{path}.disk_gib",
        lowest=disk["smallest"],
        highest=disk["largest"],
        optional=True,
    )
    if not isinstance(spec.efa, bool):
        yield from whole_number(spec.efa, f"{path}.efa", lowest=0, optional=True)
    if spec.gpu_sharing is not None:
        yield from sharing_faults(spec.gpu_sharing, f"{path}.gpu_sharing")
    yield from whole_number(
        spec.logical_neuron_cores, f"{path}.logical_neuron_cores", lowest=1, optional=True
    )
    yield from label_faults(spec)
    yield from taint_faults(spec)
    yield from release_form_faults(spec)
    yield from release_faults(spec)
    yield from node_faults(spec)
    yield from maintenance_faults(spec)
    yield from override_faults(spec)
    yield from user_data_faults(spec)
    yield from kubelet_faults(spec)
    yield from hugepages_faults(spec)
    yield from _subnet_faults(spec)
    yield from _owner_faults(spec)


def _option_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    if isinstance(spec.unknown_options, tuple):
        for option in spec.unknown_options:
            yield _unknown_option(spec, option)
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


def _unknown_option(spec: NodegroupSpec, option: object) -> Finding:
    import difflib  # noqa: PLC0415  (only when something is wrong)

    known = list(NodegroupOptions.__annotations__)
    near = difflib.get_close_matches(path_step(option), known, n=2)
    return fault(
        "UnknownOption",
        f"{spec.path}.{path_step(option)}",
        "a node group has no such option",
        got=option,
        allowed=", ".join(known),
        fix=f"did you mean {' or '.join(near)}?" if near else "leave the option out",
    )


def _name_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    allowed = "1 to 63 letters, digits, '-' or '_', letters or digits at both ends"
    if not isinstance(spec.name, str) or is_token(spec.name):
        yield wrong_type(f"{spec.path}.name", spec.name, allowed, "write the name as a text")
    elif not _NAME.fullmatch(spec.name):
        yield fault(
            "MalformedName",
            f"{spec.path}.name",
            "EKS takes no such node group name",
            got=spec.name,
            allowed=allowed,
            fix="shorten or respell the name",
            source=read_toml("limits.toml")["names"]["source"],
        )


def _capacity_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    path, capacity = f"{spec.path}.capacity", spec.capacity
    if isinstance(capacity, Capacity) and isinstance(capacity.kind, CapacityKind):
        yield from capacity_faults(capacity, path)
    else:
        factories = "Capacity.on_demand(), .spot(), .reservation(id) or .block(id)"
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
    path, most = spec.path, read_toml("limits.toml")["sizes"]["most"]
    wrong = [
        *whole_number(spec.min_size, f"{path}.min_size", lowest=0, highest=most),
        *whole_number(spec.max_size, f"{path}.max_size", lowest=1, highest=most, optional=True),
        *whole_number(
            spec.desired_size, f"{path}.desired_size", lowest=0, highest=most, optional=True
        ),
    ]
    yield from wrong or (() if spec.max_size is None else _order_faults(spec))
    if spec.autoscaled is True and spec.desired_size is not None:
        yield fault(
            "DesiredSizeWithAutoscaler",
            f"{path}.desired_size",
            "an autoscaler sets the desired size, and a deployment would undo it",
            got=spec.desired_size,
            allowed="None while autoscaled=True",
            fix="leave desired_size out, or autoscaled=False",
        )


def _order_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    if spec.min_size > spec.max_size:
        yield fault(
            "SizesOutOfOrder",
            f"{spec.path}.min_size",
            "min_size is above max_size",
            got=spec.min_size,
            allowed=f"0 to {spec.max_size}",
            fix="lower min_size",
        )
    desired = spec.desired_size
    if desired is not None and not spec.min_size <= desired <= spec.max_size:
        yield fault(
            "SizesOutOfOrder",
            f"{spec.path}.desired_size",
            "desired_size is not between min_size and max_size",
            got=desired,
            allowed=f"{spec.min_size} to {spec.max_size}",
            fix="move desired_size between",
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
        yield from whole_number(spec.subnet_count, path, lowest=1, optional=True)


def _owner_faults(spec: NodegroupSpec) -> Iterator[Finding]:
    path = f"{spec.path}.external"
    if not isinstance(spec.external, tuple):
        yield wrong_type(
            path, spec.external, "a collection of DeviceType", "use a set of DeviceType"
        )
    else:
        for device in spec.external:
            yield from member(device, DeviceType, path)
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
