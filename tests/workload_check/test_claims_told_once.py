"""What is wrong with every entry of a list of a claim is told once."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workload_manifests import GPU, P5, checked, plan_of, template

ASK = {"deviceClassName": GPU, "count": 1}
UNNAMED = {"exactly": ASK}


@pytest.mark.parametrize(
    ("requests", "place", "fix"),
    [
        (
            [{"name": "gpu", "firstAvailable": [ASK, {"name": "b", **ASK}, ASK, ASK]}],
            "requests[0].firstAvailable[0].name",
            "give each alternative a name",
        ),
        ([UNNAMED, UNNAMED, UNNAMED], "requests[0].name", "give each request a name"),
        ([{"name": "a", **UNNAMED}, UNNAMED], "requests[1].name", "give it a name: - name: gpu"),
    ],
)
def test_names_that_are_missing_are_told_once(requests: list[Any], place: str, fix: str) -> None:
    (remark,) = checked(plan_of(P5), template("gpu", *requests)).remarks
    assert remark.finding.path.endswith(place)
    assert remark.finding.fix == fix
