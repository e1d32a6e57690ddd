"""Devices that are found keep what the node has: counters, capacities, taints and differences."""

from collections import Counter
from typing import Any

import pytest
from tests.generated.shares_and_parts import Generator, judgement

SEEDS = range(1000)
VERSION = "1.37"


@pytest.fixture(scope="module")
def found():
    """Cases that are feasible, with the ask and the device of each pick."""
    cases = [Generator(seed, VERSION).case() for seed in SEEDS]
    return [
        (case, [(case.wanted[p.claim], p, ask_of(case, p), device_of(case, p)) for p in picks])
        for case in cases
        if (picks := judgement(case).picks)
    ]


def ask_of(case, pick):
    return case.wanted[pick.claim].requests[pick.request].options[pick.option]


def device_of(case, pick):
    return case.node.devices[pick.device]


def test_enough_of_each_kind_is_found(found):
    devices = [one for _, picks in found for *_, one in picks]

    assert len(found) > 200
    assert sum(one.is_shared for one in devices) > 60
    assert sum(bool(one.consumes) for one in devices) > 60
    assert sum(bool(one.taints) for one in devices) > 20


def test_a_device_is_given_once_unless_it_is_shared(found):
    for case, picks in found:
        given = Counter(one.name for _, _, ask, one in picks if not (one.is_shared or ask.admin))
        assert set(given.values()) <= {1}, case.seed


def test_counters_and_capacities_are_not_overdrawn(found):
    for case, picks in found:
        drawn: Counter[tuple[Any, str]] = Counter()
        taken: Counter[tuple[str, str]] = Counter()
        for device in {id(one): one for *_, one in picks}.values():
            for name, counters in device.consumes.items():
                drawn.update({(name, key): value for key, value in counters.items()})
        for (name, key), value in drawn.items():
            assert value <= case.node.counters[name][key], case.seed
        for _, _, ask, device in picks:
            assert set(ask.amounts) <= set(device.sizes), case.seed
            if device.is_shared:
                for name, one in device.sizes.items():
                    taken[device.name, name] += least(ask, name, one)
        sizes = {one.name: one.sizes for one in case.node.devices}
        for (name, capacity), value in taken.items():
            assert value <= sizes[name][capacity].amount, case.seed


def least(ask, name, size):
    """The least that a request takes of a capacity: what it asks for, or the default, or all."""
    default = size.amount if size.policy is None else size.policy.default
    return ask.amounts.get(name, size.amount if default is None else default)


def test_taints_are_tolerated(found):
    for case, picks in found:
        for _, _, ask, device in picks:
            for taint in device.taints:
                meant = [
                    one
                    for one in ask.tolerations
                    if one.key in ("", taint.key)
                    and one.effect in ("", taint.effect)
                    and (one.is_any_value or one.value == taint.value)
                ]
                assert meant or taint.effect == "None", case.seed


def test_attributes_are_shared_or_differ_as_asked(found):
    for case, picks in found:
        for claim in {id(one): one for one, *_ in picks}.values():
            for constraint in claim.constraints:
                values = [
                    device.attributes.get(constraint.attribute)
                    for one, pick, ask, device in picks
                    if one is claim
                    and constraint.applies(claim.requests[pick.request].name, ask.name)
                ]
                assert None not in values, case.seed
                different = len({*values})
                assert different == len(values) if constraint.is_distinct else different < 2
