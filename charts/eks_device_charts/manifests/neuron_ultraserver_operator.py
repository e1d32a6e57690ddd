"""Neuron's UltraServer operator: one in a cluster, away from the accelerators.

It is closed, and a beta.

Source: https://github.com/aws-neuron/neuron-helm-charts and
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/eks/ultraserver-operator.html
"""

from __future__ import annotations

from typing import Final

from eks_devices import Component

from .admission import own_label_policy
from .installation import Installation
from .neuron_dra_driver import ACCOUNT as DRIVER_ACCOUNT
from .neuron_dra_driver import NAMESPACE
from .neuron_ultraserver_crds import GROUP, ULTRASERVERS, WORKLOADS, ultraserver_crds
from .objects import (
    READ,
    UNPRIVILEGED,
    Object,
    cluster_pod,
    cluster_role,
    cluster_role_binding,
    deployment,
    http_probe,
    role,
    role_binding,
    rule,
    service_account,
    value,
)

_NAME = "neuron-ultraserver-operator"
_ROLE = f"{_NAME}-clusterrole"
_DRIVER_ROLE = "neuron-dra-driver-ultraservers"
_POLICY = "protect-capacity-block-id-label"
_EDIT = (*READ, "create", "update", "patch", "delete")
_STATUS = ("get", "update", "patch")
_METRICS_PORT, _HEALTH_PORT = 8080, 8081

CAPACITY_BLOCK_LABEL: Final = "topology.k8s.aws/capacity-block-id"
"""By whose value the operator tells UltraServers apart."""
EKS_USERS: Final = "eks:"
"""What the names of EKS's own users begin with, and of nobody who was given an access entry.

Its cloud controller labels a node with its place in the network by an update, after the node
joined. Whether this label is among them, or comes from another part of EKS, is not documented;
upstream's controller had none in July 2026.
Source: https://github.com/kubernetes/cloud-provider-aws/pull/1038 and
https://docs.aws.amazon.com/eks/latest/userguide/set-custom-username.html
"""


def operator_objects(installation: Installation, _: str) -> list[Object]:
    """What it is made of, where a user asks for it."""
    if not installation.options.neuron.ultraserver_operator:
        return []
    image = installation.images.component_image(Component.NEURON_ULTRASERVER_OPERATOR)
    return [
        *ultraserver_crds(),
        *_operator_access(),
        *_driver_access(),
        # A kubelet writes its labels when it makes the Node, which is not judged.
        *own_label_policy(_POLICY, label=CAPACITY_BLOCK_LABEL, writers=EKS_USERS),
        # While it is updated there are two, and the one without the lease waits.
        deployment(_NAME, NAMESPACE, _pod(image)),
    ]


def _operator_access() -> list[Object]:
    """The vendor's permissions, but for leases of other namespaces.

    Workloads, their templates and their Pods are in the namespaces of users, so that none of these
    can be of one namespace. The strategies for failures, but for NoOp, evict Pods there.
    """
    rules = [
        rule("resource.k8s.io", ["resourceslices"], READ),
        rule("resource.k8s.io", ["resourceclaimtemplates"], _EDIT),
        rule(GROUP, [ULTRASERVERS, WORKLOADS], _EDIT),
        rule(GROUP, [f"{one}/status" for one in (ULTRASERVERS, WORKLOADS)], _STATUS),
        rule(GROUP, [f"{WORKLOADS}/finalizers"], ["update"]),
        rule("", ["nodes", "pods"], READ),
        rule("", ["pods/eviction"], ["create"]),
        rule("", ["events"], ["create", "patch"]),
    ]
    # It is told of no namespace for its lease, which is then that of its Pod, as of every manager
    # that kubebuilder lays out. Leases of others say which nodes live, and who leads what.
    leases = rule("coordination.k8s.io", ["leases"], _EDIT)
    return [
        service_account(_NAME, NAMESPACE),
        cluster_role(_ROLE, rules),
        cluster_role_binding(f"{_NAME}-binding", _ROLE, _NAME, NAMESPACE),
        role(_NAME, NAMESPACE, [leases]),
        role_binding(_NAME, _NAME, _NAME, NAMESPACE),
    ]


def _driver_access() -> list[Object]:
    """Ours: the driver watches which UltraServer is whose, and the vendor's role has no such rule.

    It is beside the driver's own role, which is the same with the operator and without.
    """
    return [
        cluster_role(_DRIVER_ROLE, [rule(GROUP, [ULTRASERVERS], READ)]),
        cluster_role_binding(_DRIVER_ROLE, _DRIVER_ROLE, DRIVER_ACCOUNT, NAMESPACE),
    ]


def _pod(image: str) -> Object:
    return cluster_pod(_NAME, _container(image)) | {"terminationGracePeriodSeconds": 10}


def _container(image: str) -> Object:
    # Nothing tells whether the closed image runs as another user than its own.
    unprivileged = {key: one for key, one in UNPRIVILEGED.items() if key != "runAsUser"}
    return {
        "name": _NAME,
        "image": image,
        "command": [
            "k8s-neuron-ultraserver-operator",
            "--leader-elect=true",
            f"--health-probe-bind-address=:{_HEALTH_PORT}",
            f"--metrics-bind-address=:{_METRICS_PORT}",
            "-v=2",
        ],
        "env": [value("ENABLE_ULTRASERVER_OPERATOR", "true")],
        "ports": [
            {"name": name, "containerPort": port, "protocol": "TCP"}
            for name, port in (("metrics", _METRICS_PORT), ("health", _HEALTH_PORT))
        ],
        "livenessProbe": http_probe("/healthz", "health", initialDelaySeconds=15, periodSeconds=20),
        "readinessProbe": http_probe("/readyz", "health", initialDelaySeconds=5, periodSeconds=10),
        # Without the vendor's limits of 500m and 128Mi: it reads every Pod and ResourceSlice, for
        # which its own page wants a large node, and would be ended at the limit.
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
        "securityContext": unprivileged,
    }
