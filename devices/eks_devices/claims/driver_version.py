"""Whether a group's nodes keep the driver that a claim for Neuron devices names."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, info
from ..plans import NodegroupPlan
from .asked import Asked

_ATTRIBUTES = "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/eks/dra.html"


def driver_version_findings(asked: Asked, plan: NodegroupPlan) -> Iterator[Finding]:
    """The info of a driver that an update of the AMI may replace."""
    pinned = plan.release_version is not None or plan.ami_id is not None
    for index, request in enumerate(asked.requests):
        if request.driver_version is not None and not pinned:
            yield _not_pinned(
                f"{asked.path}.requests[{index}].driver_version", request.driver_version, plan.name
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
