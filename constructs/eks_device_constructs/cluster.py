"""An EKS cluster made for accelerated node groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from eks_device_charts.manifests import ImageSource
from eks_device_charts.manifests.bundles import driver_faults
from eks_devices import ClusterPlan, Finding, NodegroupOptions
from eks_devices.cluster_planner import Keep, frozen_keep, keep_faults, kept_drivers
from eks_devices.findings import fault, raise_faults
from eks_devices.kubernetes import minors

from .annotations import annotate
from .delivery import Delivery
from .driver_inputs import option_faults
from .drivers import DeviceDrivers, ExternalDrivers, regional
from .hosts import register_host
from .inputs import id_faults, node_subnets, version_faults, vpc_faults
from .nodegroup import AcceleratedNodegroup
from .plan_file import write_at_synth

_NODE_POLICIES = (
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryPullOnly",
)


class AcceleratedCluster(Construct):
    """An EKS cluster and its accelerated node groups.

    Attributes:
        cluster: The EKS cluster, for what this construct has no option for.
        node_role: The role of every node of the groups.
    """

    cluster: eks.Cluster
    node_role: iam.Role

    def __init__(
        self,
        scope: Construct,
        id: str,  # noqa: A002  (the CDK's own name for it)
        *,
        vpc: ec2.IVpc,
        version: eks.KubernetesVersion,
        delivery: Delivery | None = None,
        images: ImageSource | None = None,
        keep: Keep | None = None,
    ) -> None:
        """Make the cluster, without nodes of its own.

        Args:
            scope: Where the construct stands.
            id: The construct's id.
            vpc: The network: its private subnets, or the isolated ones where it has none.
            version: Kubernetes 1.34 or later.
            delivery: How the device managers reach the cluster; without it groups warn.
            images: Where nodes pull the managers' images from; see `DeviceDrivers`.
            keep: Managers to hold without a group here; see `DeviceDrivers`.

        Raises:
            EksDevicesError: The version is too old or unknown, or no subnet is for nodes.

        Source: https://docs.aws.amazon.com/eks/latest/userguide/device-management.html
        """
        keep = frozen_keep(keep)
        faults = [*_faults(vpc, version, delivery, images, keep), *id_faults(scope, id, "cluster")]
        raise_faults(faults or _installation_faults(scope, delivery, images, keep))
        super().__init__(scope, id)
        self.cluster = _cluster(self, vpc, version, delivery)
        self.node_role = _node_role(self)
        self._host = register_host(self, vpc, version.version, delivery)
        annotate(self, self.plan.findings)
        write_at_synth(self, self._host)
        if delivery is not None:
            DeviceDrivers(
                self, "Drivers", cluster=self, delivery=delivery, images=images, keep=keep
            )

    @property
    def plan(self) -> ClusterPlan:
        """The plan of the groups added so far."""
        return self._host.plan

    def add_nodegroup(
        self,
        id: str,  # noqa: A002  (the CDK's own name for it)
        *,
        subnet: ec2.ISubnet | None = None,
        drivers: DeviceDrivers | ExternalDrivers | None = None,
        **options: Unpack[NodegroupOptions],
    ) -> AcceleratedNodegroup:
        """Add an accelerated node group; see `AcceleratedNodegroup` and `NodegroupSpec`.

        Args:
            id: Names the group.
            subnet: The one subnet of the nodes; groups with EFA or a reservation need one.
            drivers: The installation that serves the group; the cluster's default one unless
                named.
            options: The options of `NodegroupOptions`.

        Raises:
            EksDevicesError: Every fault of the options at once.
        """
        return AcceleratedNodegroup(
            self, id, cluster=self, subnet=subnet, drivers=drivers, **options
        )


def _faults(
    vpc: object, version: object, delivery: object, images: object, keep: object
) -> Iterator[Finding]:
    """Every fault of a cluster's arguments; those of a shared directory come later."""
    wrong_version = list(version_faults(version))
    yield from [*wrong_version, *vpc_faults(vpc)]
    if delivery is not None:
        yield from option_faults(delivery, images)
    elif images is not None or keep is not None:
        yield fault(
            "DeliveryNeeded",
            "delivery",
            "images and keep say what to install, and nothing installs it",
            got=None,
            allowed="a Delivery",
            fix="pass delivery=Delivery.kubectl(...) or .gitops(...)",
        )
    if isinstance(version, eks.KubernetesVersion) and not wrong_version:
        yield from keep_faults(keep, minors()[version.version])


def _installation_faults(
    scope: Construct, delivery: Delivery | None, images: ImageSource | None, keep: Keep | None
) -> Iterator[Finding]:
    """The faults that the cluster's installation would have, before the cluster is made."""
    if delivery is not None:
        yield from delivery.new_cluster_faults(scope)
        source = regional(images, scope)
        for driver in kept_drivers(keep or {}):
            yield from driver_faults(driver, source)


def _cluster(
    scope: Construct,
    vpc: ec2.IVpc,
    version: eks.KubernetesVersion,
    delivery: Delivery | None,
) -> eks.Cluster:
    return eks.Cluster(
        scope,
        "Cluster",
        vpc=vpc,
        vpc_subnets=[ec2.SubnetSelection(subnets=node_subnets(vpc))],
        version=version,
        default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
        default_capacity=0,
        kubectl_provider_options=delivery.kubectl_provider_options if delivery else None,
    )


def _node_role(scope: Construct) -> iam.Role:
    return iam.Role(
        scope,
        "NodeRole",
        assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
        managed_policies=[
            iam.ManagedPolicy.from_aws_managed_policy_name(name) for name in _NODE_POLICIES
        ],
    )
