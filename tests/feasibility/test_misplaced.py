"""A field of a claim at the wrong place is told with the place where it belongs."""

from __future__ import annotations

from typing import Any

import pytest
from tests.feasibility_claims import GPU, claim, exactly, group_of, said

from eks_devices import EksDevicesError
from eks_devices.feasibility import check_claims

P5 = "p5.48xlarge"
ASK = {"deviceClassName": GPU}
MEMORY = {"memory": "40Gi"}
BESIDE = "below devices, beside the requests"
CAPACITY = "capacity: {requests: {memory: 40Gi}}"
BY_MEMORY = (
    'select by it: selectors: [{cel: {expression: "'
    "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('40Gi')) >= 0\"}}]"
)

WRITE, SELECT = f"write {CAPACITY}", f"leave it out, and {BY_MEMORY}"
BY_PROFILE = (
    'select by it: selectors: [{cel: {expression: "'
    "device.attributes['gpu.nvidia.com'].profile == '1g.10gb'\"}}]"
)
TO_SELECTORS = 'put it into a list: selectors: [{cel: {expression: "..."}}]'


def fix_of(manifest: dict[str, Any], version: str = "1.36") -> str:
    with pytest.raises(EksDevicesError) as caught:
        check_claims([manifest], group_of(P5, version=version))
    (found,) = caught.value.faults
    return found.fix


def asking(**more: Any) -> dict[str, Any]:
    return claim({"name": "gpu", "exactly": {**ASK, **more}})


def requesting(**more: Any) -> dict[str, Any]:
    return claim({**exactly(GPU), **more})


def devices(**more: Any) -> dict[str, Any]:
    made = claim(exactly(GPU))
    made["spec"]["devices"] |= more
    return made


@pytest.mark.parametrize(
    ("manifest", "fix", "instead"),
    [
        (
            asking(resources={"limits": MEMORY}),
            WRITE,
            SELECT,
        ),
        (
            asking(resources={"requests": MEMORY}),
            WRITE,
            SELECT,
        ),
        (asking(limits=MEMORY), WRITE, SELECT),
        (asking(requests=MEMORY), WRITE, SELECT),
        (asking(memory="40Gi"), WRITE, SELECT),
        (
            requesting(capacity=MEMORY),
            f"write {CAPACITY} below exactly",
            SELECT,
        ),
        (asking(capacity=MEMORY), f"put it below requests: {CAPACITY}", "leave capacity out"),
        (
            asking(capacity={"limits": MEMORY}),
            f"put it below requests: {CAPACITY}",
            "leave capacity out",
        ),
    ],
)
def test_amounts_are_told_as_capacity_where_it_is_served_and_as_a_selector_elsewhere(
    manifest: dict[str, Any], fix: str, instead: str
) -> None:
    assert fix_of(manifest) == fix
    assert fix_of(manifest, version="1.35") == instead


def test_what_is_told_of_amounts_is_served() -> None:
    (text,) = [BY_MEMORY.partition('expression: "')[2].removesuffix('"}}]')]
    assert said(P5, claim(exactly(GPU, text)), version="1.35") == ("feasible", "")
    assert said(P5, asking(capacity={"requests": MEMORY})) == ("feasible", "")


@pytest.mark.parametrize(
    ("manifest", "fix"),
    [
        (asking(resources={"limits": {"cpu": 1}}), "leave it out: what containers get of CPUs and"),
        (requesting(capacity={"requests": MEMORY}), "put it below exactly:"),
        (requesting(count=2), "put it below exactly:"),
        (
            claim({"name": "gpu", "exactly": {**ASK, "count": 2}, "count": 2}),
            "leave it out: exactly has its own",
        ),
        (
            claim({"name": "gpu", **ASK, "firstAvailable": [{"name": "a", **ASK}]}),
            "put it into each alternative of firstAvailable that it is for",
        ),
        (devices(count=2), "put it below exactly: of the request that it is for"),
        (devices(capacity={"requests": MEMORY}), "put it below exactly: of the request that"),
        (devices(deviceClassName=GPU), "put it below exactly: of the request that it is for"),
        (asking(matchAttribute="a/b"), f"write constraints: [{{matchAttribute: a/b}}] {BESIDE}"),
        (devices(matchAttribute="a/b"), f"write constraints: [{{matchAttribute: a/b}}] {BESIDE}"),
        (asking(opaque={"driver": GPU}), "write config: [{opaque: {driver: ..., parameters: {..."),
        (asking(config=[]), f"put it {BESIDE}"),
        (
            asking(cel={"expression": "true"}),
            'put it into a list: selectors: [{cel: {expression: "',
        ),
        (asking(expression="true"), TO_SELECTORS),
        (asking(driver=GPU), "leave it out: the class selects devices of its driver"),
        (asking(name="gpu"), "leave it out: the name of a request stands beside exactly"),
        (asking(profile="1g.10gb"), BY_PROFILE),
        (asking(nodeSelector={"a": "b"}), "put it into the spec of the Pod: a claim selects dev"),
        (asking(anything=1), "leave it out"),
    ],
)
def test_a_field_at_the_wrong_place_is_told_where_it_belongs(
    manifest: dict[str, Any], fix: str
) -> None:
    assert fix_of(manifest).startswith(fix)


@pytest.mark.parametrize("value", ["x" * 9999, "a'\"b", ["a"], None, {"a": {"b": "c"}}])
@pytest.mark.parametrize("name", ["matchAttribute", "memory", "limits", "profile", "capacity"])
def test_whatever_a_field_holds_its_advice_is_short(name: str, value: Any) -> None:
    with pytest.raises(EksDevicesError) as caught:
        check_claims([claim({**exactly(GPU), name: value})], group_of(P5))
    assert all(len(one.fix) < 250 for one in caught.value.faults)
