"""The Neuron DRA driver and its DeviceClass.

Source: https://github.com/aws-neuron/neuron-helm-charts
"""

from __future__ import annotations

from typing import Final

from eks_devices import DriverPlan
from eks_devices.names import NEURON_CLASS, NEURON_DRIVER

from .admission import own_node_policy, own_slices_policy
from .host_paths import CDI, DRA_PLUGINS, DRA_REGISTRY, host_path, mount
from .objects import (
    READ,
    Object,
    cluster_role,
    cluster_role_binding,
    daemon_set,
    device_class,
    from_field,
    grpc_probe,
    namespace,
    rule,
    service_account,
    value,
)

NAMESPACE: Final = "neuron-dra-driver"
ACCOUNT: Final = "neuron-dra-driver-sa"
_NAME = "neuron-dra-driver-kubelet-plugin"
_ROLE = "neuron-dra-driver-clusterrole"
_HEALTH_PORT = 51515


def shared_objects() -> list[Object]:
    """Namespace, account, permissions, policies and DeviceClass."""
    rules = [
        rule("resource.k8s.io", ["resourceslices"], [*READ, "create", "update", "patch", "delete"]),
        rule("resource.k8s.io", ["resourceclaims", "deviceclasses"], READ),
        rule("", ["nodes"], [*READ, "patch", "update"]),
        rule("", ["nodes/status"], ["patch"]),
    ]
    return [
        namespace(NAMESPACE),
        service_account(ACCOUNT, NAMESPACE),
        cluster_role(_ROLE, rules),
        cluster_role_binding("neuron-dra-driver-binding", _ROLE, ACCOUNT, NAMESPACE),
        # Ours: the vendor ships no policy. Each node's driver publishes that node's devices, whole
        # nodes of UltraServers among them: its slices are named after the node, as Kubernetes' own
        # helper for DRA drivers names them.
        *own_slices_policy(
            "resourceslices-neuron-dra-driver",
            account=ACCOUNT,
            namespace=NAMESPACE,
            driver=NEURON_DRIVER,
        ),
        # It only tells: how the closed driver labels the nodes of an UltraServer is not documented.
        *own_node_policy(
            "nodes-neuron-dra-driver", account=ACCOUNT, namespace=NAMESPACE, denies=False
        ),
        device_class(NEURON_CLASS),
    ]


def driver_objects(driver: DriverPlan, image: str) -> list[Object]:
    """The DaemonSet of an owner."""
    pod = {
        "serviceAccountName": ACCOUNT,
        "hostNetwork": True,
        "containers": [_container(image)],
        "volumes": [
            host_path("plugins", DRA_PLUGINS),
            host_path("registry", DRA_REGISTRY),
            host_path("cdi", CDI, "DirectoryOrCreate"),
        ],
    }
    # The vendor starts the new Pod beside the old one; the two would share the host's health
    # port, so here the old one goes first.
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
    return [daemon_set(driver, name=_NAME, namespace=NAMESPACE, pod=pod, strategy=strategy)]


def _container(image: str) -> Object:
    # No securityContext, as the vendor: what the driver gets along without is not documented.
    return {
        "name": "neuron-dra-driver",
        "image": image,
        "command": ["k8s-neuron-dra-driver"],
        "env": [
            from_field("NODE_NAME", "spec.nodeName"),
            from_field("POD_UID", "metadata.uid"),
            value("CDI_ROOT", CDI),
            value("KUBELET_REGISTRAR_DIRECTORY_PATH", DRA_REGISTRY),
            value("KUBELET_PLUGINS_DIRECTORY_PATH", DRA_PLUGINS),
            value("HEALTHCHECK_PORT", str(_HEALTH_PORT)),
        ],
        "resources": {
            "requests": {"cpu": "10m", "memory": "128Mi"},
            "limits": {"cpu": "20m", "memory": "256Mi"},
        },
        "livenessProbe": grpc_probe(
            _HEALTH_PORT,
            "liveness",
            initialDelaySeconds=30,
            periodSeconds=10,
            timeoutSeconds=5,
            failureThreshold=3,
        ),
        "volumeMounts": [
            mount("plugins", DRA_PLUGINS),
            mount("registry", DRA_REGISTRY),
            mount("cdi", CDI),
        ],
    }
