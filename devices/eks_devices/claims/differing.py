"""Whether devices can differ in an attribute as often as a claim wants, and whether they do."""

from __future__ import annotations

from collections.abc import Iterator

from .._data import read_toml
from ..findings import Finding, fault, warning
from ..instance_types import AcceleratedInstanceType
from ..kubernetes import version_key
from ..names import PCIE_ROOT_ATTRIBUTE
from ..plans import NodegroupPlan
from ..published import PcieRoot, pcie_roots
from .asked import Asked
from .distinct import DistinctAttribute
from .kinds import RequestKind
from .requests import DeviceRequest
from .syntax import DRA_PAGE

_ALWAYS_COMPARED = 2


def differing_faults(asked: Asked, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Faults of more devices than a type has PCIe roots, where each is to be on its own.

    Args:
        asked: A claim of plain requests.
        instance: The type of the nodes, whose roots may not be known.
    """
    roots = pcie_roots(instance.name)
    for index, constraint, about in _distinct(asked) if roots is not None else ():
        if constraint.attribute != PCIE_ROOT_ATTRIBUTE:
            continue
        devices = sum(one.count or 1 for one in about)
        have = sum(any(_is_on(root, one) for one in about) for root in roots or ())
        if devices > have:
            yield fault(
                "TooFewPcieRoots",
                f"{asked.path}.constraints[{index}]",
                f"each device is to be on a PCIe root of its own, and {instance.name} has fewer "
                "roots with such devices",
                got=f"{devices} devices",
                allowed=f"at most {have}",
                fix="ask for fewer devices, or leave the constraint out",
                source=DRA_PAGE,
            )


def differing_findings(asked: Asked, plan: NodegroupPlan) -> Iterator[Finding]:
    """The warning of three devices or more of a request, of which old schedulers compare two."""
    row = read_toml("kubernetes.toml")["schedulers"]["distinct_within_request"]
    if version_key(plan.kubernetes_version) >= version_key(row["first"]):
        return
    for index, _, about in _distinct(asked):
        if any((one.count or 0) > _ALWAYS_COMPARED for one in about):
            yield warning(
                "DistinctComparesNeighbours",
                f"{asked.path}.constraints[{index}]",
                f"schedulers before Kubernetes {row['first']} compare each device of a request "
                "with the one before it alone, so others may have equal values",
                fix="make a request for each device, or ask for at most two in each",
                source=row["source"],
            )


def _distinct(asked: Asked) -> Iterator[tuple[int, DistinctAttribute, list[DeviceRequest]]]:
    """The constraints for devices to differ, with their requests."""
    for index, one in enumerate(asked.constraints):
        if isinstance(one, DistinctAttribute):
            names = one.requests or [request.name for request in asked.requests]
            yield index, one, [request for request in asked.requests if request.name in names]


def _is_on(root: PcieRoot, request: DeviceRequest) -> bool:
    return bool(root.efas if request.kind is RequestKind.EFA else root.gpus)
