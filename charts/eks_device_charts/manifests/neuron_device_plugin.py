"""The Neuron device plugin: `aws.amazon.com/neuron` and `aws.amazon.com/neuroncore`.

Source: https://github.com/aws-neuron/neuron-helm-charts
"""

from __future__ import annotations

from eks_devices import DriverPlan

from .admission import own_node_policy
from .host_paths import DEVICE_PLUGINS, host_path, mount
from .objects import (
    READ,
    Object,
    cluster_role,
    cluster_role_binding,
    daemon_set,
    from_field,
    rule,
    service_account,
    value,
)

_NAME = "neuron-device-plugin"
_NAMESPACE = "kube-system"


def shared_objects() -> list[Object]:
    """The account of the plugin, what it may do, and a policy."""
    rules = [
        rule("", ["nodes"], READ),
        rule("", ["nodes/status"], ["patch", "update"]),
        # As much as running commands in every Pod, through the kubelet; the vendor asks for it.
        rule("", ["nodes/proxy"], ["get", "list"]),
        rule("", ["pods"], [*READ, "update", "patch"]),
        rule("", ["events"], ["create", "patch"]),
    ]
    return [
        service_account(_NAME, _NAMESPACE),
        cluster_role(_NAME, rules),
        cluster_role_binding(_NAME, _NAME, _NAME, _NAMESPACE),
        # It only tells: how the closed plugin labels the nodes of an UltraServer is not documented.
        *own_node_policy(f"nodes-{_NAME}", account=_NAME, namespace=_NAMESPACE, denies=False),
    ]


def driver_objects(driver: DriverPlan, image: str) -> list[Object]:
    """The DaemonSet of an owner."""
    container = {
        "name": _NAME,
        "image": image,
        "env": [
            # The vendor's value. No such file is mounted, so the plugin acts as its account.
            value("KUBECONFIG", "/etc/kubernetes/kubelet.conf"),
            from_field("NODE_NAME", "spec.nodeName"),
        ],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            mount("device-plugins", DEVICE_PLUGINS),
            mount("run", "/run"),
            # Holds the node's logical NeuronCore setting.
            mount("aws", "/opt/aws", read_only=True),
        ],
    }
    pod = {
        "serviceAccountName": _NAME,
        "containers": [container],
        "volumes": [
            host_path("device-plugins", DEVICE_PLUGINS),
            host_path("run", "/run"),
            host_path("aws", "/opt/aws"),
        ],
    }
    return [daemon_set(driver, name=_NAME, namespace=_NAMESPACE, pod=pod)]
