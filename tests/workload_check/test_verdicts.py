"""What verdicts come to: the nearest miss first, attempts that fail, groups left to chance."""

from __future__ import annotations

from typing import Any

import pytest
from tests.workload_manifests import (
    DRA,
    EFA,
    G6E,
    GPU,
    NEURON,
    P4D,
    P5,
    PLUGIN,
    TRN1,
    TRN2,
    checked,
    codes,
    group,
    message,
    plan_of,
    pod,
    request,
    said,
    template,
    verdict,
)

from eks_devices import Severity

ONE = template("gpu", request())
GPUS = {"nvidia.com/gpu": 1}


@pytest.mark.parametrize(
    ("manifests", "order"),
    [
        # A toleration is sooner written than another number, and that than another group.
        ([template("gpu", request(count=8)), pod("gpu", tolerations=[])], ["p5", "p4d", "trn2"]),
        ([template("gpu", request(count=9)), pod("gpu")], ["p5", "p4d", "trn2"]),
        ([pod(limits={"vpc.amazonaws.com/efa": 5})], ["p4d", "trn2"]),
    ],
)
def test_the_nearest_miss_comes_first(manifests: Any, order: list[str]) -> None:
    told = message(checked(plan_of(TRN2, P4D, P5), *manifests), "NoNodegroupServesPod")
    places = [told.index(one) for one in order]
    assert places == sorted(places)
    assert f"for {order[0]}, " in told.partition(" | ")[2]


def test_groups_with_one_reason_are_told_together_and_only_some_of_many() -> None:
    many = [group(f"g{at}", "g6e.12xlarge", mechanism=PLUGIN) for at in range(9)]
    told = message(
        checked(plan_of(*many), pod(limits={"nvidia.com/gpu": 9})), "NoNodegroupServesPod"
    )
    assert "g0, g1, g2, g3 and 5 more: it wants 9" in told
    assert told.count("it wants 9") == 1


FAILING = template("gpu", request(GPU, 1, f"device.attributes['{GPU}'].never == 'x'"))
# Trainium2 publishes groups of 16 devices, and Trainium1 groups of 8 and fewer.
GUARDED = template(
    "n", request(NEURON, 1, "device.attributes['resource.aws.com'].devicegroup16_id != ''")
)


def test_a_failing_expression_stops_the_attempt() -> None:
    report = checked(plan_of(P5), FAILING, pod("gpu"))
    assert codes(report) == ["AttemptFailsOnNodegroup"]
    assert verdict(plan_of(P5), FAILING, pod("gpu")) == {"p5": ("error", "ExpressionFails")}


@pytest.mark.parametrize(
    ("selector", "fix"),
    [
        (
            "driverVersion >= '580'",
            f"write device.attributes['{GPU}'].driverVersion.compareTo(semver('580.0.0')) >= 0",
        ),
        ("productname == 'x'", "did you mean gpu.nvidia.com/productName?"),
        ("never == 'x'", "select by an attribute that is published: device.attributes['gpu"),
    ],
)
def test_the_fix_of_an_expression_that_fails_is_what_to_write(selector: str, fix: str) -> None:
    failing = template("gpu", request(GPU, 1, f"device.attributes['{GPU}'].{selector}"))
    (remark,) = checked(plan_of(P5), failing, pod("gpu")).remarks
    assert remark.finding.fix.startswith(fix)


def test_the_fix_of_all_under_a_constraint_is_its_count() -> None:
    root = {"matchAttribute": "resource.kubernetes.io/pcieRoot"}
    every = {"name": "efa", "exactly": {"deviceClassName": EFA, "allocationMode": "All"}}
    aligned = template("gpu", request(), every, constraints=[root])
    report = checked(plan_of(P5), aligned, pod("gpu"))
    assert "write count: 4 instead of All" in message(report, "TooManyDevicesInClaim")
    assert "two claims" not in message(report, "TooManyDevicesInClaim")


def two_kinds() -> Any:
    small = group("small", "trn2.3xlarge", mechanism=DRA)
    return plan_of(TRN2, small)


def test_a_group_that_fails_is_told_though_another_could_serve() -> None:
    report = checked(two_kinds(), GUARDED, pod("n"))
    assert codes(report) == ["AttemptFailsOnNodegroup"]
    told = message(report, "AttemptFailsOnNodegroup")
    assert "nodes of small" in told
    assert "also for trn2, which could serve it" in told
    assert "nodeSelector: {eks-devices/nodegroup: trn2}" in told


def test_a_group_that_pods_never_come_to_fails_nobody() -> None:
    select: Any = {"nodeSelector": {"eks-devices/nodegroup": "trn2"}}
    assert codes(checked(two_kinds(), GUARDED, pod("n", **select))) == []


def test_a_group_that_pods_may_come_to_may_fail_them() -> None:
    zone: Any = {"nodeSelector": {"topology.kubernetes.io/zone": "us-east-2a"}}
    found = codes(checked(two_kinds(), GUARDED, pod("n", **zone)))
    assert found == ["AttemptMayFail", "NotKnownBeforeNodesRun"]


def test_all_under_a_constraint_is_an_error_that_names_the_way_out() -> None:
    asked = {"name": "gpu", "exactly": {"deviceClassName": GPU, "allocationMode": "All"}}
    constraint = {"matchAttribute": f"{GPU}/uuid"}
    whole = template("gpu", asked, constraints=[constraint])
    report = checked(plan_of(P5), whole, pod("gpu"))
    assert "write count: 1 " in message(report, "AttemptFailsOnNodegroup")


def test_pods_that_several_groups_serve_are_told_which() -> None:
    report = checked(plan_of(G6E, P4D), pod(limits=GPUS))
    assert codes(report) == ["SeveralNodegroupsServe"]
    assert not report.is_wrong
    assert "g6e, p4d" in message(report, "SeveralNodegroupsServe")


@pytest.mark.parametrize("label", ["eks-devices/nodegroup", "eks-devices/nodegroup-pool"])
def test_pods_that_select_by_group_are_left_alone(label: str) -> None:
    term = {"matchExpressions": [{"key": label, "operator": "Exists"}]}
    required = {"nodeSelectorTerms": [term]}
    node = {"requiredDuringSchedulingIgnoredDuringExecution": required}
    report = checked(plan_of(G6E, P4D), pod(limits=GPUS, affinity={"nodeAffinity": node}))
    assert "SeveralNodegroupsServe" not in codes(report)


def test_which_group_of_a_pool_serves_does_not_matter() -> None:
    pool = [group(name, "g6e.12xlarge", mechanism=PLUGIN, pool="inference") for name in "ab"]
    assert codes(checked(plan_of(*pool), pod(limits=GPUS))) == []


def test_what_only_nodes_can_tell_is_an_info_with_the_reason() -> None:
    zone: Any = {"nodeSelector": {"topology.kubernetes.io/zone": "us-east-2a"}}
    report = checked(plan_of(G6E), pod(limits=GPUS, **zone))
    assert [one.finding.severity for one in report.remarks] == [Severity.INFO]
    assert "topology.kubernetes.io/zone" in message(report, "NotKnownBeforeNodesRun")


EMPTY = group("p5", "p5.48xlarge", mechanism=DRA, autoscaled=True)


def test_claims_start_no_first_node() -> None:
    report = checked(plan_of(EMPTY), ONE, pod("gpu"))
    assert codes(report) == ["ScaleFromZero"]
    assert "min_size=1" in message(report, "ScaleFromZero")
    assert "Karpenter" in message(report, "ScaleFromZero")


@pytest.mark.parametrize(
    ("groups", "manifest"),
    [
        ((group("p5", "p5.48xlarge", mechanism=DRA, autoscaled=True, min_size=1),), pod("gpu")),
        ((group("p4d", "p4d.24xlarge", mechanism=PLUGIN, autoscaled=True),), pod(limits=GPUS)),
        ((EMPTY, group("b", "p5.48xlarge", mechanism=DRA)), pod("gpu")),
    ],
)
def test_groups_that_have_a_first_node_or_get_one_are_not_told_of(
    groups: Any, manifest: Any
) -> None:
    assert "ScaleFromZero" not in codes(checked(plan_of(*groups), ONE, manifest))


MIXED = group("mixed", "g6.xlarge", mechanism=PLUGIN, alternative_instance_types=("g6.2xlarge",))


def test_a_verdict_holds_for_every_type_of_a_group() -> None:
    assert verdict(plan_of(MIXED), pod(limits=GPUS)) == {"mixed": ("feasible", "")}
    too_many = verdict(plan_of(MIXED), pod(limits={"nvidia.com/gpu": 2}))
    assert too_many == {"mixed": ("infeasible", "TooFewDevices")}


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"nodeSelector": {"node.kubernetes.io/instance-type": "g6.2xlarge"}},
            ["g6.2xlarge: can serve", "g6.xlarge: the Pod selects"],
        ),
        (
            {"containers": [{"name": "a", "resources": {"limits": {**GPUS, "cpu": "6"}}}]},
            ["g6.2xlarge: can serve", "g6.xlarge: it wants 6 CPUs"],
        ),
    ],
)
def test_a_verdict_that_differs_between_types_tells_each(spec: Any, told: list[str]) -> None:
    (found,) = checked(plan_of(MIXED), pod(limits=GPUS, **spec)).pods
    (one,) = found.verdicts
    assert (str(one.status), one.code) == ("unknown", "DependsOnInstanceType")
    assert all(part in one.reason for part in told)


def test_what_no_type_can_serve_is_told_of_each_with_its_reason() -> None:
    (found,) = checked(plan_of(MIXED), pod(limits={**GPUS, "cpu": "9"})).pods
    (one,) = found.verdicts
    assert str(one.status) == "infeasible"
    assert "g6.xlarge: it wants 9 CPUs of a node with 4" in one.reason
    assert "g6.2xlarge: it wants 9 CPUs of a node with 8" in one.reason


def test_how_many_pods_a_node_serves_by_claims_and_by_other_resources() -> None:
    two = template("gpu", request(count=2))
    (found,) = checked(plan_of(P5), two, pod("gpu")).pods
    assert found.verdicts[0].fits == 4
    (found,) = checked(plan_of(P5), two, pod("gpu", limits={"cpu": "100"})).pods
    assert found.verdicts[0].fits == 1


def test_a_plan_without_groups_serves_nobody() -> None:
    report = checked(plan_of(), pod(limits=GPUS))
    assert codes(report) == ["NoNodegroupServesPod"]


def test_capacity_keeps_pods_with_claims_away_before_their_expressions_fail() -> None:
    found = verdict(plan_of(P5), FAILING, pod("gpu", limits={"cpu": "193"}))
    assert found == {"p5": ("infeasible", "TooFewCpus")}


def test_neuron_devices_of_another_mechanism_are_told_with_their_resource() -> None:
    report = checked(plan_of(TRN1), template("n", request(NEURON)), pod("n"))
    assert "aws.amazon.com/neuron" in message(report, "NoNodegroupServesPod")


def shared(count: int) -> tuple[Any, Any]:
    made = template("gpu", request(count=count))
    claim = {**made, "kind": "ResourceClaim", "spec": made["spec"]["spec"]}
    return claim, [{"name": "gpu", "resourceClaimName": "gpu"}]


def test_pods_that_share_a_claim_need_its_devices_once() -> None:
    claim, names = shared(8)
    (found,) = checked(plan_of(P5), claim, pod(resourceClaims=names, limits={"cpu": "19"})).pods
    assert found.verdicts[0].fits == 10
    assert len(found.verdicts[0].devices) == 8


def test_pods_may_share_one_claim_and_have_one_of_their_own() -> None:
    claim, names = shared(2)
    own = template("own", request(count=1))
    more = [*names, {"name": "own", "resourceClaimTemplateName": "own"}]
    (found,) = checked(plan_of(P5), claim, own, pod(resourceClaims=more)).pods
    assert (str(found.verdicts[0].status), found.verdicts[0].fits) == ("feasible", 6)


def test_a_daemon_set_has_one_pod_on_a_node() -> None:
    daemon = pod(limits=GPUS, kind="DaemonSet")
    (found,) = checked(plan_of(G6E), daemon).pods
    assert found.verdicts[0].fits == 1


def test_a_daemon_set_is_told_where_its_pods_wait() -> None:
    everywhere = pod(limits=GPUS, kind="DaemonSet")
    report = checked(plan_of(G6E, TRN1), everywhere)
    assert codes(report) == ["DaemonSetPodsWait"]
    assert "trn1: the nodes have no GPUs" in message(report, "DaemonSetPodsWait")
    kept_away = pod(limits=GPUS, kind="DaemonSet", tolerations=[])
    assert codes(checked(plan_of(G6E, TRN1), kept_away)) == []
    assert codes(checked(plan_of(G6E, P4D), everywhere)) == []


def test_a_pod_with_another_claim_that_nobody_has_is_told_apart_in_one_check() -> None:
    both = [pod("gpu", name="one"), pod("gpu", "missing", name="two")]
    report = checked(plan_of(P5), template("gpu", request()), *both)
    assert [said(one)["p5"][0] for one in report.pods] == ["feasible", "unknown"]


def test_a_claim_is_told_at_its_selector_where_all_groups_refuse_the_same() -> None:
    is_h100, is_l40s = (
        f"device.attributes['{GPU}'].productName.startsWith('NVIDIA {one}')"
        for one in ("H100", "L40S")
    )
    base = ("spec", "spec", "devices", "requests")
    first = (*base, 0, "exactly", "selectors", 0, "cel", "expression")
    other = group("l40s", "g6e.12xlarge", mechanism=DRA)
    for plan, expected in ((plan_of(P5), first), (plan_of(P5, other), base)):
        report = checked(plan, template("gpu", request(GPU, 1, is_l40s, is_h100)))
        assert [one.steps for one in report.remarks] == [expected]
