"""An EKS cluster made for accelerated node groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Unpack

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from eks_device_charts.manifests import ImageSource
from eks_devices import (
    ClusterPlan,
    EfaInstallation,
    Finding,
    NeuronInstallation,
    NodegroupOptions,
    NvidiaInstallation,
)
from eks_devices.findings import raise_faults
from eks_devices.installation_options import NamedOptions
from eks_devices.keep import Keep, frozen_keep
from eks_devices.system_nodes import SystemNodegroupOptions

from .addons import ManagedAddons
from .administrators import grant_administrators
from .annotations import annotate
from .at_synth import finish_at_synth
from .cluster_inputs import argument_faults, first_installation_faults, name_faults
from .cluster_options import ClusterOptions, cluster_option_faults, logging_types
from .delivery import Delivery
from .drivers import DeviceDrivers, ExternalDrivers
from .host_registry import note_host, note_names
from .hosts import NodegroupHost
from .inputs import id_faults, scope_faults
from .known_cluster import ClusterFacts, KnownCluster
from .node_role import node_role
from .nodegroup import AcceleratedNodegroup
from .pool import AcceleratedNodegroupPool, PoolOptions
from .subnets import node_subnets
from .system_nodegroup import SystemNodegroup


class AcceleratedCluster(Construct):
    """An EKS cluster and its accelerated node groups.

    Accelerated nodes repel Pods without accelerators by their taints: CoreDNS and controllers
    need `add_system_nodegroup`, or other nodes of yours.

    Attributes:
        cluster: The EKS cluster, for what this construct has no option for.
        node_role: The role of nodes whose group names none.
    """

    cluster: eks.Cluster
    node_role: iam.IRole

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
        nvidia: NvidiaInstallation | None = None,
        neuron: NeuronInstallation | None = None,
        efa: EfaInstallation | None = None,
        **options: Unpack[ClusterOptions],
    ) -> None:
        """Make the cluster, without nodes of its own; of the managers see `DeviceDrivers`.

        Args:
            scope: Where the construct stands.
            id: The construct's id.
            vpc: The network: its private subnets, or the isolated ones where it has none.
            version: Kubernetes 1.34 or later.
            delivery: How the managers reach the cluster; without it groups warn.
            images: Where nodes pull the managers' images from.
            keep: Managers to hold without a group here.
            nvidia: What NVIDIA's managers have once in the cluster.
            neuron: What Neuron's managers have once in the cluster.
            efa: What the EFA managers have once in the cluster.
            options: The options of `ClusterOptions`.

        Raises:
            EksDevicesError: Every fault of the values at once.

        Source: https://docs.aws.amazon.com/eks/latest/userguide/device-management.html
        """
        raise_faults(scope_faults(scope, "cluster"))
        once = NamedOptions(nvidia=nvidia, neuron=neuron, efa=efa)
        given = (delivery, images, frozen_keep(keep))
        faults = [*argument_faults(vpc, version, *given, **once)]
        faults += _own_faults(scope, id, vpc, options)
        raise_faults(faults or first_installation_faults(scope, version, *given, **once))
        super().__init__(scope, id)
        self._draw(vpc, version, delivery, options)
        annotate(self, self.plan.findings)
        self._install(*given, **once)

    def _install(
        self,
        delivery: Delivery | None,
        images: ImageSource | None,
        keep: Keep | None,
        **once: Unpack[NamedOptions],
    ) -> None:
        if delivery is not None:
            DeviceDrivers(
                self,
                "Drivers",
                cluster=self,
                delivery=delivery,
                images=images,
                keep=keep,
                **once,
            )

    def _draw(
        self,
        vpc: ec2.IVpc,
        version: eks.KubernetesVersion,
        delivery: Delivery | None,
        options: ClusterOptions,
    ) -> None:
        self.cluster = _cluster(self, vpc, version, delivery, options)
        self._addons = ManagedAddons(
            self,
            cluster=self.cluster,
            addons=options.get("addons"),
            egress=bool(vpc.private_subnets),
        )
        own_role = options.get("node_role")
        self.node_role = own_role or node_role(self, for_vpc_cni=not self._addons.uses_pod_identity)
        if own_role is None:
            self._addons.order_with(self.node_role)
        grant_administrators(self.cluster, options.get("administrators", ()))
        self._host = self._joined(version, options)

    def _joined(self, version: eks.KubernetesVersion, options: ClusterOptions) -> NodegroupHost:
        """What stands for the cluster, which groups then find."""
        facts = replace(
            ClusterFacts.of_cluster(self.cluster),
            service_ipv4_cidr=options.get("service_ipv4_cidr"),
            claim_checks=options.get("claim_checks"),
        )
        host = NodegroupHost(
            KnownCluster(facts, version.version, self.cluster, is_foreign=False),
            facts=facts,
            place=self.cluster,
            home=lambda: self.cluster,
            cluster=self.cluster,
            node_role=self.node_role,
            before_nodes=self._addons.before_nodes,
        )
        note_host(self, host)
        note_host(self.cluster, host)
        note_names(host, [facts.name, options.get("cluster_name")])
        finish_at_synth(self, host)
        return host

    @property
    def plan(self) -> ClusterPlan:
        """The plan of the groups added so far."""
        return self._host.fleet.plan

    @property
    def addons(self) -> Mapping[str, eks.CfnAddon]:
        """The managed add-ons by name, for what this construct has no option for."""
        return MappingProxyType(self._addons.drawn)

    def add_nodegroup(
        self,
        id: str,  # noqa: A002  (the CDK's own name for it)
        *,
        subnet: ec2.ISubnet | None = None,
        drivers: DeviceDrivers | ExternalDrivers | None = None,
        security_group: ec2.ISecurityGroup | None = None,
        node_role: iam.IRole | None = None,
        **options: Unpack[NodegroupOptions],
    ) -> AcceleratedNodegroup:
        """Add an accelerated node group; see `AcceleratedNodegroup` and `NodegroupSpec`.

        Args:
            id: Names the group.
            subnet: The one subnet of the nodes; groups with EFA or a reservation need one.
            drivers: The installation that serves the group; the cluster's default one unless
                named.
            security_group: A group of your own for the nodes; see `AcceleratedNodegroup`.
            node_role: The role of the nodes; the cluster's unless named.
            options: The options of `NodegroupOptions`.

        Raises:
            EksDevicesError: Every fault of the options at once.
        """
        return AcceleratedNodegroup(
            self,
            id,
            cluster=self,
            subnet=subnet,
            drivers=drivers,
            security_group=security_group,
            node_role=node_role,
            **options,
        )

    def add_nodegroup_pool(
        self,
        id: str,  # noqa: A002  (the CDK's own name for it)
        *,
        subnet: ec2.ISubnet | None = None,
        **shared: Unpack[PoolOptions],
    ) -> AcceleratedNodegroupPool:
        """Add a pool: a node group for each of several reservations, otherwise alike.

        Args:
            id: Names the pool, and begins the names of its groups.
            subnet: The subnet of groups whose reservation names none.
            shared: The other arguments of `add_nodegroup`, `capacity` aside.

        Raises:
            EksDevicesError: The faults of the pool; those of a group come when it is added.
        """
        return AcceleratedNodegroupPool(self, id, cluster=self, subnet=subnet, **shared)

    def add_system_nodegroup(
        self,
        id: str = "System",  # noqa: A002  (the CDK's own name for it)
        *,
        subnets: Sequence[ec2.ISubnet] | None = None,
        node_role: iam.IRole | None = None,
        **options: Unpack[SystemNodegroupOptions],
    ) -> SystemNodegroup:
        """Add ordinary nodes for CoreDNS, controllers and other Pods without accelerators.

        With the first one comes the managed add-on coredns, unless add-ons were named without it.

        Args:
            id: Names the group.
            subnets: Where the nodes go; every subnet for nodes of the cluster unless named.
            node_role: The role of the nodes; the cluster's unless named.
            options: The options of `SystemNodegroupOptions`; see `SystemNodegroupPlan`.

        Raises:
            EksDevicesError: Every fault of the values at once.
        """
        return SystemNodegroup(
            self, id, cluster=self, subnets=subnets, node_role=node_role, **options
        )


def _cluster(
    scope: Construct,
    vpc: ec2.IVpc,
    version: eks.KubernetesVersion,
    delivery: Delivery | None,
    options: ClusterOptions,
) -> eks.Cluster:
    return eks.Cluster(
        scope,
        "Cluster",
        vpc=vpc,
        vpc_subnets=[ec2.SubnetSelection(subnets=node_subnets(vpc))],
        version=version,
        cluster_name=options.get("cluster_name"),
        endpoint_access=options.get("endpoint_access"),
        cluster_logging=logging_types(options),
        secrets_encryption_key=options.get("secrets_encryption_key"),
        service_ipv4_cidr=options.get("service_ipv4_cidr"),
        default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
        default_capacity=0,
        kubectl_provider_options=delivery.kubectl_provider_options if delivery else None,
    )


def _own_faults(
    scope: Construct,
    id: str,  # noqa: A002
    vpc: object,
    options: ClusterOptions,
) -> Iterator[Finding]:
    """The faults of the cluster itself, whatever is installed in it."""
    yield from cluster_option_faults(scope, vpc, options)
    yield from name_faults(scope, options.get("cluster_name"))
    yield from id_faults(scope, id, "cluster")
