"""The role of what watches Neuron devices: what it may do, for whom, and in which cluster."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_eks_v2 as eks
from aws_cdk.assertions import Template

from eks_device_charts import ImageSource
from eks_device_charts.manifests.neuron_health import health_objects
from eks_device_constructs.addons import addons_of
from eks_device_constructs.neuron_recovery import NeuronRecovery, recovery_findings
from eks_devices import NeuronHealth

RECOVERY, METRICS = NeuronHealth(recovery=True), NeuronHealth(cloudwatch_metrics=True)


def drawn(health: NeuronHealth, cluster_name: str = "shared") -> dict[str, dict[str, Any]]:
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(region="us-east-2"))
    NeuronRecovery(stack, cluster_name=cluster_name, health=health)
    return properties(Template.from_stack(stack))


def properties(template: Template) -> dict[str, dict[str, Any]]:
    found = {}
    for one in template.to_json()["Resources"].values():
        if one["Type"] not in found:
            found[one["Type"]] = one["Properties"]
    return found


def statements(health: NeuronHealth) -> dict[str, dict[str, Any]]:
    (policy,) = drawn(health)["AWS::IAM::Role"]["Policies"]
    found: dict[str, dict[str, Any]] = {}
    for one in policy["PolicyDocument"]["Statement"]:
        actions = one["Action"] if isinstance(one["Action"], list) else [one["Action"]]
        found |= dict.fromkeys(actions, one)
    return found


def test_recovery_reaches_the_groups_of_its_cluster_alone():
    found = statements(RECOVERY)["autoscaling:SetInstanceHealth"]

    (_, parts) = found["Resource"]["Fn::Join"]
    arn = "".join(one if isinstance(one, str) else "x" for one in parts)
    assert arn == "arn:x:autoscaling:us-east-2:x:autoScalingGroup:*:autoScalingGroupName/eks-*"
    assert found["Condition"] == {
        "StringEquals": {"autoscaling:ResourceTag/eks:cluster-name": "shared"}
    }


@pytest.mark.parametrize(
    "action", ["autoscaling:DescribeAutoScalingInstances", "ec2:DescribeInstances"]
)
def test_what_only_reads_names_no_group(action):
    found = statements(RECOVERY)[action]

    assert found["Resource"] == "*"
    assert "Condition" not in found


def test_metrics_go_to_one_namespace():
    found = statements(METRICS)["cloudwatch:PutMetricData"]

    assert found["Condition"] == {"StringEquals": {"cloudwatch:namespace": "NeuronHealthCheck"}}


def test_there_is_nothing_more():
    reading = {"autoscaling:DescribeAutoScalingInstances", "ec2:DescribeInstances"}
    counting = {"cloudwatch:PutMetricData"}

    assert statements(METRICS).keys() == reading | counting
    assert statements(RECOVERY).keys() == reading | counting | {"autoscaling:SetInstanceHealth"}
    for health in (METRICS, RECOVERY):
        assert "ManagedPolicyArns" not in drawn(health)["AWS::IAM::Role"]


def test_only_pod_identity_may_have_the_role():
    trust = drawn(RECOVERY)["AWS::IAM::Role"]["AssumeRolePolicyDocument"]["Statement"]

    assert [(one["Effect"], one["Principal"]) for one in trust] == [
        ("Allow", {"Service": "pods.eks.amazonaws.com"})
    ]
    assert sorted(trust[0]["Action"]) == ["sts:AssumeRole", "sts:TagSession"]


def test_the_role_is_for_the_account_of_the_pods():
    found = drawn(RECOVERY)["AWS::EKS::PodIdentityAssociation"]
    items = health_objects(RECOVERY, ImageSource())
    (daemons,) = (one for one in items if one["kind"] == "DaemonSet")

    assert found["ClusterName"] == "shared"
    assert found["Namespace"] == daemons["metadata"]["namespace"]
    assert found["ServiceAccount"] == daemons["spec"]["template"]["spec"]["serviceAccountName"]


def test_a_cluster_of_this_app_is_named_by_reference(make_world):
    world = make_world()

    NeuronRecovery(world.stack, cluster_name=world.cluster.cluster.cluster_name, health=RECOVERY)

    found = world.only("AWS::EKS::PodIdentityAssociation")["Properties"]
    (cluster,) = world.template().find_resources("AWS::EKS::Cluster")
    assert found["ClusterName"] == {"Ref": cluster}
    condition = {"autoscaling:ResourceTag/eks:cluster-name": {"Ref": cluster}}
    roles = world.template().find_resources("AWS::IAM::Role").values()
    own = [one["Properties"]["Policies"] for one in roles if "Policies" in one["Properties"]]
    documents = [one[0]["PolicyDocument"]["Statement"] for one in own]
    assert [one[0]["Condition"] for one in documents] == [{"StringEquals": condition}]


def test_a_cluster_of_others_is_named_by_its_name():
    stack = cdk.Stack(cdk.App(), "Stack")
    cluster = eks.Cluster.from_cluster_attributes(stack, "Imported", cluster_name="theirs")

    NeuronRecovery(stack, cluster_name=cluster.cluster_name, health=RECOVERY)

    found = properties(Template.from_stack(stack))["AWS::EKS::PodIdentityAssociation"]
    assert found["ClusterName"] == "theirs"


@pytest.mark.parametrize(
    ("addons", "served"),
    [(None, True), (["vpc-cni", "eks-pod-identity-agent"], True), (["vpc-cni"], False)],
)
def test_a_role_that_nobody_hands_out_is_told(make_world, addons, served):
    cluster = make_world(addons=addons).cluster.cluster

    serves = addons_of(cluster).serves_identity
    codes = [one.code for one in recovery_findings(RECOVERY, serves_identity=serves, waits=True)]

    assert serves is served
    assert codes == ([] if served else ["RoleNotServed"])


def test_nothing_is_told_where_no_role_is_needed_or_nothing_is_known():
    assert [*recovery_findings(NeuronHealth(), serves_identity=False, waits=True)] == []
    assert [*recovery_findings(None, serves_identity=False, waits=True)] == []
    assert [*recovery_findings(RECOVERY, serves_identity=None, waits=True)] == []


@pytest.mark.parametrize(
    ("health", "waits", "expected"),
    [
        (RECOVERY, False, ["RoleBeforePods"]),
        (METRICS, False, ["RoleBeforePods"]),
        (RECOVERY, True, []),
        (NeuronHealth(), False, []),
        (None, False, []),
    ],
)
def test_pods_that_do_not_wait_for_their_role_are_told_of(health, waits, expected):
    found = recovery_findings(health, serves_identity=True, waits=waits)

    assert [one.code for one in found] == expected
