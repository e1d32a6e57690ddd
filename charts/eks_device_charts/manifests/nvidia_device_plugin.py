"""The NVIDIA device plugin: `nvidia.com/gpu`.

Source: https://github.com/NVIDIA/k8s-device-plugin/releases/tag/v0.20.0
"""

from __future__ import annotations

from eks_devices import DriverPlan

from .gpu_feature_discovery import DISCOVERY_NAME, discovery_objects
from .host_paths import CDI, DEVICE_PLUGINS, host_path, mount
from .nvidia_common import NAMESPACE, RESOURCES
from .nvidia_mps_daemon import (
    MPS_DAEMON_NAME,
    MPS_ROOT,
    mps_daemon_objects,
    mps_mounts,
    mps_volumes,
    shares_by_mps,
    wait_for_daemon,
)
from .nvidia_network_policies import silent_policy
from .nvidia_plugin_options import (
    NAME,
    configuration,
    gpu_env,
    plugin_daemon_set,
    security_context,
)
from .objects import Object, namespace, service_account, value

# FAIL_ON_INIT_ERROR is not among them: it is on by default, and our nodes have GPUs, so a plugin
# that finds none had better end and be seen than wait for ever and serve nothing.
_VARIABLES = {
    "gdrcopy": "GDRCOPY_ENABLED",
    "gds": "GDS_ENABLED",
    "device-list-strategy": "DEVICE_LIST_STRATEGY",
    "device-id-strategy": "DEVICE_ID_STRATEGY",
    "pass-device-specs": "PASS_DEVICE_SPECS",
    "ignored-health-checks": "DP_DISABLE_HEALTHCHECKS",
}


def shared_objects() -> list[Object]:
    """Namespace and account; the plugin needs no permission."""
    return [namespace(NAMESPACE), service_account(NAME, NAMESPACE)]


def network_policies() -> list[Object]:
    """None of the plugin's Pods, and of those beside it, talks to anybody."""
    return [silent_policy(name) for name in (NAME, MPS_DAEMON_NAME, DISCOVERY_NAME)]


def driver_objects(driver: DriverPlan, image: str) -> list[Object]:
    """The DaemonSet of an owner, with what its settings ask for beside it."""
    return [
        *configuration(driver),
        *mps_daemon_objects(driver, image),
        _plugin(driver, image),
        *discovery_objects(driver, image),
    ]


def _plugin(driver: DriverPlan, image: str) -> Object:
    mounts = [mount("device-plugins", DEVICE_PLUGINS)]
    volumes = [host_path("device-plugins", DEVICE_PLUGINS, "Directory")]
    first: list[Object] = []
    if _writes_cdi(driver):
        mounts += [mount("cdi", CDI), mount("driver-root", "/driver-root", read_only=True)]
        volumes += [
            host_path("cdi", CDI, "DirectoryOrCreate"),
            host_path("driver-root", "/", "Directory"),
        ]
    if shares_by_mps(driver):
        mounts += mps_mounts()
        volumes += mps_volumes()
        first.append(wait_for_daemon(image))
    container = _container(driver, image, mounts)
    return plugin_daemon_set(driver, container, volumes=volumes, first=first)


def _writes_cdi(driver: DriverPlan) -> bool:
    """Whether the plugin describes GPUs to the runtime, by the driver's files on the node.

    The vendor's chart leaves the node's files out unless told where they are, and the plugin
    then finds no library to describe.
    """
    return str(driver.settings.get("device-list-strategy", "")).startswith("cdi-")


def _container(driver: DriverPlan, image: str, mounts: list[Object]) -> Object:
    privileged = driver.settings.get("pass-device-specs")
    return {
        "name": "nvidia-device-plugin-ctr",
        "image": image,
        "command": ["nvidia-device-plugin"],
        "env": [
            *gpu_env(driver),
            # Some releases mount every RDMA device into every Pod unless told otherwise.
            value("MOFED_ENABLED", "false"),
            *_variables(driver),
        ],
        "resources": RESOURCES,
        # The kubelet's CPU manager updates containers, and with that takes away the devices that
        # only the runtime gave them; a privileged one may use every device.
        "securityContext": {"privileged": True} if privileged else security_context(driver),
        "volumeMounts": mounts,
    }


def _variables(driver: DriverPlan) -> list[Object]:
    settings = driver.settings
    found = [
        value(variable, str(settings[name]).lower())
        for name, variable in _VARIABLES.items()
        if name in settings
    ]
    return [*found, *([value("MPS_ROOT", MPS_ROOT)] if shares_by_mps(driver) else [])]
