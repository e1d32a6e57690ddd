"""The node problem detector of nodes with Neuron devices, and what recovers such nodes.

Source: https://github.com/aws-neuron/neuron-helm-charts and
https://github.com/kubernetes/node-problem-detector
"""

from __future__ import annotations

import json
from typing import Final

from eks_devices import DeviceType
from eks_devices.components import Component
from eks_devices.neuron_health import NeuronError, NeuronHealth

from .admission import own_node_policy
from .host_paths import host_path, mount
from .images import ImageSource
from .objects import (
    Object,
    cluster_role_binding,
    device_pod,
    from_field,
    http_probe,
    metadata,
    namespace,
    pod_metadata,
    restarted_by,
    service_account,
    value,
)

NAMESPACE: Final = "neuron-healthcheck-system"
"""The namespace; the vendor's chart uses it and does not make it."""
ACCOUNT: Final = "node-problem-detector"
"""The account of the Pods, which a role of AWS may be given to."""

_NAME = "node-problem-detector"
_CLUSTER_NAME = f"neuron-{_NAME}"  # Another detector in the cluster may have the vendor's name.
_LABELS = {"app.kubernetes.io/name": _NAME}
_ROLE = "system:node-problem-detector"
_CONFIG, _FILE, _FOLDER = "node-problem-detector-config", "kernel-monitor.json", "/config"
_KERNEL_LOG = "/dev/kmsg"
_METRICS_PORT = 20257
_CONDITION = "NeuronHealth"
_NODE_NAME = from_field("NODE_NAME", "spec.nodeName")


def health_objects(health: NeuronHealth, images: ImageSource) -> list[Object]:
    """Everything that watches Neuron devices, in apply order; a cluster has it once."""
    monitor = json.dumps(kernel_monitor(), indent=2)
    return [
        namespace(NAMESPACE),
        service_account(ACCOUNT, NAMESPACE),
        # Every API server makes this role itself, and repairs it.
        cluster_role_binding(_CLUSTER_NAME, _ROLE, ACCOUNT, NAMESPACE),
        # Ours: the role lets a Pod patch the status of every node.
        *own_node_policy(f"nodes-{_CLUSTER_NAME}", account=ACCOUNT, namespace=NAMESPACE),
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata(_CONFIG, NAMESPACE, **_LABELS),
            "data": {_FILE: monitor},
        },
        _daemon_set(health, images, monitor),
    ]


def kernel_monitor() -> Object:
    """What the detector looks for in the kernel log, as its configuration says it."""
    return {
        "plugin": "kmsg",
        "logPath": _KERNEL_LOG,
        # Since the node booted, however long ago: such an error lasts, and a new Pod must not
        # call the node healthy again. The vendor looks five minutes back.
        "lookback": "87600h",
        "bufferSize": 10,
        "source": "kernel-monitor",
        "conditions": [
            {"type": _CONDITION, "reason": "NeuronHasNoError", "message": "Neuron has no error"}
        ],
        "rules": [
            {
                "type": "permanent",
                "condition": _CONDITION,
                "reason": error.condition_reason,
                # The vendor's pattern wants something before the error, while the example in
                # its documentation begins with it.
                "pattern": rf".*\bNEURON_HW_ERR={error}\b.*",
            }
            for error in NeuronError
        ],
    }


def _daemon_set(health: NeuronHealth, images: ImageSource, monitor: str) -> Object:
    template = pod_metadata(_LABELS)
    template["annotations"] = restarted_by("rules", monitor)
    containers = [_detector(images.component_image(Component.NODE_PROBLEM_DETECTOR))]
    if health.calls_aws:
        image = images.component_image(Component.NEURON_NODE_RECOVERY)
        containers.append(_recovery(health, image))
    pod = {
        "serviceAccountName": ACCOUNT,
        "containers": containers,
        "volumes": [
            host_path("kmsg", _KERNEL_LOG, "CharDevice"),
            {"name": "config", "configMap": {"name": _CONFIG}},
        ],
    }
    spec = {
        "selector": {"matchLabels": dict(_LABELS)},
        "template": {"metadata": template, "spec": device_pod(DeviceType.NEURON, pod)},
    }
    meta = metadata(_NAME, NAMESPACE, **_LABELS)
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": meta, "spec": spec}


def _detector(image: str) -> Object:
    """The detector itself.

    The vendor runs it in a shell that ends it when it dies or has closed the kernel log. It is the
    only process here, so a dead one is started anew, and since 1.36 it opens the log again itself.
    """
    probe = http_probe("/metrics", "metrics", timeoutSeconds=5)
    return {
        "name": _NAME,
        "image": image,
        "command": [
            "/node-problem-detector",
            "--logtostderr",
            f"--config.system-log-monitor={_FOLDER}/{_FILE}",
            # On every address: the kubelet asks the Pod's, recovery the loopback one.
            "--prometheus-address=",
            # The other server says that all is well whatever happens, and lets others profile.
            "--port=0",
        ],
        "env": [_NODE_NAME],
        "ports": [{"name": "metrics", "containerPort": _METRICS_PORT}],
        # It serves no metrics before it found the API server, which it tries for five minutes.
        "startupProbe": probe | {"periodSeconds": 10, "failureThreshold": 36},
        "livenessProbe": probe | {"periodSeconds": 30, "failureThreshold": 3},
        # Without the vendor's limit of 10m: behind a busy log it would miss what is overwritten.
        "resources": {
            "requests": {"cpu": "10m", "memory": "80Mi"},
            "limits": {"memory": "80Mi"},
        },
        # No lesser container may open the kernel log: runtimes let it open its own devices only
        # (kubernetes/node-problem-detector#698).
        "securityContext": {"privileged": True, "readOnlyRootFilesystem": True},
        # The vendor mounts the node's logs and time zone too, which nothing here reads.
        "volumeMounts": [
            mount("kmsg", _KERNEL_LOG, read_only=True),
            mount("config", _FOLDER, read_only=True),
        ],
    }


def _recovery(health: NeuronHealth, image: str) -> Object:
    """What counts errors in CloudWatch, and marks the instance unhealthy where it may."""
    errors = [one.condition_reason for one in health.counted]
    return {
        "name": "node-recovery",
        "image": image,
        "command": ["/scripts/check-health.py", "--startup-delay", "60", "--counters", *errors],
        "env": [_NODE_NAME, value("ENABLE_RECOVERY", str(health.recovery).lower())],
        "resources": {
            "requests": {"cpu": "10m", "memory": "150Mi"},
            "limits": {"memory": "150Mi"},
        },
        # Ours, but for the file system: the vendor has that for ECS.
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
