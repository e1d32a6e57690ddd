"""The NVIDIA device plugin: `nvidia.com/gpu`.

Source: https://github.com/NVIDIA/k8s-device-plugin/releases/tag/v0.20.0
"""

from __future__ import annotations

import hashlib
import json

from eks_devices import DriverPlan
from eks_devices.names import GPU_RESOURCE

from .host_paths import DEVICE_PLUGINS, host_path, mount
from .nvidia_kubelet_plugin import NAMESPACE
from .objects import (
    Object,
    daemon_set,
    metadata,
    namespace,
    owned_name,
    service_account,
    value,
)

_NAME = "nvdp-nvidia-device-plugin"
_CONFIG_FOLDER, _CONFIG_FILE = "/config", "config.yaml"


def shared_objects() -> list[Object]:
    """Namespace and account; the plugin needs no permission."""
    return [namespace(NAMESPACE), service_account(_NAME, NAMESPACE)]


def driver_objects(driver: DriverPlan, image: str) -> list[Object]:
    """The DaemonSet of an owner, with its configuration where GPUs are shared."""
    if not driver.settings:
        return [daemon_set(driver, name=_NAME, namespace=NAMESPACE, pod=_pod(image))]
    text = json.dumps(_time_slicing(driver), indent=2, sort_keys=True) + "\n"
    name = owned_name(_NAME, driver.owner)
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(name, NAMESPACE),
        "data": {_CONFIG_FILE: text},
    }
    # The plugin does not watch its file, so a changed configuration makes new Pods.
    digest = {"eks-devices/config": hashlib.sha256(text.encode()).hexdigest()[:16]}
    pod = _pod(image, {"name": "config", "configMap": {"name": name}})
    return [
        config,
        daemon_set(driver, name=_NAME, namespace=NAMESPACE, pod=pod, annotations=digest),
    ]


def _time_slicing(driver: DriverPlan) -> Object:
    """The plugin's configuration; each owner has its own, so no side-car chooses among many."""
    resource = {"name": GPU_RESOURCE, "replicas": driver.settings["replicas"]}
    return {
        "version": "v1",
        "flags": {"migStrategy": "none"},
        "sharing": {"timeSlicing": {"resources": [resource]}},
    }


def _pod(image: str, config: Object | None = None) -> Object:
    mounts = [mount("device-plugins", DEVICE_PLUGINS)]
    volumes = [host_path("device-plugins", DEVICE_PLUGINS, "Directory")]
    if config is not None:
        mounts.append(mount("config", _CONFIG_FOLDER, read_only=True))
        volumes.append(config)
    return {
        "serviceAccountName": _NAME,
        "automountServiceAccountToken": False,
        "containers": [_container(image, mounts, configured=config is not None)],
        "volumes": volumes,
    }


def _container(image: str, mounts: list[Object], *, configured: bool) -> Object:
    file = [value("CONFIG_FILE", f"{_CONFIG_FOLDER}/{_CONFIG_FILE}")] if configured else []
    return {
        "name": "nvidia-device-plugin-ctr",
        "image": image,
        "command": ["nvidia-device-plugin"],
        "env": [
            value("NVIDIA_VISIBLE_DEVICES", "all"),
            value("NVIDIA_DRIVER_CAPABILITIES", "compute,utility"),
            # Some releases mount every RDMA device into every Pod unless told otherwise.
            value("MOFED_ENABLED", "false"),
            *file,
        ],
        # The vendor adds SYS_ADMIN wherever there is a configuration, because it might switch
        # MIG on; ours says that it does not. What MPS and CDI need is left out with them.
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": mounts,
    }
