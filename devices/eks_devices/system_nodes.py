"""The node group of Pods that need no accelerator: what a user asks for, and what comes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from ._data import read_toml
from .findings import Finding, fault
from .instance_names import InstanceName, no_node_faults, parsed_name
from .typecheck import boolean, is_token, path_step, whole_number, wrong_type
from .vocabulary import OperatingSystem

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?", re.ASCII)
_SYSTEM = OperatingSystem.AL2023


class SystemNodegroupOptions(TypedDict, total=False):
    """The options of a system node group; `SystemNodegroupPlan` documents each one."""

    instance_types: Sequence[str] | None
    min_size: int
    max_size: int | None
    desired_size: int | None
    autoscaled: bool
    disk_gib: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemNodegroupPlan:
    """A managed node group without accelerators and taints, on AL2023.

    Args:
        name: Names the group in labels and in EKS.
        instance_types: Types that EC2 may start, the preferred one first, all of one processor
            architecture; one ordinary type unless named. Types that this library has no data of
            are fine: their names tell the architecture.
        ami_type: The EKS AMI type of their architecture.
        min_size: The fewest nodes; 2 unless named, so that DNS outlives one of them.
        max_size: The most nodes; the larger one of `min_size` and `desired_size` unless named.
        desired_size: Nodes at creation; `min_size` unless named, and left to the autoscaler with
            `autoscaled=True`.
        disk_gib: Size of the volume for images and Pods' files in GiB; 50 unless named.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html
    """

    name: str
    instance_types: tuple[str, ...]
    ami_type: str
    min_size: int
    max_size: int
    desired_size: int | None
    disk_gib: int


def system_nodegroup_plan(name: str, options: SystemNodegroupOptions) -> SystemNodegroupPlan:
    """What comes of options without faults."""
    defaults = read_toml("cluster.toml")["system_nodegroup"]
    types = options.get("instance_types")
    instance_types = tuple(defaults["instance_types"] if types is None else types)
    fewest = options.get("min_size", defaults["min_size"])
    desired = options.get("desired_size")
    largest = fewest if desired is None else max(fewest, desired)
    most, disk = options.get("max_size"), options.get("disk_gib")
    return SystemNodegroupPlan(
        name=name,
        instance_types=instance_types,
        ami_type=_ami_type(instance_types[0]),
        min_size=fewest,
        max_size=largest if most is None else most,
        desired_size=None if options.get("autoscaled") else fewest if desired is None else desired,
        disk_gib=defaults["disk_gib"] if disk is None else disk,
    )


def system_nodegroup_faults(name: object, options: Mapping[str, Any]) -> Iterator[Finding]:
    """Every fault of the name and the options of a system node group."""
    path = f"nodegroups.{path_step(name)}"
    yield from _name_faults(name, f"{path}.name")
    for option in options:
        if option not in SystemNodegroupOptions.__annotations__:
            yield _unknown_option(option, path)
    types = options.get("instance_types")
    if types is not None:
        yield from _type_faults(types, f"{path}.instance_types")
    yield from boolean(options.get("autoscaled", False), f"{path}.autoscaled")
    yield from _size_faults(options, path)
    limit = read_toml("limits.toml")["disk"]
    yield from whole_number(
        options.get("disk_gib"),
        f"{path}.disk_gib",
        lowest=limit["smallest"],
        highest=limit["largest"],
        optional=True,
    )


def _name_faults(name: object, path: str) -> Iterator[Finding]:
    allowed = "1 to 63 letters, digits, '-' or '_', letters or digits at both ends"
    if not isinstance(name, str) or is_token(name):
        yield wrong_type(path, name, allowed, "write the name as a text")
    elif not _NAME.fullmatch(name):
        yield fault(
            "MalformedName",
            path,
            "EKS takes no such node group name",
            got=name,
            allowed=allowed,
            fix="shorten or respell the name",
            source=read_toml("limits.toml")["names"]["source"],
        )


def _unknown_option(option: object, path: str) -> Finding:
    import difflib  # noqa: PLC0415  (only when something is wrong)

    known = list(SystemNodegroupOptions.__annotations__)
    near = difflib.get_close_matches(path_step(option), known, n=2)
    return fault(
        "UnknownOption",
        f"{path}.{path_step(option)}",
        "a system node group has no such option",
        got=option,
        allowed=", ".join(known),
        fix=f"did you mean {' or '.join(near)}?" if near else "leave the option out",
    )


def _type_faults(types: object, path: str) -> Iterator[Finding]:
    wanted = "a list of names of instance types"
    if isinstance(types, (str, bytes)) or not isinstance(types, Sequence):
        yield wrong_type(path, types, wanted, "pass a list of names of instance types")
        return
    try:
        names = list(types)
    except Exception:  # noqa: BLE001  (a collection that cannot be read)
        names = []
    if not names:
        yield wrong_type(path, types, f"{wanted}, one or more", "name a type, or leave it out")
    found: list[InstanceName] = []
    for index, name in enumerate(names):
        parsed = _parsed(name)
        where = f"{path}[{index}]"
        if parsed is None:
            yield _no_type(name, where)
        elif parsed in found:
            yield _repeated(parsed.name, where)
        else:
            yield from _one_type_faults(parsed, where)
            found.append(parsed)
    yield from _mixed_faults(found, path)


def _parsed(name: object) -> InstanceName | None:
    if not isinstance(name, str) or is_token(name):
        return None
    return parsed_name(name)


def _no_type(name: object, path: str) -> Finding:
    wanted, fix = "an EC2 API name, '<family>.<size>'", "write the name as EC2 does, in quotes"
    if not isinstance(name, str) or is_token(name):
        return wrong_type(path, name, wanted, fix)
    message = "no EC2 instance type has a name of this form"
    return fault("UnknownInstanceType", path, message, got=name, allowed=wanted, fix=fix)


def _repeated(name: str, path: str) -> Finding:
    message, fix = "the type stands in the list already", "leave one of the two out"
    return fault("RepeatedInstanceType", path, message, got=name, allowed="each type once", fix=fix)


def _one_type_faults(parsed: InstanceName, path: str) -> Iterator[Finding]:
    refused = list(no_node_faults(parsed, path))
    if refused:
        yield from refused
    elif not parsed.generation:
        yield _no_type(parsed.name, path)
    elif parsed.is_accelerated:
        yield fault(
            "AcceleratedSystemNodes",
            path,
            "the nodes for Pods without accelerators would cost those of accelerators",
            got=parsed.name,
            allowed="types of series without accelerators, such as m, c, r and t",
            fix="use add_nodegroup for accelerated nodes, and an ordinary type here",
            source=read_toml("cluster.toml")["instance_names"]["source"],
        )


def _mixed_faults(found: Sequence[InstanceName], path: str) -> Iterator[Finding]:
    architectures = {str(one.architecture) for one in found}
    if len(architectures) > 1:
        told = ", ".join(f"{one.name} ({one.architecture})" for one in found)
        yield fault(
            "MixedArchitectures",
            path,
            "a node group has one AMI, which is for one processor architecture",
            got=told,
            allowed="types of one architecture; 'g' after the generation is arm64, as in m7g",
            fix="leave the types of one of the architectures out",
            source="https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html",
        )


def _size_faults(options: Mapping[str, Any], path: str) -> Iterator[Finding]:
    highest = read_toml("limits.toml")["sizes"]["most"]
    fewest = options.get("min_size", read_toml("cluster.toml")["system_nodegroup"]["min_size"])
    most, desired = options.get("max_size"), options.get("desired_size")
    wrong = list(whole_number(fewest, f"{path}.min_size", lowest=1, highest=highest))
    for name, value in (("max_size", most), ("desired_size", desired)):
        at = f"{path}.{name}"
        wrong += whole_number(value, at, lowest=1, highest=highest, optional=True)
    yield from wrong or _order_faults(fewest, most, desired, path)
    if options.get("autoscaled") is True and desired is not None:
        yield fault(
            "DesiredSizeWithAutoscaler",
            f"{path}.desired_size",
            "an autoscaler sets the desired size, and a deployment would undo it",
            got=desired,
            allowed="None while autoscaled=True",
            fix="leave desired_size out, or autoscaled=False",
        )


def _order_faults(
    fewest: int, most: int | None, desired: int | None, path: str
) -> Iterator[Finding]:
    if most is not None and fewest > most:
        message, fix = "min_size is above max_size", "raise max_size, or lower min_size"
        yield _out_of_order(f"{path}.max_size", message, most, f"{fewest} or more", fix)
    if desired is None:
        return
    if desired < fewest or (most is not None and desired > most):
        message = "desired_size is not between min_size and max_size"
        allowed = f"{fewest} or more" if most is None else f"{fewest} to {most}"
        fix = "move desired_size between"
        yield _out_of_order(f"{path}.desired_size", message, desired, allowed, fix)


def _out_of_order(path: str, message: str, got: int, allowed: str, fix: str) -> Finding:
    return fault("SizesOutOfOrder", path, message, got=got, allowed=allowed, fix=fix)


def _ami_type(name: str) -> str:
    parsed = parsed_name(name)
    architecture = str(parsed.architecture) if parsed else ""
    return next(
        str(row["ami_type"])
        for row in read_toml("amis.toml")["ami"]
        if (row["operating_system"], row["architecture"], row["accelerator"])
        == (_SYSTEM, architecture, "none")
    )
