"""Manifests in a property of a template, parts of which only the deployment knows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_devices.app_check import manifests_in
from eks_devices.app_check.manifest_text import UNKNOWN
from eks_devices.app_check.unknown import has_unknown

ROLE = {"Fn::GetAtt": ["Role", "Arn"]}


def joined(*parts: Any) -> dict[str, Any]:
    return {"Fn::Join": ["", [*parts]]}


def test_a_text_holds_one_manifest_or_a_list():
    pod = {"kind": "Pod"}
    assert manifests_in(json.dumps(pod)) == [pod]
    assert manifests_in(json.dumps([pod, {"kind": "Job"}])) == [pod, {"kind": "Job"}]


def test_a_value_of_the_deployment_is_unknown_and_the_rest_is_read():
    (found,) = manifests_in(joined('[{"kind":"Pod","role":"', ROLE, '","name":"a"}]'))
    assert (found["kind"], found["name"]) == ("Pod", "a")
    assert has_unknown(found["role"])


def test_a_value_without_quotes_is_unknown_too():
    (found,) = manifests_in(joined('[{"replicas":', ROLE, ',"kind":"Pod"}]'))
    assert has_unknown(found["replicas"])
    assert found["kind"] == "Pod"


def test_quotes_within_texts_do_not_end_them():
    inner = json.dumps({"role": "ROLE", "path": 'a\\" b\\\\'})
    before, after = json.dumps([{"data": inner, "n": "ROLE"}]).split("ROLE", 1)
    middle, end = after.split("ROLE")
    (found,) = manifests_in(joined(before, ROLE, middle, ROLE, end))
    assert json.loads(found["data"])["path"] == 'a\\" b\\\\'
    assert has_unknown(found["data"])
    assert has_unknown(found["n"])


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        "",
        "{",
        "[" * 100_000,
        '"text"',
        "[1, null]",
        ROLE,
        joined(ROLE),
        {"Fn::Join": 3},
        {"Fn::Join": ["", 3]},
        {"Fn::Join": [",", ["a", "b"]]},
    ],
)
def test_what_holds_no_manifest_holds_none(value):
    assert manifests_in(value) == []


TEXTS = st.text(st.sampled_from('ab"\\{}[],:\n\u00e9'), max_size=8)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), TEXTS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=12,
)


@given(st.lists(st.tuples(TEXTS, VALUES, TEXTS, st.booleans()), min_size=1, max_size=4))
def test_values_of_the_deployment_stand_where_they_were(items):
    """Texts around and values between those that only the deployment knows are read as written."""
    hole = "HOLE"
    manifest = {
        f"k{at}": [value, f"{before}{hole}{after}" if inside else hole]
        for at, (before, value, after, inside) in enumerate(items)
    }
    text = json.dumps(manifest)
    for at, (_, _, _, inside) in enumerate(items):
        if not inside:
            start = text.index(f'"k{at}": ')
            text = text[:start] + text[start:].replace(f'"{hole}"', hole, 1)
    first, *others = text.split(hole)
    (found,) = manifests_in(joined(first, *(part for one in others for part in (ROLE, one))))

    for at, (before, value, after, inside) in enumerate(items):
        whole = f"{before}{UNKNOWN}{after}" if inside else UNKNOWN
        assert found[f"k{at}"] == [value, whole]
