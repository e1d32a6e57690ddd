"""The claims of a plan file, and how a report tells of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from .content import field, texts

CLAIM_TITLES: Final = ("CLAIM", "KIND", "FOR GROUPS", "ASKS FOR")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedDevices:
    """One request of a claim."""

    device_class: str
    count: int
    selectors: int
    capacity: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedClaim:
    """A claim, a template of claims or a ComputeDomain, and the node groups that it is for."""

    kind: str
    namespace: str
    name: str
    nodegroups: tuple[str, ...]
    requests: tuple[ClaimedDevices, ...]
    match: tuple[str, ...]
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
        yield ", ".join(map(_devices, claim.requests))
    if claim.match:
        yield f"all with the same {', '.join(claim.match)}"
    if claim.nodes is not None:
        waits = f", ready with {claim.nodes} nodes" if claim.nodes else ""
        yield f"a channel by the template {claim.channel_template}{waits}"


def _devices(request: ClaimedDevices) -> str:
    parts = [f"{key} {amount}" for key, amount in request.capacity.items()]
    of_each = f" with {', '.join(parts)}" if parts else ""
    selected = " (selected)" if request.selectors else ""
    return f"{request.count} {request.device_class}{of_each}{selected}"


def _claim(content: Any) -> PlannedClaim:
    return PlannedClaim(
        kind=field(content, "kind", str),
        namespace=field(content, "namespace", str),
        name=field(content, "name", str),
        nodegroups=texts(content, "nodegroups"),
        requests=tuple(map(_request, field(content, "requests", list))),
        match=texts(content, "match"),
        nodes=field(content, "nodes", int) if "nodes" in content else None,
        channel_template=field(content, "channel_template", str) if "nodes" in content else "",
    )


def _request(content: Any) -> ClaimedDevices:
    capacity = field(content, "capacity", dict) if "capacity" in content else {}
    return ClaimedDevices(
        device_class=field(content, "device_class", str),
        count=field(content, "count", int),
        selectors=field(content, "selectors", int),
        capacity={key: field(capacity, key, str) for key in capacity},
    )
