"""Settles the counts of a claim for a cluster and an instance type, or says why it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..findings import Finding, fault, raise_faults, shown
from ..instance_types import lookup
from ..kubernetes import dra_faults, find_minor, gate_is_on, minors, newest_minor
from .alignment import claims_per_root, open_efa_count, placement_faults
from .asked import Asked, asks_for, group_size, open_path
from .hardware import hardware_faults
from .kinds import WHOLE_GPUS, RequestKind
from .partitions import partition_faults
from .served import support_faults
from .syntax import DRA_PAGE, MOST_DEVICES

_CAPACITY_GATE = "DRAConsumableCapacity"


def settled_counts(
    asked: Asked, *, kubernetes_version: object, instance_type: object
) -> tuple[int, ...]:
    """The number of devices of each request.

    Raises:
        EksDevicesError: With every fault of the claim on this cluster and type.
    """
    known = _known_version(kubernetes_version)
    efas, faults = _on_type(asked, instance_type, known)
    counts = tuple(efas if one.count is None else one.count for one in asked.requests)
    version = version_faults(kubernetes_version, f"{asked.path}.kubernetes_version")
    sizes = _size_faults(asked, sum(counts), instance_type)
    raise_faults((*version, *faults, *_capacity_faults(asked, known), *sizes))
    return counts


def version_faults(kubernetes_version: object, path: str) -> Iterator[Finding]:
    """The fault of a version that is not known, or does not serve `resource.k8s.io/v1`."""
    served = (version for version, minor in minors().items() if minor.serves_dra)
    allowed = f"a string, one of {', '.join(served)}"
    found = find_minor(kubernetes_version, path)
    if isinstance(found, Finding):
        yield replace(found, allowed=allowed)
    else:
        yield from dra_faults(found, path, allowed=allowed)


def _known_version(kubernetes_version: object) -> str:
    """The version to ask the support rules about; one with a fault of its own is left to it."""
    found = find_minor(kubernetes_version, "")
    return newest_minor() if isinstance(found, Finding) or not found.serves_dra else found.version


def _on_type(asked: Asked, instance_type: object, version: str) -> tuple[int, tuple[Finding, ...]]:
    """The EFAs that an open count stands for (0 when it cannot be filled), and the faults."""
    if instance_type is None:
        return 0, tuple(_type_needed(asked))
    instance = lookup(instance_type, f"{asked.path}.instance_type")
    if isinstance(instance, Finding):
        return 0, (instance,)
    faults = (
        *hardware_faults(asked, instance),
        *partition_faults(asked, instance),
        *support_faults(asked, instance, version),
        *placement_faults(asked, instance),
    )
    if faults or not open_path(asked):
        return 0, faults
    efas = open_efa_count(asked, instance)
    return (0, (efas,)) if isinstance(efas, Finding) else (efas, ())


def _type_needed(asked: Asked) -> Iterator[Finding]:
    if open_path(asked):
        message = "an open EFA count is filled from the instance type, and none was given"
        yield _no_type(open_path(asked), message, ", or write the EFA count")
    if group_size(asked) is not None:
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


def _capacity_faults(asked: Asked, version: str) -> Iterator[Finding]:
    """The fault of asking for a part of a device where the API server drops that wish."""
    if gate_is_on(_CAPACITY_GATE, version):
        return
    served = [one for one in minors() if gate_is_on(_CAPACITY_GATE, one)]
    for index, request in enumerate(asked.requests):
        if request.memory is not None:
            yield fault(
                "CapacityNeedsKubernetes",
                f"{asked.path}.requests[{index}].memory",
                f"Kubernetes {version} has {_CAPACITY_GATE} off and drops the field, so the claim "
                "would get a whole GPU, and EKS lets nobody switch gates",
                got=version,
                allowed=f"Kubernetes {', '.join(served)}",
                fix="upgrade the cluster, or leave memory out",
                source=DRA_PAGE,
            )


def _size_faults(asked: Asked, devices: int, instance_type: object) -> Iterator[Finding]:
    if devices > MOST_DEVICES:
        yield fault(
            "ClaimTooLarge",
            f"{asked.path}.requests",
            "the scheduler never allocates a claim for so many devices",
            got=f"{shown(devices)} devices",
            allowed=f"at most {MOST_DEVICES} devices in a claim",
            fix=_split(asked, instance_type),
            source=DRA_PAGE,
        )


def _split(asked: Asked, instance_type: object) -> str:
    fix = "split the request into two claims of one Pod"
    if not asks_for(asked, *WHOLE_GPUS) or not asks_for(asked, RequestKind.EFA):
        return fix
    fix = "use two claims in one Pod, one for the GPUs and one for the EFAs"
    per_root = claims_per_root(instance_type) if isinstance(instance_type, str) else ""
    return f"{fix}, or {per_root} with MatchAttribute.PCIE_ROOT" if per_root else fix
