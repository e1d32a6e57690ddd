"""A managed node group for Pods that need no accelerator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Unpack

from aws_cdk import CfnTag
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from eks_devices import EksDevicesError, Finding, OperatingSystem
from eks_devices.amis import disk_device
from eks_devices.findings import raise_faults
from eks_devices.names import NODEGROUP_LABEL
from eks_devices.system_nodes import (
    SystemNodegroupOptions,
    SystemNodegroupPlan,
    system_nodegroup_faults,
    system_nodegroup_plan,
)
from eks_devices.typecheck import path_step, wrong_type

from .host_registry import host_of
from .hosts import NodegroupHost
from .inputs import id_faults, stage_faults, subnet_faults
from .instance_tags import inherit_tags
from .stable_names import identity, short_hash

if TYPE_CHECKING:
    from .cluster import AcceleratedCluster

_Template = ec2.CfnLaunchTemplate
_LONGEST_ID = 54


class SystemNodegroup(Construct):
    """Ordinary nodes without taints, for CoreDNS and controllers.

    Accelerated nodes repel such Pods by their taints. A cluster needs this group unless other
    nodes of yours take them.

    Attributes:
        plan: What comes of the options.
        launch_template: The launch template, for what this construct has no option for.
        nodegroup: The node group, likewise.
    """

    plan: SystemNodegroupPlan
    launch_template: ec2.CfnLaunchTemplate
    nodegroup: eks.CfnNodegroup

    def __init__(
        self,
        scope: Construct,
        id: str,  # noqa: A002  (the CDK's own name for it)
        *,
        cluster: AcceleratedCluster,
        subnets: Sequence[ec2.ISubnet] | None = None,
        **options: Unpack[SystemNodegroupOptions],
    ) -> None:
        """Draw the launch template and the node group.

        Args:
            scope: Where the construct stands.
            id: Names the group in labels and in EKS, where a hash follows it.
            cluster: The cluster that the nodes join.
            subnets: Where the nodes go; every subnet for nodes of the cluster unless named.
            options: The options of `SystemNodegroupOptions`; see `SystemNodegroupPlan`.

        Raises:
            EksDevicesError: Every fault of the values at once.

        Source: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html
        """
        host = _judged(scope, id, cluster, subnets, options)
        super().__init__(scope, id)
        self.plan = system_nodegroup_plan(id, options)
        self.launch_template = _launch_template(self, self.plan)
        self.nodegroup = _nodegroup(self, host, host.subnets if subnets is None else subnets)
        if host.before_nodes:
            self.nodegroup.node.add_dependency(*host.before_nodes)
        host.others.append(self)

    def inherit_tags(self) -> None:
        """Give instances the tags of the group's scopes, when all are known."""
        inherit_tags(self.launch_template, self.nodegroup, self.plan.name, {}, {})


def _judged(
    scope: Construct,
    id: str,  # noqa: A002  (the CDK's own name for it)
    cluster: object,
    subnets: object,
    options: SystemNodegroupOptions,
) -> NodegroupHost:
    """What the group joins, or every fault of what it was given."""
    path, host = f"nodegroups.{path_step(id)}", host_of(cluster)
    faults = [
        *system_nodegroup_faults(id, options),
        *_subnets_faults(subnets, f"{path}.subnets"),
        *id_faults(scope, id, path),
    ]
    if host is None:
        fix = "pass the cluster construct"
        fault = wrong_type(f"{path}.cluster", cluster, "an AcceleratedCluster", fix)
        raise EksDevicesError([fault, *faults])
    raise_faults([*faults, *stage_faults(scope, host.home, path)])
    return host


def _subnets_faults(subnets: object, path: str) -> Iterator[Finding]:
    if subnets is None:
        return
    fix = "pass a list, for example vpc.private_subnets, or leave it out"
    if not isinstance(subnets, Sequence) or isinstance(subnets, (str, bytes)) or not subnets:
        yield wrong_type(path, subnets, "a list of one or more ec2.ISubnet, or None", fix)
        return
    for index, subnet in enumerate(subnets):
        at = f"{path}[{index}]"
        if subnet is None:
            yield wrong_type(at, subnet, "an ec2.ISubnet", fix)
        yield from subnet_faults(subnet, at)


def _launch_template(scope: Construct, plan: SystemNodegroupPlan) -> ec2.CfnLaunchTemplate:
    return _Template(
        scope,
        "LaunchTemplate",
        # Neither types, which the group names, nor security groups, for which EKS takes the
        # cluster's own.
        launch_template_data=_Template.LaunchTemplateDataProperty(
            block_device_mappings=[_disk(plan)],
            # Pods get roles of their own; one hop keeps them from the nodes'.
            metadata_options=_Template.MetadataOptionsProperty(
                http_tokens="required", http_put_response_hop_limit=1
            ),
            tag_specifications=[
                _Template.TagSpecificationProperty(
                    resource_type=kind, tags=[CfnTag(key="Name", value=plan.name)]
                )
                for kind in ("instance", "volume")
            ],
        ),
    )


def _disk(plan: SystemNodegroupPlan) -> ec2.CfnLaunchTemplate.BlockDeviceMappingProperty:
    return _Template.BlockDeviceMappingProperty(
        device_name=disk_device(OperatingSystem.AL2023),
        ebs=_Template.EbsProperty(
            volume_size=plan.disk_gib,
            volume_type="gp3",
            encrypted=True,
            delete_on_termination=True,
        ),
    )


def _nodegroup(
    group: SystemNodegroup, host: NodegroupHost, subnets: Sequence[ec2.ISubnet]
) -> eks.CfnNodegroup:
    plan, template = group.plan, group.launch_template
    role_arn = host.node_role.role_arn
    subnet_ids = [subnet.subnet_id for subnet in subnets]
    return eks.CfnNodegroup(
        group,
        "Resource",
        cluster_name=host.cluster_name,
        nodegroup_name=_name(group, role_arn, subnet_ids),
        node_role=role_arn,
        subnets=subnet_ids,
        ami_type=plan.ami_type,
        instance_types=list(plan.instance_types),
        # Without it an upgrade of the cluster would leave the nodes behind.
        version=host.kubernetes_version,
        launch_template=eks.CfnNodegroup.LaunchTemplateSpecificationProperty(
            id=template.ref, version=template.attr_latest_version_number
        ),
        scaling_config=eks.CfnNodegroup.ScalingConfigProperty(
            min_size=plan.min_size, desired_size=plan.desired_size, max_size=plan.max_size
        ),
        node_repair_config=eks.CfnNodegroup.NodeRepairConfigProperty(enabled=True),
        labels={NODEGROUP_LABEL: plan.name},
    )


def _name(group: SystemNodegroup, role_arn: str, subnet_ids: Sequence[str]) -> str:
    """A name that changes exactly when EKS has to make a new group."""
    plan = group.plan
    changes = [
        group.node.addr,
        plan.ami_type,
        plan.instance_types,
        identity(group, role_arn),
        [identity(group, subnet_id) for subnet_id in subnet_ids],
    ]
    return f"{plan.name[:_LONGEST_ID]}-{short_hash(changes)}"
