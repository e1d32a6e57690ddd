"""What the two kubelet plugins of the NVIDIA DRA driver have in common."""

from __future__ import annotations

from typing import Final

from .host_paths import CDI, DRA_PLUGINS, DRA_REGISTRY, host_path, mount
from .nvidia_common import NO_GPUS, RESOURCES
from .objects import Object, from_field, grpc_probe, value

# Two Pods on a node would fight over the registration socket, so none starts beside another.
UPDATES: Final[Object] = {
    "type": "RollingUpdate",
    "rollingUpdate": {"maxUnavailable": "100%", "maxSurge": 0},
}
_DRIVER_ROOT = "/driver-root"


def kubelet_plugin(
    name: str,
    image: str,
    *,
    binary: str,
    health_port: int,
    metrics_port: int,
    liveness_period: int,
    env: list[Object],
    read_only_driver: bool = False,
) -> Object:
    """The container of a kubelet plugin."""
    return {
        "name": name,
        "image": image,
        "command": [binary, "-v", "4"],
        "env": [*_env(metrics_port, health_port), *env],
        "resources": RESOURCES,
        "securityContext": {"privileged": True},
        "startupProbe": _probe(health_port, period=1, failures=600),
        "livenessProbe": _probe(health_port, period=liveness_period, failures=3),
        "volumeMounts": [
            mount("registry", DRA_REGISTRY),
            mount("plugins", DRA_PLUGINS, propagation="Bidirectional"),
            mount("cdi", CDI),
            mount(
                "driver-root",
                _DRIVER_ROOT,
                read_only=read_only_driver,
                propagation="HostToContainer",
            ),
        ],
    }


def _env(metrics_port: int, health_port: int) -> list[Object]:
    return [
        value("HTTP_ENDPOINT", f":{metrics_port}"),
        value("METRICS_PATH", "/metrics"),
        value("NVIDIA_DRIVER_ROOT", "/"),
        NO_GPUS,
        value("CDI_ROOT", CDI),
        value("NVIDIA_MIG_CONFIG_DEVICES", "all"),
        from_field("NODE_NAME", "spec.nodeName"),
        from_field("NAMESPACE", "metadata.namespace"),
        value("KUBELET_REGISTRAR_DIRECTORY_PATH", DRA_REGISTRY),
        value("KUBELET_PLUGINS_DIRECTORY_PATH", DRA_PLUGINS),
        value("HEALTHCHECK_PORT", str(health_port)),
    ]


def _probe(port: int, *, period: int, failures: int) -> Object:
    return grpc_probe(
        port, "liveness", periodSeconds=period, timeoutSeconds=10, failureThreshold=failures
    )


def plugin_pod(account: str, image: str, container: Object) -> Object:
    """The Pod of a kubelet plugin; it waits until the node's driver is there."""
    return {
        "serviceAccountName": account,
        "initContainers": [_wait_for_driver(image)],
        "containers": [container],
        "volumes": [
            host_path("registry", DRA_REGISTRY),
            host_path("plugins", DRA_PLUGINS),
            host_path("cdi", CDI, "DirectoryOrCreate"),
            host_path("driver-root", "/", "Directory"),
        ],
    }


def _wait_for_driver(image: str) -> Object:
    return {
        "name": "init-container",
        "image": image,
        "command": ["bash", "/usr/bin/kubelet-plugin-prestart.sh"],
        "env": [
            value("NVIDIA_DRIVER_ROOT", "/"),
            NO_GPUS,
            value("KUBELET_REGISTRAR_DIRECTORY_PATH", DRA_REGISTRY),
            value("KUBELET_PLUGINS_DIRECTORY_PATH", DRA_PLUGINS),
        ],
        "securityContext": {"privileged": True},
        "volumeMounts": [mount("driver-root", "/driver-root-parent", read_only=True)],
    }
