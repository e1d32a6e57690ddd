"""The GPU half of the NVIDIA DRA driver and its DeviceClasses.

Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/releases/tag/v0.5.0
"""

from __future__ import annotations

from collections.abc import Iterator

from eks_devices import DriverPlan
from eks_devices.feature_gates import gates_of
from eks_devices.kubernetes import gate_is_on
from eks_devices.names import GPU_CLASS, GPU_DRIVER, GPU_RESOURCE, MIG_CLASS, VFIO_CLASS

from .admission import own_slices_policy
from .host_paths import host_path, mount
from .installation import Installation
from .nvidia_kubelet_plugin import NAMESPACE, UPDATES, kubelet_plugin, plugin_pod
from .objects import (
    READ,
    Object,
    cluster_role,
    cluster_role_binding,
    daemon_set,
    device_class,
    has,
    namespace,
    owned_name,
    role,
    role_binding,
    rule,
    service_account,
    value,
)

_NAME = "dra-driver-nvidia-gpu-kubelet-plugin"
_MPS, _PASSTHROUGH = "MPSSupport", "PassthroughSupport"
_HOST_ROOT = "/host-root"
_SETTINGS = {
    "consumable-shares": "CONSUMABLE_SHARES",
    "feature-gates": "FEATURE_GATES",
    "ignored-xids": "ADDITIONAL_XIDS_TO_IGNORE",
}


def shared_objects() -> list[Object]:
    """Namespace, account, permissions and policy."""
    # The vendor's role serves ComputeDomains and MPS as well.
    rules = [
        rule("resource.k8s.io", ["resourceclaims"], ["get"]),
        rule("resource.k8s.io", ["resourceslices"], [*READ, "create", "update", "delete"]),
        rule("", ["nodes"], ["get"]),
    ]
    return [
        namespace(NAMESPACE),
        service_account(_NAME, NAMESPACE),
        cluster_role(_NAME, rules),
        cluster_role_binding(_NAME, _NAME, _NAME, NAMESPACE),
        # The vendor's policy names an account that no Pod has, so it never applies. Ours is for
        # the accounts of all owners, whose names begin alike.
        *own_slices_policy(
            f"resourceslices-{_NAME}",
            account=_NAME,
            namespace=NAMESPACE,
            driver=GPU_DRIVER,
            owned=True,
        ),
    ]


def device_classes(installation: Installation) -> list[Object]:
    """Those of whole GPUs and of MIG devices."""
    # Without the gate the API server drops the name, and an unchanged object is not sent again.
    served = gate_is_on("DRAExtendedResource", installation.kubernetes_version)
    wanted = installation.nvidia.extended_resource
    resource = GPU_RESOURCE if served and wanted else None
    return [
        device_class(GPU_CLASS, has(GPU_DRIVER, type="gpu"), extended_resource=resource),
        device_class(MIG_CLASS, has(GPU_DRIVER, type="mig")),
    ]


def passthrough_classes(driver: DriverPlan) -> list[Object]:
    """The class of GPUs for virtual machines, where an owner's driver offers them."""
    if not _gates(driver).get(_PASSTHROUGH):
        return []
    return [device_class(VFIO_CLASS, has(GPU_DRIVER, type="vfio"))]


def driver_objects(driver: DriverPlan, image: str) -> list[Object]:
    """The DaemonSet of an owner, with an account of its own where it makes MPS daemons."""
    gates = _gates(driver)
    access = _mps_access(owned_name(_NAME, driver.owner)) if gates.get(_MPS) else []
    account = access[0]["metadata"]["name"] if access else _NAME
    container = kubelet_plugin(
        "gpus",
        image,
        binary="gpu-kubelet-plugin",
        health_port=51516,
        metrics_port=8080,
        liveness_period=30,
        env=[*_env(driver, image)],
    )
    pod = plugin_pod(account, image, container)
    if gates.get(_PASSTHROUGH):
        _see_whole_host(pod, container)
    return [
        *access,
        daemon_set(driver, name=_NAME, namespace=NAMESPACE, pod=pod, strategy=UPDATES),
    ]


def _gates(driver: DriverPlan) -> dict[str, bool]:
    return gates_of(str(driver.settings.get("feature-gates", "")))


def _env(driver: DriverPlan, image: str) -> Iterator[Object]:
    # The image of the MPS daemons that the driver makes; they run as the namespace's own account,
    # which may do nothing. The vendor gives them the account of the driver.
    yield value("IMAGE_NAME", image)
    for setting, name in _SETTINGS.items():
        if setting in driver.settings:
            yield value(name, str(driver.settings[setting]))


def _mps_access(account: str) -> list[Object]:
    """An account that may also make Deployments: whoever may do that can run anything here.

    So the Pods of other owners keep the account that may not.
    """
    rules = [
        rule("apps", ["deployments"], ["get", "create", "delete"]),
        rule("", ["pods"], ["list"]),
    ]
    return [
        service_account(account, NAMESPACE),
        cluster_role_binding(account, _NAME, account, NAMESPACE),
        role(account, NAMESPACE, rules),
        role_binding(account, account, account, NAMESPACE),
    ]


def _see_whole_host(pod: Object, container: Object) -> None:
    """Add what binding GPUs to the kernel's driver for virtual machines takes."""
    container["env"].append(value("HOST_ROOT", _HOST_ROOT))
    container["volumeMounts"] += [
        mount("host-root", _HOST_ROOT, read_only=True, propagation="HostToContainer"),
        mount("modules", "/lib/modules", read_only=True, propagation="HostToContainer"),
        mount("sysfs", "/sys", propagation="Bidirectional"),
        mount("procfs", "/proc", propagation="Bidirectional"),
    ]
    pod["volumes"] += [
        host_path("host-root", "/", "Directory"),
        host_path("modules", "/lib/modules", "Directory"),
        host_path("sysfs", "/sys", "Directory"),
        host_path("procfs", "/proc", "Directory"),
    ]
