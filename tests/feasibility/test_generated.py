"""Made-up claims on made-up nodes, judged as manifests, beside a judge that only looks and tries.

That one knows each expression as a function in Python, and no engine: neither how claims are read,
nor CEL, nor any part of the search is shared.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from random import Random

import pytest
from tests.feasibility_claims import claim, exactly, first_of, match
from tests.generated.cases import Kind, case
from tests.generated.claims import named
from tests.generated.nodes import CLASSES, ONE, TWO, made_up, planned
from tests.generated.obeys import asked, attribute, faults

from eks_devices._frozen import FrozenDict
from eks_devices.feasibility import Status, check_claims
from eks_devices.feasibility.judge import judged
from eks_devices.feasibility.reading.asked import read_manifest
from eks_devices.feasibility.slices import NodeDevices

MINOR = "1.36"
OWN, OTHER = f"device.attributes['{ONE}']", "device.attributes['other.example.com']"
AMOUNTS = f"device.capacity['{ONE}']"
# Of the amounts that nodes are made up with, those above 50 GiB.
LARGE = {"80Gi", "81559Mi", "85899345920", "80e9"}


def of(qualified, kind):
    """The value of an attribute where it is of a type; None elsewhere."""
    return lambda driver, device: (attribute(driver, device, qualified) or {}).get(kind)


ROOT, INDEX, FAST = (
    of(f"{ONE}/root", "string"),
    of(f"{ONE}/index", "int"),
    of(f"{ONE}/fast", "bool"),
)
VERSION, GROUP = of(f"{ONE}/version", "version"), of("other.example.com/group", "int")


def is_large(driver, device):
    return driver == ONE and device["capacity"].get("memory", {}).get("value") in LARGE


def is_small_index(driver, device):
    return (INDEX(driver, device) or 0) < 2


# What an expression says of a device.
SAYS = {
    f"'root' in {OWN} && {OWN}.root == 'x'": lambda *one: ROOT(*one) == "x",
    f"'root' in {OWN} && {OWN}['root'] in ['y', 'z']": lambda *one: ROOT(*one) in ("y", "z"),
    f"'index' in {OWN} && {OWN}.index < 2": lambda *one: (
        INDEX(*one) is not None and INDEX(*one) < 2
    ),
    f"{OWN}.?index.orValue(0) < 2": is_small_index,
    f"'fast' in {OWN} && {OWN}.fast": lambda *one: FAST(*one) is True,
    f"!('fast' in {OWN}) || !{OWN}.fast": lambda *one: not FAST(*one),
    f"'version' in {OWN} && {OWN}.version.major() == 1": lambda *one: (
        VERSION(*one) or ""
    ).startswith("1"),
    f"'group' in {OTHER} && {OTHER}.group == 1": lambda *one: GROUP(*one) == 1,
    f"'memory' in {AMOUNTS} && {AMOUNTS}.memory.isGreaterThan(quantity('50Gi'))": is_large,
    f"device.driver != '{ONE}'": lambda driver, _: driver != ONE,
    "true": lambda *_: True,
}
TAKES = {
    "any": lambda *_: True,
    "one": lambda driver, _: driver == ONE,
    "two": lambda driver, _: driver == TWO,
    "rooted": lambda *one: one[0] == ONE and ROOT(*one) is not None,
}
MATCHED = (f"{ONE}/root", f"{ONE}/version", f"{ONE}/mixed", "other.example.com/root")


@dataclass(frozen=True)
class Got:
    """A device that a request is given."""

    claim: str
    request: str
    driver: str
    device: str


def claims_of(rng, *, plain=False):
    """The claims of a Pod, with expressions that are known here."""

    def ask(**more):
        texts = rng.sample(sorted(SAYS), rng.choice([0, 0, 1, 1, 2]))
        chosen = rng.choice(["one", "one", "one", "two", "any", "rooted"])
        return exactly(chosen, *texts, count=rng.choice([1, 1, 2]), **more)

    made = []
    for number in range(rng.choice([1, 1, 2])):
        names = [f"r{at}" for at in range(rng.choice([1, 2, 2]))]
        requests = [
            first_of(ask(), ask(), name=name)
            if not plain and rng.random() < 0.25
            else ask(name=name)
            for name in names
        ]
        about = [[], names[:1], [f"{names[0]}/o0"] if "firstAvailable" in requests[0] else names]
        constraints = [
            match(rng.choice(MATCHED), *rng.choice(about)) for _ in range(rng.choice([0, 1, 1, 2]))
        ]
        made.append(named(claim(*requests, *constraints), f"c{number}"))
    return made


def matching(ask, place):
    """The devices that the class and the selectors of a request take."""
    texts = [one["cel"]["expression"] for one in ask.get("selectors", ())]
    return [
        (driver, device["name"])
        for one in place.slices
        for driver in [one["spec"]["driver"]]
        for device in one["spec"]["devices"]
        if TAKES[ask["deviceClassName"]](driver, device)
        and all(SAYS[text](driver, device) for text in texts)
    ]


def can_be_served(claims, place):
    """Whether any choice of alternatives and devices is what the claims ask for."""
    requests = [
        (one["metadata"]["name"], request)
        for one in claims
        for request in one["spec"]["devices"]["requests"]
    ]
    wanted = asked(claims)

    def choices(number, taken, got):
        if number == len(requests):
            yield got
            return
        name, request = requests[number]
        for called in [key for key in wanted if key[0] == name and belongs(key[1], request)]:
            ask = wanted[called]
            free = [one for one in matching(ask, place) if one not in taken]
            for some in itertools.combinations(free, ask["count"]):
                more = [Got(name, called[1], *one) for one in some]
                yield from choices(number + 1, {*taken, *some}, [*got, *more])

    return any(not [*faults(claims, place.slices, got)] for got in choices(0, set(), []))


def belongs(called, request):
    return called.partition("/")[0] == request["name"]


def judgement(claims, devices):
    wanted = tuple(read_manifest(one, one["metadata"]["name"]) for one in claims)
    return wanted, judged(wanted, devices, FrozenDict(CLASSES))


def given(wanted, devices, found):
    """The devices of a judgement, by their names."""
    got = []
    for pick in found.picks:
        own, device = wanted[pick.claim], devices.devices[pick.device]
        request = own.requests[pick.request]
        option = f"/{request.options[pick.option].name}" if request.is_prioritised else ""
        got.append(Got(f"c{pick.claim}", f"{request.name}{option}", device.driver, device.name))
    return got


@pytest.mark.parametrize("seed", range(8))
def test_a_claim_is_feasible_where_trying_everything_finds_devices(seed):
    seen: Counter[Status] = Counter()
    for number in range(60):
        rng = Random(f"tried {seed} {number}")
        place, claims = made_up(rng, "node", most=5), claims_of(rng)

        wanted, found = judgement(claims, place.devices(MINOR))

        expected = can_be_served(claims, place)
        assert (found.status is Status.FEASIBLE) == expected, (number, found)
        assert found.status in (Status.FEASIBLE, Status.INFEASIBLE)
        seen[found.status] += 1
        got = given(wanted, place.devices(MINOR), found)
        assert not expected or [*faults(claims, place.slices, got)] == []
        for one in got:
            ask = asked(claims)[one.claim, one.request]
            assert (one.driver, one.device) in matching(ask, place)
    assert min(seen.values()) > 10


@pytest.mark.parametrize("seed", range(6))
def test_a_node_with_a_device_less_serves_no_claim_that_it_did_not_serve(seed):
    fewer = 0
    for number in range(60):
        rng = Random(f"less {seed} {number}")
        place, claims = made_up(rng, "node", most=6), claims_of(rng, plain=True)
        devices = place.devices(MINOR).devices
        _, found = judgement(claims, place.devices(MINOR))
        for gone in range(len(devices)):
            left = devices[:gone] + devices[gone + 1 :]
            _, after = judgement(claims, NodeDevices(left, FrozenDict()))
            assert not (found.status is Status.INFEASIBLE and after.status is Status.FEASIBLE)
            fewer += found.status is not after.status
    assert fewer > 4


@pytest.mark.parametrize("kind", [Kind.REALISTIC, Kind.HOSTILE])
def test_what_claims_are_said_to_get_is_what_they_ask_for(kind):
    """Those that are compared with the schedulers, on nodes of every type."""
    places = planned(MINOR)
    served = 0
    for number in range(500):
        one = case(kind, 3, number, places)
        if one.place.group is None:
            wanted, found = judgement(one.claims, one.place.devices(MINOR))
            got = given(wanted, one.place.devices(MINOR), found)
        else:
            (found,) = check_claims(one.claims, one.place.group)
            got = list(found.devices)
        if found.status is Status.FEASIBLE:
            served += 1
            assert [*faults(one.claims, one.place.slices, got)] == [], one.name
    assert served > 80


@pytest.mark.parametrize("kind", Kind)
def test_a_case_comes_from_its_seed_and_number(kind):
    places = planned(MINOR)
    first, again = (case(kind, 1, 77, places) for _ in range(2))
    others = [case(kind, *one, places).claims for one in ((1, 78), (2, 77))]

    assert (first.claims, first.place.slices) == (again.claims, again.place.slices)
    assert first.claims not in others


def test_hostile_claims_have_everything_that_the_api_has():
    texts = [str(case(Kind.HOSTILE, 1, number, ()).claims) for number in range(1500)]
    sizes = Counter(text.count("'deviceClassName'") for text in texts)

    for part in (
        "'allocationMode': 'All'",
        "'adminAccess': True",
        "'firstAvailable'",
        "/o1'",
        "'c2'",
        "'missing'",
        "no.example.com",
        "semver(",
        "quantity(",
        f"'count': {2**40}",
    ):
        assert sum(part in text for text in texts) >= 1, part
    assert max(sizes) >= 30
    assert min(sizes) == 1
