"""Expressions that the engine answers otherwise than Kubernetes: no wrong answer comes of them."""

from __future__ import annotations

import pytest

from eks_devices.feasibility.cel.answers import Outcome
from eks_devices.feasibility.cel.expressions import evaluate
from eks_devices.feasibility.minors import newest_scheduler
from eks_devices.feasibility.slices import read_slices

DRIVER = "card.example.com"
OWN, AMOUNTS = (f"device.{one}['{DRIVER}']" for one in ("attributes", "capacity"))

# What Kubernetes says of each, of a device whose root is "x" and index is 2.
ANSWERS = {
    # A list, or a map, that holds a value of a device and another one is refused.
    f"{OWN}.index in [{OWN}.index, 2]": Outcome.FAILS,
    f"['x', {OWN}.root].size() == 2": Outcome.FAILS,
    f"{OWN}.root in [{OWN}.root, {OWN}.index]": Outcome.TRUE,
    "{'a': 1, 'b': 'c'}.size() == 2": Outcome.FAILS,
    "{1: 1, 'b': 2}.size() == 2": Outcome.FAILS,
    "{'a': [1], 'b': ['c']}.size() == 2": Outcome.FAILS,
    f"{{'a': {OWN}.root, 'b': 1}}.size() == 2": Outcome.FAILS,
    f"{OWN}.root in {{'x': 1, 'y': true ? 2 : 3}}": Outcome.TRUE,
    "{'y': 1, 'z': 2}.size() == 3": Outcome.FALSE,
    "{'a': 1, 'b': {'c': 2}.size()}.size() == 2": Outcome.TRUE,
    "{1.5: 1}.size() == 1": Outcome.TRUE,
    "[1, 2].exists(x, [x, 'a'].size() == 2)": Outcome.FAILS,
    # Other macros, names and literals.
    "[1, 2].all(i, v, v > 0)": Outcome.TRUE,
    "[1, 2].map(x, x > 1, x * 2) == [4]": Outcome.TRUE,
    f"{OWN}.`root` == 'x'": Outcome.FAILS,
    f"'%s'.format([{OWN}.root]) == 'x'": Outcome.FAILS,
    "''.split('') == []": Outcome.TRUE,
    "r'\\' == '\\\\'": Outcome.TRUE,
    "r'\\d' == '\\\\d'": Outcome.TRUE,
    "1e400 > 1.0": Outcome.FAILS,
    f"has({OWN}.root.x)": Outcome.FALSE,
    f"{OWN}.?nope.?deeper.orValue(true)": Outcome.FAILS,
    "'x'.matches('\\\\C')": Outcome.FAILS,
    # Other types that are read from texts.
    "int(' 1') == 1": Outcome.FAILS,
    f"int({OWN}.index) == 2": Outcome.TRUE,
    "double('1_0') == 10.0": Outcome.TRUE,
    "bool('T')": Outcome.TRUE,
    "timestamp('2020-01-01T00:00:00z').getHours() == 0": Outcome.FAILS,
    # Quantities that are rounded, too large or strange.
    "quantity('1e-10') == quantity('1n')": Outcome.TRUE,
    "quantity('8Ei') == quantity('9223372036854775808')": Outcome.FALSE,
    "quantity('-') == quantity('0')": Outcome.TRUE,
    "isQuantity('1e1000')": Outcome.TRUE,
    "isQuantity('1.5 Gi')": Outcome.FALSE,
    "quantity('2000m').isInteger()": Outcome.FALSE,
    # Patterns, and constants, that are looked at before anything is evaluated.
    "device.driver == 'other' && device.driver.matches('*H100*')": Outcome.FAILS,
    "true || device.driver.matches('(?#c)')": Outcome.FAILS,
    "device.driver == 'other' && device.driver.matches('.*H100.*')": Outcome.FALSE,
    "true || string(null) == ''": Outcome.FAILS,
    f"{OWN}.nope in []": Outcome.FALSE,
    f"true || {OWN}.root.all(x, true)": Outcome.FAILS,
    "cel.bind(x, 1, cel.bind(y, x, x == .y))": Outcome.TRUE,
    # A version or a quantity has no size, and nothing in it.
    f"size({OWN}.?group.orValue(quantity('80Gi'))) != 2": Outcome.FAILS,
    f"size({OWN}.?group.orValue(quantity('80Gi'))) != sign({AMOUNTS}.memory)": Outcome.FAILS,
    f"{OWN}.?group.orValue(semver('1.0.0')).size() == 1": Outcome.FAILS,
    f"size({OWN}.?group.orValue({AMOUNTS}.memory)) == 1": Outcome.FAILS,
    f"size({OWN}.?group.or(optional.of(quantity('1'))).value()) == 1": Outcome.FAILS,
    f"size({OWN}.index == 3 ? {OWN}.root : dyn(quantity('1'))) == 1": Outcome.FAILS,
    f"cel.bind(x, {OWN}.?group.orValue(quantity('1')), size(x) == 1)": Outcome.FAILS,
    f"{OWN}.?group.orValue(quantity('1')).exists(x, true)": Outcome.FAILS,
    f"'quantity' in {OWN}.?group.orValue(quantity('1'))": Outcome.FAILS,
    f"{OWN}.?group.orValue(quantity('1'))['quantity'] == '1'": Outcome.FAILS,
    f"{OWN}.?group.orValue(semver('1.0.0')).semver == '1.0.0'": Outcome.FAILS,
    f"'semver' in {OWN}.?group.or(optional.of(quantity('1'))).value()": Outcome.FAILS,
    f"({OWN}.index == 3 ? {OWN}.root : quantity('1')) == '1'": Outcome.FAILS,
    f"({OWN}.index == 2 ? semver('1.0.0') : {OWN}.root) == {{'semver': '1.0.0'}}": Outcome.FAILS,
    f"{{'semver': '1.0.0'}} == {OWN}.?group.orValue(semver('1.0.0'))": Outcome.FALSE,
    f"cel.bind(y, {OWN}.?group.orValue(quantity('1')), y == 'a')": Outcome.FAILS,
    f"{OWN}.?group.orValue({AMOUNTS}.memory) == 1": Outcome.FAILS,
    f"{OWN}.?index.optMap(x, quantity('1')).value().isInteger()": Outcome.FAILS,
    f"{OWN}.root == 'x' && {OWN}.?group.orValue(semver('1.0.0')).major() == 1": Outcome.TRUE,
    f"{OWN}.?group.orValue(semver('1.0.0')).compareTo(semver('1.0.0')) == 0": Outcome.TRUE,
    f"{OWN}.root.size() == 1 && {AMOUNTS}.memory.compareTo(quantity('1Gi')) > 0": Outcome.TRUE,
    f"{AMOUNTS}.memory == {OWN}.root": Outcome.FAILS,
    f"{AMOUNTS}.memory == quantity('80Gi')": Outcome.TRUE,
    f"{AMOUNTS}['memory'] != quantity('1.5Gi')": Outcome.TRUE,
    "semver('18446744073709551615.0.0').major() > 1": Outcome.FALSE,
    "isSemver('1.0.0-99999999999999999999')": Outcome.FALSE,
}


@pytest.fixture(scope="module")
def device():
    made = {
        "name": "d0",
        "attributes": {"root": {"string": "x"}, "index": {"int": 2}},
        "capacity": {"memory": {"value": "80Gi"}},
    }
    pool = {"name": "node", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": "node", "pool": pool, "devices": [made]}
    (found,) = read_slices([{"metadata": {"name": "x"}, "spec": spec}], newest_scheduler()).devices
    return found


def test_half_a_character_is_refused(device):
    assert evaluate("'\ud800' == ''", device).outcome is Outcome.FAILS


@pytest.mark.parametrize("text", ANSWERS)
def test_no_expression_is_answered_otherwise_than_kubernetes_answers_it(text, device):
    assert evaluate(text, device).outcome in (ANSWERS[text], Outcome.UNCLEAR)


@pytest.mark.parametrize(
    "text",
    [
        f"{OWN}.index in [{OWN}.index, 2]",
        "{'a': 1, 'b': 'c'}.size() == 2",
        f"{OWN}.root in {{'x': 1, 'y': true ? 2 : 3}}",
        "{'y': 1, 'z': 2}.size() == 3",
        f"int({OWN}.index) == 2",
        "r'\\d' == '\\\\d'",
        "[1, 2].map(x, x > 1, x * 2) == [4]",
        f"{AMOUNTS}['memory'] != quantity('1.5Gi')",
        "isQuantity('1.5 Gi')",
        f"{OWN}.?group.orValue(semver('1.0.0')).compareTo(semver('1.0.0')) == 0",
        f"{OWN}.root == 'x' && {OWN}.?group.orValue(semver('1.0.0')).major() == 1",
        f"{OWN}.root.size() == 1 && {AMOUNTS}.memory.compareTo(quantity('1Gi')) > 0",
        "device.driver == 'other' && device.driver.matches('*H100*')",
        "device.driver == 'other' && device.driver.matches('.*H100.*')",
    ],
)
def test_what_the_engine_answers_alike_is_still_answered(text, device):
    assert evaluate(text, device).outcome is ANSWERS[text]
