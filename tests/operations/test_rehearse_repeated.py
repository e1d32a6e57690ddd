"""Objects that stand twice in the files of a rehearsal."""

from __future__ import annotations

import pytest

from eks_device_operations.rehearse.files import read_items
from eks_device_operations.rehearse.repeated import Repeated
from eks_device_operations.rehearse.workloads import split

POD = "apiVersion: v1\nkind: Pod\nmetadata: {%s}\nspec: {containers: [{name: %s, image: i}]}\n"
TEMPLATE = (
    "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: t}\n"
    "spec: {spec: {devices: {requests: [{name: %s, exactly: {deviceClassName: c}}]}}}\n"
)
SPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: t, labels: {a: %s}}\n"


@pytest.fixture
def left(tmp_path):
    """What is left of two files, as places, and what is refused, in words."""

    def left(first, second):
        for name, text in (("a.yaml", first), ("b.yaml", second)):
            (tmp_path / name).write_text(text, encoding="utf-8")
        workloads, others = split(read_items([str(tmp_path)]).items, namespace="lab")
        repeated = Repeated("lab")
        found = [one.item for one in repeated.workloads(workloads)] + repeated.others(others)
        places = [one.place.removeprefix(f"{tmp_path}/") for one in found]
        told = {one.place: one.message for one in repeated.refusals}
        return places, {
            place.removeprefix(f"{tmp_path}/"): message.replace(f"{tmp_path}/", "")
            for place, message in told.items()
        }

    return left


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((POD % ("name: t", "a")), (POD % ("name: t", "b"))),
        ((POD % ("name: t", "a")), (POD % ("name: t, namespace: lab", "a"))),
    ],
)
def test_the_second_pod_of_a_name_is_told_with_the_place_of_the_first(left, first, second):
    assert left(first, f"# two\n{second}") == (
        ["a.yaml:1"],
        {"b.yaml:2": "Pod lab/t stands already at a.yaml:1"},
    )


def test_so_is_another_template_of_claims(left):
    assert left(TEMPLATE % "a", TEMPLATE % "b") == (
        ["a.yaml:1"],
        {"b.yaml:1": "ResourceClaimTemplate lab/t stands already at a.yaml:1"},
    )


@pytest.mark.parametrize("text", [POD % ("name: t", "a"), TEMPLATE % "a"])
def test_the_same_once_more_is_no_fault(left, text):
    assert left(text, text) == (["a.yaml:1"], {})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (POD % ("generateName: t-", "a"), POD % ("generateName: t-", "b")),
        (POD % ("name: t", "a"), POD % ("name: t, namespace: other", "b")),
        (SPACE % "b", SPACE % "c"),
    ],
)
def test_what_can_stand_beside_the_other_or_change_it_is_left(left, first, second):
    assert left(first, second) == (["a.yaml:1", "b.yaml:1"], {})
