"""GPUs that are cut, and devices that a plugin hands out, are told as the nodes have them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workload_manifests import (
    DRA,
    EFA,
    GPU,
    NEURON,
    P5,
    PLUGIN,
    checked,
    group,
    plan_of,
    pod,
    request,
    template,
)

from eks_devices import Mig

CUT_BY_DRA, CUT_BY_PLUGIN = (
    group("cut", "p5.48xlarge", mechanism=one, mig=Mig.uniform("1g.10gb")) for one in (DRA, PLUGIN)
)


@pytest.mark.parametrize(
    ("plan", "fix"),
    [
        (CUT_BY_DRA, "claim those that there are, deviceClassName: mig.nvidia.com"),
        (CUT_BY_PLUGIN, "ask for nvidia.com/gpu, which is one of those that there are"),
    ],
)
def test_partitions_that_the_gpus_are_not_cut_into_are_told_with_those_that_there_are(
    plan: Any, fix: str
) -> None:
    (found,) = checked(plan_of(plan), pod(limits={"nvidia.com/mig-2g.20gb": 1})).pods
    (said,) = found.verdicts
    assert (said.code, said.reason) == (
        "NotCut",
        "their GPUs are cut into 1g.10gb, and not 2g.20gb",
    )
    assert said.fix == f"cut them otherwise, the group's mig=, or {fix}"


@pytest.mark.parametrize(
    ("plan", "fix"),
    [
        (P5, "cut them: the group's mig="),
        (CUT_BY_DRA, "claim those that there are, deviceClassName: mig.nvidia.com"),
        (CUT_BY_PLUGIN, "ask for nvidia.com/gpu, which is one of those that there are"),
    ],
)
def test_partitions_without_a_profile_are_no_whole_gpus(plan: Any, fix: str) -> None:
    (found,) = checked(plan_of(plan), pod(limits={"nvidia.com/mig": 1})).pods
    (said,) = found.verdicts
    assert (said.fix, "such as nvidia.com/mig-1g.10gb" in said.reason) == (fix, True)


def test_whole_gpus_where_they_are_cut_are_told_so() -> None:
    (found,) = checked(plan_of(CUT_BY_DRA), template("gpu", request()), pod("gpu")).pods
    (said,) = found.verdicts
    assert said.reason.endswith("whose GPUs are cut into partitions")
    assert said.fix.startswith("claim a partition, deviceClassName: mig.nvidia.com")


@pytest.mark.parametrize(
    ("classes", "kind", "fix"),
    [
        ((GPU,), "p5.48xlarge", "ask for nvidia.com/gpu in limits instead"),
        ((EFA,), "p5.48xlarge", "ask for vpc.amazonaws.com/efa in limits instead"),
        (
            (GPU, EFA),
            "p5.48xlarge",
            "ask for vpc.amazonaws.com/efa and nvidia.com/gpu in limits instead",
        ),
        ((NEURON,), "trn2.48xlarge", "ask for aws.amazon.com/neuron in limits instead"),
    ],
)
def test_claims_of_what_a_plugin_hands_out_are_told_its_resource_alone(
    classes: Any, kind: str, fix: str
) -> None:
    plan = plan_of(group("g", kind, mechanism=PLUGIN))
    asked = template("all", *(request(one) for one in classes))
    (found,) = checked(plan, asked, pod("all")).pods
    assert [one.fix for one in found.verdicts] == [fix]
