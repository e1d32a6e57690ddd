"""Judges what a node group is given before anything of it is made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from constructs import Construct

from eks_devices import EksDevicesError, Finding, NodegroupPlan, NodegroupSpec, plan_nodegroup
from eks_devices.findings import raise_faults
from eks_devices.nodegroup_planner import nodegroup_faults
from eks_devices.typecheck import path_step
from eks_devices.user_data import access_faults

from .hosts import NodegroupHost
from .inputs import (
    id_faults,
    public_subnet_faults,
    role_faults,
    scope_faults,
    security_group_faults,
    stage_faults,
    subnet_faults,
)
from .joining import find_host, vpc_needed
from .security_group import efa_rules_demanded, is_own
from .serving import Serving, drivers_faults
from .shapes import is_security_group, is_subnet
from .subnets import KnownSubnet, known_subnet
from .tree import identity_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
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

    given: Given
    host: NodegroupHost
    serving: Serving
    scope: Construct
    subnet_ids: list[str]
    plan: NodegroupPlan
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
    raise_faults(scope_faults(scope, path))
    faults = [*_argument_faults(given, path), *id_faults(scope, id, path)]
    host = find_host(given.cluster, scope, given.kubernetes_version, path)
    if isinstance(host, list):
        raise EksDevicesError([*host, *faults, *_without_cluster(id, given, options, path)])
    given = _without_clusters_group(given, host, scope)
    faults += stage_faults(scope, host.place, path)
    faults += drivers_faults(given.drivers, host, f"{path}.drivers")
    serving = Serving.of(given.drivers, host)
    subnets = _subnets(host, given.subnet)
    # The addresses that nodes of an IPv6 cluster take are not those of the ranges known here.
    cidrs = ["" if host.is_ipv6 else one.cidr for one in subnets]
    spec = _spec(id, options, given, serving, cidrs)
    try:
        plan = plan_nodegroup(spec, kubernetes_version=host.kubernetes_version)
    except EksDevicesError as error:
        raise EksDevicesError([*faults, *error.faults]) from None
    faults += _plan_faults(host, given, plan, subnets, path)
    raise_faults([*faults, *serving.faults(scope, host, plan)])
    return Judged(
        given=given,
        host=host,
        serving=serving,
        scope=scope,
        subnet_ids=[one.id for one in subnets],
        plan=plan,
        findings=[
            *plan.findings,
            *serving.findings(plan),
            *_own_group_findings(given, plan, path),
        ],
    )


def _without_clusters_group(given: Given, host: NodegroupHost, scope: Construct) -> Given:
    """The cluster's own security group, which all nodes have, is none beside it."""
    group = given.security_group
    if not is_security_group(group):
        return given
    mine, theirs = group.security_group_id, host.cluster_security_group_id
    is_clusters = identity_of(scope, mine) == identity_of(scope, theirs)
    return replace(given, security_group=None) if is_clusters else given


def _without_cluster(
    id: str,  # noqa: A002  (the CDK's own name for it)
    given: Given,
    options: Any,
    path: str,
) -> list[Finding]:
    """The faults of a group whose cluster is at fault itself, as far as they do not need it."""
    serving = Serving.of(given.drivers, None)
    cidrs = None if given.subnet is None else [""]
    return [
        *drivers_faults(given.drivers, None, f"{path}.drivers"),
        *nodegroup_faults(_spec(id, options, given, serving, cidrs)),
    ]


def _argument_faults(given: Given, path: str) -> Iterator[Finding]:
    yield from subnet_faults(given.subnet, f"{path}.subnet")
    yield from security_group_faults(given.security_group, f"{path}.security_group")
    yield from role_faults(given.node_role, f"{path}.node_role")


def _subnets(host: NodegroupHost, subnet: Any) -> list[KnownSubnet]:
    """The subnets of the nodes; what is none has its fault already."""
    if subnet is not None and not is_subnet(subnet):
        return [KnownSubnet("", "", "", is_public=False)]
    subnets = host.subnets if subnet is None else [subnet]
    return [known_subnet(one, host.known_subnets, host.vpc) for one in subnets]


def _spec(
    id: str,  # noqa: A002  (the CDK's own name for it)
    options: Any,
    given: Given,
    serving: Serving,
    cidrs: list[str] | None,
) -> NodegroupSpec:
    return NodegroupSpec.from_options(
        id,
        options,
        subnet_count=None if cidrs is None else len(cidrs),
        subnet_cidrs=tuple(cidrs) if cidrs and all(cidrs) else (),
        scope=serving.scope_name,
        scope_address=serving.scope_address,
        external=serving.foreign,
        pool=given.pool,
    )


def _plan_faults(
    host: NodegroupHost,
    given: Given,
    plan: NodegroupPlan,
    subnets: list[KnownSubnet],
    path: str,
) -> Iterator[Finding]:
    yield from host.fleet.faults_beside(plan)
    if len(plan.network_interfaces) > 1:
        yield from public_subnet_faults(subnets, path)
    own = given.security_group is not None
    yield from vpc_needed(host, path, efa=bool(plan.network_interfaces), own_group=own)
    yield from access_faults(plan, host.access, path)


def _own_group_findings(given: Given, plan: NodegroupPlan, path: str) -> Iterator[Finding]:
    group = given.security_group
    if group is not None and plan.network_interfaces and not is_own(group):
        yield efa_rules_demanded(group, f"{path}.security_group")
