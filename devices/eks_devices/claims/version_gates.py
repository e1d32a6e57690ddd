"""What a claim says that the API server of a minor drops, so that it would mean something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..findings import Finding, fault
from ..kubernetes import gate_is_on, minors
from .asked import Asked
from .choices import places_of
from .distinct import DistinctAttribute
from .syntax import DRA_PAGE


class _Use(NamedTuple):
    """A field of a claim that a feature gate of Kubernetes is for."""

    code: str
    gate: str
    place: str
    dropped: str
    fix: str


def gate_faults(asked: Asked, version: str) -> Iterator[Finding]:
    """Faults of fields whose gate EKS has off: the API server drops them without a word."""
    for use in _uses(asked):
        if not gate_is_on(use.gate, version):
            served = [one for one in minors() if gate_is_on(use.gate, one)]
            yield fault(
                use.code,
                f"{asked.path}.{use.place}",
                f"Kubernetes {version} has {use.gate} off and drops the field, so {use.dropped}, "
                "and EKS lets nobody switch gates",
                got=version,
                allowed=f"Kubernetes {', '.join(served)}",
                fix=f"upgrade the cluster, or {use.fix}",
                source=DRA_PAGE,
            )


def _uses(asked: Asked) -> Iterator[_Use]:
    for index, request in enumerate(asked.requests):
        for place, one in places_of(request, index):
            if one.memory is not None:
                yield _Use(
                    "CapacityNeedsKubernetes",
                    "DRAConsumableCapacity",
                    f"{place}.memory",
                    "the claim would get a whole GPU",
                    "leave memory out",
                )
            if one.tolerations:
                yield _Use(
                    "TolerationsNeedKubernetes",
                    "DRADeviceTaints",
                    f"{place}.tolerations",
                    "nothing would be tolerated, and no device tainted either",
                    "leave the tolerations out",
                )
    for index, constraint in enumerate(asked.constraints):
        if isinstance(constraint, DistinctAttribute):
            yield _Use(
                "DistinctNeedsKubernetes",
                "DRAConsumableCapacity",
                f"constraints[{index}]",
                "devices with equal values would be given, or the constraint refused",
                "leave the constraint out",
            )
