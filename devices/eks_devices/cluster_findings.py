"""What is worth knowing of node groups together: reservations, quotas, addresses."""

from __future__ import annotations

from collections.abc import Iterator

from ._data import read_toml
from .capacity import CapacityKind
from .findings import Finding, warning
from .plans import NodegroupPlan

Plans = tuple[NodegroupPlan, ...]


def cluster_findings(plans: Plans) -> Iterator[Finding]:
    """Every finding that groups have together and none has alone."""
    yield from _reservation_findings(plans)
    yield from _quota_findings(plans)
    yield from _block_findings(plans)
    yield from _address_findings(plans)


def _reservation_findings(plans: Plans) -> Iterator[Finding]:
    """A reservation that two groups share has room for one of them, or for part of each."""
    users: dict[str, list[NodegroupPlan]] = {}
    for plan in plans:
        if plan.capacity.is_reserved:
            users.setdefault(plan.capacity.identity, []).append(plan)
    for sharing in users.values():
        groups, name = [plan.name for plan in sharing], sharing[0].capacity.name
        if len(groups) > 1:
            yield warning(
                "SharedReservation",
                f"nodegroups.{groups[-1]}.capacity",
                f"groups {', '.join(groups)} all draw on {name}, and their sizes add up",
                fix="give each group a reservation of its own, or keep the sum within it",
            )


def _quota_findings(plans: Plans) -> Iterator[Finding]:
    most = read_toml("limits.toml")["quotas"]
    if len(plans) > most["nodegroups"]:
        yield warning(
            "ManyNodegroups",
            f"nodegroups.{plans[most['nodegroups']].name}",
            f"an account has at most {most['nodegroups']} managed node groups in a cluster, "
            f"unless its quota is raised, and this plan has more",
            fix="ask for a higher quota before you deploy",
            source=most["source"],
        )


def _block_findings(plans: Plans) -> Iterator[Finding]:
    """Blocks of one day share a limit; which days they are on is not known here."""
    limits = read_toml("limits.toml")["capacity_blocks"]
    blocks = [one for one in plans if one.capacity.kind is CapacityKind.CAPACITY_BLOCK]
    # Groups on one block share its instances.
    sizes: dict[str, int] = {}
    for one in blocks:
        block = one.capacity.identity
        sizes[block] = max(sizes.get(block, 0), one.max_size)
    if sum(sizes.values()) > limits["instances_a_day"]:
        yield warning(
            "CapacityBlocksADay",
            f"nodegroups.{blocks[-1].name}.capacity",
            f"an organisation has at most {limits['instances_a_day']} instances in Capacity "
            "Blocks on one day, and the groups together have more",
            fix="make sure that the blocks are on different days, or lower max_size",
            source=limits["source"],
        )


def _address_findings(plans: Plans) -> Iterator[Finding]:
    """Groups in the same subnets, whose nodes full of Pods would need more addresses."""
    shared: dict[tuple[str, ...], list[NodegroupPlan]] = {}
    for plan in plans:
        if plan.subnet_cidrs and plan.addresses is not None:
            shared.setdefault(tuple(sorted(plan.subnet_cidrs)), []).append(plan)
    for cidrs, groups in shared.items():
        needed = sum(one.max_size * (one.addresses or 0) for one in groups)
        there = sum(map(_addresses, cidrs))
        if needed > there:
            yield _too_few(groups, cidrs, needed, there)


def _addresses(cidr: str) -> int:
    kept = read_toml("limits.toml")["subnets"]["reserved_addresses"]
    return max(int(2 ** (32 - int(cidr.rpartition("/")[2]))) - int(kept), 0)


def _too_few(
    groups: list[NodegroupPlan], cidrs: tuple[str, ...], needed: int, there: int
) -> Finding:
    names = ", ".join(one.name for one in groups)
    return warning(
        "IpBudget",
        f"nodegroups.{groups[-1].name}.subnet",
        f"at max_size, and with as many Pods as max_pods allows, the nodes of {names} take "
        f"{needed} addresses, and {' and '.join(cidrs)} has {there}",
        fix="use a larger subnet, lower max_size or max_pods, or give Pods addresses of another "
        "range (custom networking of the VPC CNI)",
        source="https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
    )
