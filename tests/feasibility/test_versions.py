"""Versions among attributes: what they equal, and where that cannot be told, by Kubernetes' word.

The answers are those of its own CEL; tests/cluster asks it.
"""

import pytest
from tests.feasibility_claims import claim, exactly, match

from eks_devices._frozen import FrozenDict
from eks_devices.feasibility.cel.expressions import evaluate
from eks_devices.feasibility.judge import judged
from eks_devices.feasibility.minors import newest_scheduler
from eks_devices.feasibility.reading.asked import read_manifest
from eks_devices.feasibility.slices import NodeDevices, read_slices

OWN = "device.attributes['d']"


def device(name="a", **attributes):
    spec = {
        "driver": "d",
        "pool": {"name": "node"},
        "devices": [{"name": name, "attributes": attributes}],
    }
    return read_slices([{"metadata": {"name": "s"}, "spec": spec}], newest_scheduler()).devices[0]


def version(text):
    return {"version": text}


CARD = device(v=version("1.2.3"), text={"string": "1.2.3"}, number={"int": 1})


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (f"{OWN}.v == semver('1.2.3')", "true"),
        (f"{OWN}.v == semver('1.2.3+build')", "true"),
        (f"{OWN}.v != '1.2.3'", "true"),
        (f"{OWN}.v == null", "false"),
        (f"'1.2.3' == {OWN}.v", "false"),
        (f"{OWN}.v == '1.2.3'", "fails"),
        (f"{OWN}.v == {{}}", "fails"),
        (f"{OWN}.v == -1", "fails"),
        (f"{OWN}.v == quantity('1')", "fails"),
        (f"{OWN}.v in ['1.2.3', '2.0.0']", "fails"),
        # An answer that may come before the list is looked at.
        (f"true || {OWN}.v in ['1.2.3']", "unclear"),
        (f"{OWN}.v == {OWN}.text", "fails"),
        (f"{OWN}.?v.orValue('x') == 'x'", "unclear"),
        (f"size({OWN}.v) == 1", "unclear"),
        (f"{OWN}.?no.orValue(semver('1.2.3')) in ['1.2.3']", "unclear"),
        # It costs too much.
        (f"{OWN}.?no.orValue(quantity('1')) == semver('1.2.3')", "fails"),
        (f"[quantity('1')].exists(one, one == {OWN}.number)", "unclear"),
        (f"{OWN}.exists(k, {OWN}[k] == '1.2.3')", "unclear"),
        (f"{OWN}.text in ['1.2.3', '2.0.0']", "true"),
        (f"{OWN}.number == 1", "true"),
    ],
)
def test_what_an_expression_says_of_a_version(text, outcome):
    assert evaluate(text, CARD).outcome == outcome


def test_a_bound_map_that_the_engine_loses_is_unclear():
    text = f"{OWN}.exists(one, one == 'v') && cel.bind(own, {OWN}, own.text == 'x')"

    assert evaluate(text, CARD).outcome == "unclear"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (f"{OWN}.text in [['x'], []]", "false"),
        (f"{OWN}.text in [[], 'x']", "fails"),
        (f"{OWN}.text in ['x', {{}}]", "fails"),
        (f"{OWN}.text in [['x'], [5]]", "fails"),
    ],
)
def test_an_empty_list_goes_with_lists_alone(text, outcome):
    assert evaluate(text, CARD).outcome == outcome


@pytest.mark.parametrize(("other", "status"), [("1.2.3+a", "feasible"), ("1.2.3", "infeasible")])
def test_a_constraint_compares_versions_with_their_build(other, status):
    devices = device("a", v=version("1.2.3+a")), device("b", v=version(other))
    wanted = (read_manifest(claim(exactly("any", count=2), match("d/v")), "c"),)

    found = judged(wanted, NodeDevices(devices, FrozenDict()), FrozenDict({"any": ()}))

    assert found.status == status


@pytest.mark.parametrize(
    "text",
    ["device.attributes[", f"{OWN}.v ==", f"{OWN} {OWN}", "device = 'x'", "device.driver == 'd"],
)
def test_what_cannot_be_read_is_refused_however_it_looks_at_the_device(text):
    assert evaluate(text, CARD).outcome == "fails"


def test_a_name_in_backticks_is_left_to_kubernetes():
    assert evaluate(f"{OWN}.`v` == 1", CARD).outcome == "unclear"
