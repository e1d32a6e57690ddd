"""Remembers what stands for each cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from aws_cdk import aws_ec2 as ec2

from .hosts import NodegroupHost

if TYPE_CHECKING:
    from .cluster import AcceleratedCluster
    from .delivery import Delivery

_hosts: WeakKeyDictionary[object, NodegroupHost] = WeakKeyDictionary()


def register_host(
    cluster: AcceleratedCluster,
    vpc: ec2.IVpc,
    version: str,
    delivery: Delivery | None,
    *,
    service_cidr: str | None = None,
) -> NodegroupHost:
    """Make the host of a cluster, which node groups then find."""
    host = NodegroupHost(
        cluster=cluster.cluster,
        home=cluster.cluster,
        vpc=vpc,
        kubernetes_version=version,
        cluster_security_group_id=cluster.cluster.cluster_security_group_id,
        node_role=cluster.node_role,
        service_cidr=service_cidr,
        has_kubectl=delivery is not None and delivery.kubectl_provider_options is not None,
    )
    note_host(cluster, host)
    note_host(cluster.cluster, host)
    return host


def note_host(cluster: object, host: NodegroupHost) -> None:
    """Remember the host of a cluster."""
    _hosts[cluster] = host


def host_of(cluster: object) -> NodegroupHost | None:
    """The host of a cluster, None for what was no cluster of a group so far."""
    try:
        return _hosts.get(cluster)
    except TypeError:  # nothing that has no weak reference is a cluster
        return None
