"""Judges what a construct is given before anything of it is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aws_cdk import Stack
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IConstruct

from eks_devices import Finding
from eks_devices.findings import fault
from eks_devices.kubernetes import KubernetesMinor, dra_faults, find_minor
from eks_devices.typecheck import wrong_type

from .shapes import is_role, is_security_group, is_subnet, is_vpc
from .subnets import KnownSubnet, node_subnets
from .tree import child_of, environment_of, stack_of, stage_of


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
    if not is_vpc(vpc):
        yield wrong_type("vpc", vpc, "an ec2.IVpc", "pass the network of the cluster")
    elif not node_subnets(vpc):
        yield fault(
            "NoSubnets",
            "vpc",
            "nodes need private subnets: with several interfaces they get no public address",
            got="no private and no isolated subnet",
            allowed="a network with private subnets, or isolated ones with VPC endpoints",
            fix="add a subnet of type PRIVATE_WITH_EGRESS to the VPC",
            source="https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",
        )


def subnet_faults(subnet: object, path: str) -> Iterator[Finding]:
    """The fault of a subnet that is none."""
    if subnet is not None and not is_subnet(subnet):
        fix = "pass one subnet, for example vpc.private_subnets[0]"
        yield wrong_type(path, subnet, "one ec2.ISubnet, or None", fix)


def security_group_faults(group: object, path: str) -> Iterator[Finding]:
    """The fault of what is no security group."""
    if group is not None and not is_security_group(group):
        fix = "pass one group, ec2.SecurityGroup(...) or .from_security_group_id(...)"
        yield wrong_type(path, group, "one ec2.ISecurityGroup, or None", fix)


def role_faults(role: object, path: str) -> Iterator[Finding]:
    """The fault of a role of nodes that is none."""
    if role is not None and not is_role(role):
        fix = "pass an iam.Role with the policies of EKS nodes, or iam.Role.from_role_arn(...)"
        yield wrong_type(path, role, "an iam.IRole, or None", fix)


def public_subnet_faults(subnets: Iterable[KnownSubnet], path: str) -> Iterator[Finding]:
    """The fault of public subnets for nodes that get no public address."""
    for subnet in subnets:
        if subnet.is_public:
            yield fault(
                "PublicSubnet",
                f"{path}.subnet",
                "instances with several network interfaces get no public address, so nodes in a "
                "public subnet reach neither the cluster's API nor a registry",
                got=subnet.path,
                allowed="a private subnet with a NAT gateway, or an isolated one with endpoints",
                fix="pass one of vpc.private_subnets, in the Availability Zone of the reservation",
                source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-instance-addressing.html",
            )


def scope_faults(scope: object, path: str) -> list[Finding]:
    """The fault of a scope that is in no stack, where nothing of this library can stand."""
    try:
        stack_of(scope)  # type: ignore[arg-type]  # what is no construct raises
    except Exception:  # noqa: BLE001  (the CDK says in several ways that it finds no stack)
        wanted = "a Stack, or a construct in one"
        return [wrong_type(f"{path}.scope", scope, wanted, "make a Stack, and pass it as scope")]
    return []


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
    """The fault of a group that is deployed apart from its cluster, or to another place."""
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
        return
    yield from _environment_faults(scope, cluster, path)


def _environment_faults(scope: Construct, cluster: IConstruct, path: str) -> Iterator[Finding]:
    """The fault of a group whose account or Region is another than the cluster's."""
    mine, theirs = (environment_of(stack_of(one)) for one in (scope, cluster))
    # Of a cluster that is only referred to, and so stands for its stack, no attribute is read.
    is_referred = isinstance(cluster, Stack)
    differ = [
        here != there and not (is_referred and "" in (here, there))
        for here, there in zip(mine, theirs, strict=True)
    ]
    if any(differ):
        yield fault(
            "AnotherEnvironment",
            f"{path}.cluster",
            "nodes join clusters of their own account and Region",
            got=f"a cluster in {_place(theirs)}",
            allowed=f"a cluster in {_place(mine)}, as the group's stack",
            fix="make the group in a stack with the env of its cluster",
        )


def _place(environment: tuple[str, str]) -> str:
    kinds = zip(("an account", "a Region"), environment, strict=True)
    return " and ".join(one or f"{kind} that is not named" for kind, one in kinds)


def place_faults(scope: Construct, id: str, cluster: IConstruct) -> Iterator[Finding]:  # noqa: A002
    """The faults of where an installation is to stand."""
    yield from id_faults(scope, id, "drivers.id")
    yield from stage_faults(scope, cluster, "drivers")
