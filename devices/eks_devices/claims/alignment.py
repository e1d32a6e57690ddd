"""Whether the devices of a claim can share the attribute it matches, on one instance type."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from ..findings import Finding, fault, shown, warning
from ..instance_types import AcceleratedInstanceType
from ..network import default_efa_count
from ..published import (
    PcieRoot,
    device_group_sizes,
    efa_per_device_group,
    gpu_efa_roots,
    pcie_roots,
)
from .asked import Asked, asks_for, count_of, group_size, open_path, request_path
from .choices import View, parts
from .hardware import most_devices
from .kinds import WHOLE_GPUS, RequestKind
from .partitions import partition_gpus
from .syntax import DRA_PAGE

_EFA_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html"
_ROOTS_ISSUE = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/1123"
_GROUPS_PAGE = "https://github.com/aws-neuron/connected-device-maps-over-efa-for-neuron"


def placement_faults(asked: Asked, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Faults of a match that no node of the type could satisfy."""
    size = group_size(asked)
    if size is not None:
        yield from _group_faults(asked, instance, size)
    if asked.match is not None and asked.match.is_pcie_root:
        yield from _root_faults(asked, instance)


def _group_faults(asked: Asked, instance: AcceleratedInstanceType, size: int) -> Iterator[Finding]:
    if any(not most_devices(instance, one.kind) for one in asked.requests):
        return
    most = efa_per_device_group(instance.name, size)
    if most is None:
        yield _no_groups(asked, instance)
    elif count_of(asked, RequestKind.EFA) > most:
        yield _too_many_efas(asked, instance, size, most)


def _no_groups(asked: Asked, instance: AcceleratedInstanceType) -> Finding:
    return fault(
        "NoDeviceGroups",
        f"{asked.path}.match",
        f"no map from Neuron devices to EFAs is published for {instance.name}, so its devices "
        "carry no group",
        got=instance.name,
        allowed=", ".join(_grouped_types()),
        fix="leave the match out, or use a type with connected groups",
        source=_GROUPS_PAGE,
    )


def _grouped_types() -> list[str]:
    return [one.name for one in AcceleratedInstanceType.all() if device_group_sizes(one.name)]


def _too_many_efas(
    asked: Asked, instance: AcceleratedInstanceType, size: int, most: int
) -> Finding:
    return fault(
        "TooManyEfasForGroup",
        f"{request_path(asked, RequestKind.EFA)}.count",
        f"a group of {size} Neuron devices on {instance.name} has fewer EFAs",
        got=count_of(asked, RequestKind.EFA),
        allowed=f"at most {most}",
        fix=f"ask for {most}, or leave the EFA count open",
        source=_GROUPS_PAGE,
    )


def _root_faults(asked: Asked, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    roots = pcie_roots(instance.name)
    wants_efa = asks_for(asked, RequestKind.EFA)
    if roots is None or (wants_efa and not most_devices(instance, RequestKind.EFA)):
        return
    gpus = count_of(asked, *WHOLE_GPUS) + partition_gpus(asked, instance.name)
    efas = count_of(asked, RequestKind.EFA) or int(wants_efa)
    if any(root.gpus >= gpus and root.efas >= efas for root in roots):
        return
    if gpus and efas and not gpu_efa_roots(instance.name):
        yield _not_shared(asked, instance)
    else:
        yield _too_small(asked, instance, roots, f"{shown(gpus)} GPU and {shown(efas)} EFA")


def _not_shared(asked: Asked, instance: AcceleratedInstanceType) -> Finding:
    return fault(
        "PcieRootNotShared",
        f"{asked.path}.match",
        f"no EFA of {instance.name} shares a PCIe root with a GPU, so the claim would stay "
        "pending forever",
        got="MatchAttribute.PCIE_ROOT",
        allowed="no match for GPU and EFA",
        fix="leave the match out",
        source=_EFA_PAGE,
    )


def _too_small(
    asked: Asked, instance: AcceleratedInstanceType, roots: tuple[PcieRoot, ...], got: str
) -> Finding:
    per_root = claims_per_root(instance.name) or "one for the devices of each root"
    shapes = sorted({f"{root.gpus} GPU and {root.efas} EFA" for root in roots})
    return fault(
        "PcieRootTooSmall",
        f"{asked.path}.match",
        f"no PCIe root of {instance.name} holds so many devices",
        got=got,
        allowed=f"what one root holds: {' or '.join(shapes)}",
        fix=f"use several claims, {per_root}, or leave the match out",
        source=_EFA_PAGE,
    )


def root_findings(asked: Asked, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """The warning of a PCIe root that devices may or may not share."""
    by_root = asked.match is not None and asked.match.is_pcie_root
    alone = sum(one.count or 1 for one in asked.requests) == 1
    if by_root and pcie_roots(instance.name) is None and not alone:
        yield warning(
            "PcieRootUnknown",
            f"{asked.path}.match",
            f"nobody told which devices of {instance.name} share a PCIe root, and on some types "
            "GPUs and network cards share none: the claim may stay pending",
            fix="leave the match out, unless you saw equal roots in ResourceSlices of such a node",
            source=_ROOTS_ISSUE,
        )


def claims_per_root(name: str) -> str:
    """How claims could share out the GPUs and EFAs of a type by PCIe root; empty if unknown."""
    roots = gpu_efa_roots(name)
    return f"{len(roots)} x ({roots[0][0]} GPU + {roots[0][1]} EFA)" if roots else ""


def open_efas(view: View, instance: AcceleratedInstanceType) -> int | Finding:
    """The EFA count that a choice leaves open, or the fault that keeps it from being filled.

    It follows the first match that is about the EFAs.
    """
    for part in parts(view):
        if open_path(part):
            found = _open_efa_count(part, instance)
            return part.placed(found) if isinstance(found, Finding) else found
    return default_efa_count(instance)


def _open_efa_count(asked: Asked, instance: AcceleratedInstanceType) -> int | Finding:
    if group_size(asked) is not None:
        return _of_group(asked, instance, group_size(asked) or 0)
    if asked.match is not None and asked.match.is_pcie_root:
        return _share(asked, instance)
    return _needed(asked, "what EFAs match by an attribute of your own is not known")


def _of_group(asked: Asked, instance: AcceleratedInstanceType, size: int) -> int | Finding:
    if count_of(asked, RequestKind.NEURON) != size:
        return _needed(asked, f"the claim asks for a part of a group of {size} Neuron devices")
    return efa_per_device_group(instance.name, size) or 0


def _share(asked: Asked, instance: AcceleratedInstanceType) -> int | Finding:
    roots = gpu_efa_roots(instance.name)
    gpus = count_of(asked, *WHOLE_GPUS)
    if roots is None:
        return _needed(asked, f"which devices of {instance.name} share a PCIe root is not known")
    if not gpus or asks_for(asked, RequestKind.MIG):
        return _needed(asked, "the fair share of a PCIe root's EFAs counts by whole GPUs")
    fitting = [root for root in roots if root[0] >= gpus]
    if not fitting:
        return _needed(asked, f"no PCIe root of {instance.name} holds so many GPUs")
    have, efas = fitting[0]
    share, rest = divmod(efas * gpus, have)
    return _not_whole(asked, instance, have, efas) if rest else share


def _not_whole(asked: Asked, instance: AcceleratedInstanceType, have: int, efas: int) -> Finding:
    step = have // gcd(have, efas)
    sets = "pairs" if step == 2 else f"sets of {step}"  # noqa: PLR2004  (a pair is two)
    return fault(
        "EfaShareNotWhole",
        open_path(asked),
        f"{have} GPUs of {instance.name} share a PCIe root with {efas} EFA, so the fair share of "
        "these GPUs is not a whole number",
        got=f"{count_of(asked, *WHOLE_GPUS)} GPU",
        allowed=f"GPUs in {sets}",
        fix=f"ask for {sets} of GPUs, DeviceRequest.gpu({step}), or write the EFA count",
        source=_EFA_PAGE,
    )


def _needed(asked: Asked, message: str) -> Finding:
    return efa_count_needed(open_path(asked), message)


def efa_count_needed(path: str, message: str) -> Finding:
    """The fault of a number of EFAs that nothing decides."""
    return fault(
        "EfaCountNeeded",
        path,
        message,
        got="an open count",
        allowed="a number",
        fix="write the EFA count, DeviceRequest.efa(1)",
        source=DRA_PAGE,
    )
