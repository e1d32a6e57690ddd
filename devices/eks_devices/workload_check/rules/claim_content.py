"""What the manifests of claims ask for, as far as it can be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...names import GPU_DRIVER, TEMPLATE_KIND, device_type_of_class
from ...vocabulary import DeviceType
from ..claimed import PodClaim
from ..documents import mapping, mappings


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Devices of a class: one alternative of a request, or all of it.

    `count` is None for all devices of a node, and for a number that cannot be read;
    `is_part` says that it asks for capacity of a device, which other claims may share.
    """

    request: str
    device_class: str
    count: int | None
    mode: str
    is_admin: bool
    is_alternative: bool
    is_part: bool

    @property
    def device_type(self) -> DeviceType | None:
        """What devices they are; None for those of a class that is not known here."""
        return device_type_of_class(self.device_class)


def devices_of(claim: PodClaim) -> Mapping[str, Any]:
    """The field `devices` of a claim's spec; empty where nobody knows the claim."""
    if claim.manifest is None:
        return {}
    spec = mapping(claim.manifest, "spec")
    return mapping(mapping(spec, "spec") if claim.kind == TEMPLATE_KIND else spec, "devices")


def asks_of(claim: PodClaim) -> tuple[Ask, ...]:
    """All that a claim asks for; empty where nobody knows it."""
    return tuple(
        one
        for _, request in mappings(devices_of(claim), "requests")
        for one in _alternatives(request)
    )


def types_of(claim: PodClaim) -> set[DeviceType | None]:
    """The types of its devices, None among them for what is not known here."""
    return {one.device_type for one in asks_of(claim)} or {None}


def shares_gpus(claim: PodClaim) -> bool:
    """Whether a claim configures time-slicing or MPS."""
    for _, config in mappings(devices_of(claim), "config"):
        opaque = mapping(config, "opaque")
        if opaque.get("driver") == GPU_DRIVER and mapping(opaque, "parameters").get("sharing"):
            return True
    return False


def request_names(claim: PodClaim) -> list[str]:
    """The names of its requests."""
    names = [one.get("name") for _, one in mappings(devices_of(claim), "requests")]
    return [one for one in names if isinstance(one, str)]


def labels_of(claim: PodClaim) -> Mapping[str, Any]:
    """The labels of the claim itself: of a template's, those that its claims get."""
    if claim.manifest is None:
        return {}
    owner = mapping(claim.manifest, "spec") if claim.kind == TEMPLATE_KIND else claim.manifest
    return mapping(mapping(owner, "metadata"), "labels")


def _alternatives(request: Mapping[str, Any]) -> Iterator[Ask]:
    name = request.get("name")
    options = [one for _, one in mappings(request, "firstAvailable")]
    # Before resource.k8s.io/v1 a request without alternatives had no `exactly`.
    for one in options or [mapping(request, "exactly") or request]:
        mode, count = one.get("allocationMode") or "ExactCount", one.get("count")
        device_class = one.get("deviceClassName")
        known = count if type(count) is int and count > 0 else 1 if not count else None
        yield Ask(
            request=name if isinstance(name, str) else "",
            device_class=device_class if isinstance(device_class, str) else "",
            count=None if mode == "All" else known,
            mode=mode if isinstance(mode, str) else "",
            is_admin=one.get("adminAccess") is True,
            is_alternative=bool(options),
            is_part=bool(mapping(one, "capacity")),
        )
