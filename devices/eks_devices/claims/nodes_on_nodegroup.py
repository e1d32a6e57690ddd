"""Claims of nodes that work together, on a group that may not have such nodes."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, warning
from ..instance_types import AcceleratedInstanceType
from ..plans import NodegroupPlan
from .compute_domain import ComputeDomain
from .templates import DeviceClaim

_BLOCKS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html"
_MODES = "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/eks/dra.html"
_CLIQUES = (
    "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/main/"
    "cmd/compute-domain-daemon/cdclique.go"
)


def domain_findings(domain: ComputeDomain, plan: NodegroupPlan) -> Iterator[Finding]:
    """The warnings of a domain that waits for nodes which the group, or an UltraServer, lacks."""
    if domain.nodes > plan.max_size:
        yield warning(
            "DomainLargerThanNodegroup",
            f"{domain.path}.nodes",
            f"the domain waits for {domain.nodes} nodes, and group {plan.name} has at most "
            f"{plan.max_size}",
            fix="ask for fewer nodes, raise max_size, or see that other groups hold the rest",
        )
    size = _ultraserver_size(plan)
    if size and domain.nodes > size:
        yield warning(
            "DomainBeyondUltraServer",
            f"{domain.path}.nodes",
            f"the domain waits for {domain.nodes} nodes, and an UltraServer of group {plan.name} "
            f"has {size}: the driver joins the nodes of each UltraServer by themselves, so Pods "
            "of two UltraServers share no memory",
            fix=f"make a ComputeDomain of at most {size} nodes for each UltraServer, or a job "
            "that reaches the other UltraServers over EFA",
            source=_CLIQUES,
        )


def ultraserver_findings(claim: DeviceClaim, plan: NodegroupPlan) -> Iterator[Finding]:
    """The warnings of nodes of one UltraServer that the group may not have, or not so many."""
    for index, request in enumerate(claim.requests):
        path, mode = f"{claim.path}.requests[{index}].mode", request.mode or 1
        if mode > 1 and not plan.capacity.ultraserver:
            yield _not_together(path, mode, plan.name)
        if mode > plan.max_size:
            yield _too_few(path, mode, plan)


def _not_together(path: str, mode: int, group: str) -> Finding:
    return warning(
        "UltraServerNotGuaranteed",
        path,
        f"{mode} nodes of one UltraServer work together, and nothing makes those of group {group} "
        "part of one: its capacity is no block of an UltraServer",
        fix="use capacity=Capacity.ultraserver_block(...) for the group, or mode=1",
        source=_BLOCKS,
    )


def _too_few(path: str, mode: int, plan: NodegroupPlan) -> Finding:
    return warning(
        "UltraServerLargerThanNodegroup",
        path,
        f"{mode} nodes of an UltraServer work together, and group {plan.name} has at most "
        f"{plan.max_size}: the Pods would wait for the others",
        fix=f"raise max_size to {mode}, use a smaller mode, or see that other groups hold the "
        "rest of the same UltraServer",
        source=_MODES,
    )


def _ultraserver_size(plan: NodegroupPlan) -> int:
    """The most nodes of the group that are of one UltraServer; 0 where there are none."""
    sizes = AcceleratedInstanceType.of(plan.instance_type).ultraserver_sizes
    return plan.capacity.nodes or max(sizes, default=0)
