"""An accelerated managed node group, drawn from its plan."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from aws_cdk import CfnDeletionPolicy, Stack, Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IConstruct

from eks_devices import (
    ComputeDomain,
    DeviceRequest,
    EksDevicesError,
    MatchAttribute,
    NodegroupOptions,
    NodegroupPlan,
    NodegroupSpec,
    ResourceClaimTemplate,
    plan_nodegroup,
)
from eks_devices.findings import raise_faults
from eks_devices.typecheck import path_step

from .annotations import annotate
from .claims import ClaimSender
from .drivers import DeviceDrivers, ExternalDrivers
from .hosts import NodegroupHost, host_of
from .inputs import id_faults, no_cluster, public_subnet_faults, stage_faults, subnet_faults
from .launch_template import launch_template
from .serving import Serving, drivers_faults

if TYPE_CHECKING:
    from .cluster import AcceleratedCluster

_LONGEST_ID = 54


class AcceleratedNodegroup(Construct):
    """A managed node group whose nodes come up with the devices of its plan.

    Attributes:
        plan: What the rules decided, and why.
        launch_template: The launch template, for what this construct has no option for.
        nodegroup: The node group, likewise.
    """

    plan: NodegroupPlan
    launch_template: ec2.CfnLaunchTemplate
    nodegroup: eks.CfnNodegroup

    def __init__(
        self,
        scope: Construct,
        id: str,  # noqa: A002  (the CDK's own name for it)
        *,
        cluster: AcceleratedCluster,
        subnet: ec2.ISubnet | None = None,
        drivers: DeviceDrivers | ExternalDrivers | None = None,
        **options: Unpack[NodegroupOptions],
    ) -> None:
        """Plan the group, then draw its launch template and node group.

        Args:
            scope: Where the construct stands.
            id: Names the group in plans, labels and in EKS, where a hash follows it.
            cluster: The cluster that the nodes join.
            subnet: The one subnet of the nodes; every subnet for nodes of the cluster unless
                named. Groups with EFA or a reservation need one: neither leaves an Availability
                Zone.
            drivers: The installation that serves the group; the cluster's default one unless
                named.
            options: The options of `NodegroupOptions`.

        Raises:
            EksDevicesError: Every fault of the options at once.

        Source: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
        """
        host, serving, subnets, plan = _judged(
            scope, id, cluster, subnet=subnet, drivers=drivers, options=options
        )
        super().__init__(scope, id)
        self.plan = plan
        self.launch_template = launch_template(self, plan, security_group_ids=_groups(host, plan))
        self.nodegroup = _draw(self, host, subnets)
        # Pods that need a device find its manager on the first node, and nodes whose security
        # group lacks its rules cannot reach each other over EFA.
        needed = serving.install(plan)
        efa = [host.efa_group] if plan.network_interfaces else []
        _wait_for(self.nodegroup, [*needed, *efa])
        self._serving = serving
        self._claims = ClaimSender(self, host, serving.delivery, needed)
        annotate(self, [*plan.findings, *host.findings_beside(plan), *serving.findings(plan)])
        host.register(self)

    @property
    def is_served_elsewhere(self) -> bool:
        """Whether the default installation that serves the group is in another app."""
        return self._serving.elsewhere

    @property
    def awaits_drivers(self) -> bool:
        """Whether the group has devices that nothing serves yet."""
        return self._serving.awaits_drivers(self.plan)

    def add_resource_claim_template(
        self,
        name: str,
        *,
        namespace: str,
        requests: Sequence[DeviceRequest],
        match: MatchAttribute | None = None,
        create_namespace: bool = False,
    ) -> ResourceClaimTemplate:
        """Add a template from which Pods on the group's nodes get claims of their own.

        Kubernetes refuses every change of a template: a changed one needs another name, or its
        deployment fails and is rolled back.

        Args:
            name: Name of the template, which Pods name.
            namespace: The namespace of the template and its Pods.
            requests: What is asked for; an open EFA count is filled from the group.
            match: The attribute that all devices must share; none unless named.
            create_namespace: Makes the namespace; it is never deleted again.

        Raises:
            EksDevicesError: Every fault of the claim on the group's devices.
        """
        claim = ResourceClaimTemplate(
            name=name, namespace=namespace, requests=requests, match=match
        )
        self._claims.send(claim, self.plan, create_namespace=create_namespace)
        return claim

    def add_compute_domain(
        self, name: str, *, namespace: str, nodes: int = 0, create_namespace: bool = False
    ) -> ComputeDomain:
        """Add a ComputeDomain for one job on the group's nodes.

        Args:
            name: Name of the domain.
            namespace: The namespace of the domain and its Pods.
            nodes: How many nodes the domain waits for; none unless named.
            create_namespace: Makes the namespace; it is never deleted again.

        Raises:
            EksDevicesError: Every fault of the domain on the group's devices.
        """
        domain = ComputeDomain(name=name, namespace=namespace, nodes=nodes)
        self._claims.send(domain, self.plan, create_namespace=create_namespace)
        return domain


def _judged(
    scope: Construct,
    id: str,  # noqa: A002  (the CDK's own name for it)
    cluster: object,
    *,
    subnet: ec2.ISubnet | None,
    drivers: DeviceDrivers | ExternalDrivers | None,
    options: Any,
) -> tuple[NodegroupHost, Serving, list[ec2.ISubnet], NodegroupPlan]:
    """What a group is drawn from, or every fault of what it was given."""
    path, host = f"nodegroups.{path_step(id)}", host_of(cluster)
    faults = [*subnet_faults(subnet, f"{path}.subnet"), *id_faults(scope, id, path)]
    if host is None:
        raise EksDevicesError([no_cluster(cluster, f"{path}.cluster"), *faults])
    faults += stage_faults(scope, host.cluster, path)
    faults += drivers_faults(drivers, host, f"{path}.drivers")
    serving = Serving.of(drivers, host)
    subnets = host.subnets if subnet is None else [subnet]
    spec = NodegroupSpec.from_options(
        id,
        options,
        subnet_count=len(subnets),
        scope=serving.scope_name,
        external=serving.foreign,
    )
    try:
        plan = plan_nodegroup(spec, kubernetes_version=host.kubernetes_version)
        host.findings_beside(plan)
    except EksDevicesError as error:
        raise EksDevicesError([*faults, *error.faults]) from None
    faults += public_subnet_faults(host.vpc, subnet, plan)
    raise_faults([*faults, *serving.faults(scope, host, plan)])
    return host, serving, subnets, plan


def _wait_for(nodegroup: eks.CfnNodegroup, needed: Sequence[IConstruct]) -> None:
    if needed:
        nodegroup.node.add_dependency(*needed)


def _groups(host: NodegroupHost, plan: NodegroupPlan) -> list[str]:
    """The security groups of the nodes: the cluster's, and EFA's where it is on."""
    efa = [host.efa_group.security_group_id] if plan.network_interfaces else []
    return [host.cluster_security_group_id, *efa]


def _draw(
    group: AcceleratedNodegroup, host: NodegroupHost, subnets: list[ec2.ISubnet]
) -> eks.CfnNodegroup:
    plan, template = group.plan, group.launch_template
    nodegroup = eks.CfnNodegroup(
        group,
        "Resource",
        cluster_name=host.cluster_name,
        nodegroup_name=_name(group, host, subnets),
        node_role=host.node_role.role_arn,
        subnets=[subnet.subnet_id for subnet in subnets],
        ami_type=plan.ami_type,
        # Without it an upgrade of the cluster would leave the nodes behind.
        version=host.kubernetes_version,
        release_version=plan.release_version,
        capacity_type=plan.capacity.capacity_type,
        launch_template=eks.CfnNodegroup.LaunchTemplateSpecificationProperty(
            id=template.ref, version=template.attr_latest_version_number
        ),
        scaling_config=_scaling(plan),
        update_config=_update(plan),
        labels=dict(plan.labels),
        taints=_taints(plan),
    )
    if plan.capacity.is_reserved:
        # The replacement cannot have nodes while the old group holds the reservation, so the
        # old group stays until it was drained and deleted by hand.
        nodegroup.cfn_options.update_replace_policy = CfnDeletionPolicy.RETAIN
        nodegroup.cfn_options.deletion_policy = CfnDeletionPolicy.DELETE
    return nodegroup


def _name(group: AcceleratedNodegroup, host: NodegroupHost, subnets: Iterable[ec2.ISubnet]) -> str:
    """A name that changes exactly when EKS has to make a new group."""
    identity = [
        group.node.addr,
        group.plan.replace_key,
        group.plan.ami_type,
        group.plan.capacity.capacity_type,
        _identity(group, host.node_role, host.node_role.role_arn),
        [_identity(group, subnet, subnet.subnet_id) for subnet in subnets],
    ]
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:8]
    return f"{group.node.id[:_LONGEST_ID]}-{digest}"


def _identity(group: Construct, owner: IConstruct, value: str) -> Any:
    """A literal id, or what its token stands for: the text of a token is a running counter."""
    if not Token.is_unresolved(value):
        return value
    return [Stack.of(owner).node.addr, Stack.of(group).resolve(value)]


def _scaling(plan: NodegroupPlan) -> eks.CfnNodegroup.ScalingConfigProperty:
    return eks.CfnNodegroup.ScalingConfigProperty(
        min_size=plan.min_size, desired_size=plan.desired_size, max_size=plan.max_size
    )


def _update(plan: NodegroupPlan) -> eks.CfnNodegroup.UpdateConfigProperty | None:
    """A reservation has no room for new nodes beside the old ones, so an update ends those first.

    Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html
    """
    if not plan.capacity.is_reserved:
        return None
    return eks.CfnNodegroup.UpdateConfigProperty(max_unavailable=1, update_strategy="MINIMAL")


def _taints(plan: NodegroupPlan) -> list[eks.CfnNodegroup.TaintProperty]:
    return [
        eks.CfnNodegroup.TaintProperty(
            key=taint.key, value=taint.value or None, effect=taint.eks_effect
        )
        for taint in plan.taints
    ]
