"""Values of manifests in findings are written as YAML has them, however strange they are."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from tests.hostile import Hostile, HostileText, Untouchable, doubled, endless

from eks_devices._yaml_text import AsYaml, wrong_in_manifest
from eks_devices.findings import shown

VALUES = [
    *(None, True, 5, 1.5, float("inf"), "a", "it's", "a\nb", "yes", "~", "1e3", "", "- a", "é"),
    *([], {}, ["a", "no", None, "b c"], {"a": [1, {"b": "null"}], "y": "x: z", 5: "#"}),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_yaml_reads_the_same_value_again(value: Any) -> None:
    assert yaml.safe_load(repr(AsYaml(value))) == value


def test_words_that_need_no_quotes_have_none() -> None:
    assert shown(AsYaml({"name": "gpu", "count": 2})) == "{name: gpu, count: 2}"
    assert shown(AsYaml(("gpu.nvidia.com", "a/b"))) == "[gpu.nvidia.com, a/b]"


@pytest.mark.parametrize(
    "value",
    [endless(), doubled(40), Hostile(), HostileText("x" * 999), Untouchable(), 10**9999, [1] * 999],
    ids=lambda one: type(one).__name__,
)
def test_any_value_is_shown_and_briefly(value: Any) -> None:
    found = wrong_in_manifest("path", value, "a number", "write one")
    assert 0 < len(found.got) <= 120
    assert found.message


@pytest.mark.parametrize(
    ("value", "kind"),
    [({}, "a mapping"), ([], "a list"), ("", "a text"), (None, "null"), (5, "a number")],
)
def test_what_stands_there_is_told_in_words_of_yaml(value: Any, kind: str) -> None:
    assert wrong_in_manifest("path", value, "", "").message == f"the value is {kind}"
