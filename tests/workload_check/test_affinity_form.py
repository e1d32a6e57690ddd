"""Node affinity that the API server refuses, which is told where it stands and as nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from tests.affinity_forms import FINE, WRONG
from tests.workload_manifests import P5, checked, codes, plan_of, pod, request, template

from eks_devices.workload_check import Remark

PLAN = plan_of(P5)
ONE = template("gpu", request())


def told(affinity: Any) -> list[Remark]:
    return list(checked(PLAN, ONE, pod("gpu", affinity=affinity)).remarks)


@pytest.mark.parametrize("name", FINE)
def test_of_what_api_servers_take_nothing_is_told(name: str) -> None:
    report = checked(PLAN, ONE, pod("gpu", affinity=FINE[name]))
    found = (codes(report), str(report.pods[0].verdicts[0].status))
    # Which nodes there are, only a running cluster knows.
    by_name = (["NotKnownBeforeNodesRun"], "unknown")
    assert found == (by_name if name == "the name of a node" else ([], "feasible"))


@pytest.mark.parametrize("name", WRONG)
def test_what_api_servers_refuse_is_told_where_it_stands(name: str) -> None:
    affinity, code, step, fix = WRONG[name]
    found = [one for one in told(affinity) if one.finding.code == code]
    assert step in [one.steps[-1] for one in found]
    assert any(fix in one.finding.fix for one in found)


@pytest.mark.parametrize("name", WRONG)
def test_of_what_is_refused_no_group_is_said_to_differ(name: str) -> None:
    report = checked(PLAN, ONE, pod("gpu", affinity=WRONG[name][0]))
    assert "NoNodegroupServesPod" not in codes(report)
    assert [str(one.status) for one in report.pods[0].verdicts] == ["infeasible"]
