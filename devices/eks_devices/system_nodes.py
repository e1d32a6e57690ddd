"""The node group of Pods that need no accelerator: what a user asks for, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypedDict, cast

from ._data import read_toml
from ._frozen import FrozenDict
from .ami_releases import release_faults
from .amis import ami_type_of
from .findings import Finding, fault
from .instance_names import InstanceName, no_node_faults, parsed_name
from .labels import label_faults
from .names import NODEGROUP_LABEL
from .nodegroup_rules import disk_faults, nodegroup_name_faults, size_faults
from .spec import NodegroupSpec
from .tags import tag_faults
from .typecheck import boolean, is_token, members, unknown_option, wrong_type
from .vocabulary import OperatingSystem

SYSTEM: Final = OperatingSystem.AL2023
# Options that accelerated groups have too, with the same rules.
_SHARED: Final = ("labels", "tags", "release_version")


class SystemNodegroupOptions(TypedDict, total=False):
    """The options of a system node group, each of which `SystemNodegroupPlan` documents."""

    instance_types: Sequence[str] | None
    min_size: int
    max_size: int | None
    desired_size: int | None
    autoscaled: bool
    disk_gib: int | None
    labels: Mapping[str, str]
    tags: Mapping[str, str]
    release_version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemNodegroupPlan:
    """A managed node group without accelerators and taints, on AL2023.

    The option `autoscaled` says that an autoscaler sets the size, and leaves `desired_size` out.

    Args:
        name: Names the group in labels and in EKS.
        instance_types: Types that EC2 may start, the preferred one first, all of one processor
            architecture; one ordinary type unless named. Types that this library has no data of
            are fine: their names tell the architecture.
        ami_type: The EKS AMI type of their architecture.
        release_version: A pinned AMI release, "1.34.2-20261023"; the newest unless named.
        min_size: The fewest nodes; 2 unless named, so that DNS outlives one of them.
        max_size: The most nodes; the larger one of `min_size` and `desired_size` unless named.
        desired_size: Nodes at creation; `min_size` unless named, None with `autoscaled=True`.
        disk_gib: Size of the volume for images and Pods' files in GiB; 50 unless named.
        labels: Labels of the nodes: your own, and the one with the group's name.
        tags: Tags of the instances and volumes, beside those of `Tags.of(...)`; a change of
            either starts new nodes.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html
    """

    name: str
    instance_types: tuple[str, ...]
    ami_type: str
    release_version: str | None
    min_size: int
    max_size: int
    desired_size: int | None
    disk_gib: int
    labels: FrozenDict[str, str]
    tags: FrozenDict[str, str]


def system_nodegroup_plan(name: str, options: SystemNodegroupOptions) -> SystemNodegroupPlan:
    """What comes of options without faults."""
    defaults, shared = _defaults(), _as_spec(name, options)
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
        release_version=shared.release_version,
        min_size=fewest,
        max_size=largest if most is None else most,
        desired_size=None if options.get("autoscaled") else fewest if desired is None else desired,
        disk_gib=defaults["disk_gib"] if disk is None else disk,
        labels=FrozenDict({NODEGROUP_LABEL: name, **shared.labels}),
        tags=FrozenDict(shared.tags),
    )


def system_nodegroup_faults(
    name: object, options: Mapping[str, Any], *, kubernetes_version: str | None = None
) -> Iterator[Finding]:
    """Every fault of the name and the options of a system node group.

    Args:
        name: Names the group.
        options: What a user gave; any value of it may be wrong.
        kubernetes_version: The minor of the cluster, "1.34"; None where the cluster is wrong too.
    """
    shared = _as_spec(name, options)
    path, known = shared.path, SystemNodegroupOptions.__annotations__
    yield from nodegroup_name_faults(name, f"{path}.name")
    for option in options:
        if option not in known:
            yield unknown_option(option, known, path, of="a system node group")
    types = options.get("instance_types")
    if types is not None:
        yield from _type_faults(types, f"{path}.instance_types")
    yield from boolean(options.get("autoscaled", False), f"{path}.autoscaled")
    yield from size_faults(
        path,
        min_size=options.get("min_size", _defaults()["min_size"]),
        max_size=options.get("max_size"),
        desired_size=options.get("desired_size"),
        autoscaled=options.get("autoscaled"),
        lowest=1,
    )
    yield from disk_faults(options.get("disk_gib"), f"{path}.disk_gib")
    yield from label_faults(shared)
    yield from tag_faults(shared.tags, f"{path}.tags")
    yield from tuple(release_faults(shared)) or _minor_faults(shared, kubernetes_version)


def _defaults() -> dict[str, Any]:
    return cast("dict[str, Any]", read_toml("cluster.toml")["system_nodegroup"])


def _as_spec(name: Any, options: Mapping[str, Any]) -> NodegroupSpec:
    """What the group has in common with accelerated ones, as their rules read it."""
    given = {option: options[option] for option in _SHARED if option in options}
    return NodegroupSpec(name=name, instance_type="", max_size=1, operating_system=SYSTEM, **given)


def _minor_faults(spec: NodegroupSpec, version: str | None) -> Iterator[Finding]:
    release = spec.release_version
    if release is not None and version is not None and not release.startswith(f"{version}."):
        yield fault(
            "ReleaseOfOtherMinor",
            f"{spec.path}.release_version",
            f"the cluster is of Kubernetes {version}, and the release is for another minor",
            got=release,
            allowed=f"a release that begins with {version}.",
            fix="pin a release of the cluster's own minor",
            source="https://github.com/awslabs/amazon-eks-ami/releases",
        )


def _type_faults(types: object, path: str) -> Iterator[Finding]:
    names = members(types, ordered=True)
    if not names:
        wanted, fix = (
            "a list of one or more names of instance types",
            "pass a list, or leave it out",
        )
        yield wrong_type(path, types, wanted, fix)
        return
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
    limits = read_toml("limits.toml")["instance_types"]
    if len(names) > limits["most"]:
        message, fix = "EKS takes no more instance types in a node group", "leave types out"
        yield fault(
            "TooManyInstanceTypes",
            path,
            message,
            got=len(names),
            allowed=f"{limits['most']} at most",
            fix=fix,
            source=limits["source"],
        )


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


def _ami_type(name: str) -> str:
    parsed = parsed_name(name)
    return (parsed and ami_type_of(SYSTEM, str(parsed.architecture))) or ""
