"""Claims of nodes that work together, on a group that may have too few of them."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, warning
from ..instance_types import AcceleratedInstanceType
from ..plans import NodegroupPlan
from .compute_domain import ComputeDomain
from .templates import DeviceClaim

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
    """The warning of more nodes that work together than the group can have."""
    for index, request in enumerate(claim.requests):
        if request.mode is not None and request.mode > plan.max_size:
            yield warning(
                "UltraServerLargerThanNodegroup",
                f"{claim.path}.requests[{index}].mode",
                f"{request.mode} nodes of an UltraServer work together, and group {plan.name} has "
                f"at most {plan.max_size}: the Pods would wait for the others",
                fix=f"raise max_size to {request.mode}, use a smaller mode, or see that other "
                "groups hold the rest of the same UltraServer",
                source=_MODES,
            )


def _ultraserver_size(plan: NodegroupPlan) -> int:
    """The most nodes of the group that are of one UltraServer; 0 where there are none."""
    sizes = AcceleratedInstanceType.of(plan.instance_type).ultraserver_sizes
    return plan.capacity.nodes or max(sizes, default=0)
