"""Whether the nodes of a group have the EFAs of a claim, and have some left for others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..findings import EksDevicesError, Finding, fault, warning
from ..instance_types import AcceleratedInstanceType
from ..names import EFA_CLASS
from ..plans import DevicePlan, NodegroupPlan
from ..published import gpu_efa_roots
from ..vocabulary import DeviceType, Mechanism
from .asked import count_of, open_path, request_path
from .kinds import WHOLE_GPUS, RequestKind
from .match import MatchAttribute
from .partitions import partition_gpus
from .requests import DeviceRequest
from .syntax import DRA_PAGE
from .templates import DeviceClaim, claimed_devices

_EFA_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html"


def efa_faults(
    claim: DeviceClaim, manifest: dict[str, Any], plan: NodegroupPlan
) -> Iterator[Finding]:
    """The fault of more EFAs than the nodes have; a group without any has another one."""
    asked, efas = _asked(manifest), _claimed(plan)
    if efas is None or asked <= efas.count:
        return
    filled = bool(open_path(claim))
    fewer = f"write the count, DeviceRequest.efa({efas.count})" if filled else "ask for fewer"
    yield fault(
        "TooManyDevices",
        f"{request_path(claim, RequestKind.EFA)}.count",
        f"nodes of group {plan.name} have fewer EFA interfaces",
        got=f"{asked}, filled in for {_devices(claim)}" if filled else asked,
        allowed=f"at most {efas.count}",
        fix=f"{fewer}, or give the group more EFA interfaces",
        source=DRA_PAGE,
    )


def _devices(claim: DeviceClaim) -> str:
    """What an open count was filled in for."""
    gpus = count_of(claim, *WHOLE_GPUS)
    neuron = count_of(claim, RequestKind.NEURON)
    count, name = (gpus, "GPU") if gpus else (neuron, "Neuron device")
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


def efa_findings(
    claim: DeviceClaim, manifest: dict[str, Any], plan: NodegroupPlan
) -> Iterator[Finding]:
    """The warnings of a claim that leaves devices of a node, or of a PCIe root, without EFAs.

    Args:
        claim: A claim without faults on the group.
        manifest: Its manifest there.
        plan: The group.
    """
    asked = _asked(manifest)
    found = [] if _binds_efas(claim) else [*_every_efa(claim, asked, plan)]
    found = found or [*_too_few_efas(claim, asked, plan)]
    if not found and _shares_root(claim):
        found = [*_root_findings(claim, asked, plan)]
    yield from found


def _shares_root(claim: DeviceClaim) -> bool:
    """Whether all devices of a claim are on one PCIe root."""
    names = {one.name for one in claim.requests}
    constraints = (claim.match, *claim.constraints)
    roots = (one for one in constraints if isinstance(one, MatchAttribute) and one.is_pcie_root)
    return any(not one.requests or names.issubset(one.requests) for one in roots)


def _binds_efas(claim: DeviceClaim) -> bool:
    """Whether matches say of every EFA with which accelerators it goes."""
    bound: set[str] = set()
    for one in (claim.match, *claim.constraints):
        if isinstance(one, MatchAttribute):
            held = [it for it in claim.requests if not one.requests or it.name in one.requests]
            if any(it.kind is not RequestKind.EFA for it in held):
                bound.update(it.name for it in held)
    return all(it.name in bound for it in claim.requests if it.kind is RequestKind.EFA)


def _too_few_efas(claim: DeviceClaim, asked: int, plan: NodegroupPlan) -> Iterator[Finding]:
    """The warning of a group with fewer EFAs than its type, which leaves devices without any."""
    efas, part = _claimed(plan), _part(claim, plan)
    most = AcceleratedInstanceType.of(plan.instance_type).max_efa_interfaces
    if efas is None or part is None or not asked or efas.count >= most:
        return
    devices, have, name = part
    claims, wanted = efas.count // asked, have // devices
    if 0 < claims < wanted:
        yield warning(
            "TooFewEfas",
            f"{request_path(claim, RequestKind.EFA)}.count",
            f"group {plan.name} has {efas.count} of the {most} EFAs of {plan.instance_type}, "
            f"enough for {claims} of such claims, while the {have} {name} of a node are enough "
            f"for {wanted}",
            fix="give the group every EFA, efa=True, or ask for fewer in each claim",
            source=_EFA_PAGE,
        )


def _every_efa(claim: DeviceClaim, all_asked: int, plan: NodegroupPlan) -> Iterator[Finding]:
    efas, part = _claimed(plan), _part(claim, plan)
    if efas is None or part is None or all_asked < efas.count:
        return
    asked, have, name = part
    yield warning(
        "EveryEfaTaken",
        f"{claim.path}.requests",
        f"the claim takes {asked} of the {have} {name} of a node and all {efas.count} of its EFAs, "
        "so no other claim with EFAs fits beside it",
        fix=" or ".join([*_match(claim, plan), *_share(efas.count * asked // have)])
        or "take the whole node in one claim, or leave the EFAs out",
        source=_EFA_PAGE,
    )


def _root_findings(claim: DeviceClaim, efas: int, plan: NodegroupPlan) -> Iterator[Finding]:
    """The warning of GPUs that find no EFA on their root beside claims like this one."""
    gpus, roots = count_of(claim, *WHOLE_GPUS), gpu_efa_roots(plan.instance_type)
    if not (gpus and efas and roots):
        return
    have, on_root = max(roots)
    claims = min(have // gpus, on_root // efas)
    # Of GPUs that the claims divide unevenly some are left over, whatever EFAs each takes.
    if 0 < claims < have // gpus:
        yield warning(
            "EfaSharedByGpus",
            f"{request_path(claim, RequestKind.EFA)}.count",
            f"{have} GPUs of {plan.instance_type} share a PCIe root with {on_root} EFA, which is "
            f"enough for {claims} of such claims, with {claims * gpus} of the GPUs: the others "
            "get no EFA of their root",
            fix="ask for all GPUs of a root, or leave the EFA count open, which is their share",
            source=_EFA_PAGE,
        )


def _claimed(plan: NodegroupPlan) -> DevicePlan | None:
    """The EFAs of a group that are claimed."""
    efas = plan.device_of(DeviceType.EFA)
    return efas if efas is not None and efas.mechanism is Mechanism.DRA else None


def _asked(manifest: dict[str, Any]) -> int:
    requests = (one["exactly"] for one in claimed_devices(manifest).get("requests", ()))
    own = (one for one in requests if not one.get("adminAccess"))
    return sum(one["count"] for one in own if one["deviceClassName"] == EFA_CLASS)


def _part(claim: DeviceClaim, plan: NodegroupPlan) -> tuple[int, int, str] | None:
    """How many accelerators a claim takes, of how many, and their name; None for all or none."""
    gpus = count_of(claim, *WHOLE_GPUS) + partition_gpus(claim, plan.instance_type)
    wanted = {
        DeviceType.GPU: (gpus, "GPUs"),
        DeviceType.NEURON: (count_of(claim, RequestKind.NEURON), "Neuron devices"),
    }
    for device_type, (asked, name) in wanted.items():
        device = plan.device_of(device_type)
        if device is not None and 0 < asked < device.count:
            return asked, device.count, name
    return None


def _match(claim: DeviceClaim, plan: NodegroupPlan) -> Iterator[str]:
    """The match by which the claim would have its share of the EFAs, if there is one."""
    requests = [_open(one) for one in claim.requests]
    for match, name in (
        (MatchAttribute.PCIE_ROOT, "PCIE_ROOT"),
        (MatchAttribute.DEVICE_GROUP, "DEVICE_GROUP"),
    ):
        try:
            replace(claim, requests=requests, match=match).to_dict(
                kubernetes_version=plan.kubernetes_version, instance_type=plan.instance_type
            )
        except EksDevicesError:
            continue
        yield f"pass match=MatchAttribute.{name} with DeviceRequest.efa()"


def _open(request: DeviceRequest) -> DeviceRequest:
    return replace(request, count=None) if request.kind is RequestKind.EFA else request


def _share(efas: int) -> Iterator[str]:
    if efas:
        yield f"write the share of the EFAs, DeviceRequest.efa({efas})"
