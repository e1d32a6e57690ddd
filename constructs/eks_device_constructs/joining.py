"""Finds what stands for a cluster, whoever made it, when a node group or installation joins."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

from aws_cdk import Stack, Token
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from eks_devices import Finding
from eks_devices.findings import fault, warning
from eks_devices.kubernetes import KubernetesMinor, find_minor, minors, support_findings
from eks_devices.typecheck import plain_text, wrong_type

from .at_synth import finish_at_synth
from .host_registry import (
    ClusterKey,
    cluster_key,
    host_of,
    known_as,
    known_by_names,
    note_host,
    note_known,
    note_names,
    owners_of,
)
from .hosts import NodegroupHost
from .inputs import stage_faults
from .known_cluster import ClusterFacts, KnownCluster, facts_faults
from .references import AuthenticationMode, ClusterReference
from .shapes import is_cluster, is_cluster_of_aws_eks
from .tree import address_of, once, stack_of, stage_of

_WANTED = "an AcceleratedCluster, a cluster of aws_eks_v2, or a ClusterReference"


def find_host(
    cluster: object, scope: Construct, version: object, path: str
) -> NodegroupHost | list[Finding]:
    """What stands for a cluster; or why nothing does.

    Nothing is made or remembered before the host is told of a group or installation with `join`.

    Args:
        cluster: What a user passed as the cluster.
        scope: Where the group or installation is made.
        version: The Kubernetes minor that the user named; None where none was.
        path: Names the group or installation in faults.
    """
    found = host_of(cluster)
    if found is not None:
        return [*_version_faults(found.known, version, path)] or found
    if isinstance(cluster, ClusterReference):
        version = cluster.version if version is None else version
        return _referred(ClusterFacts.of_reference(cluster), stack_of(scope), scope, version, path)
    if not is_cluster(cluster):
        return [_no_cluster(cluster, f"{path}.cluster")]
    if isinstance(cluster, eks.Cluster):  # for Python, an imported cluster is none
        return _made_here(cluster, version, path)
    return _referred(ClusterFacts.of_cluster(cluster), stack_of(cluster), scope, version, path)


def _version_faults(known: KnownCluster, version: object, path: str) -> Iterator[Finding]:
    yield from _differing(version, known.kubernetes_version, path)


def _differing(version: object, known: str, path: str) -> Iterator[Finding]:
    is_known = isinstance(version, str) and plain_text(version) == known
    if version is not None and not is_known:
        yield _versions_differ(version, known, path)


def _made_here(cluster: eks.Cluster, version: object, path: str) -> NodegroupHost | list[Finding]:
    """What stands for a cluster of `aws_eks_v2` that this app makes."""
    resource = cluster.node.default_child
    made = resource if isinstance(resource, eks.CfnCluster) else None
    own = _literal(made.version) if made else None
    minor = _minor(version if own is None else own, path)
    stack, facts = stack_of(cluster), ClusterFacts.of_cluster(cluster)
    names = [facts.name, *([made.name] if made else [])]
    known = known_by_names(cluster, names)
    if known is not None and (known.host is not None or known.is_forgotten):
        # Where only the deployment knows the place, two clusters may have one name.
        known = None
    if isinstance(minor, Finding):
        return [minor]
    faults = [*_differing(version, minor.version, path)]
    if known is not None:
        faults += _version_faults(known, minor.version, path)
    if faults:
        return faults
    known = known or KnownCluster(facts, minor.version, stack, is_foreign=True)

    def register(host: NodegroupHost) -> None:
        note_host(cluster, host)
        note_names(host, names)
        _begin(host)

    return NodegroupHost(
        known,
        facts=facts,
        place=cluster,
        home=_home(stack, address_of(cluster)[-8:]),
        cluster=cluster,
        on_join=register,
    )


def _referred(
    given: ClusterFacts, where: Stack, scope: Construct, version: object, path: str
) -> NodegroupHost | list[Finding]:
    """What stands for a cluster that this app only refers to, or refers to by its name."""
    key = cluster_key(where, given.name)
    if key is None:
        return [_unknown_token(given.name, path)]
    faults = [one for at in owners_of(given.name) for one in stage_faults(scope, at, path)]
    if faults:
        return faults
    known = _known(known_as(where, key), given, version, path)
    if isinstance(known, list):
        return known
    if known is not None:
        if known.host is not None:
            known.host.learn(given)
            if not known.is_foreign:
                return known.host
            # The cluster itself knows best, as for its own groups.
            given = known.host.facts.completed(given)
        given = given.completed(known.facts)
        found = known.kubernetes_version
    else:
        minor = _minor(version, path)
        faults += [minor] if isinstance(minor, Finding) else []
        found = "" if isinstance(minor, Finding) else minor.version
    if given.security_group_id is None:
        faults.append(_no_security_group(path))
    if faults:
        return faults
    stage, _ = stage_of(where)
    known = known or KnownCluster(given, found, stage or where, is_foreign=True)
    # What groups share stands where it would if the cluster were not known.
    digits = hashlib.sha256(key.name.encode()).hexdigest()[:8]
    return NodegroupHost(
        known,
        facts=given,
        place=known.host.place if known.host else where,
        home=_home(stack_of(scope), digits),
        cluster=known.host.cluster if known.host else None,
        on_join=lambda host: _note(host, key, given),
    )


def _known(
    known: KnownCluster | None, given: ClusterFacts, version: object, path: str
) -> KnownCluster | list[Finding] | None:
    """What is known of a cluster whose groups are there, or what is said of it otherwise now."""
    if known is None:
        return None
    faults = [*_version_faults(known, version, path), *facts_faults(given, known.facts, path)]
    return None if faults and known.is_forgotten else faults or known


def _note(host: NodegroupHost, key: ClusterKey, facts: ClusterFacts) -> None:
    """Remember what a group that joined said of a cluster that this app refers to."""
    known, is_first = host.known, host.known.home is None
    told = None if is_first else known.facts.authentication_mode
    known.facts = known.facts.completed(facts)
    if is_first:
        note_known(host.place, key, known)
    _begin(host)
    host.fleet.tell(host.home, [] if told else _mode_findings(facts))


def _home(stack: Construct, digits: str) -> Callable[[], Construct]:
    """Makes or finds the scope of what groups of a cluster share in a stack."""
    return lambda: once(stack, f"EksDevices-{digits}", Construct)


def _begin(host: NodegroupHost) -> None:
    """Tell what is to be known of a cluster, and write its plan at synth."""
    known = host.known
    if host.home in known.homes:
        return
    if not known.homes:
        support = support_findings(minors()[known.kubernetes_version], "kubernetes_version")
        host.fleet.tell(host.home, [*support, *([_ipv6()] if host.is_ipv6 else [])])
    known.homes.append(host.home)
    finish_at_synth(host.home, host)


def _literal(version: str | None) -> str | None:
    return None if version is None or Token.is_unresolved(version) else str(version)


def _minor(version: object, path: str) -> KubernetesMinor | Finding:
    if version is None:
        return _version_needed(path)
    return find_minor(version, f"{path}.kubernetes_version")


def _mode_findings(facts: ClusterFacts) -> list[Finding]:
    if facts.authentication_mode is not AuthenticationMode.CONFIG_MAP:
        return []
    return [
        warning(
            "ConfigMapAuthentication",
            "cluster.authentication_mode",
            "EKS lets the nodes in by an entry that it adds to the ConfigMap aws-auth: whoever "
            "writes that ConfigMap as a whole shuts them out, and access entries do not exist",
            fix="move the cluster to API_AND_CONFIG_MAP, which needs no new nodes",
            source="https://docs.aws.amazon.com/eks/latest/userguide/grant-k8s-access.html",
        )
    ]


def _versions_differ(version: object, known: str, path: str) -> Finding:
    return fault(
        "VersionsDiffer",
        f"{path}.kubernetes_version",
        "the cluster is known with another Kubernetes version",
        got=version,
        allowed=known,
        fix="name the version of the cluster, everywhere the same",
    )


def _unknown_token(name: str, path: str) -> Finding:
    return fault(
        "UnknownToken",
        f"{path}.cluster.name",
        "no construct of this app stands behind the token",
        got=name,
        allowed="the name of the cluster, or a token of this app",
        fix="pass the attribute of the construct itself",
    )


def _ipv6() -> Finding:
    return warning(
        "Ipv6Cluster",
        "cluster.ip_family",
        "Pods of this cluster have IPv6 addresses: the VPC CNI needs permissions for these, which "
        "the node role made here does not have, and no addresses of subnets are counted",
        fix="pass a node_role with them, or give the VPC CNI a role of its own",
        source="https://docs.aws.amazon.com/eks/latest/userguide/cni-iam-role.html",
    )


def _version_needed(path: str) -> Finding:
    return fault(
        "KubernetesVersionNeeded",
        f"{path}.kubernetes_version",
        "the Kubernetes version of this cluster is not known here, and rules read it",
        got=None,
        allowed='the minor as a text, "1.34"',
        fix='pass kubernetes_version="1.34", the version of the cluster',
    )


def _no_security_group(path: str) -> Finding:
    return fault(
        "ClusterSecurityGroupNeeded",
        f"{path}.cluster",
        "nodes need the security group that EKS made for the cluster, and it was imported without",
        got=None,
        allowed="a cluster with cluster_security_group_id",
        fix="pass cluster_security_group_id= to from_cluster_attributes, or use ClusterReference",
        source="https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html",
    )


def _no_cluster(cluster: object, path: str) -> Finding:
    fix = "pass the cluster construct"
    if is_cluster_of_aws_eks(cluster):
        fix = (
            "use ClusterReference(name=cluster.cluster_name, version=..., "
            "security_group=cluster.cluster_security_group_id): aws_eks has another API"
        )
    return wrong_type(path, cluster, _WANTED, fix)


def vpc_needed(host: NodegroupHost, path: str, *, efa: bool, own_group: bool) -> list[Finding]:
    """The fault of a group that needs the network of a cluster that was imported without."""
    if host.vpc is not None or own_group or not efa:
        return []
    return [
        fault(
            "VpcNeeded",
            f"{path}.cluster",
            "EFA needs a security group in the cluster's network, which is not known here",
            got=None,
            allowed="a cluster with its vpc, or a security group of your own",
            fix="pass vpc= to ClusterReference (or from_cluster_attributes), or security_group= "
            "to the node group",
        )
    ]
