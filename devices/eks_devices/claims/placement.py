"""Whether the devices of a claim can share the attribute it matches, on one instance type."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from eks_devices.findings import Finding, fault
from eks_devices.instance_types import AcceleratedInstanceType
from eks_devices.network import efa_counts
from eks_devices.published import (
    PcieRoot,
    device_group_sizes,
    efa_per_device_group,
    gpu_efa_roots,
    pcie_roots,
)

from .asked import Asked
from .hardware import most_devices
from .kinds import RequestKind
from .syntax import DRA_PAGE

_EFA_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html"
_GROUPS_PAGE = "https://github.com/aws-neuron/connected-device-maps-over-efa-for-neuron"


def placement_faults(asked: Asked, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    """Faults of a match that no node of the type could satisfy."""
    if asked.match is not None and asked.match.is_device_group:
        yield from _group_faults(asked, instance)
    if asked.match is not None and asked.match.is_pcie_root:
        yield from _root_faults(asked, instance)


def _group_faults(asked: Asked, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    if not most_devices(instance, RequestKind.NEURON):
        return
    if not device_group_sizes(instance.name):
        yield _no_groups(asked, instance)
        return
    most = efa_per_device_group(instance.name, asked.total(RequestKind.NEURON)) or 0
    if asked.total(RequestKind.EFA) > most:
        yield _too_many_efas(asked, instance, most)


def _no_groups(asked: Asked, instance: AcceleratedInstanceType) -> Finding:
    return fault(
        "NoDeviceGroups",
        f"{asked.path}.match",
        f"no map from Neuron devices to EFAs is published for {instance.name}, so its devices "
        "carry no group",
        got=instance.name,
        allowed="types in the published map",
        fix="leave the match out, or use a type with connected groups",
        source=_GROUPS_PAGE,
    )


def _too_many_efas(asked: Asked, instance: AcceleratedInstanceType, most: int) -> Finding:
    devices = asked.total(RequestKind.NEURON)
    return fault(
        "TooManyEfasForGroup",
        f"{asked.path_of(RequestKind.EFA)}.count",
        f"a group of {devices} Neuron devices on {instance.name} has fewer EFAs",
        got=asked.total(RequestKind.EFA),
        allowed=f"at most {most}",
        fix=f"ask for {most}, or leave the EFA count open",
        source=_GROUPS_PAGE,
    )


def _root_faults(asked: Asked, instance: AcceleratedInstanceType) -> Iterator[Finding]:
    roots = pcie_roots(instance.name)
    wants_efa = asked.has(RequestKind.EFA)
    if roots is None or (wants_efa and not most_devices(instance, RequestKind.EFA)):
        return
    gpus = asked.total(RequestKind.GPU) + asked.has(RequestKind.MIG)
    efas = asked.total(RequestKind.EFA) or int(wants_efa)
    if any(root.gpus >= gpus and root.efas >= efas for root in roots):
        return
    if gpus and efas and not gpu_efa_roots(instance.name):
        yield _not_shared(asked, instance)
    else:
        yield _too_small(asked, instance, roots, f"{gpus} GPU and {efas} EFA")


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


def claims_per_root(name: str) -> str:
    """How claims could share out the GPUs and EFAs of a type by PCIe root; empty if unknown."""
    roots = gpu_efa_roots(name)
    return f"{len(roots)} x ({roots[0][0]} GPU + {roots[0][1]} EFA)" if roots else ""


def open_efa_count(asked: Asked, instance: AcceleratedInstanceType) -> int | Finding:
    """The EFA count that a claim leaves open, or the fault that keeps it from being filled."""
    if asked.match is None:
        return efa_counts(instance)
    if asked.match.is_device_group:
        return efa_per_device_group(instance.name, asked.total(RequestKind.NEURON)) or 0
    if asked.match.is_pcie_root:
        return _share(asked, instance)
    return _needed(asked, "what EFAs match by an attribute of your own is not known")


def _share(asked: Asked, instance: AcceleratedInstanceType) -> int | Finding:
    roots = gpu_efa_roots(instance.name)
    gpus = asked.total(RequestKind.GPU)
    if roots is None:
        return _needed(asked, f"which devices of {instance.name} share a PCIe root is not known")
    if not gpus or asked.has(RequestKind.MIG):
        return _needed(asked, "the fair share of a PCIe root's EFAs counts by whole GPUs")
    have, efas = next(root for root in roots if root[0] >= gpus)
    share, rest = divmod(efas * gpus, have)
    return _not_whole(asked, instance, have, efas) if rest else share


def _not_whole(asked: Asked, instance: AcceleratedInstanceType, have: int, efas: int) -> Finding:
    step = have // gcd(have, efas)
    sets = "pairs" if step == 2 else f"sets of {step}"  # noqa: PLR2004  (a pair is two)
    return fault(
        "EfaShareNotWhole",
        asked.open_path,
        f"{have} GPUs of {instance.name} share a PCIe root with {efas} EFA, so the fair share of "
        "these GPUs is no whole number",
        got=f"{asked.total(RequestKind.GPU)} GPU",
        allowed=f"GPUs in {sets}",
        fix=f"ask for {sets} of GPUs, DeviceRequest.gpu({step}), or write the EFA count",
        source=_EFA_PAGE,
    )


def _needed(asked: Asked, message: str) -> Finding:
    return fault(
        "EfaCountNeeded",
        asked.open_path,
        message,
        got="an open count",
        allowed="a number",
        fix="write the EFA count, DeviceRequest.efa(1)",
        source=DRA_PAGE,
    )
