"""The network interfaces of a group's nodes, and the addresses that nodes and Pods take."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ._data import read_toml
from .instance_types import AcceleratedInstanceType
from .network import NetworkInterface, default_efa_count, efa_interfaces, eni_limited_max_pods
from .spec import NodegroupSpec

# The VPC CNI and kube-proxy use the address of their node.
_PODS_ON_HOST_NETWORK = 2


def efa_count(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> int:
    """How many EFA interfaces each node of a group gets."""
    if spec.efa is None:
        return default_efa_count(instance) if instance.multi_node_training else 0
    if isinstance(spec.efa, bool):
        return default_efa_count(instance) if spec.efa else 0
    return spec.efa


def group_interfaces(
    spec: NodegroupSpec, instance: AcceleratedInstanceType
) -> tuple[NetworkInterface, ...]:
    """The network interfaces of a group's nodes; none where EC2's single default one does."""
    return efa_interfaces(
        instance, count=efa_count(spec, instance), high_ip_bandwidth=spec.high_ip_bandwidth
    )


def max_pods_cap(instance: AcceleratedInstanceType) -> int:
    """The most Pods that managed node groups let a node of this type have."""
    limits = read_toml("limits.toml")["max_pods"]
    return int(limits["small"] if instance.vcpus < limits["small_vcpus"] else limits["large"])


def group_max_pods(spec: NodegroupSpec, instance: AcceleratedInstanceType) -> int | None:
    """How many Pods a node may have: the smallest number of the types that EC2 may start."""
    if spec.max_pods is not None:
        return spec.max_pods
    # Most groups have one type: the general way below would only slow each of their plans down.
    if not spec.alternative_instance_types:
        addresses = eni_limited_max_pods(instance, group_interfaces(spec, instance))
        return None if addresses is None else min(addresses, max_pods_cap(instance))
    limits = [
        min(addresses, max_pods_cap(one))
        for one in group_instances(spec, instance)
        if (addresses := eni_limited_max_pods(one, group_interfaces(spec, one))) is not None
    ]
    return min(limits, default=None)


def group_instances(
    spec: NodegroupSpec, instance: AcceleratedInstanceType
) -> Iterator[AcceleratedInstanceType]:
    """The types that EC2 may start for a group, the named one first."""
    yield instance
    yield from map(AcceleratedInstanceType.of, spec.alternative_instance_types)


def node_addresses(
    spec: NodegroupSpec, instance: AcceleratedInstanceType, pods: int | None
) -> int | None:
    """The IPv4 addresses that a node full of Pods takes from its subnet; None when unknown.

    Each interface has an address of its own, and with the VPC CNI each Pod one more; interfaces
    beyond the first card's take no Pods. Of several types it is the one that takes most.

    Source: https://docs.aws.amazon.com/eks/latest/best-practices/vpc-cni.html
    """
    if not spec.alternative_instance_types:
        return _addresses(spec, instance, pods)
    found = [_addresses(spec, one, pods) for one in group_instances(spec, instance)]
    return None if None in found else max(one for one in found if one is not None)


def _addresses(
    spec: NodegroupSpec, instance: AcceleratedInstanceType, pods: int | None
) -> int | None:
    drawn = [one for one in group_interfaces(spec, instance) if one.takes_address]
    interfaces = len(drawn) or 1
    if not spec.vpc_cni:
        return interfaces
    size = instance.ipv4_addresses_per_interface
    if pods is None or size is None:
        return None
    on_first_card = sum(one.network_card_index == 0 for one in drawn) or 1
    on_vpc_network = max(pods - _PODS_ON_HOST_NETWORK, 0)
    for_pods = math.ceil(on_vpc_network / (size - 1))
    return on_vpc_network + interfaces + max(for_pods - on_first_card, 0)
