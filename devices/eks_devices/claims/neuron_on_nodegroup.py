"""Whether a group's nodes are, and stay, what a claim for Neuron devices needs them to be."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, info, warning
from ..plans import NodegroupPlan
from .asked import Asked

_BLOCKS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html"
_ATTRIBUTES = "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/eks/dra.html"


def neuron_group_findings(asked: Asked, plan: NodegroupPlan) -> Iterator[Finding]:
    """Findings of a claim without faults on a group."""
    pinned = plan.release_version is not None or plan.ami_id is not None
    for index, request in enumerate(asked.requests):
        path = f"{asked.path}.requests[{index}]"
        if request.mode is not None and request.mode > 1 and not plan.capacity.ultraserver:
            yield _not_together(f"{path}.mode", request.mode, plan.name)
        if request.driver_version is not None and not pinned:
            yield _not_pinned(f"{path}.driver_version", request.driver_version, plan.name)


def _not_together(path: str, mode: int, group: str) -> Finding:
    return warning(
        "UltraServerNotGuaranteed",
        path,
        f"{mode} nodes of one UltraServer work together, and nothing makes those of group {group} "
        "part of one: its capacity is no block of an UltraServer",
        fix="use capacity=Capacity.ultraserver_block(...) for the group, or mode=1",
        source=_BLOCKS,
    )


def _not_pinned(path: str, version: str, group: str) -> Finding:
    return info(
        "DriverVersionNotPinned",
        path,
        f"the driver comes with the AMI, of which group {group} names no release: after an update "
        f"that brings another one than {version}, every Pod with such a claim waits",
        fix="name the AMI that has this driver, release_version=, and change both together",
        source=_ATTRIBUTES,
    )
