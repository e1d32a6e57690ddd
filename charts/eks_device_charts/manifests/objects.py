"""Kubernetes objects as dicts: the few shapes that the managers are made of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from eks_devices import DeviceType, DriverPlan, Mechanism
from eks_devices.device_classes import class_expressions
from eks_devices.names import (
    COMPUTE_TYPE_LABEL,
    DEFAULT_OWNER,
    LABEL_PREFIX,
    MANAGED_BY_LABEL,
    MANAGED_BY_US,
    manager_label,
    mechanism_label,
)

Object = dict[str, Any]

READ: Final = ("get", "list", "watch")
UNPRIVILEGED: Final[Object] = {
    "runAsNonRoot": True,
    # Any user but root will do, who writes no file and opens no low port.
    "runAsUser": 65532,
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""The security context of a container that needs nothing of its node."""

_MANAGED_BY = {MANAGED_BY_LABEL: MANAGED_BY_US}
_RBAC = "rbac.authorization.k8s.io"
# Nodes that somebody else runs, whose images bring their own managers; none has our labels
# unless a user writes them.
_FOREIGN_COMPUTE = ("auto", "fargate", "hybrid")


def metadata(name: str, namespace: str | None = None, **labels: str) -> Object:
    """The metadata of an object; every object says who made it."""
    place = {} if namespace is None else {"namespace": namespace}
    return {"name": name, **place, "labels": _MANAGED_BY | labels}


def pod_metadata(labels: Mapping[str, str]) -> Object:
    """The metadata of a workload's Pods."""
    return {"labels": {**_MANAGED_BY, **labels}}


def namespace(name: str) -> Object:
    """A namespace whose Pods may have what device managers need of the host."""
    meta = metadata(name)
    meta["labels"] = meta["labels"] | {"pod-security.kubernetes.io/enforce": "privileged"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}


def service_account(name: str, namespace: str) -> Object:
    """A service account."""
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata(name, namespace)}


def rule(
    group: str, resources: Sequence[str], verbs: Sequence[str], names: Sequence[str] = ()
) -> Object:
    """One rule of a role; the core group is ""."""
    found: Object = {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}
    return found | ({"resourceNames": list(names)} if names else {})


def cluster_role(name: str, rules: Sequence[Object]) -> Object:
    """A ClusterRole."""
    return _role("ClusterRole", metadata(name), rules)


def role(name: str, namespace: str, rules: Sequence[Object]) -> Object:
    """A Role of a namespace."""
    return _role("Role", metadata(name, namespace), rules)


def _role(kind: str, meta: Object, rules: Sequence[Object]) -> Object:
    return {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": meta, "rules": list(rules)}


def cluster_role_binding(name: str, role_name: str, account: str, namespace: str) -> Object:
    """Binds a ClusterRole to a service account."""
    return _binding("ClusterRole", metadata(name), role_name, account, namespace)


def role_binding(name: str, role_name: str, account: str, namespace: str) -> Object:
    """Binds a Role to a service account of its namespace."""
    return _binding("Role", metadata(name, namespace), role_name, account, namespace)


def _binding(kind: str, meta: Object, role_name: str, account: str, namespace: str) -> Object:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": f"{kind}Binding",
        "metadata": meta,
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": role_name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
    }


def device_class(name: str, *, extended_resource: str | None = None) -> Object:
    """The DeviceClass of a name; `extended_resource` is left out where the API would drop it."""
    spec: Object = {"selectors": [{"cel": {"expression": class_expressions()[name]}}]}
    if extended_resource is not None:
        spec["extendedResourceName"] = extended_resource
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": metadata(name),
        "spec": spec,
    }


def value(name: str, text: str) -> Object:
    """An environment variable with a value."""
    return {"name": name, "value": text}


def from_field(name: str, path: str) -> Object:
    """An environment variable with a value of the Pod's own."""
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def grpc_probe(port: int, service: str, **timing: int) -> Object:
    """A probe of a driver's health service."""
    return {"grpc": {"port": port, "service": service}, **timing}


def http_probe(path: str, port: int | str, *, tls: bool = False, **timing: int) -> Object:
    """A probe of a page of a container."""
    asked = {"path": path, "port": port} | ({"scheme": "HTTPS"} if tls else {})
    return {"httpGet": asked, **timing}


def restarted_by(name: str, text: str) -> dict[str, str]:
    """An annotation of Pods that read a text when they start, so that another one starts new ones.

    Args:
        name: What is read.
        text: What it says.
    """
    return {f"{LABEL_PREFIX}{name}": hashlib.sha256(text.encode()).hexdigest()[:16]}


def owned_name(base: str, owner: str) -> str:
    """The name of an owner's DaemonSet; the plain one is that of the vendors' guides."""
    return base if owner == DEFAULT_OWNER else f"{base}-{owner.removeprefix(f'{DEFAULT_OWNER}-')}"


def daemon_set(
    driver: DriverPlan,
    *,
    name: str,
    namespace: str,
    pod: Object,
    strategy: Object | None = None,
    annotations: Mapping[str, str] | None = None,
) -> Object:
    """The DaemonSet of a manager: one Pod on each node that it owns.

    The vendors select nodes by instance type, or by labels that no AMI sets everywhere, and
    tolerate their own taints. Here our labels name the one manager of each device on a node, and
    they are the whole answer: whatever the taints, a node without its manager has no devices.
    """
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": driver.owner}
    template = pod_metadata(labels)
    if annotations:
        template["annotations"] = dict(annotations)
    spec: Object = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": template, "spec": _placed(pod, _owned_nodes(driver))},
    }
    if strategy is not None:
        spec["updateStrategy"] = strategy
    meta = metadata(owned_name(name, driver.owner), namespace, **labels)
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": meta, "spec": spec}


def device_pod(device: DeviceType, pod: Object) -> Object:
    """The Pod of each node that has devices of a type, whoever hands them out."""
    mechanisms = [str(one) for one in Mechanism]
    return _placed(pod, [_expression(mechanism_label(device), "In", mechanisms)])


def _placed(pod: Object, expressions: list[Object]) -> Object:
    ours = _expression(COMPUTE_TYPE_LABEL, "NotIn", list(_FOREIGN_COMPUTE))
    return pod | {
        "priorityClassName": "system-node-critical",
        "affinity": {"nodeAffinity": _required([*expressions, ours])},
        "tolerations": [{"operator": "Exists"}],
    }


def _owned_nodes(driver: DriverPlan) -> list[Object]:
    device: DeviceType = driver.device_type
    return [
        _expression(mechanism_label(device), "In", [str(driver.mechanism)]),
        _expression(manager_label(device), "In", [driver.owner]),
    ]


def _expression(key: str, operator: str, values: list[str]) -> Object:
    return {"key": key, "operator": operator, "values": values}


def deployment(
    name: str,
    namespace: str,
    pod: Object,
    *,
    replicas: int = 1,
    strategy: str | None = None,
    annotations: Mapping[str, str] | None = None,
) -> Object:
    """The Deployment of what serves a cluster; its Pods have its name as a label.

    `annotations` are those of the Pods; a strategy other than rolling updates is named.
    """
    labels = {"app.kubernetes.io/name": name}
    template = pod_metadata(labels)
    if annotations:
        template["annotations"] = dict(annotations)
    spec: Object = {
        "replicas": replicas,
        **({} if strategy is None else {"strategy": {"type": strategy}}),
        "selector": {"matchLabels": labels},
        "template": {"metadata": template, "spec": pod},
    }
    meta = metadata(name, namespace, **labels)
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}


def cluster_pod(account: str, container: Object) -> Object:
    """The Pod of what serves a cluster, on no node with devices, tainted or not.

    Groups without devices, such as one for system Pods, have the label of their name too.
    """
    keys = [manager_label(device) for device in DeviceType]
    off_devices = [{"key": one, "operator": "DoesNotExist"} for one in keys]
    return {
        "serviceAccountName": account,
        "priorityClassName": "system-cluster-critical",
        "affinity": {"nodeAffinity": _required(off_devices)},
        "tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}],
        "containers": [container],
    }


def _required(expressions: list[Object]) -> Object:
    terms = [{"matchExpressions": expressions}]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
