"""Devices that claims share by amounts, are cut from common counters, or are tainted."""

from typing import Any

import pytest
from tests.feasibility_claims import claim, exactly, first_of, template

from eks_devices._frozen import FrozenDict
from eks_devices.feasibility.judge import judged
from eks_devices.feasibility.minors import scheduler_of
from eks_devices.feasibility.reading.asked import read_manifest
from eks_devices.feasibility.slices import read_slices

CLASSES = FrozenDict({"any": ("true",)})
STEPS = {"default": "1Gi", "validRange": {"min": "1Gi", "max": "8Gi", "step": "2Gi"}}
VALUES = {"default": "1Gi", "validValues": ["1Gi", "4Gi", "10Gi"]}


TAINTED = {"taints": [{"key": "broken", "value": "xid", "effect": "NoSchedule"}]}


def slice_of(name, of, **content):
    pool = {"name": "n", "generation": 1, "resourceSliceCount": of}
    spec = {"driver": "d", "nodeName": "n", "pool": pool, **content}
    return {"metadata": {"name": name}, "spec": spec}


def said(devices, *claims, version="1.37", counters=()):
    slices = [slice_of("b", 1 + bool(counters), devices=devices)]
    slices += [slice_of("a", 2, sharedCounters=counters)] if counters else []
    wanted = tuple(read_manifest(one, "c") for one in claims)
    return judged(wanted, read_slices(slices, scheduler_of(version)), CLASSES)


def shared(policy=None, memory="16Gi", name="gpu"):
    size = {"value": memory} | ({"requestPolicy": policy} if policy else {})
    return {"name": name, "allowMultipleAllocations": True, "capacity": {"memory": size}}


def asks(amount=None, **more):
    capacity: dict[str, Any] = (
        {} if amount is None else {"capacity": {"requests": {"memory": amount}}}
    )
    return exactly("any", **capacity, **more)


def outcome(found):
    return str(found.status), found.fits


@pytest.mark.parametrize(
    ("policy", "amount", "fits"),
    [
        (None, "4Gi", 4),
        (None, "5Gi", 3),
        # Without a default, all of it is taken.
        (None, None, 1),
        (STEPS, None, 16),
        (STEPS, "1Gi", 16),
        # What lies between steps is rounded up: 2Gi takes 3Gi.
        (STEPS, "2Gi", 5),
        (STEPS, "3Gi", 5),
        (STEPS, "1", 16),
        (VALUES, "2Gi", 4),
        (VALUES, "4Gi", 4),
        (VALUES, None, 16),
    ],
)
def test_as_many_pods_share_a_device_as_its_capacity_has_room_for(policy, amount, fits):
    assert outcome(said([shared(policy)], template(asks(amount)))) == ("feasible", fits)


@pytest.mark.parametrize(
    ("policy", "amount"), [(None, "17Gi"), (STEPS, "8Gi"), (STEPS, "9Gi"), (VALUES, "11Gi")]
)
def test_an_amount_that_the_device_or_its_policy_does_not_have_is_infeasible(policy, amount):
    found = said([shared(policy)], claim(asks(amount)))

    assert (str(found.status), found.cause.code) == ("infeasible", "AmountNotThere")
    assert "memory" in found.cause.text


def test_devices_that_are_too_small_or_tainted_do_not_count():
    mixed = [shared(name="a"), shared(name="b", memory="2Gi"), shared(name="c") | TAINTED]

    found = said(mixed, claim(asks("4Gi", count=2)))

    assert found.cause.code == "TooFewDevices"
    assert "at most 1 such" in found.cause.text


def test_a_device_that_is_not_shared_and_too_small_hides_no_larger_one():
    small, large = (
        {"name": name, "capacity": {"memory": {"value": value}}}
        for name, value in (("a", "2Gi"), ("b", "16Gi"))
    )

    found = said([small, large], claim(asks("4Gi")))

    assert [one.device for one in found.picks] == [1]


def test_a_capacity_that_no_device_has_is_infeasible():
    wanted = exactly("any", capacity={"requests": {"cores": "1"}})

    assert said([shared()], claim(wanted)).cause.code == "AmountNotThere"
    assert said([{"name": "whole"}], claim(wanted)).cause.code == "AmountNotThere"


def test_claims_and_requests_of_a_pod_share_a_device_and_one_request_does_not():
    two = [asks("8Gi", name="a"), asks("8Gi", name="b")]

    assert said([shared()], claim(*two)).status == "feasible"
    assert said([shared()], claim(two[0]), claim(two[1])).status == "feasible"
    assert said([shared()], claim(*two, asks("1", name="c"))).status == "infeasible"
    assert said([shared()], claim(asks("1", count=2))).cause.code == "TooFewDevices"


def test_a_device_that_is_not_shared_is_had_whole_whatever_the_amount():
    whole = {"name": "gpu", "capacity": {"memory": {"value": "16Gi"}}}

    assert outcome(said([whole], template(asks("1Gi")))) == ("feasible", 1)
    assert said([whole], claim(asks("17Gi"))).cause.code == "AmountNotThere"


@pytest.mark.parametrize("version", ["1.34", "1.35"])
def test_older_minors_drop_amounts_and_hand_devices_out_whole(version):
    found = said([shared()], template(asks("17Gi")), version=version)

    assert outcome(found) == ("feasible", 1)


def test_what_cannot_be_counted_fails_or_is_unknown():
    huge = claim(asks("10E"))

    assert said([shared(STEPS)], huge).cause.code == "AmountFails"
    assert said([shared(STEPS)], huge, version="1.36").status == "unknown"


def test_all_leaves_out_what_others_filled_up_to_1_36():
    every = template(exactly("any", allocationMode="All", capacity={"requests": {"memory": "9Gi"}}))
    devices = [shared(name="a"), shared(name="b", memory="32Gi")]

    assert said(devices, every, version="1.36").fits == 3
    assert said(devices, every, version="1.37").fits == 1


CUT = [{"name": "s", "counters": {"memory": {"value": "8"}, "slice-0": {"value": "1"}}}]


def part(name, **counters):
    taken = {key.replace("_", "-"): {"value": str(value)} for key, value in counters.items()}
    consumed = [{"counterSet": "s", "counters": taken}]
    return {"name": name, "consumesCounters": consumed, "attributes": {"name": {"string": name}}}


PARTS = [
    part("half-0", memory=4, slice_0=1),
    part("half-1", memory=4),
    part("whole", memory=8, slice_0=1),
]


def named(name, **more):
    return exactly("any", f"device.attributes['d'].name == '{name}'", name=name, **more)


def test_parts_of_a_device_are_had_together_as_far_as_its_counters_go():
    both, other = claim(named("half-0"), named("half-1")), claim(named("half-0"), named("whole"))

    assert said(PARTS, both, counters=CUT).status == "feasible"
    assert said(PARTS, other, counters=CUT).cause.code == "TooFewDevicesTogether"
    assert said(PARTS, template(exactly("any")), counters=CUT).fits == 2
    assert (
        said(PARTS, claim(exactly("any", count=3)), counters=CUT).cause.code == "PartitionsDoNotFit"
    )


def test_a_later_alternative_is_taken_where_the_first_has_no_counters_left():
    wanted = claim(named("half-1"), first_of(named("whole"), named("half-0")))

    found = said(PARTS, wanted, counters=CUT)

    assert [one.option for one in found.picks] == [0, 1]


def test_all_of_parts_may_crash_schedulers_of_1_36():
    every = claim(named("half-0", allocationMode="All"))

    assert said(PARTS, every, counters=CUT).status == "feasible"
    old = said(PARTS, every, counters=CUT, version="1.36")
    assert (str(old.status), old.cause.code) == ("unknown", "AllOfPartitions")
    assert "1.36.2" in old.cause.text


BROKEN = {"name": "gpu"} | TAINTED


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        (None, "infeasible"),
        ({"operator": "Exists"}, "feasible"),
        ({"operator": "Exists", "key": "broken"}, "feasible"),
        ({"operator": "Exists", "key": "other"}, "infeasible"),
        ({"operator": "Exists", "key": "broken", "effect": "NoExecute"}, "infeasible"),
        ({"operator": "Equal", "key": "broken", "value": "xid"}, "feasible"),
        ({"operator": "Equal", "key": "broken", "value": "else"}, "infeasible"),
        ({"key": "broken", "value": "xid"}, "feasible"),
    ],
)
def test_a_tainted_device_is_had_by_those_who_tolerate_it(toleration, expected):
    tolerations: dict[str, Any] = {"tolerations": [toleration]} if toleration else {}
    wanted = claim(exactly("any", **tolerations))

    found = said([BROKEN], wanted)

    assert found.status == expected
    assert found.cause.code == ("" if expected == "feasible" else "DeviceTainted")
    assert said([BROKEN], wanted, version="1.35").status == "feasible"


@pytest.mark.parametrize(
    ("effect", "expected"),
    [("NoSchedule", "infeasible"), ("NoExecute", "infeasible"), ("None", "feasible")],
)
def test_a_taint_keeps_claims_away_by_its_effect(effect, expected):
    tainted = {"name": "gpu", "taints": [{"key": "broken", "effect": effect}]}

    assert said([tainted], claim(exactly("any"))).status == expected


@pytest.mark.parametrize(
    ("devices", "amount", "text", "fix"),
    [
        (
            [{"name": "a", "capacity": {"memory": {"value": "79Gi"}}}, {"name": "b"}],
            "80Gi",
            "it wants 81920Mi of memory of devices that give at most 80896Mi",
            "ask for at most 80896Mi of memory",
        ),
        ([shared(STEPS)], "9Gi", "of devices that give at most 8192Mi", "at most 8192Mi of memory"),
        ([shared(VALUES)], "11Gi", "of devices that give at most 10240Mi", "at most 10240Mi"),
        ([{"name": "a"}], "1Gi", "has a capacity memory", "leave capacity out"),
        (
            [{"name": "a", "capacity": {"memroy": {"value": "1"}}}],
            "1Gi",
            "has a capacity memory",
            "did you mean memroy?",
        ),
        (
            [{"name": "a", "capacity": {"cores": {"value": "1"}}}],
            "1Gi",
            "has a capacity memory",
            "ask for cores",
        ),
        ([shared(memory="3")], "1e100", "of devices that give at most 3", "at most 3 of memory"),
    ],
)
def test_amounts_that_no_device_gives_are_told_with_the_most(devices, amount, text, fix):
    cause = said(devices, claim(asks(amount))).cause

    assert cause.code == "AmountNotThere"
    assert text in cause.text
    assert fix in cause.fix


def test_requests_that_want_too_much_together_are_told_with_both_numbers():
    two = [{"name": one} for one in ("a", "b")]
    cause = said(two, claim(asks(count=2, name="x"), asks(name="y"))).cause

    assert (cause.wants, cause.has) == (3, 2)
    assert "its requests want 3 devices together of a node that has at most 2" in cause.text
    assert cause.fix == "ask for fewer devices in all: at most 2"
