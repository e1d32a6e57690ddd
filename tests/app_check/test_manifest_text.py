"""Manifests in a property of a template, parts of which only the deployment knows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eks_devices.app_check import manifests_in
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
