"""Claims that are made for groups: on their nodes, and on those of the other groups."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cluster_plans import cluster_of
from tests.short_names import DRA

from eks_devices import (
    ClusterPlan,
    DeviceRequest,
    Finding,
    MatchAttribute,
    ResourceClaimTemplate,
    Severity,
)
from eks_devices.app_check import claim_faults, fleet_findings, not_repeated
from eks_devices.claim_checks import ClaimChecks
from eks_devices.claims.on_nodegroup import claim_findings, claim_manifest

P5, P5EN, TRN2 = ({"instance_type": f"{one}.48xlarge"} for one in ("p5", "p5en", "trn2"))
VOODOO = 'device.attributes["gpu.nvidia.com"].productName == "Voodoo"'
NOTHING = 'device.attributes["gpu.nvidia.com"].nothing == "x"'


def claim_of(*requests: DeviceRequest, match: str = "") -> ResourceClaimTemplate:
    attribute = MatchAttribute.of(match) if match else None
    return ResourceClaimTemplate(name="c", namespace="n", requests=requests, match=attribute)


def on_own(claim: ResourceClaimTemplate, plan: ClusterPlan) -> list[Finding]:
    """What is told of a claim that is made for all groups of a plan."""
    group = plan.nodegroups[0]
    manifest = claim_manifest(claim, group)
    said = claim_findings(claim, manifest, group)
    return claim_faults(claim, manifest, plan.nodegroups, said)


def beside(claim: ResourceClaimTemplate, plan: ClusterPlan) -> list[Finding]:
    """What is told of the other groups to a claim of the first."""
    own = plan.nodegroups[:1]
    return [*fleet_findings(claim, claim_manifest(claim, own[0]), own, plan)]


def codes(found: list[Finding]) -> list[str]:
    return [one.code for one in found]


def gpu(*selectors: str) -> DeviceRequest:
    request = DeviceRequest.gpu(1)
    for one in selectors:
        request = request.where(one)
    return request


def test_a_claim_that_its_group_can_serve_is_told_nothing():
    assert on_own(claim_of(gpu()), cluster_of(P5)) == []


def test_a_selector_that_matches_no_device_of_the_group_is_a_fault_in_plain_words():
    (told,) = on_own(claim_of(gpu(VOODOO)), cluster_of(P5))
    assert (told.code, told.severity, told.path) == ("NoDeviceMatches", "error", "claims.n/c")
    assert "no node of g0 can ever serve the claim" in told.message
    assert "selector 0" in told.message


def test_groups_of_a_pool_are_told_together():
    (told,) = on_own(claim_of(gpu(VOODOO)), cluster_of(P5, P5))
    assert "no node of g0, g1 can ever" in told.message


MIXED = {
    "instance_type": "inf2.8xlarge",
    "alternative_instance_types": ["inf2.xlarge"],
    "mechanism": DRA,
}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("inf2.8xlarge", [("DependsOnInstanceType", "info")]),
        ("inf2.xlarge", [("DependsOnInstanceType", "info")]),
        ("inf2.2xlarge", [("NoDeviceMatches", "error")]),
    ],
)
def test_a_group_of_several_types_is_at_fault_where_none_of_them_serves(name, told):
    asked = DeviceRequest.neuron(1).where(
        f'device.attributes["neuron.aws.com"].instanceType == "{name}"'
    )
    found = on_own(claim_of(asked), cluster_of(MIXED))
    assert [(one.code, one.severity) for one in found] == told


def test_of_many_groups_the_first_are_named():
    (told,) = on_own(claim_of(gpu(VOODOO)), cluster_of(*[P5] * 9))
    assert "no node of g0, g1, g2, g3 and 5 more can ever" in told.message


@pytest.mark.parametrize(
    ("selector", "code", "fix"),
    [
        (NOTHING, "ExpressionFails", "select by an attribute that is published"),
        ("1", "ExpressionInvalid", "compare it with something, by == or the like"),
    ],
)
def test_expressions_at_fault_are_told_with_what_to_write(selector, code, fix):
    (told,) = on_own(claim_of(gpu(selector)), cluster_of(P5))
    assert told.code == code
    assert told.fix.startswith(fix)


def test_what_the_rules_of_claims_say_already_is_not_told_again():
    claim = claim_of(gpu(), DeviceRequest.efa(1), match="gpu.nvidia.com/foo")
    assert on_own(claim, cluster_of(P5)) == []
    foreign = claim_of(gpu(), DeviceRequest.efa(1), match="example.com/foo")
    assert codes(on_own(foreign, cluster_of(P5))) == ["ConstraintNeverHolds"]


def test_types_without_published_data_tell_nothing_of_a_plain_claim():
    assert on_own(claim_of(gpu()), cluster_of({"instance_type": "g7e.48xlarge"})) == []


def test_what_only_a_running_node_tells_is_an_info():
    (told,) = on_own(claim_of(gpu(VOODOO)), cluster_of({"instance_type": "g7e.48xlarge"}))
    assert (told.code, told.severity) == ("KnownAtRunTime", Severity.INFO)


def test_other_groups_that_can_serve_a_claim_are_named_with_what_keeps_its_pods_here():
    (told,) = beside(claim_of(gpu()), cluster_of(P5, P5EN, TRN2))
    assert (told.code, told.severity) == ("ClaimServedElsewhere", Severity.INFO)
    assert "nodes of g1 can serve" in told.message
    assert "eks-devices/nodegroup: g0" in told.fix


def test_groups_that_pods_of_the_claim_need_not_tolerate_are_left_out():
    assert beside(claim_of(DeviceRequest.efa(4)), cluster_of(P5, TRN2)) == []


def test_groups_at_which_an_expression_fails_are_warned_of():
    text = 'device.attributes["neuron.aws.com"].topology_x == 0'
    claim = claim_of(DeviceRequest.neuron(1).where(text))
    told = beside(claim, cluster_of(TRN2, {"instance_type": "inf2.48xlarge", "mechanism": DRA}))
    assert codes(told) == ["ClaimStopsScheduling"]
    assert told[0].severity is Severity.WARNING
    assert "while there are nodes of g1" in told[0].message
    assert "eks-devices/nodegroup: g0" in told[0].fix


def test_an_attribute_that_the_verdict_tells_is_told_once():
    misspelt = f"{NOTHING.partition('nothing')[0]}productname == 'x'"
    claim, plan = claim_of(gpu(misspelt)), cluster_of(P5, P5EN)
    manifest = claim_manifest(claim, plan.nodegroups[0])
    said = claim_findings(claim, manifest, plan.nodegroups[0])
    more = on_own(claim, cluster_of(P5))

    assert "AttributeNotPublished" in codes(said)
    assert codes(more) == ["ExpressionFails"]
    assert "AttributeNotPublished" not in codes(not_repeated(said, more))
    assert not_repeated(said, []) == [*said]


def test_nothing_keeps_pods_on_nodes_that_cannot_serve_their_claim():
    assert beside(claim_of(gpu(NOTHING)), cluster_of(P5, P5EN)) == []


def test_a_claim_that_pods_of_the_app_name_is_told_with_them_alone():
    own, plan = cluster_of(P5, P5EN).nodegroups[:1], cluster_of(P5, P5EN)
    claim = claim_of(gpu())
    manifest = claim_manifest(claim, own[0])
    assert [*fleet_findings(claim, manifest, own, plan, is_named=True)] == []


def test_a_group_alone_has_no_others():
    assert beside(claim_of(gpu()), cluster_of(P5)) == []


def graded(checks: ClaimChecks) -> list[Any]:
    found = on_own(claim_of(gpu(VOODOO)), cluster_of(P5))
    return [one.severity for one in checks.graded(found)]


def test_faults_are_told_as_the_option_says():
    assert graded(ClaimChecks.ERROR) == [Severity.ERROR]
    assert graded(ClaimChecks.WARN) == [Severity.WARNING]
    assert graded(ClaimChecks.OFF) == []
