"""How the containers and Pods that use one claim share its GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from .._frozen import FrozenDict, copied_mapping
from ..findings import Finding, fault, raise_faults
from ..sharing import SHARING_FEATURES
from ..typecheck import boolean, is_token, member, path_step, plain_text, whole_number, wrong_type
from ..vocabulary import Feature
from .configs import SHARING_PAGE
from .syntax import MOST_DEVICES, memory_faults

_FACTORIES = "ClaimSharing.time_slicing() or ClaimSharing.mps()"
STRATEGIES: Final = {Feature.TIME_SLICING: "TimeSlicing", Feature.MPS: "MPS"}
"""What the driver calls the ways to share."""
_UUID = re.compile(r"(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_OF_MPS = ("active_thread_percentage", "pinned_memory_limit", "multi_user")


class TimeSliceInterval(StrEnum):
    """How long a process has a GPU before the next one; the values are the driver's.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu
    """

    DEFAULT = "Default"
    SHORT = "Short"
    MEDIUM = "Medium"
    LONG = "Long"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSharing:
    """How those who use one claim share its GPUs; made by one of the two factories.

    Containers of a Pod share a claim from a ResourceClaimTemplate, Pods share a ResourceClaim.
    The nodes need a gate of the driver: `GpuDriver(feature_gates={"TimeSlicingSettings": True})`,
    or `"MPSSupport"`.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu
    """

    feature: Feature
    interval: TimeSliceInterval | None = None
    active_thread_percentage: int | None = None
    pinned_memory_limit: str | None = None
    per_device_memory: Mapping[int | str, str] = field(default_factory=FrozenDict)
    multi_user: bool | None = None

    @classmethod
    def time_slicing(cls, interval: TimeSliceInterval = TimeSliceInterval.DEFAULT) -> ClaimSharing:
        """Processes take turns on whole GPUs, without isolation of memory or faults.

        Args:
            interval: How long a turn is; the driver's own length unless named.

        Raises:
            EksDevicesError: `interval` is no TimeSliceInterval.
        """
        return cls(feature=Feature.TIME_SLICING, interval=interval)

    @classmethod
    def mps(
        cls,
        *,
        active_thread_percentage: int | None = None,
        pinned_memory_limit: str | None = None,
        per_device_memory: Mapping[int | str, str] | None = None,
        multi_user: bool | None = None,
    ) -> ClaimSharing:
        """Processes run at the same time on GPUs or MIG partitions, through NVIDIA's MPS.

        The driver starts one MPS daemon for each request, and a container reaches one of them:
        where a claim has several such requests, let containers name theirs.

        Args:
            active_thread_percentage: The share of a GPU's threads for each process, 1 to 100; all
                of them unless named.
            pinned_memory_limit: The memory of each device for each process, a quantity of
                Kubernetes of at least 1Mi; all of it unless named.
            per_device_memory: The same for single devices, by UUID, or by index among the devices
                of the request in the order of their UUIDs, from 0; as above unless named.
            multi_user: Lets processes of different user ids share; those of one unless named.

        Raises:
            EksDevicesError: With every fault of the arguments.
        """
        return cls(
            feature=Feature.MPS,
            active_thread_percentage=active_thread_percentage,
            pinned_memory_limit=pinned_memory_limit,
            per_device_memory=FrozenDict() if per_device_memory is None else per_device_memory,
            multi_user=multi_user,
        )

    def __post_init__(self) -> None:
        """Copy the mapping, and raise EksDevicesError with every fault."""
        limit = plain_text(self.pinned_memory_limit)
        object.__setattr__(self, "pinned_memory_limit", limit)
        object.__setattr__(self, "per_device_memory", copied_mapping(self.per_device_memory))
        raise_faults(_faults(self, "sharing"))

    def to_dict(self) -> dict[str, Any]:
        """The sharing as a configuration of the driver holds it."""
        found: dict[str, Any] = {"strategy": STRATEGIES[self.feature]}
        if self.interval is not None:
            # The driver crashes on a time-slicing configuration without an interval.
            found["timeSlicingConfig"] = {"interval": str(self.interval)}
        config = _mps_config(self)
        if config:
            found["mpsConfig"] = config
        return found


def _mps_config(sharing: ClaimSharing) -> dict[str, Any]:
    memory = sharing.per_device_memory
    config = {
        "defaultActiveThreadPercentage": sharing.active_thread_percentage,
        "defaultPinnedDeviceMemoryLimit": sharing.pinned_memory_limit,
        "defaultPerDevicePinnedMemoryLimit": {str(key): one for key, one in memory.items()} or None,
        "multiUser": sharing.multi_user,
    }
    return {name: value for name, value in config.items() if value is not None}


def _faults(sharing: ClaimSharing, path: str) -> Iterator[Finding]:
    if not any(sharing.feature is one for one in SHARING_FEATURES):
        yield wrong_type(f"{path}.feature", sharing.feature, _FACTORIES, f"use {_FACTORIES}")
    elif sharing.feature is Feature.TIME_SLICING:
        yield from member(sharing.interval, TimeSliceInterval, f"{path}.interval")
        given = {name: getattr(sharing, name) for name in _OF_MPS}
        given["per_device_memory"] = _or_none(sharing.per_device_memory)
        for name, value in given.items():
            if value is not None:
                yield _of_other(f"{path}.{name}", value, "mps")
        if sharing.per_device_memory is None:
            yield from _memory_map(None, f"{path}.per_device_memory")
    else:
        if sharing.interval is not None:
            yield _of_other(f"{path}.interval", sharing.interval, "time_slicing")
        yield from _mps_faults(sharing, path)


def _or_none(memory: object) -> object:
    return None if isinstance(memory, FrozenDict) and not memory else memory


def _mps_faults(sharing: ClaimSharing, path: str) -> Iterator[Finding]:
    percentage, limit = sharing.active_thread_percentage, sharing.pinned_memory_limit
    at = f"{path}.active_thread_percentage"
    yield from whole_number(percentage, at, lowest=1, highest=100, optional=True)
    if limit is not None:
        yield from memory_faults(limit, f"{path}.pinned_memory_limit")
    yield from _memory_map(sharing.per_device_memory, f"{path}.per_device_memory")
    yield from boolean(sharing.multi_user, f"{path}.multi_user", optional=True)


def _of_other(path: str, value: object, factory: str) -> Finding:
    return fault(
        "OptionDoesNotFit",
        path,
        f"this option belongs to ClaimSharing.{factory}",
        got=value,
        allowed="None",
        fix="leave it out",
        source=SHARING_PAGE,
    )


def _memory_map(memory: object, path: str) -> Iterator[Finding]:
    wanted = "a mapping of device indexes or UUIDs to amounts of memory"
    if not isinstance(memory, FrozenDict):
        yield wrong_type(path, memory, wanted, 'write {0: "10Gi"}')
        return
    for key, amount in memory.items():
        at = f"{path}[{path_step(key)}]"
        yield from memory_faults(amount, at)
        if not _is_device(key):
            yield _no_device(key, at)


def _is_device(key: object) -> bool:
    if isinstance(key, str):
        return _UUID.fullmatch(key) is not None
    return type(key) is int and 0 <= key < MOST_DEVICES


def _no_device(key: object, path: str) -> Finding:
    allowed = f"an index from 0 to {MOST_DEVICES - 1}, or a UUID such as GPU-<8-4-4-4-12>"
    if is_token(key) or (type(key) is not int and not isinstance(key, str)):
        return wrong_type(path, key, allowed, "write the index as a whole number")
    return fault(
        "NoSuchDeviceOfRequest",
        path,
        "the driver finds no device by this name, and would not start the Pod",
        got=key,
        allowed=allowed,
        fix="write the index as a whole number, or the UUID as nvidia-smi -L tells it",
        source=SHARING_PAGE,
    )
