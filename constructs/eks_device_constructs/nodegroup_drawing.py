"""Draws the managed node group of a plan, its placement group and its scheduled size."""

from __future__ import annotations

from itertools import pairwise
from typing import cast

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IConstruct

from eks_devices import NodegroupPlan
from eks_devices.amis import CUSTOM_AMI
from eks_devices.launch_template import template_data
from eks_devices.user_data import user_data

from .launch_template import encoded, launch_template
from .nodegroup_inputs import Judged
from .scheduled_size import schedule_size
from .security_group import allow_efa, is_own
from .stable_names import nodegroup_name
from .tree import Remembered, address_of, identity_of, node_of

_Nodegroup = eks.CfnNodegroup


def draw_nodegroup(
    scope: Construct, judged: Judged
) -> tuple[ec2.CfnLaunchTemplate, eks.CfnNodegroup, list[IConstruct]]:
    """The launch template, the node group of a plan, and what installs its managers."""
    host, plan = judged.host, judged.plan
    group_ids, needed = _security_groups(judged)
    data = template_data(
        plan,
        security_group_ids=[host.cluster_security_group_id, *group_ids],
        placement_group=_placement_group(scope, plan),
        user_data=encoded(user_data(plan, access=host.access)),
    )
    template = launch_template(scope, data)
    nodegroup, name = _nodegroup(scope, judged, template)
    # Pods that need a device find its manager on the first node, and nodes whose security group
    # lacks its rules cannot reach each other over EFA.
    managers = judged.serving.install(plan)
    needed += [*host.before_nodes, *managers]
    if needed:
        nodegroup.node.add_dependency(*needed)
    if plan.scheduled_size is not None:
        schedule = schedule_size(scope, host, name, plan.scheduled_size)
        schedule.node.add_dependency(nodegroup)
    return template, nodegroup, managers


def _security_groups(judged: Judged) -> tuple[list[str], list[IConstruct]]:
    """The groups of the nodes beside the cluster's, by id, and what nodes wait for."""
    own, efa = judged.given.security_group, bool(judged.plan.network_interfaces)
    if own is None:
        shared = judged.host.efa_group if efa else None
        # The launch template refers to the group itself, which so comes first anyway.
        return ([_short_id(shared)], [_last_rule(shared)]) if shared else ([], [])
    if efa:
        allow_efa(own)
    return [own.security_group_id], [own] if is_own(own) else []


@Remembered
def _short_id(group: IConstruct) -> str:
    """The id of the group that nodes share, in few bytes: it stands in each of many interfaces.

    `Ref` is the id as GroupId is, for groups in a network.

    Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-securitygroup.html
    """
    return str(cast(ec2.CfnSecurityGroup, node_of(group).default_child).ref)


@Remembered
def _last_rule(group: IConstruct) -> IConstruct:
    """The rule of a group that comes after its others, so that nodes wait for it alone."""
    kinds = ec2.CfnSecurityGroupIngress, ec2.CfnSecurityGroupEgress
    rules = [one for one in node_of(group).children if isinstance(one, kinds)]
    for first, then in pairwise(rules):
        then.node.add_dependency(first)
    return rules[-1]


def _placement_group(scope: Construct, plan: NodegroupPlan) -> str | None:
    """The name of the group's placement group, which is made where none is named."""
    if plan.placement_group is True:
        made = ec2.CfnPlacementGroup(scope, "PlacementGroup", strategy="cluster")
        return str(made.ref)
    return plan.placement_group or None


def _nodegroup(
    scope: Construct, judged: Judged, template: ec2.CfnLaunchTemplate
) -> tuple[eks.CfnNodegroup, str]:
    plan, custom = judged.plan, judged.plan.ami_type == CUSTOM_AMI
    host, own_role = judged.host, judged.given.node_role
    role_arn = own_role.role_arn if own_role else host.node_role_arn
    name = _name(judged, role_arn)
    nodegroup = _Nodegroup(
        scope,
        "Resource",
        cluster_name=host.cluster_name,
        nodegroup_name=name,
        node_role=role_arn,
        subnets=judged.subnet_ids,
        ami_type=None if custom else plan.ami_type,
        # Without it an upgrade of the cluster would leave the nodes behind; EKS takes none with
        # an image of the user's own.
        version=None if custom else plan.kubernetes_version,
        release_version=plan.release_version,
        capacity_type=plan.capacity.capacity_type,
        instance_types=list(plan.instance_types) if len(plan.instance_types) > 1 else None,
        launch_template=_Nodegroup.LaunchTemplateSpecificationProperty(
            id=template.ref, version=template.attr_latest_version_number
        ),
        scaling_config=_scaling(plan),
        update_config=_update(plan),
        node_repair_config=_repair(plan),
        labels=dict(plan.labels),
        taints=_taints(plan),
    )
    if plan.capacity.is_reserved:
        # The replacement cannot have nodes while the old group holds the reservation, so the
        # old group stays until it was drained and deleted by hand.
        nodegroup.add_override("UpdateReplacePolicy", "Retain")
        nodegroup.add_override("DeletionPolicy", "Delete")
    return nodegroup, name


def _name(judged: Judged, role_arn: str) -> str:
    """A name that changes exactly when EKS has to make a new group."""
    plan, scope = judged.plan, judged.scope
    parts = [
        [address_of(scope), plan.name],
        plan.replace_key,
        plan.ami_type,
        plan.capacity.capacity_type,
        identity_of(scope, role_arn),
        [identity_of(scope, subnet_id) for subnet_id in judged.subnet_ids],
    ]
    return nodegroup_name(plan.name, parts)


def _scaling(plan: NodegroupPlan) -> eks.CfnNodegroup.ScalingConfigProperty:
    return _Nodegroup.ScalingConfigProperty(
        min_size=plan.min_size, desired_size=plan.desired_size, max_size=plan.max_size
    )


def _update(plan: NodegroupPlan) -> eks.CfnNodegroup.UpdateConfigProperty | None:
    if plan.update is None:
        return None
    return _Nodegroup.UpdateConfigProperty(
        max_unavailable=plan.update.max_unavailable,
        max_unavailable_percentage=plan.update.max_unavailable_percentage,
        update_strategy=plan.update.strategy and str(plan.update.strategy),
    )


def _repair(plan: NodegroupPlan) -> eks.CfnNodegroup.NodeRepairConfigProperty:
    repair = plan.node_repair
    if repair is None:
        # Leaving it out would not switch it off on a group that has it on.
        return _Nodegroup.NodeRepairConfigProperty(enabled=False)
    return _Nodegroup.NodeRepairConfigProperty(
        enabled=True,
        max_parallel_nodes_repaired_count=repair.max_parallel,
        max_parallel_nodes_repaired_percentage=repair.max_parallel_percentage,
        max_unhealthy_node_threshold_count=repair.unhealthy_threshold,
        max_unhealthy_node_threshold_percentage=repair.unhealthy_threshold_percentage,
        node_repair_config_overrides=[
            _Nodegroup.NodeRepairConfigOverridesProperty(
                node_monitoring_condition=one.condition,
                node_unhealthy_reason=one.reason,
                min_repair_wait_time_mins=one.wait_minutes,
                repair_action=str(one.action),
            )
            for one in repair.overrides
        ]
        or None,
    )


def _taints(plan: NodegroupPlan) -> list[eks.CfnNodegroup.TaintProperty]:
    return [
        _Nodegroup.TaintProperty(key=taint.key, value=taint.value or None, effect=taint.eks_effect)
        for taint in plan.taints
    ]
