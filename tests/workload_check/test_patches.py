"""Parts of objects, which somebody merges into others, are not told what they lack or take away."""

from __future__ import annotations

from typing import Any

from tests.workload_manifests import P5, checked, codes, plan_of, pod, request, template

PLAN = plan_of(P5)
ONE = template("gpu", request())


def test_a_label_that_is_taken_away_is_no_fault() -> None:
    assert "WrongType" not in codes(checked(PLAN, ONE, pod("gpu", nodeSelector={"old": None})))


def test_a_word_to_who_merges_lists_is_no_toleration() -> None:
    tolerations = [{"operator": "Exists"}, {"$patch": "replace"}]
    assert codes(checked(PLAN, ONE, pod("gpu", tolerations=tolerations))) == []


def test_a_patch_does_not_clash_with_what_it_is_for() -> None:
    whole, patch = pod("gpu"), pod("gpu", nodeSelector={"eks-devices/nodegroup": "p5"})
    assert "PodNameClash" in codes(checked(PLAN, ONE, whole, patch))
    container: dict[str, Any] = dict(patch["spec"]["containers"][0])
    del container["image"]
    patch["spec"]["containers"] = [container]
    assert codes(checked(PLAN, ONE, whole, patch)) == ["ImageMissing"]
