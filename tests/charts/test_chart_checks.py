"""Charts against the node groups of a plan."""

from __future__ import annotations

from typing import Any

import cdk8s
import pytest
from tests.app_check.manifests import job, template
from tests.cluster_plans import cluster_of
from tests.hostile import TOKEN

from eks_device_charts import ImageSource, chart_findings, claims_chart, device_charts
from eks_devices import DeviceRequest, EksDevicesError, ResourceClaimTemplate

PLAN = cluster_of({"instance_type": "p5.48xlarge"})


def chart_of(*manifests: dict[str, Any], app: Any = None, name: str = "jobs") -> cdk8s.Chart:
    chart = cdk8s.Chart(app or cdk8s.App(), name)
    for number, one in enumerate(manifests):
        made = cdk8s.ApiObject(chart, f"o{number}", api_version="v1", kind=one["kind"])
        made.add_json_patch(cdk8s.JsonPatch.replace("", one))
    return chart


def test_what_groups_can_serve_is_told_nothing():
    assert chart_findings([chart_of(template(8), job("gpus"))], plan=PLAN) == ()


def test_what_no_group_can_serve_is_an_error_at_its_place():
    (told,) = chart_findings([chart_of(template(9), job("gpus"))], plan=PLAN)
    assert (told.code, told.severity) == ("NoNodegroupServesPod", "error")
    assert told.path == "jobs: Job default/train.spec.template.spec"


def test_pods_of_one_chart_may_name_claims_of_another():
    app = cdk8s.App()
    claim = ResourceClaimTemplate(name="gpus", requests=[DeviceRequest.gpu(8)])
    claims = claims_chart(app, [claim], kubernetes_version="1.36")
    jobs = chart_of(job("gpus"), app=app)

    assert chart_findings([claims, jobs], plan=PLAN) == ()
    assert [one.code for one in chart_findings([jobs], plan=PLAN)] == ["ClaimNotFound"]


def test_our_own_managers_are_told_nothing():
    app = cdk8s.App()
    charts = device_charts(app, PLAN, images=ImageSource(region="us-east-2"))
    assert chart_findings(charts, plan=PLAN) == ()


def test_tokens_of_the_aws_cdk_are_unknown():
    selected = job("gpus", nodeSelector={"vpc": TOKEN})
    assert chart_findings([chart_of(template(8), selected)], plan=PLAN) == ()


@pytest.mark.parametrize(
    ("charts", "plan", "path"),
    [([{}], PLAN, "charts[0]"), ("jobs", PLAN, "charts"), ([], 7, "plan")],
)
def test_what_is_no_chart_or_plan_is_refused(charts, plan, path):
    with pytest.raises(EksDevicesError) as raised:
        chart_findings(charts, plan=plan)
    assert [one.path for one in raised.value.faults] == [path]
