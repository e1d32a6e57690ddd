"""Judges what a construct is given before anything of it is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from aws_cdk import Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IConstruct

from eks_devices import Finding
from eks_devices.findings import fault
from eks_devices.kubernetes import KubernetesMinor, dra_faults, find_minor
from eks_devices.typecheck import wrong_type

from .tree import child_of, stage_of


def version_faults(version: object) -> Iterator[Finding]:
    """Faults of the Kubernetes version of a new cluster, which must serve DRA."""
    if not isinstance(version, eks.KubernetesVersion):
        fix = 'use eks.KubernetesVersion.V1_34 or .of("1.37")'
        yield wrong_type("version", version, "an eks.KubernetesVersion", fix)
        return
    minor = find_minor(version.version, "version")
    yield from dra_faults(minor, "version") if isinstance(minor, KubernetesMinor) else (minor,)


def vpc_faults(vpc: object) -> Iterator[Finding]:
    """Faults of a cluster's network."""
    if not hasattr(vpc, "private_subnets"):
        yield wrong_type("vpc", vpc, "an ec2.IVpc", "pass the network of the cluster")
    elif not node_subnets(cast(ec2.IVpc, vpc)):
        yield fault(
            "NoSubnets",
            "vpc",
            "nodes need private subnets: with several interfaces they get no public address",
            got="no private and no isolated subnet",
            allowed="a network with private subnets, or isolated ones with VPC endpoints",
            fix="add a subnet of type PRIVATE_WITH_EGRESS to the VPC",
            source="https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",
        )


def node_subnets(vpc: ec2.IVpc) -> list[ec2.ISubnet]:
    """Where nodes go: private subnets, or isolated ones where there are no others."""
    return list(vpc.private_subnets or vpc.isolated_subnets)


def subnet_cidr(subnet: ec2.ISubnet) -> str:
    """The address range of a subnet, empty where only the deployment knows it."""
    try:
        cidr = subnet.ipv4_cidr_block
    except Exception:  # noqa: BLE001  (the CDK raises where an imported subnet was given none)
        return ""
    return "" if Token.is_unresolved(cidr) else str(cidr)


def is_public(vpc: ec2.IVpc | None, subnet: ec2.ISubnet) -> bool:
    """Whether a subnet is one of the public ones of a network."""
    public = [] if vpc is None else vpc.public_subnets
    return any(
        one is subnet or one.node.path == subnet.node.path or one.subnet_id == subnet.subnet_id
        for one in public
    )


def subnet_faults(subnet: object, path: str) -> Iterator[Finding]:
    """The fault of a subnet that is none."""
    if subnet is not None and not is_subnet(subnet):
        fix = "pass one subnet, for example vpc.private_subnets[0]"
        yield wrong_type(path, subnet, "one ec2.ISubnet, or None", fix)


def is_subnet(subnet: object) -> bool:
    """Whether a value is a subnet; the class of what the app makes itself says so."""
    return hasattr(type(subnet), "subnet_id") or (
        hasattr(subnet, "subnet_id") and hasattr(subnet, "node")
    )


def public_subnet_faults(subnets: Iterable[tuple[str, bool]], path: str) -> Iterator[Finding]:
    """The fault of public subnets, by id, for nodes that get no public address."""
    for subnet_id, public in subnets:
        if public:
            yield fault(
                "PublicSubnet",
                f"{path}.subnet",
                "instances with several network interfaces get no public address, so nodes in a "
                "public subnet reach neither the cluster's API nor a registry",
                got=subnet_id,
                allowed="a private subnet with a NAT gateway, or an isolated one with endpoints",
                fix="pass one of vpc.private_subnets, in the Availability Zone of the reservation",
                source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-instance-addressing.html",
            )


def id_faults(scope: Construct, id: str, path: str) -> Iterator[Finding]:  # noqa: A002
    """The fault of an id that another construct of the scope has."""
    if isinstance(id, str) and child_of(scope, id) is not None:
        yield fault(
            "RepeatedId",
            path,
            f"{scope.node.path} has a construct of this id already",
            got=id,
            allowed="each id once in a scope",
            fix="choose another id",
        )


def stage_faults(scope: Construct, cluster: IConstruct, path: str) -> Iterator[Finding]:
    """The fault of a group whose stage is not the cluster's: stages are deployed apart."""
    (mine, my_path), (theirs, their_path) = stage_of(scope), stage_of(cluster)
    if mine and theirs and my_path != their_path:
        yield fault(
            "AnotherStage",
            f"{path}.cluster",
            "the group and the cluster are in two stages, which do not share resources",
            got=f"a cluster in the stage {their_path or 'of the app itself'}",
            allowed="a cluster in the stage of the group",
            fix="make the group in the stage of its cluster",
        )


def place_faults(scope: Construct, id: str, cluster: IConstruct) -> Iterator[Finding]:  # noqa: A002
    """The faults of where an installation is to stand."""
    yield from id_faults(scope, id, "drivers.id")
    yield from stage_faults(scope, cluster, "drivers")
