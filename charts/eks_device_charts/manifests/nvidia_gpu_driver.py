"""The GPU half of the NVIDIA DRA driver and its DeviceClasses.

Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/releases/tag/v0.4.1
"""

from __future__ import annotations

from eks_devices import DriverPlan, Feature
from eks_devices.kubernetes import gate_is_on
from eks_devices.names import GPU_CLASS, GPU_DRIVER, GPU_RESOURCE, MIG_CLASS

from .admission import own_slices_policy
from .nvidia_kubelet_plugin import NAMESPACE, UPDATES, kubelet_plugin, plugin_pod
from .objects import (
    READ,
    Object,
    cluster_role,
    cluster_role_binding,
    daemon_set,
    device_class,
    from_field,
    has,
    namespace,
    rule,
    service_account,
    value,
)

_NAME = "dra-driver-nvidia-gpu-kubelet-plugin"
_GATES = {str(Feature.TIME_SLICING): "TimeSlicingSettings"}


def shared_objects() -> list[Object]:
    """Namespace, account, permissions and policy."""
    # The vendor's role serves ComputeDomains and MPS as well.
    rules = [
        rule("resource.k8s.io", ["resourceclaims"], READ),
        rule("resource.k8s.io", ["resourceslices"], [*READ, "create", "update", "delete"]),
        rule("", ["nodes"], ["get"]),
    ]
    return [
        namespace(NAMESPACE),
        service_account(_NAME, NAMESPACE),
        cluster_role(_NAME, rules),
        cluster_role_binding(_NAME, _NAME, _NAME, NAMESPACE),
        # The vendor's policy names an account that no Pod has, so it never applies.
        *own_slices_policy(
            f"resourceslices-{_NAME}", account=_NAME, namespace=NAMESPACE, driver=GPU_DRIVER
        ),
    ]


def device_classes(kubernetes_version: str) -> list[Object]:
    """Those of whole GPUs and of MIG devices; passthrough is not served."""
    # Without the gate the API server drops the name, and an unchanged object is not sent again.
    resource = GPU_RESOURCE if gate_is_on("DRAExtendedResource", kubernetes_version) else None
    return [
        device_class(GPU_CLASS, has(GPU_DRIVER, type="gpu"), extended_resource=resource),
        device_class(MIG_CLASS, has(GPU_DRIVER, type="mig")),
    ]


def driver_objects(driver: DriverPlan, image: str) -> list[Object]:
    """The DaemonSet of an owner."""
    env = [
        from_field("SERVICE_ACCOUNT_NAME", "spec.serviceAccountName"),
        value("IMAGE_NAME", image),
    ]
    if driver.settings:
        env.append(value("FEATURE_GATES", f"{_GATES[str(driver.settings['sharing'])]}=true"))
    container = kubelet_plugin(
        "gpus",
        image,
        binary="gpu-kubelet-plugin",
        health_port=51516,
        metrics_port=8080,
        liveness_period=30,
        env=env,
    )
    pod = plugin_pod(_NAME, image, container)
    return [daemon_set(driver, name=_NAME, namespace=NAMESPACE, pod=pod, strategy=UPDATES)]
