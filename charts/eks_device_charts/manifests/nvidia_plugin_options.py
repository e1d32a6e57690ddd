"""What the NVIDIA device plugin, and the Pods beside it, are told by an owner's settings.

Whatever has an environment variable is told by it; sharing has none, and is a file.

Source: https://github.com/NVIDIA/k8s-device-plugin/releases/tag/v0.20.0
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from eks_devices import DriverPlan, Feature
from eks_devices.names import GPU_RESOURCE, VISIBLE_DEVICES

from .host_paths import mount
from .nvidia_common import NAMESPACE
from .objects import Object, daemon_set, metadata, owned_name, restarted_by, value

NAME: Final = "nvdp-nvidia-device-plugin"

_CONFIG_FOLDER, _CONFIG_FILE = "/config", "config.yaml"
_STRATEGIES = {str(Feature.TIME_SLICING): "timeSlicing", str(Feature.MPS): "mps"}
_SHARING_FLAGS = {
    "rename": "renameByDefault",
    "single-replica-requests": "failRequestsGreaterThanOne",
}


def configuration(driver: DriverPlan) -> list[Object]:
    """The ConfigMap of an owner that shares GPUs; no other owner has one.

    Each owner has its own, so no side-car chooses among many, and none reads Node objects.
    """
    if not _is_shared(driver):
        return []
    meta = metadata(owned_name(NAME, driver.owner), NAMESPACE)
    data = {_CONFIG_FILE: _file(driver)}
    return [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}]


def _is_shared(driver: DriverPlan) -> bool:
    return "sharing" in driver.settings


def _file(driver: DriverPlan) -> str:
    settings = driver.settings
    shared: Object = {"resources": [{"name": GPU_RESOURCE, "replicas": settings["replicas"]}]}
    shared |= {flag: True for name, flag in _SHARING_FLAGS.items() if settings.get(name)}
    sharing = {_STRATEGIES[str(settings["sharing"])]: shared}
    return json.dumps({"version": "v1", "sharing": sharing}, indent=2, sort_keys=True) + "\n"


def gpu_env(driver: DriverPlan) -> list[Object]:
    """What a container needs to see every GPU of its node, and their partitions if there are any.

    The GPUs come from the container runtime, which is NVIDIA's on these nodes.
    """
    env = [
        value(VISIBLE_DEVICES, "all"),
        value("NVIDIA_DRIVER_CAPABILITIES", "compute,utility"),
    ]
    if _has_mig(driver):
        env.append(value("MIG_STRATEGY", str(driver.settings["mig-strategy"])))
        env.append(value("NVIDIA_MIG_MONITOR_DEVICES", "all"))
    return env


def _has_mig(driver: DriverPlan) -> bool:
    return "mig-strategy" in driver.settings


def security_context(driver: DriverPlan) -> Object:
    """The least that a container that sees GPUs can do with.

    The container runtime hands over what watches MIG, and GPUs by name where only mounts ask for
    them, to containers with SYS_ADMIN alone. The vendor adds it wherever there is a ConfigMap too,
    because that might switch MIG on; ours cannot.
    """
    if _has_mig(driver) or driver.settings.get("device-list-strategy") == "volume-mounts":
        # Refusing escalation beside SYS_ADMIN is refused, or does nothing.
        return {"capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]}}
    return {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def plugin_daemon_set(
    driver: DriverPlan,
    container: Object,
    *,
    volumes: Sequence[Object],
    first: Sequence[Object] = (),
    part: str = "",
) -> Object:
    """A DaemonSet of an owner with one container, which sees the configuration if there is one.

    Args:
        driver: The owner's plan.
        container: The container.
        volumes: What its containers mount beside the configuration.
        first: Containers that come and go before it.
        part: What it is, where it is not the plugin itself; part of its name and selector.
    """
    shared = _is_shared(driver)
    name = f"{NAME}-{part}" if part else NAME
    spec: Object = {
        "serviceAccountName": NAME,
        # None of them asks the API server for anything.
        "automountServiceAccountToken": False,
        "containers": [_configured(container) if shared else container],
        "volumes": [*volumes, *([_volume(driver)] if shared else [])],
    }
    spec |= {"initContainers": list(first)} if first else {}
    annotations = restarted_by("config", _file(driver)) if shared else None
    return daemon_set(driver, name=name, namespace=NAMESPACE, pod=spec, annotations=annotations)


def _configured(container: Object) -> Object:
    file = value("CONFIG_FILE", f"{_CONFIG_FOLDER}/{_CONFIG_FILE}")
    folder = mount("config", _CONFIG_FOLDER, read_only=True)
    return container | {
        "env": [*container["env"], file],
        "volumeMounts": [*container["volumeMounts"], folder],
    }


def _volume(driver: DriverPlan) -> Object:
    return {"name": "config", "configMap": {"name": owned_name(NAME, driver.owner)}}
