"""The control daemon of NVIDIA's Multi-Process Service, beside the device plugin.

The vendor's chart selects its nodes by a label that GPU feature discovery sets, and gives it the
selector of the plugin's Pods; here it runs where the plugin of its owner runs, by a name of its
own.

Source: https://github.com/NVIDIA/k8s-device-plugin/releases/tag/v0.20.0
"""

from __future__ import annotations

from typing import Final

from eks_devices import DriverPlan, Feature

from .host_paths import host_path, mount
from .nvidia_common import NO_GPUS, RESOURCES
from .nvidia_plugin_options import NAME, gpu_env, plugin_daemon_set
from .objects import Object

_PART = "mps-control-daemon"
MPS_DAEMON_NAME = f"{NAME}-{_PART}"
"""The name of its Pods, whoever owns them."""
MPS_ROOT: Final = "/run/nvidia/mps"
"""Where the daemon keeps its pipes and logs, and Pods that share a GPU meet it."""

# The binaries know the folder by this name only.
_CONTAINER_ROOT = "/mps"
# The daemon writes this file when every GPU can be shared, and deletes it when it ends.
_READY = f"{_CONTAINER_ROOT}/.ready"


def shares_by_mps(driver: DriverPlan) -> bool:
    """Whether an owner shares GPUs by MPS."""
    return driver.settings.get("sharing") == str(Feature.MPS)


def mps_daemon_objects(driver: DriverPlan, image: str) -> list[Object]:
    """The DaemonSet of an owner that shares GPUs by MPS; no other owner has one."""
    if not shares_by_mps(driver):
        return []
    container = {
        "name": "mps-control-daemon-ctr",
        "image": image,
        "command": ["mps-control-daemon"],
        "env": gpu_env(driver),
        # The server of MPS, which its clients wait for, is among what runs in it.
        "resources": RESOURCES,
        # It switches the compute mode of GPUs.
        "securityContext": {"privileged": True},
        "volumeMounts": mps_mounts(),
    }
    daemons = plugin_daemon_set(
        driver,
        container,
        volumes=mps_volumes(),
        first=[_mount_shared_memory(image)],
        part=_PART,
    )
    # The server looks itself up by the process id that the GPU's driver knows, which is the host's.
    daemons["spec"]["template"]["spec"]["hostPID"] = True
    return [daemons]


def _mount_shared_memory(image: str) -> Object:
    """Mounts, on the node, the memory that the daemon and its clients share."""
    return {
        "name": "mps-control-daemon-mounts",
        "image": image,
        "command": ["mps-control-daemon", "mount-shm"],
        "env": [NO_GPUS],
        # A mount that the node is to see needs it.
        "securityContext": {"privileged": True},
        "volumeMounts": [mount("mps-root", _CONTAINER_ROOT, propagation="Bidirectional")],
    }


def mps_mounts() -> list[Object]:
    """Where the daemon and the plugin see the daemon's folder and memory."""
    return [mount("mps-root", _CONTAINER_ROOT), mount("mps-shm", "/dev/shm")]  # noqa: S108


def mps_volumes() -> list[Object]:
    """The daemon's folder and memory."""
    return [
        host_path("mps-root", MPS_ROOT, "DirectoryOrCreate"),
        host_path("mps-shm", f"{MPS_ROOT}/shm"),
    ]


def wait_for_daemon(image: str) -> Object:
    """An init container for the plugin, which asks the daemon whether it is well when it starts.

    A plugin that came first would keep the folder that was there before the daemon's memory was
    mounted on it, and would try again every 30 seconds without ever looking elsewhere.
    """
    return {
        "name": "wait-for-mps-control-daemon",
        "image": image,
        "command": ["sh", "-c", f"until [ -e {_READY} ]; do sleep 1; done"],
        "env": [NO_GPUS],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [mount("mps-root", _CONTAINER_ROOT, read_only=True)],
    }
