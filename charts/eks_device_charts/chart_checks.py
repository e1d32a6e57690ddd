"""cdk8s charts against the node groups of a plan, for apps without the AWS CDK."""

from __future__ import annotations

from collections.abc import Iterable

import cdk8s

from eks_devices import ClusterPlan, Finding
from eks_devices.app_check import check_manifests
from eks_devices.findings import raise_faults
from eks_devices.typecheck import listed, wrong_type
from eks_devices.workload_check import Document


def chart_findings(charts: Iterable[cdk8s.Chart], *, plan: ClusterPlan) -> tuple[Finding, ...]:
    """What is wrong with the claims and Pods of charts on the node groups of a plan.

    An error is a claim or a Pod that no node group can serve, or one that keeps others from being
    scheduled. Charts that belong together are judged in one call: Pods of one may name claims of
    another.

    Args:
        charts: The charts; objects that are added later are not seen.
        plan: The plan of the cluster.

    Raises:
        EksDevicesError: A value has the wrong type, or the extra `check` is not installed,
            `CheckExtraMissing`.
    """
    many, one, fix = "a list of cdk8s charts", "a cdk8s.Chart", "pass a list of charts"
    given, faults = listed(charts, cdk8s.Chart, "charts", many=many, one=one, fix=fix)
    if not isinstance(plan, ClusterPlan):
        faults.append(wrong_type("plan", plan, "a ClusterPlan", "pass what plan_cluster returns"))
    raise_faults(faults)
    documents = [
        Document(origin=str(chart.node.path or chart.node.id), content=item)
        for chart in given
        for item in chart.to_json()
    ]
    return tuple(told.finding for told in check_manifests(documents, plan).findings)
