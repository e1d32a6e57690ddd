"""Requests for every device of a node: how many those are, and where they cannot be asked for."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, fault
from ..instance_types import AcceleratedInstanceType
from ..network import default_efa_count
from ..published import device_group_sizes, pcie_roots
from .alignment import open_efas
from .asked import Asked, Constraint
from .choices import changed, choices, places_of
from .constraints import all_constraints, covers
from .hardware import most_devices
from .kinds import WHOLE_GPUS, AllocationMode, RequestKind
from .match import MatchAttribute
from .requests import DeviceRequest
from .syntax import DRA_PAGE

_EFA_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html"


def all_devices(instance: AcceleratedInstanceType, request: DeviceRequest) -> int:
    """How many devices of a node of a type are all that match; the least that it can be.

    Which devices the user's own selectors match, and how GPUs are cut, is not known of a type.
    """
    if request.selectors or request.kind is RequestKind.MIG:
        return 1
    if request.kind is RequestKind.EFA:
        return default_efa_count(instance) or 1
    return most_devices(instance, request.kind) or 1


def all_faults(asked: Asked, instance: AcceleratedInstanceType | None) -> Iterator[Finding]:
    """Faults of all devices under a constraint.

    The first device that breaks it ends the scheduler's whole attempt, also for other nodes.
    """
    for index, request in enumerate(asked.requests):
        for place, one in places_of(request, index):
            if not one.takes_all:
                continue
            about = [c for _, c in all_constraints(asked) if covers(c, request, one)]
            for constraint in about[:1]:
                count = None
                if instance is not None:
                    count = _instead(asked, request, one, constraint, instance)
                yield _with_constraint(f"{asked.path}.{place}", one, constraint, count)


def _with_constraint(
    path: str, option: DeviceRequest, constraint: Constraint, count: int | None
) -> Finding:
    return fault(
        "AllWithConstraint",
        path,
        "with a constraint, the first device that breaks it is an error to the scheduler, which "
        "gives up the Pod, also on other nodes",
        got=f"all devices under a constraint on {_constrained_by(constraint)}",
        allowed="a number of devices",
        fix=f"write the number, here {count}" if count else "write the number of devices",
        source=_EFA_PAGE if option.kind is RequestKind.EFA else DRA_PAGE,
    )


def _constrained_by(constraint: Constraint) -> str:
    if isinstance(constraint, MatchAttribute) and constraint.is_sized:
        return "their device group"
    return constraint.attribute


def _instead(
    asked: Asked,
    request: DeviceRequest,
    option: DeviceRequest,
    constraint: Constraint,
    instance: AcceleratedInstanceType,
) -> int | None:
    """The number of devices that a constraint allows, as far as that is known."""
    if option.selectors:
        return None
    if not isinstance(constraint, MatchAttribute):
        return all_devices(instance, option)
    if option.kind is RequestKind.NEURON:
        return _of_group(constraint, instance)
    return _of_root(asked, request, option, instance) if constraint.is_pcie_root else None


def _of_root(
    asked: Asked,
    request: DeviceRequest,
    option: DeviceRequest,
    instance: AcceleratedInstanceType,
) -> int | None:
    """The GPUs that a PCIe root has, or the EFAs that it has for the others of a claim."""
    if option.kind in WHOLE_GPUS:
        return max((root.gpus for root in pcie_roots(instance.name) or ()), default=None)
    if option.kind is not RequestKind.EFA:
        return None
    exact = {"allocation": AllocationMode.EXACT_COUNT, "count": None, "name": request.name}
    others = [one for one in asked.requests if one is not request]
    opened = changed(asked, requests=(changed(option, **exact), *others))
    found = open_efas(next(choices(opened)), instance)
    return None if isinstance(found, Finding) else found


def _of_group(constraint: MatchAttribute, instance: AcceleratedInstanceType) -> int | None:
    """The Neuron devices of the group that a match names, or of the largest one of a type."""
    sizes = device_group_sizes(instance.name)
    size = max(sizes, default=0) if constraint.is_sized else constraint.group_size(0)
    return size if size in sizes else None
