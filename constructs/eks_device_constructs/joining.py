"""Finds what stands for a cluster, whoever made it, when a node group or installation joins."""

from __future__ import annotations

import hashlib
from typing import Any, cast
from weakref import WeakKeyDictionary

from aws_cdk import Stack, Stage, Token
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IConstruct

from eks_devices import Finding
from eks_devices.findings import fault, warning
from eks_devices.kubernetes import KubernetesMinor, find_minor, support_findings
from eks_devices.typecheck import wrong_type

from .annotations import annotate
from .host_registry import host_of, note_host
from .hosts import AnyCluster, NodegroupHost
from .plan_file import write_at_synth
from .references import AuthenticationMode, ClusterReference

# What groups of one stage share of a cluster that the stage only refers to, by its name.
_by_name: WeakKeyDictionary[Construct, dict[str, NodegroupHost]] = WeakKeyDictionary()
_WANTED = "an AcceleratedCluster, a cluster of aws_eks_v2, or a ClusterReference"


def find_host(
    cluster: object, scope: Construct, version: object, path: str
) -> NodegroupHost | list[Finding]:
    """What stands for a cluster, made for its first node group; or why nothing does.

    Args:
        cluster: What a user passed as the cluster.
        scope: Where the group or installation is made.
        version: The Kubernetes minor that the user named; None where none was.
        path: Names the group or installation in faults.
    """
    found = host_of(cluster)
    if found is None and isinstance(cluster, ClusterReference):
        version = cluster.version if version is None else version
        found = _shared(scope).get(cluster.name)
    elif found is None and not _is_cluster(cluster):
        return [_no_cluster(cluster, f"{path}.cluster")]
    if found is not None:
        return _agreeing(found, version, path)
    return _joined(cluster, scope, version, path)


def _is_cluster(cluster: Any) -> bool:
    """Whether it is a cluster of `aws_eks_v2`; those of `aws_eks` have a role for kubectl."""
    return hasattr(cluster, "cluster_name") and not hasattr(cluster, "kubectl_role")


def _agreeing(host: NodegroupHost, version: object, path: str) -> NodegroupHost | list[Finding]:
    if version is None or version == host.kubernetes_version:
        return host
    return [
        fault(
            "VersionsDiffer",
            f"{path}.kubernetes_version",
            "the cluster is known with another Kubernetes version",
            got=version,
            allowed=host.kubernetes_version,
            fix="name the version of the cluster, everywhere the same",
        )
    ]


def _joined(
    cluster: Any, scope: Construct, version: object, path: str
) -> NodegroupHost | list[Finding]:
    given = _own_version(cluster) if version is None else version
    minor = (
        _version_needed(path) if given is None else find_minor(given, f"{path}.kubernetes_version")
    )
    if isinstance(minor, Finding):
        return [minor]
    group = _known(cluster, "cluster_security_group_id")
    if isinstance(cluster, ClusterReference):
        return _made(_imported(cluster, scope), minor, cluster.security_group_id, cluster)
    if group is None:
        return [_no_security_group(path)]
    # Two imports of one cluster share what it has once.
    known = _shared(cluster).get(cluster.cluster_name)
    if known is not None:
        note_host(cluster, known)
        return _agreeing(known, minor.version, path)
    return _made(cluster, minor, group, None)


def _made(
    cluster: AnyCluster, minor: KubernetesMinor, group: str, reference: ClusterReference | None
) -> NodegroupHost:
    host = NodegroupHost(
        cluster=cluster,
        home=_home(cluster),
        kubernetes_version=minor.version,
        cluster_security_group_id=group,
        vpc=_known(cluster, "vpc"),
        service_cidr=reference.service_cidr if reference else None,
        has_kubectl=_known(cluster, "kubectl_provider") is not None,
        is_foreign=True,
    )
    note_host(cluster, host)
    _shared(cluster)[reference.name if reference else cluster.cluster_name] = host
    support = support_findings(minor, "kubernetes_version")
    annotate(host.home, [*support, *_mode_findings(reference)])
    write_at_synth(host.home, host)
    return host


def _home(cluster: AnyCluster) -> Construct:
    """The scope of what groups share: for Python, an imported cluster is no construct."""
    stack = Stack.of(cluster)
    id_ = f"EksDevices-{cluster.node.addr[-8:]}"
    made = stack.node.try_find_child(id_)
    return Construct(stack, id_) if made is None else cast(Construct, made)


def _shared(scope: IConstruct) -> dict[str, NodegroupHost]:
    stage = Stage.of(scope)
    return _by_name.setdefault(cast(Construct, stage or Stack.of(scope)), {})


def _own_version(cluster: Any) -> str | None:
    """The version of a cluster that the app makes itself, where it is written there."""
    resource = None if isinstance(cluster, ClusterReference) else cluster.node.default_child
    version = resource.version if isinstance(resource, eks.CfnCluster) else None
    return None if version is None or Token.is_unresolved(version) else str(version)


def _imported(reference: ClusterReference, scope: Construct) -> eks.ICluster:
    stack = Stack.of(scope)
    name = stack.resolve(reference.name)
    id_ = f"EksDevicesCluster{hashlib.sha256(repr(name).encode()).hexdigest()[:8]}"
    made = stack.node.try_find_child(id_)
    if made is not None:
        return cast(eks.ICluster, made)
    return eks.Cluster.from_cluster_attributes(
        stack,
        id_,
        cluster_name=reference.name,
        cluster_security_group_id=reference.security_group_id,
        vpc=reference.vpc,
        kubectl_provider=reference.kubectl_provider,
        cluster_endpoint=reference.endpoint,
        cluster_certificate_authority_data=reference.certificate_authority,
    )


def _known(cluster: Any, name: str) -> Any:
    """What an imported cluster was given; None where it raises because it was not."""
    try:
        return getattr(cluster, name)
    except Exception:  # noqa: BLE001  (the CDK raises its own errors of several classes)
        return None


def _mode_findings(reference: ClusterReference | None) -> list[Finding]:
    if reference is None or reference.authentication_mode is not AuthenticationMode.CONFIG_MAP:
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
    if hasattr(cluster, "kubectl_role"):
        fix = (
            "use ClusterReference(name=cluster.cluster_name, version=..., "
            "security_group=cluster.cluster_security_group_id): aws_eks has another API"
        )
    return wrong_type(path, cluster, _WANTED, fix)


def vpc_faults(host: NodegroupHost, path: str, *, efa: bool, own_group: bool) -> list[Finding]:
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
