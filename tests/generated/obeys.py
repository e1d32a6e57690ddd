"""Whether devices are what claims ask for, looked up in what is published and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

Json = Mapping[str, Any]
_MOST_DEVICES = 32


class Device(Protocol):
    """A device that a request of a claim has."""

    @property
    def claim(self) -> str:
        """The claim, by its name, or its path."""

    @property
    def request(self) -> str:
        """The request, with its alternative."""

    @property
    def driver(self) -> str:
        """Whose it is."""

    @property
    def device(self) -> str:
        """Its name."""


def published(slices: Sequence[Json]) -> dict[tuple[str, str], Json]:
    """Devices by driver and name."""
    return {
        (one["spec"]["driver"], device["name"]): device
        for one in slices
        for device in one["spec"]["devices"]
    }


def asked(claims: Sequence[Json]) -> dict[tuple[str, str], Json]:
    """What each request asks for, or each of its alternatives, by claim and name."""
    found = {}
    for claim in claims:
        for request in claim["spec"]["devices"]["requests"]:
            name = claim["metadata"]["name"], request["name"]
            if "exactly" in request:
                found[name] = request["exactly"]
            for option in request.get("firstAvailable", ()):
                found[name[0], f"{name[1]}/{option['name']}"] = option
    return found


def faults(
    claims: Sequence[Json], slices: Sequence[Json], given: Sequence[Device]
) -> Iterator[str]:
    """What is wrong with devices that claims are said to get; selectors are not looked at."""
    devices, wanted = published(slices), asked(claims)
    by_claim: dict[str, list[Device]] = {claim["metadata"]["name"]: [] for claim in claims}
    for one in given:
        by_claim[_name(one)].append(one)
    if strange := [one for one in given if (one.driver, one.device) not in devices]:
        yield f"nobody publishes {strange}"
        return
    for claim in claims:
        mine = by_claim[claim["metadata"]["name"]]
        if len(mine) > _MOST_DEVICES:
            yield "a claim has more devices than it holds"
        if len({(one.driver, one.device) for one in mine}) < len(mine):
            yield "a claim has a device twice"
        yield from _requests(claim, mine)
        for constraint in claim["spec"]["devices"].get("constraints", ()):
            yield from _constraint(constraint, mine, devices)
    held = [
        (one.driver, one.device)
        for one in given
        if not wanted[_name(one), one.request].get("adminAccess")
    ]
    if len({*held}) < len(held):
        yield "a device is given twice"


def _name(one: Device) -> str:
    return one.claim.rpartition("/")[2]


def _requests(claim: Json, mine: Sequence[Device]) -> Iterator[str]:
    """Whether each request has as many devices as one of its alternatives wants."""
    for request in claim["spec"]["devices"]["requests"]:
        name = request["name"]
        got = [one.request for one in mine if one.request.partition("/")[0] == name]
        if len({*got}) != 1:
            yield f"{name} is served by {len({*got})} alternatives"
            continue
        ask = asked([claim])[claim["metadata"]["name"], got[0]]
        if ask.get("allocationMode") != "All" and len(got) != (ask.get("count") or 1):
            yield f"{got[0]} has {len(got)} devices"


def _constraint(
    constraint: Json, mine: Sequence[Device], devices: Mapping[tuple[str, str], Json]
) -> Iterator[str]:
    about = constraint.get("requests") or ()
    values = [
        attribute(one.driver, devices[one.driver, one.device], constraint["matchAttribute"])
        for one in mine
        if not about or one.request in about or one.request.partition("/")[0] in about
    ]
    if None in values or any(one != values[0] for one in values):
        yield f"{constraint} does not hold: {values}"


def attribute(driver: str, device: Json, qualified: str) -> Json | None:
    """An attribute with its type, by its qualified name."""
    attributes: Json = device.get("attributes", {})
    domain, _, name = qualified.partition("/")
    found: Json | None = attributes.get(qualified)
    return attributes.get(name) if found is None and domain == driver else found
