"""What reports need of a plan file, as shapes. Other keys may be there; nobody reads them."""

from __future__ import annotations

from typing import Final

from eks_devices import DeviceType, Mechanism, Severity

from ._shape import ByName, Either, MayLack, Nullable

_DEVICES: Final = frozenset(map(str, DeviceType))
_MECHANISMS: Final = frozenset(map(str, Mechanism))
_SETTINGS: Final = ByName(Either((str, int)))
_DEVICE: Final = {
    "device_type": _DEVICES,
    "mechanism": _MECHANISMS,
    "owner": str,
    "count": int,
    "reason": str,
    "settings": _SETTINGS,
}
_DRIVER: Final = {
    "device_type": _DEVICES,
    "mechanism": _MECHANISMS,
    "owner": str,
    "settings": _SETTINGS,
    "nodegroups": [str],
}
_NODEGROUP: Final = {
    "name": str,
    "instance_type": str,
    "capacity": {"kind": str, "reservation": MayLack(str)},
    "ami_type": str,
    "sizes": {"min": int, "desired": Nullable(int), "max": int},
    "devices": [_DEVICE],
    "network_interfaces": [{"InterfaceType": str}],
    "extended_resources": ByName(int),
    "device_classes": [str],
    "max_pods": Nullable(int),
}
_FINDING: Final = {
    "code": str,
    "severity": frozenset(map(str, Severity)),
    "path": str,
    "message": str,
    "fix": MayLack(str),
}

PLAN: Final = {
    "kubernetes_version": str,
    "nodegroups": [_NODEGROUP],
    "drivers": [_DRIVER],
    "findings": [_FINDING],
}
PLAN_FILE: Final = {"clusters": [{"path": str, "plan": {"schema": str}}]}
MANIFEST: Final = {"artifacts": MayLack(ByName({"type": str}))}
NESTED_ASSEMBLY: Final = {"properties": {"directoryName": str}}
