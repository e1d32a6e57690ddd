"""What an installation is asked to hold although no group of its own needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._frozen import FrozenDict
from .findings import Finding, fault
from .kubernetes import KubernetesMinor, dra_faults
from .typecheck import member, path_step, wrong_type
from .vocabulary import DeviceType, Mechanism

Keep = Mapping[DeviceType, Sequence[Mechanism]]

_KEEP_FORM = "a mapping such as {DeviceType.EFA: (Mechanism.DRA,)}"
_NO_LISTS = (str, bytes, Mapping)


def keep_faults(keep: object, minor: KubernetesMinor | Finding) -> list[Finding]:
    """Every fault of what an installation is asked to keep."""
    return list(_faults(frozen_keep(keep), minor))


def frozen_keep(keep: Any) -> Any:
    """A copy of `keep` with tuples in it, as iterators last once; what cannot be read stays."""
    try:
        return FrozenDict(
            {
                device: mechanisms if isinstance(mechanisms, _NO_LISTS) else tuple(mechanisms)
                for device, mechanisms in keep.items()
            }
        )
    except Exception:  # noqa: BLE001  (its fault is named below)
        return keep


def _faults(keep: object, minor: KubernetesMinor | Finding) -> Iterator[Finding]:
    if keep is None:
        return
    if not isinstance(keep, FrozenDict):
        yield wrong_type("keep", keep, _KEEP_FORM, "pass a mapping with tuples of Mechanism")
        return
    for device, mechanisms in keep.items():
        path = f"keep[{path_step(device)}]"
        yield from member(device, DeviceType, "keep")
        if not isinstance(mechanisms, tuple):
            yield wrong_type(path, mechanisms, _KEEP_FORM, "pass a tuple of Mechanism")
            continue
        for mechanism in mechanisms:
            yield from member(mechanism, Mechanism, path)
            if device is DeviceType.COMPUTE_DOMAIN and mechanism is Mechanism.DEVICE_PLUGIN:
                yield fault(
                    "ComputeDomainNeedsDra",
                    path,
                    "no device plugin serves ComputeDomains",
                    got=str(mechanism),
                    allowed="Mechanism.DRA",
                    fix="keep Mechanism.DRA",
                )
        uses_dra = any(one is Mechanism.DRA for one in mechanisms)
        if uses_dra and isinstance(minor, KubernetesMinor):
            yield from dra_faults(minor, path)
