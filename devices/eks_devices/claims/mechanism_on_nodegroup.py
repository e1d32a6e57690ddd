"""Whether the devices of a group, if its type has them, are handed out by claims."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, fault
from ..instance_types import AcceleratedInstanceType
from ..plans import DevicePlan, NodegroupPlan
from ..vocabulary import DeviceType, Mechanism
from .compute_domain import ComputeDomain
from .hardware import most_devices
from .objects import Claim
from .served import is_served
from .syntax import DRA_PAGE


def mechanism_faults(claim: Claim, plan: NodegroupPlan) -> Iterator[Finding]:
    """Faults of devices that the group lacks, or hands out by a device plugin.

    What the instance type lacks, or no DRA driver serves there, is told of the type alone.
    """
    for device_type, path in _wanted(claim, plan).items():
        device = plan.device_of(device_type)
        if device is None:
            yield _not_there(path, device_type, plan)
        elif device.mechanism is not Mechanism.DRA:
            yield _needs_dra(path, device, plan)


def _wanted(claim: Claim, plan: NodegroupPlan) -> dict[DeviceType, str]:
    """The device types of a claim that the type of the nodes could serve, and their paths."""
    instance = AcceleratedInstanceType.of(plan.instance_type)
    if isinstance(claim, ComputeDomain):
        return {DeviceType.COMPUTE_DOMAIN: claim.path} if instance.nvlink_domain else {}
    paths: dict[DeviceType, str] = {}
    for index, request in enumerate(claim.requests):
        device_type = request.kind.device_type
        served = is_served(device_type, instance, plan.kubernetes_version)
        if served and most_devices(instance, request.kind):
            paths.setdefault(device_type, f"{claim.path}.requests[{index}]")
    return dict(sorted(paths.items()))


def _not_there(path: str, device_type: DeviceType, plan: NodegroupPlan) -> Finding:
    efa = "pass efa=True to the group, or leave the EFAs out of the claim"
    other = f"add the claim to a group whose nodes have {device_type}"
    return fault(
        "DeviceNotOnNodegroup",
        path,
        f"node group {plan.name} has no {device_type}, so a claim for it stays pending",
        got=str(device_type),
        allowed=_claimed(plan),
        fix=efa if device_type is DeviceType.EFA else other,
        source=DRA_PAGE,
    )


def _needs_dra(path: str, device: DevicePlan, plan: NodegroupPlan) -> Finding:
    return fault(
        "ClaimNeedsDra",
        path,
        f"node group {plan.name} hands {device.device_type} out by {device.mechanism}, so a claim "
        "for it stays pending",
        got=str(device.device_type),
        allowed=_claimed(plan),
        fix="use mechanism=Mechanism.DRA for the group, or ask for its extended resource instead",
        source=DRA_PAGE,
    )


def _claimed(plan: NodegroupPlan) -> str:
    by_dra = [str(one.device_type) for one in plan.devices if one.mechanism is Mechanism.DRA]
    return ", ".join(by_dra) or "nothing: no device of the group is claimed"
