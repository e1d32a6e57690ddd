"""How the device plugin offers one GPU to several Pods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ._data import read_toml
from .findings import Finding, raise_faults
from .typecheck import boolean, whole_number, wrong_type
from .vocabulary import Feature

SHARING_FEATURES = (Feature.TIME_SLICING, Feature.MPS)
# One replica shares nothing.
_FEWEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuSharing:
    """Each GPU offered `replicas` times by the device plugin; made by one of the two factories.

    Under DRA a claim says how its GPU is shared: `DeviceRequest.gpu(sharing=...)`.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/device-management-nvidia-time-slicing.html
    """

    feature: Feature
    replicas: int
    rename: bool = False
    fail_requests_greater_than_one: bool = False

    @classmethod
    def time_slicing(
        cls, *, replicas: int, rename: bool = False, fail_requests_greater_than_one: bool = False
    ) -> GpuSharing:
        """Pods take turns on a GPU, without isolation of memory or faults.

        Args:
            replicas: How often each GPU is offered, 2 to 48.
            rename: Offers them as `nvidia.com/gpu.shared`, so that no Pod takes one for a whole
                GPU; as `nvidia.com/gpu` unless named.
            fail_requests_greater_than_one: Refuses Pods that ask for several, since more slices
                give no more of the GPU; they may ask unless named.

        Raises:
            EksDevicesError: `replicas` is not a whole number from 2 to 48, or another value is
                neither True nor False.
        """
        one = fail_requests_greater_than_one
        return cls._made(Feature.TIME_SLICING, replicas, rename=rename, only_one=one)

    @classmethod
    def mps(cls, *, replicas: int, rename: bool = False) -> GpuSharing:
        """Pods run at the same time on a GPU through NVIDIA's Multi-Process Service.

        Each gets an equal share of the GPU's memory and threads, and may ask for one share only.

        Args:
            replicas: How often each GPU is offered, 2 to 48.
            rename: As in `time_slicing`.

        Raises:
            EksDevicesError: `replicas` is not a whole number from 2 to 48, or `rename` is neither
                True nor False.
        """
        return cls._made(Feature.MPS, replicas, rename=rename, only_one=True)

    @classmethod
    def _made(cls, feature: Feature, replicas: int, *, rename: bool, only_one: bool) -> GpuSharing:
        made = cls(
            feature=feature,
            replicas=replicas,
            rename=rename,
            fail_requests_greater_than_one=only_one,
        )
        raise_faults(_value_faults(made, "gpu_sharing"))
        return made

    def settings(self) -> tuple[tuple[str, str | int], ...]:
        """What a manager with this sharing is told."""
        told: list[tuple[str, str | int]] = [
            ("replicas", self.replicas),
            ("sharing", str(self.feature)),
        ]
        if self.rename:
            told.append(("rename", True))
        if self.fail_requests_greater_than_one and self.feature is Feature.TIME_SLICING:
            told.append(("single-replica-requests", True))
        return tuple(told)


def sharing_faults(sharing: object, path: str) -> Iterator[Finding]:
    """Faults of a sharing that was not made by a factory."""
    factories = "GpuSharing.time_slicing(replicas=...) or GpuSharing.mps(replicas=...)"
    if not isinstance(sharing, GpuSharing):
        yield wrong_type(path, sharing, f"{factories}, or None", f"use {factories}")
    elif any(sharing.feature is one for one in SHARING_FEATURES):
        yield from _value_faults(sharing, path)
    else:
        yield wrong_type(f"{path}.feature", sharing.feature, factories, f"use {factories}")


def _value_faults(sharing: GpuSharing, path: str) -> Iterator[Finding]:
    # Time-slicing has no limit of its own, and gets that of MPS.
    most = read_toml("limits.toml")["mps"]["most"]
    yield from whole_number(sharing.replicas, f"{path}.replicas", lowest=_FEWEST, highest=most)
    for name in ("rename", "fail_requests_greater_than_one"):
        yield from boolean(getattr(sharing, name), f"{path}.{name}")
