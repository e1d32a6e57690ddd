"""How the device plugin or the DRA driver offers one GPU to several Pods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .findings import Finding, raise_faults
from .typecheck import whole_number, wrong_type
from .vocabulary import Feature

SHARING_FEATURES = (Feature.TIME_SLICING, Feature.MPS)
# One replica shares nothing; 48 is the most clients that MPS serves on one GPU.
_FEWEST, _MOST = 2, 48


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuSharing:
    """Each GPU offered `replicas` times; made by one of the two factories.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/device-management-nvidia-time-slicing.html
    """

    feature: Feature
    replicas: int

    @classmethod
    def time_slicing(cls, *, replicas: int) -> GpuSharing:
        """Pods take turns on a GPU, without isolation of memory or faults.

        Raises:
            EksDevicesError: `replicas` is not a whole number from 2 to 48.
        """
        raise_faults(_replica_faults(replicas))
        return cls(feature=Feature.TIME_SLICING, replicas=replicas)

    @classmethod
    def mps(cls, *, replicas: int) -> GpuSharing:
        """Pods run at the same time on a GPU through NVIDIA's Multi-Process Service.

        Raises:
            EksDevicesError: `replicas` is not a whole number from 2 to 48.
        """
        raise_faults(_replica_faults(replicas))
        return cls(feature=Feature.MPS, replicas=replicas)

    def settings(self) -> tuple[tuple[str, str | int], ...]:
        """What a manager with this sharing is told."""
        return (("replicas", self.replicas), ("sharing", str(self.feature)))


def sharing_faults(sharing: object, path: str) -> Iterator[Finding]:
    """Faults of a sharing that was not made by a factory."""
    factories = "GpuSharing.time_slicing(replicas=...) or GpuSharing.mps(replicas=...)"
    if not isinstance(sharing, GpuSharing):
        yield wrong_type(path, sharing, f"{factories}, or None", f"use {factories}")
    elif any(sharing.feature is one for one in SHARING_FEATURES):
        yield from _replica_faults(sharing.replicas, path)
    else:
        yield wrong_type(f"{path}.feature", sharing.feature, factories, f"use {factories}")


def _replica_faults(replicas: object, path: str = "gpu_sharing") -> Iterator[Finding]:
    return whole_number(replicas, f"{path}.replicas", lowest=_FEWEST, highest=_MOST)
