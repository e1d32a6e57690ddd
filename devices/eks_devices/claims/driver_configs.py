"""Which configurations of claims the drivers read: their kinds, fields and values.

The drivers decode strictly when a Pod starts, and refuse what they do not know. The versions are
those that this library installs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..findings import meant
from ..names import COMPUTE_DOMAIN_DRIVER, GPU_DRIVER, NEURON_DRIVER
from ..quantities import MIB, quantity_of
from ..typecheck import is_number_token, is_token
from .configs import NEURON_API, NVIDIA_API
from .kinds import IommuBackendPolicy
from .sharing import STRATEGIES, TimeSliceInterval

Steps = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongConfig:
    """What a driver does not read; `steps` lead to it from the parameters."""

    steps: Steps
    got: Any
    allowed: str
    fix: str


Judge = Callable[[Any, Steps], Iterator[WrongConfig]]


def config_faults(driver: str, parameters: Mapping[str, Any]) -> Iterator[WrongConfig]:
    """What a driver has against the parameters of a configuration; nothing of unknown drivers.

    Args:
        driver: Its name, "gpu.nvidia.com".
        parameters: The parameters, plain values.

    Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/tree/v0.5.0/api/nvidia.com/resource/v1beta1
    """
    if driver not in _KINDS:
        return
    version, kinds = _KINDS[driver]
    yield from _one_of(version)(parameters.get("apiVersion"), ("apiVersion",))
    kind = parameters.get("kind")
    yield from _one_of(*kinds)(kind, ("kind",))
    # A misspelt kind is told, and what it may mean is judged.
    if isinstance(kind, str) and kind in kinds:
        rest = {key: one for key, one in parameters.items() if key not in ("apiVersion", "kind")}
        yield from _object(**kinds[kind])(rest, ())


def _object(**fields: Judge) -> Judge:
    def judge(value: Any, at: Steps) -> Iterator[WrongConfig]:
        if not isinstance(value, Mapping):
            yield WrongConfig(steps=at, got=value, allowed="a mapping", fix="write a mapping")
            return
        for name, one in value.items():
            if name not in fields:
                allowed = ", ".join(fields)
                fix = meant(name, fields) or "leave it out"
                yield WrongConfig(steps=(*at, name), got=name, allowed=allowed, fix=fix)
            elif one is not None and not _is_open(one):
                yield from fields[name](one, (*at, name))

    return judge


def _one_of(*words: str | int) -> Judge:
    def judge(value: Any, at: Steps) -> Iterator[WrongConfig]:
        if _is_open(value) or any(type(one) is type(value) and one == value for one in words):
            return
        allowed = [str(one) for one in words]
        fix = (meant(value, allowed) if value else "") or f"write {at[-1]}: {words[0]}"
        yield WrongConfig(steps=at, got=value, allowed=", ".join(allowed), fix=fix)

    return judge


def _number(least: int, most: int) -> Judge:
    def judge(value: Any, at: Steps) -> Iterator[WrongConfig]:
        if not (type(value) is int and least <= value <= most):
            allowed, fix = f"a whole number from {least} to {most}", f"write {most}"
            yield WrongConfig(steps=at, got=value, allowed=allowed, fix=fix)

    return judge


def _boolean(value: Any, at: Steps) -> Iterator[WrongConfig]:
    if type(value) is not bool:
        fix = "write it without quotes"
        yield WrongConfig(steps=at, got=value, allowed="true or false", fix=fix)


def _text(value: Any, at: Steps) -> Iterator[WrongConfig]:
    if not isinstance(value, str):
        yield WrongConfig(steps=at, got=value, allowed="a text", fix="write it in quotes")


def _memory(value: Any, at: Steps) -> Iterator[WrongConfig]:
    amount = quantity_of(value)
    if amount is None or amount < MIB:
        allowed, fix = "an amount of memory of at least 1Mi", "write it with its unit, 10Gi"
        yield WrongConfig(steps=at, got=value, allowed=allowed, fix=fix)


def _memories(value: Any, at: Steps) -> Iterator[WrongConfig]:
    if not isinstance(value, Mapping):
        fix = 'write {"0": 10Gi}'
        allowed = "a mapping of indexes or UUIDs of devices to amounts of memory"
        yield WrongConfig(steps=at, got=value, allowed=allowed, fix=fix)
        return
    for name, one in value.items():
        if not _is_open(one):
            yield from _memory(one, (*at, name))


def _sharing(value: Any, at: Steps) -> Iterator[WrongConfig]:
    yield from _SHARING(value, at)
    if not isinstance(value, Mapping):
        return
    strategy = value.get("strategy")
    yield from _one_of(*STRATEGIES.values())(strategy, (*at, "strategy"))
    for one, config in _CONFIG_OF.items():
        if config in value and strategy in STRATEGIES.values() and strategy != one:
            fix = f"leave it out, or write strategy: {one}"
            allowed = f"{config} beside strategy: {one} alone"
            yield WrongConfig(steps=(*at, config), got=config, allowed=allowed, fix=fix)


def _turns(value: Any, at: Steps) -> Iterator[WrongConfig]:
    yield from _object(interval=_INTERVAL)(value, at)
    if isinstance(value, Mapping) and value.get("interval") is None:
        # The driver crashes where the object is there without it.
        yield from _INTERVAL(None, (*at, "interval"))


def _is_open(value: Any) -> bool:
    """Whether a value is one that only the deployment knows."""
    return is_token(value) or is_number_token(value)


_INTERVAL: Final = _one_of(*(str(one) for one in TimeSliceInterval))
_CONFIG_OF: Final = {"TimeSlicing": "timeSlicingConfig", "MPS": "mpsConfig"}
_MPS: Final = _object(
    defaultActiveThreadPercentage=_number(0, 100),
    defaultPinnedDeviceMemoryLimit=_memory,
    defaultPerDevicePinnedMemoryLimit=_memories,
    multiUser=_boolean,
)


def _anything(value: Any, at: Steps) -> Iterator[WrongConfig]:  # noqa: ARG001
    yield from ()


_SHARING: Final = _object(strategy=_anything, timeSlicingConfig=_turns, mpsConfig=_MPS)
_IOMMU: Final = _object(
    backendPolicy=_one_of(*(str(one) for one in IommuBackendPolicy)), enableAPIDevice=_boolean
)
_KINDS: Final[Mapping[str, tuple[str, Mapping[str, Mapping[str, Judge]]]]] = {
    GPU_DRIVER: (
        NVIDIA_API,
        {
            "GpuConfig": {"sharing": _sharing},
            "MigDeviceConfig": {"sharing": _sharing},
            "VfioDeviceConfig": {"iommu": _IOMMU},
        },
    ),
    COMPUTE_DOMAIN_DRIVER: (
        NVIDIA_API,
        {
            "ComputeDomainChannelConfig": {"domainID": _text, "allocationMode": _text},
            "ComputeDomainDaemonConfig": {"domainID": _text},
        },
    ),
    NEURON_DRIVER: (
        NEURON_API,
        {
            "NeuronConfig": {"logicalNeuronCore": _one_of(2, 1)},
            "UltraServerConfig": {"ultraserverMode": _one_of(4, 2, 1)},
        },
    ),
}
