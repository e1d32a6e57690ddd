"""What the GPU half of the NVIDIA DRA driver is told by an owner's settings.

Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/releases/tag/v0.5.0
"""

from __future__ import annotations

from eks_devices import DriverPlan
from eks_devices.feature_gates import told_gates
from eks_devices.names import (
    FABRIC_PARTITIONS_GATE,
    PASSTHROUGH_GATE,
    VFIO_CLASS,
)

from .host_paths import host_path, mount
from .objects import Object, device_class, value

_VARIABLES = {
    "feature-gates": "FEATURE_GATES",
    "consumable-shares": "CONSUMABLE_SHARES",
    "ignored-xids": "ADDITIONAL_XIDS_TO_IGNORE",
}
_HOST_ROOT = "/host-root"


def options_env(driver: DriverPlan) -> list[Object]:
    """The environment variables of the settings that there are."""
    settings = driver.settings
    return [
        value(variable, str(settings[name]))
        for name, variable in _VARIABLES.items()
        if name in settings
    ]


def passthrough_class() -> Object:
    """The class of GPUs that virtual machines in Pods get as they are."""
    return device_class(VFIO_CLASS)


def with_host_access(driver: DriverPlan, pod: Object) -> Object:
    """The Pod of the driver with what its feature gates need of the node; else as it was.

    Passthrough loads kernel modules with the node's own commands, and binds GPUs to another
    kernel driver. Partitions of the NVLink fabric are looked for below the same folder; the
    vendor's chart mounts it for passthrough only, and without it the driver takes every node for
    one that has no fabric, and says nothing.
    """
    gates = gates_on(driver)
    if PASSTHROUGH_GATE in gates:
        return _with_volumes(pod, [_host_root(), *_kernel()])
    return _with_volumes(pod, [_host_root()]) if FABRIC_PARTITIONS_GATE in gates else pod


def gates_on(driver: DriverPlan) -> set[str]:
    """The gates that an owner's settings switch on."""
    return {name for name, on in told_gates(driver.settings).items() if on}


# A volume and how the container mounts it.
_Mounted = tuple[Object, Object]


def _host_root() -> _Mounted:
    seen = mount("host-root", _HOST_ROOT, read_only=True, propagation="HostToContainer")
    return host_path("host-root", "/", "Directory"), seen


def _kernel() -> list[_Mounted]:
    modules = mount("lib-modules", "/lib/modules", read_only=True, propagation="HostToContainer")
    return [
        (host_path("lib-modules", "/lib/modules", "Directory"), modules),
        (
            host_path("sysfs", "/sys", "Directory"),
            mount("sysfs", "/sys", propagation="Bidirectional"),
        ),
        (
            host_path("procfs", "/proc", "Directory"),
            mount("procfs", "/proc", propagation="Bidirectional"),
        ),
    ]


def _with_volumes(pod: Object, mounted: list[_Mounted]) -> Object:
    (container,) = pod["containers"]
    container = container | {
        "env": [*container["env"], value("HOST_ROOT", _HOST_ROOT)],
        "volumeMounts": [*container["volumeMounts"], *(seen for _, seen in mounted)],
    }
    volumes = [*pod["volumes"], *(volume for volume, _ in mounted)]
    return pod | {"containers": [container], "volumes": volumes}
