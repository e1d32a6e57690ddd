"""The taints of devices that a request takes in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from ..findings import Finding, fault, raise_faults
from ..syntax import label_key, label_value
from ..typecheck import member, plain_text, whole_number
from .syntax import DRA_PAGE

_LONGEST: Final = 2**31 - 1


class DeviceTaintEffect(StrEnum):
    """What a taint of a device does to Pods that do not tolerate it; the values are the API's."""

    NO_SCHEDULE = "NoSchedule"
    NO_EXECUTE = "NoExecute"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceToleration:
    """Devices that a request takes although a driver, or an administrator, tainted them.

    Kubernetes has it from 1.36 on; claims for older clusters are refused. Taints of nodes are
    another matter: those, Pods tolerate.

    Args:
        key: The key of the taint; by default every key.
        value: The value of the taint; by default every value.
        effect: The effect of the taint; by default every effect.
        seconds: For NO_EXECUTE, how long a Pod stays on a device that gets the taint while the Pod
            runs; by default for ever.

    Raises:
        EksDevicesError: With every fault of the arguments; `ValueWithoutKey` for a value alone.

    Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
    """

    key: str | None = None
    value: str | None = None
    effect: DeviceTaintEffect | None = None
    seconds: int | None = None

    def __post_init__(self) -> None:
        """Raise EksDevicesError with every fault."""
        for name in ("key", "value"):
            object.__setattr__(self, name, plain_text(getattr(self, name)))
        raise_faults(_faults(self, "toleration"))

    def to_dict(self) -> dict[str, Any]:
        """The toleration as `resource.k8s.io/v1` takes it."""
        given = {
            "key": self.key,
            "operator": "Exists" if self.value is None else "Equal",
            "value": self.value,
            "effect": None if self.effect is None else str(self.effect),
            "tolerationSeconds": self.seconds,
        }
        return {name: value for name, value in given.items() if value is not None}


def _faults(toleration: DeviceToleration, path: str) -> Iterator[Finding]:
    if toleration.key is not None:
        yield from label_key(toleration.key, f"{path}.key")
    if toleration.value is not None:
        yield from label_value(toleration.value, f"{path}.value")
        if toleration.key is None:
            yield _without_key(toleration, path)
    yield from member(toleration.effect, DeviceTaintEffect, f"{path}.effect", optional=True)
    yield from _seconds_faults(toleration, f"{path}.seconds")


def _without_key(toleration: DeviceToleration, path: str) -> Finding:
    return fault(
        "ValueWithoutKey",
        f"{path}.value",
        "values are compared for one key, and an empty key stands for all taints",
        got=toleration.value,
        allowed="None without a key",
        fix="name the key of the taint, or leave the value out",
        source=DRA_PAGE,
    )


def _seconds_faults(toleration: DeviceToleration, path: str) -> Iterator[Finding]:
    seconds, effect = toleration.seconds, toleration.effect
    yield from whole_number(seconds, path, lowest=0, highest=_LONGEST, optional=True)
    if seconds is not None and effect is not DeviceTaintEffect.NO_EXECUTE:
        yield fault(
            "OptionDoesNotFit",
            path,
            "only a taint that ends Pods can be tolerated for a time",
            got=seconds,
            allowed="None unless the effect is DeviceTaintEffect.NO_EXECUTE",
            fix="pass effect=DeviceTaintEffect.NO_EXECUTE, or leave seconds out",
            source=DRA_PAGE,
        )
