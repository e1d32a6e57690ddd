"""Items of Lists: those of Kubernetes hold objects, and those of others what they like."""

from __future__ import annotations

import pytest
from tests.workload_manifests import P5, checked, codes, plan_of


@pytest.mark.parametrize(
    ("api", "is_told"),
    [
        ("v1", True),
        ("apps/v1", True),
        ("networking.k8s.io/v1", True),
        ("resource.k8s.io/v1", True),
        ("leaderworkerset.x-k8s.io/v1", False),
        ("example.com/v1", False),
    ],
)
def test_items_that_are_no_objects_are_told_of_lists_of_kubernetes(api: str, is_told: bool) -> None:
    listed = {"apiVersion": api, "kind": "ThingList", "items": [3]}

    assert ("WrongType" in codes(checked(plan_of(P5), listed))) == is_told
