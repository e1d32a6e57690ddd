"""The claims of a plan file, and how a report tells of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from .content import T, field, texts

CLAIM_TITLES: Final = ("CLAIM", "KIND", "FOR GROUPS", "ASKS FOR")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedDevices:
    """One request of a claim."""

    device_class: str
    count: int | None
    """None for all that match."""
    selectors: int
    capacity: dict[str, str]
    profile: str | None
    ultraserver_mode: int | None
    instance_type: str | None
    driver_version: str | None
    logical_neuron_cores: int | None
    admin_access: bool
    tolerations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedClaim:
    """A claim, a template of claims or a ComputeDomain, and the node groups that it is for."""

    kind: str
    namespace: str
    name: str
    nodegroups: tuple[str, ...]
    requests: tuple[tuple[ClaimedDevices, ...], ...]
    """What each request asks for: of a list, its alternatives in the order of preference."""
    match: tuple[str, ...]
    distinct: tuple[str, ...]
    configs: tuple[str, ...]
    nodes: int | None
    channel_template: str


def planned_claims(content: dict[str, Any]) -> tuple[PlannedClaim, ...]:
    """The claims of a cluster's entry; files of older versions tell of none."""
    return tuple(map(_claim, field(content, "claims", list))) if "claims" in content else ()


def claim_row(claim: PlannedClaim) -> list[str]:
    """The cells of a claim under `CLAIM_TITLES`."""
    return [
        f"{claim.namespace}/{claim.name}",
        claim.kind,
        ", ".join(claim.nodegroups),
        "; ".join(_asked_for(claim)),
    ]


def _asked_for(claim: PlannedClaim) -> Iterator[str]:
    if claim.requests:
        yield ", ".join(" or else ".join(map(_devices, one)) for one in claim.requests)
    if claim.match:
        yield f"all with the same {', '.join(claim.match)}"
    if claim.distinct:
        yield f"each with another {', '.join(claim.distinct)}"
    if claim.configs:
        yield f"configured for {', '.join(dict.fromkeys(claim.configs))}"
    if claim.nodes is not None:
        waits = f", ready with {claim.nodes} nodes" if claim.nodes else ""
        yield f"a channel by the template {claim.channel_template}{waits}"


def _devices(request: ClaimedDevices) -> str:
    parts = [f"{key} {amount}" for key, amount in request.capacity.items()]
    of_each = f" with {', '.join(parts)}" if parts else ""
    which = ", ".join(_narrowed(request))
    count = "all" if request.count is None else request.count
    return f"{count} {request.device_class}{of_each}" + (f" ({which})" if which else "")


def _narrowed(request: ClaimedDevices) -> Iterator[str]:
    """Which devices of the class are meant, and what their driver is told."""
    if request.profile is not None:
        yield request.profile
    if request.ultraserver_mode is not None:
        yield f"UltraServer node, mode {request.ultraserver_mode}"
    if request.instance_type is not None:
        yield request.instance_type
    if request.driver_version is not None:
        yield f"driver {request.driver_version}"
    if request.logical_neuron_cores is not None:
        yield f"LNC {request.logical_neuron_cores}"
    if request.selectors:
        yield f"{request.selectors} selector{'s' if request.selectors > 1 else ''}"
    if request.admin_access:
        yield "admin access"
    if request.tolerations:
        yield f"{request.tolerations} toleration{'s' if request.tolerations > 1 else ''}"


def _claim(content: Any) -> PlannedClaim:
    return PlannedClaim(
        kind=field(content, "kind", str),
        namespace=field(content, "namespace", str),
        name=field(content, "name", str),
        nodegroups=texts(content, "nodegroups"),
        requests=tuple(map(_options, field(content, "requests", list))),
        match=texts(content, "match"),
        distinct=texts(content, "distinct") if "distinct" in content else (),
        configs=texts(content, "configs") if "configs" in content else (),
        nodes=field(content, "nodes", int) if "nodes" in content else None,
        channel_template=field(content, "channel_template", str) if "nodes" in content else "",
    )


def _options(content: Any) -> tuple[ClaimedDevices, ...]:
    """What a request asks for, or each alternative of a list."""
    given = _optional(content, "first_available", list)
    return tuple(map(_request, given)) if given else (_request(content),)


def _request(content: Any) -> ClaimedDevices:
    capacity = _optional(content, "capacity", dict) or {}
    return ClaimedDevices(
        device_class=field(content, "device_class", str),
        count=_count(content),
        selectors=field(content, "selectors", int),
        capacity={key: field(capacity, key, str) for key in capacity},
        profile=_optional(content, "profile", str),
        ultraserver_mode=_optional(content, "ultraserver_mode", int),
        instance_type=_optional(content, "instance_type", str),
        driver_version=_optional(content, "driver_version", str),
        logical_neuron_cores=_optional(content, "logical_neuron_cores", int),
        admin_access="admin_access" in content and content["admin_access"] is True,
        tolerations=_optional(content, "tolerations", int) or 0,
    )


def _count(content: Any) -> int | None:
    """The number of devices; None for "all"."""
    is_all = isinstance(content, dict) and content.get("count") == "all"
    return None if is_all else field(content, "count", int)


def _optional(content: Any, key: str, kind: type[T]) -> T | None:
    """A value that is there only where the claim says something of it."""
    return field(content, key, kind) if key in content else None
