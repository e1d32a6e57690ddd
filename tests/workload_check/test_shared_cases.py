"""Workloads as people write them, each against the plans that it is served by and is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.workload_manifests import DRA, PLUGIN, TRN1, TRN2, codes, group, plan_of

from eks_device_operations.manifests import read_manifests
from eks_devices import GpuSharing, Mig, MigStrategy
from eks_devices.workload_check import Document, WorkloadReport, check_workloads

CASES = Path(__file__).parent / "cases"
P5_PLUGIN = group("p5", "p5.48xlarge", mechanism=PLUGIN, hugepages_2mi=5128)
P5 = group("p5", "p5.48xlarge", mechanism=DRA)
P5EN = group("p5en", "p5en.48xlarge", mechanism=PLUGIN)
P4D = group("p4d", "p4d.24xlarge", mechanism=PLUGIN)
G6E = group("g6e", "g6e.12xlarge", mechanism=PLUGIN)
INF2 = group("inf2", "inf2.48xlarge")
TRN2_PLUGIN = group("trn2", "trn2.48xlarge", mechanism=PLUGIN)
SHARED = group(
    "shared",
    "g6e.12xlarge",
    mechanism=PLUGIN,
    gpu_sharing=GpuSharing.time_slicing(replicas=4, rename=True),
)
CUT = group(
    "cut",
    "p4de.24xlarge",
    mechanism=PLUGIN,
    mig=Mig.layout("3g.40gb", "1g.10gb", strategy=MigStrategy.MIXED),
)
ONE_OF_SEVERAL: dict[str, list[tuple[Any, str, list[str]]]] = {
    "01-nccl-mpijob-p5": [
        (plan_of(P5_PLUGIN), "feasible", []),
        (plan_of(P5), "infeasible", ["NoNodegroupServesPod"]),
        (plan_of(P4D), "infeasible", ["NoNodegroupServesPod"]),
    ],
    "02-neuron-train-indexed-job": [
        (plan_of(TRN2_PLUGIN), "feasible", []),
        (plan_of(TRN2), "infeasible", ["NoNodegroupServesPod"]),
        (plan_of(TRN1), "infeasible", ["NoNodegroupServesPod"]),
    ],
    "03-vllm-deployment-tp4": [
        (plan_of(G6E), "feasible", []),
        (plan_of(P5), "feasible", []),
        (plan_of(P5, version="1.35"), "infeasible", ["NoNodegroupServesPod"]),
        (plan_of(SHARED), "infeasible", ["NoNodegroupServesPod"]),
    ],
    "05-pytorchjob-elastic": [
        (plan_of(P4D), "feasible", []),
        (plan_of(G6E), "infeasible", ["NoNodegroupServesPod"] * 2),
    ],
    "06-leaderworkerset": [
        (plan_of(P5EN), "feasible", []),
        (plan_of(P4D), "infeasible", ["NoNodegroupServesPod"] * 2),
    ],
    "07-initcontainer-gpu": [(plan_of(group("g", "g6.xlarge", mechanism=PLUGIN)), "feasible", [])],
    "09-timeslice-shared-gpu": [
        # EKS adds a toleration by the name of the resource, and the taint has another.
        (plan_of(SHARED), "infeasible", ["NoNodegroupServesPod"]),
        (plan_of(P5), "infeasible", ["NoNodegroupServesPod"]),
    ],
    "10-mig-mixed-strategy": [
        (plan_of(CUT), "infeasible", ["NoNodegroupServesPod"]),
        (plan_of(G6E), "infeasible", ["NoNodegroupServesPod"]),
    ],
    "11-neuroncore-fraction": [(plan_of(INF2), "infeasible", ["NoNodegroupServesPod"])],
    "12-requests-not-equal-limits": [
        (plan_of(G6E), "infeasible", ["RequestNotEqualToLimit"] * 2),
    ],
    "14-neuron-partial-set": [
        # Of another scheduler nothing is known.
        (plan_of(TRN2_PLUGIN), "unknown", ["NotKnownBeforeNodesRun"] * 2),
        (plan_of(TRN2), "infeasible", ["NoNodegroupServesPod"] * 2),
    ],
    "18-namespace-quota": [
        (plan_of(G6E), "feasible", []),
        (plan_of(P5), "feasible", []),
    ],
}
ROWS = [
    pytest.param(name, *row, id=f"{name}-{at}")
    for name, rows in ONE_OF_SEVERAL.items()
    for at, row in enumerate(rows)
]


def report_of(name: str, plan: Any) -> WorkloadReport:
    read = read_manifests(CASES / f"{name}.yaml")
    return check_workloads([Document(origin=name, content=one.content) for one in read], plan)


@pytest.mark.parametrize(("name", "plan", "status", "told"), ROWS)
def test_a_workload_gets_the_verdict_that_people_expect(
    name: str, plan: Any, status: str, told: list[str]
) -> None:
    report = report_of(name, plan)
    assert {str(one.verdicts[0].status) for one in report.pods} == {status}
    ours = [one for one in codes(report) if one in {*told, "NoNodegroupServesPod"}]
    assert ours == told


def test_every_case_has_an_answer() -> None:
    assert {one.stem for one in CASES.glob("*.yaml")} == set(ONE_OF_SEVERAL)


@pytest.mark.parametrize(
    ("name", "plan", "fix"),
    [
        ("09-timeslice-shared-gpu", plan_of(SHARED), "{key: nvidia.com/gpu, operator: Exists}"),
        ("10-mig-mixed-strategy", plan_of(CUT), "{key: nvidia.com/gpu, operator: Exists}"),
        ("11-neuroncore-fraction", plan_of(INF2), "{key: aws.amazon.com/neuron, operator: Exists}"),
        ("06-leaderworkerset", plan_of(P4D), "at most 4 vpc.amazonaws.com/efa"),
        ("02-neuron-train-indexed-job", plan_of(TRN2), "deviceClassName: neuron.aws.com"),
    ],
)
def test_a_workload_that_nothing_serves_is_told_what_to_write(
    name: str, plan: Any, fix: str
) -> None:
    report = report_of(name, plan)
    assert all(
        fix in one.finding.fix
        for one in report.remarks
        if one.finding.code == "NoNodegroupServesPod"
    )
    assert report.is_wrong
