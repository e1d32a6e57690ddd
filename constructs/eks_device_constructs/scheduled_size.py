"""Gives a node group its nodes when its reservation starts, by EventBridge Scheduler."""

from __future__ import annotations

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from eks_devices.plans import ScheduledSize

from .hosts import NodegroupHost
from .tree import once


def schedule_size(
    scope: Construct, host: NodegroupHost, nodegroup_name: str, size: ScheduledSize
) -> scheduler.CfnSchedule:
    """Call UpdateNodegroupConfig once, at a time.

    EKS then knows the sizes, as after a change by hand; an action of the Auto Scaling group would
    need its name, which CloudFormation does not tell.

    Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html
    """
    stack = Stack.of(scope)
    request = {
        "ClusterName": host.cluster_name,
        "NodegroupName": nodegroup_name,
        "ScalingConfig": {
            "MinSize": size.min_size,
            "DesiredSize": size.desired_size,
            "MaxSize": size.max_size,
        },
    }
    return scheduler.CfnSchedule(
        scope,
        "ScheduledSize",
        description=f"Gives the node group {nodegroup_name} its nodes",
        flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
        schedule_expression=f"at({size.at})",
        schedule_expression_timezone="UTC",
        target=scheduler.CfnSchedule.TargetProperty(
            arn=f"arn:{stack.partition}:scheduler:::aws-sdk:eks:updateNodegroupConfig",
            role_arn=_role(host).role_arn,
            input=stack.to_json_string(request),
        ),
    )


def _role(host: NodegroupHost) -> iam.Role:
    """The role of all schedules of a cluster: it may resize its groups."""

    def make(home: Construct, id_: str) -> iam.Role:
        groups = Stack.of(home).format_arn(
            service="eks", resource="nodegroup", resource_name=f"{host.cluster_name}/*"
        )
        statement = iam.PolicyStatement(actions=["eks:UpdateNodegroupConfig"], resources=[groups])
        return iam.Role(
            home,
            id_,
            assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com"),
            inline_policies={"Resize": iam.PolicyDocument(statements=[statement])},
        )

    return once(host.home, "EksDevicesScalingRole", make)
