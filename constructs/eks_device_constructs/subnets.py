"""Where nodes go: the subnets of a network, and what groups ask of each one."""

from __future__ import annotations

from typing import NamedTuple

from aws_cdk import aws_ec2 as ec2

from eks_devices.syntax import ipv4_range

from .shapes import attribute
from .tree import reference_of


class KnownSubnet(NamedTuple):
    """A subnet as node groups see it; the range is empty where it is not known here."""

    id: str
    path: str
    cidr: str
    is_public: bool


def node_subnets(vpc: ec2.IVpc) -> list[ec2.ISubnet]:
    """Where nodes go: private subnets, or isolated ones where there are no others."""
    return list(vpc.private_subnets or vpc.isolated_subnets)


def known_subnet(
    subnet: ec2.ISubnet, known: dict[object, KnownSubnet], vpc: ec2.IVpc | None
) -> KnownSubnet:
    """What a group asks of a subnet, which is asked once for all groups of a cluster.

    Args:
        subnet: The subnet.
        known: What was asked before.
        vpc: The cluster's network; None where it is not known.
    """
    key = reference_of(subnet)
    if key not in known:
        is_public = _is_public(subnet, vpc)
        path = subnet.node.path if is_public else ""
        known[key] = KnownSubnet(subnet.subnet_id, path, _cidr(subnet), is_public)
    return known[key]


def _cidr(subnet: ec2.ISubnet) -> str:
    """The range of a subnet; one of IPv6, a token or what is no range tells nothing here."""
    cidr = attribute(subnet, "ipv4_cidr_block")
    return cidr if isinstance(cidr, str) and ipv4_range(cidr) else ""


def _is_public(subnet: ec2.ISubnet, vpc: ec2.IVpc | None) -> bool:
    """Whether a subnet is one of the public ones of a network."""
    public = [] if vpc is None else vpc.public_subnets
    return any(
        one is subnet or one.node.path == subnet.node.path or one.subnet_id == subnet.subnet_id
        for one in public
    )
