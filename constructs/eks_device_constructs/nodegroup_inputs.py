"""Judges what a node group is given before anything of it is made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from eks_devices import (
    EksDevicesError,
    Finding,
    NodegroupPlan,
    NodegroupSpec,
    OperatingSystem,
    plan_nodegroup,
)
from eks_devices.findings import fault, raise_faults
from eks_devices.typecheck import path_step, wrong_type
from eks_devices.user_data import ClusterAccess

from .hosts import Network, NodegroupHost
from .inputs import id_faults, is_subnet, public_subnet_faults, stage_faults, subnet_faults
from .joining import find_host, vpc_faults
from .security_group import efa_rules_demanded, is_own, security_group_faults
from .serving import Serving, drivers_faults

_TEMPLATES = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"


class Given(NamedTuple):
    """The arguments of a node group beside its options, none of them judged."""

    cluster: Any
    kubernetes_version: Any
    subnet: Any
    drivers: Any
    security_group: Any
    node_role: Any
    pool: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a node group is drawn from."""

    host: NodegroupHost
    serving: Serving
    scope: Construct
    subnet_ids: list[str]
    plan: NodegroupPlan
    access: ClusterAccess | None
    security_group: ec2.ISecurityGroup | None
    node_role: iam.IRole | None
    findings: list[Finding]


def judge(
    scope: Construct,
    id: str,  # noqa: A002  (the CDK's own name for it)
    given: Given,
    options: Any,
) -> Judged:
    """What a group is drawn from.

    Raises:
        EksDevicesError: Every fault of what it was given.
    """
    path = f"nodegroups.{path_step(id)}"
    faults = [*_argument_faults(given, path), *id_faults(scope, id, path)]
    host = find_host(given.cluster, scope, given.kubernetes_version, path)
    if isinstance(host, list):
        raise EksDevicesError([*host, *faults])
    faults += stage_faults(scope, host.home, path)
    faults += drivers_faults(given.drivers, host, f"{path}.drivers")
    serving = Serving.of(given.drivers, host)
    subnets = _networks(host, given.subnet)
    spec = _spec(id, options, given, serving, [one.cidr for one in subnets])
    try:
        plan = plan_nodegroup(spec, kubernetes_version=host.kubernetes_version)
    except EksDevicesError as error:
        raise EksDevicesError([*faults, *error.faults]) from None
    faults += [*host.faults_beside(plan), *_plan_faults(host, given, plan, subnets, path)]
    raise_faults([*faults, *serving.faults(scope, host, plan)])
    return Judged(
        host=host,
        serving=serving,
        scope=scope,
        subnet_ids=[one.id for one in subnets],
        plan=plan,
        access=host.access(service_cidr=_needs_cidr(plan)) if plan.ami_id else None,
        security_group=given.security_group,
        node_role=given.node_role,
        findings=[
            *plan.findings,
            *serving.findings(plan),
            *_own_group_findings(given, plan, path),
        ],
    )


def _argument_faults(given: Given, path: str) -> Iterator[Finding]:
    yield from subnet_faults(given.subnet, f"{path}.subnet")
    yield from security_group_faults(given.security_group, f"{path}.security_group")
    if given.node_role is not None and not hasattr(given.node_role, "role_arn"):
        fix = "pass a role with the policies of EKS nodes"
        yield wrong_type(f"{path}.node_role", given.node_role, "an iam.IRole, or None", fix)


def _networks(host: NodegroupHost, subnet: Any) -> list[Network]:
    subnets = host.subnets if subnet is None else [subnet]
    return [
        host.network_of(one) if is_subnet(one) else Network(one, "", "", is_public=False)
        for one in subnets
    ]


def _spec(
    id: str,  # noqa: A002  (the CDK's own name for it)
    options: Any,
    given: Given,
    serving: Serving,
    cidrs: list[str],
) -> NodegroupSpec:
    return NodegroupSpec.from_options(
        id,
        options,
        subnet_count=len(cidrs),
        subnet_cidrs=tuple(cidrs) if all(cidrs) else (),
        scope=serving.scope_name,
        scope_address=serving.scope_address,
        external=serving.foreign,
        pool=given.pool,
    )


def _needs_cidr(plan: NodegroupPlan) -> bool:
    """Whether a node asks for the range of Services: Bottlerocket finds its DNS by itself."""
    return plan.operating_system is OperatingSystem.AL2023


def _plan_faults(
    host: NodegroupHost,
    given: Given,
    plan: NodegroupPlan,
    subnets: list[Network],
    path: str,
) -> Iterator[Finding]:
    if len(plan.network_interfaces) > 1:
        yield from public_subnet_faults([(one.id, one.is_public) for one in subnets], path)
    own = given.security_group is not None
    yield from vpc_faults(host, path, efa=bool(plan.network_interfaces), own_group=own)
    unknown = host.unknown_access(service_cidr=_needs_cidr(plan)) if plan.ami_id else []
    if unknown:
        yield fault(
            "ClusterAccessNeeded",
            f"{path}.ami_id",
            "EKS adds nothing to the user data of an image of your own, and what a node needs to "
            "join this cluster is not known",
            got=f"a cluster without {' and '.join(unknown)}",
            allowed="a cluster whose endpoint, certificate authority and range of Services are "
            "known",
            fix="pass service_ipv4_cidr= to AcceleratedCluster, or endpoint=, "
            "certificate_authority= and service_cidr= to ClusterReference",
            source=_TEMPLATES,
        )


def _own_group_findings(given: Given, plan: NodegroupPlan, path: str) -> Iterator[Finding]:
    group = given.security_group
    if group is not None and plan.network_interfaces and not is_own(group):
        yield efa_rules_demanded(group, f"{path}.security_group")
