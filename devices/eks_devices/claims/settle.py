"""Settles the counts of a claim for a cluster and an instance type, or says why it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from eks_devices.findings import Finding, fault, raise_faults
from eks_devices.instance_types import lookup
from eks_devices.kubernetes import find_minor, minors

from .asked import Asked
from .hardware import hardware_faults
from .kinds import RequestKind
from .placement import claims_per_root, open_efa_count, placement_faults
from .syntax import DRA_PAGE

MOST_DEVICES: Final = 32
"""The allocator puts no more devices into one claim (AllocationResultsMaxSize).

Source: https://github.com/kubernetes-sigs/dra-example-driver/issues/150
"""
_VERSIONS_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/device-management.html"


def settled_counts(
    asked: Asked, *, kubernetes_version: object, instance_type: object
) -> tuple[int, ...]:
    """The number of devices of each request.

    Raises:
        EksDevicesError: with every fault of the claim on this cluster and type.
    """
    efas, faults = _on_type(asked, instance_type)
    counts = tuple(efas if one.count is None else one.count for one in asked.requests)
    version = version_faults(kubernetes_version, f"{asked.path}.kubernetes_version")
    raise_faults((*version, *faults, *_size_faults(asked, sum(counts), instance_type)))
    return counts


def version_faults(kubernetes_version: object, path: str) -> Iterator[Finding]:
    """The fault of a version that does not serve `resource.k8s.io/v1`."""
    found = find_minor(kubernetes_version, path)
    allowed = "a text, one of " + ", ".join(v for v, minor in minors().items() if minor.serves_dra)
    if isinstance(found, Finding):
        yield replace(found, allowed=allowed)
    elif not found.serves_dra:
        yield fault(
            "UnsupportedKubernetesVersion",
            path,
            "claims need resource.k8s.io/v1, and this version has the beta API only",
            got=found.version,
            allowed=allowed,
            fix="upgrade the cluster, or use device plugins there",
            source=_VERSIONS_PAGE,
        )


def _on_type(asked: Asked, instance_type: object) -> tuple[int, tuple[Finding, ...]]:
    """The EFAs that an open count stands for (0 when it cannot be filled), and the faults."""
    if instance_type is None:
        return 0, tuple(_type_needed(asked))
    instance = lookup(instance_type, f"{asked.path}.instance_type")
    if isinstance(instance, Finding):
        return 0, (instance,)
    faults = (*hardware_faults(asked, instance), *placement_faults(asked, instance))
    if faults or not asked.open_path:
        return 0, faults
    efas = open_efa_count(asked, instance)
    return (0, (efas,)) if isinstance(efas, Finding) else (efas, ())


def _type_needed(asked: Asked) -> Iterator[Finding]:
    if asked.open_path:
        message = "an open EFA count is filled from the instance type, and none was given"
        yield _no_type(asked.open_path, message, ", or write the EFA count")
    if asked.match is not None and asked.match.is_device_group:
        message = "only some types publish device groups, and no instance type was given"
        yield _no_type(f"{asked.path}.match", message, "")


def _no_type(path: str, message: str, other_way: str) -> Finding:
    return fault(
        "InstanceTypeNeeded",
        path,
        message,
        got="no instance type",
        allowed="the name of an EC2 instance type",
        fix=f'pass instance_type="...", or let a node group pass its own{other_way}',
        source=DRA_PAGE,
    )


def _size_faults(asked: Asked, devices: int, instance_type: object) -> Iterator[Finding]:
    if devices > MOST_DEVICES:
        yield fault(
            "ClaimTooLarge",
            f"{asked.path}.requests",
            "the scheduler never allocates a claim for so many devices",
            got=f"{devices} devices",
            allowed=f"at most {MOST_DEVICES} devices in a claim",
            fix=_split(asked, instance_type),
            source=DRA_PAGE,
        )


def _split(asked: Asked, instance_type: object) -> str:
    fix = "split the request into two claims of one Pod"
    if not asked.has(RequestKind.GPU) or not asked.has(RequestKind.EFA):
        return fix
    fix = "use two claims in one Pod, one for the GPUs and one for the EFAs"
    per_root = claims_per_root(instance_type) if isinstance(instance_type, str) else ""
    return f"{fix}, or {per_root} with MatchAttribute.PCIE_ROOT" if per_root else fix
