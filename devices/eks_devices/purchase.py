"""Whether a node group's instances are sold the way that it wants to buy them, and how many."""

from __future__ import annotations

from collections.abc import Iterator

from ._data import read_toml
from .capacity import CapacityKind
from .findings import Finding, fault, info, warning
from .instance_types import AcceleratedInstanceType
from .interfaces import group_instances
from .spec import NodegroupSpec

_BLOCKS = "https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html"
_OFFERED = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html"


def purchase_faults(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Faults of a capacity on an instance type."""
    kind, path = spec.capacity.kind, f"{spec.path}.capacity"
    needed = CapacityKind.ON_DEMAND if kind is CapacityKind.RESERVATION else kind
    if needed not in instance.usage_classes:
        yield fault(
            "CapacityNotOffered",
            path,
            f"EC2 does not sell {instance.name} this way",
            got=str(kind),
            allowed=", ".join(sorted(instance.usage_classes)),
            fix="choose another Capacity factory or instance type",
            source="EC2 DescribeInstanceTypes, SupportedUsageClasses",
        )
    elif spec.capacity.ultraserver:
        yield from _ultraserver_faults(spec, instance, path)
    if spec.capacity.start is not None and not (spec.desired_size or spec.min_size):
        yield fault(
            "StartWithoutNodes",
            f"{spec.path}.desired_size",
            "at the start of the reservation the group would get no node",
            got=spec.desired_size,
            allowed="1 or more with a start",
            fix="name desired_size (min_size with autoscaled=True), or leave start out",
            source=_BLOCKS,
        )


def _ultraserver_faults(
    spec: NodegroupSpec, instance: AcceleratedInstanceType, path: str
) -> Iterator[Finding]:
    sizes = instance.ultraserver_block_sizes
    if not sizes:
        yield fault(
            "CapacityNotOffered",
            path,
            f"{instance.name} is no part of an UltraServer",
            got="ultraserver-block",
            allowed=", ".join(sorted(instance.usage_classes)),
            fix="use Capacity.block(...)",
            source=_OFFERED,
        )
    elif spec.capacity.nodes is not None and spec.capacity.nodes not in sizes:
        yield fault(
            "UltraServerSize",
            f"{path}.nodes",
            f"no UltraServer has so many {instance.name}",
            got=spec.capacity.nodes,
            allowed=" or ".join(map(str, sizes)),
            fix="name the size of the UltraServer that you reserved",
            source=_OFFERED,
        )


def purchase_findings(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """What a user may not know of a capacity: limits, quotas, when nodes can start."""
    if spec.capacity.kind is CapacityKind.CAPACITY_BLOCK:
        yield from _block_findings(spec)
        yield from _ultraserver_findings(spec, instance)
    else:
        yield from _quota_findings(spec, instance)
    if spec.autoscaled or spec.capacity.start is not None:
        yield _left_out(spec)
    most = read_toml("limits.toml")["quotas"]
    if spec.max_size > most["nodes"]:
        yield warning(
            "ManyNodes",
            f"{spec.path}.max_size",
            f"an account has at most {most['nodes']} nodes in a node group, unless its quota is "
            "raised",
            fix="ask for a higher quota, or make several groups",
            source=most["source"],
        )


def _left_out(spec: NodegroupSpec) -> Finding:
    row = read_toml("limits.toml")["desired_size"]
    return warning(
        "DesiredSizeLeftOut",
        f"{spec.path}.desired_size",
        row["message"],
        fix=row["fix"],
        source=row["source"],
    )


def _block_findings(spec: NodegroupSpec) -> Iterator[Finding]:
    if spec.capacity.start is None and (spec.min_size or spec.desired_size):
        yield info(
            "CapacityBlockWithNodes",
            f"{spec.path}.desired_size",
            "nodes cannot start before the Capacity Block does, and an upgrade of the group needs "
            "a desired size of 0 first",
            fix="name the block's start, Capacity.block(..., start=...), or start with 0 nodes",
            source=_BLOCKS,
        )
    limits = read_toml("limits.toml")["capacity_blocks"]
    if spec.max_size > limits["instances_per_block"]:
        yield warning(
            "CapacityBlockLimit",
            f"{spec.path}.max_size",
            f"a Capacity Block holds at most {limits['instances_per_block']} instances",
            fix="lower max_size, or make a pool with a group for each block",
            source=limits["source"],
        )


def _ultraserver_findings(
    spec: NodegroupSpec, instance: AcceleratedInstanceType
) -> Iterator[Finding]:
    nodes, sizes = spec.capacity.nodes, instance.ultraserver_block_sizes
    if nodes is not None and spec.max_size > nodes:
        yield warning(
            "BeyondUltraServer",
            f"{spec.path}.max_size",
            f"the UltraServer has {nodes} instances: more would be of another one, and share no "
            "memory with these",
            fix="make a node group for each UltraServer",
            source=_OFFERED,
        )
    elif nodes is None and sizes:
        yield info(
            "UltraServerNotNamed",
            f"{spec.path}.capacity",
            f"{instance.name} is sold by the UltraServer, of {' or '.join(map(str, sizes))} "
            "instances, and sizes are not compared with one that is not named",
            fix=f"use Capacity.ultraserver_block(..., nodes={sizes[-1]})",
            source=_OFFERED,
        )


def _quota_findings(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    quotas = read_toml("limits.toml")["vcpu_quotas"]
    name = next(
        (row["name"] for row in quotas["family"] if instance.family.startswith(row["prefix"])), ""
    )
    if not name:
        return
    spot = spec.capacity.kind is CapacityKind.SPOT
    quota = f"All {name} Spot Instance Requests" if spot else f"Running On-Demand {name} instances"
    vcpus = max(one.vcpus for one in group_instances(spec, instance)) * spec.max_size
    yield info(
        "VcpuQuota",
        f"{spec.path}.max_size",
        f"all {spec.max_size} nodes count {vcpus} vCPUs against the EC2 quota {quota!r}, which "
        "new accounts have at 0",
        fix="look at Service Quotas, and ask for more before you deploy",
        source=quotas["source"],
    )
