"""The GPU half of the NVIDIA DRA driver and its DeviceClasses.

Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/releases/tag/v0.5.0
"""

from __future__ import annotations

from eks_devices import DriverPlan
from eks_devices.names import (
    GPU_CLASS,
    GPU_DRIVER,
    MIG_CLASS,
    MPS_GATE,
    PASSTHROUGH_GATE,
)

from .admission import own_daemons_policy, own_slices_policy
from .installation import Installation
from .nvidia_claim_webhook import webhook_network_policy, webhook_objects
from .nvidia_common import NAMESPACE
from .nvidia_gpu_options import gates_on, options_env, passthrough_class, with_host_access
from .nvidia_kubelet_plugin import UPDATES, kubelet_plugin, plugin_pod
from .nvidia_network_policies import api_client_policy
from .objects import (
    READ,
    Object,
    cluster_role,
    cluster_role_binding,
    daemon_set,
    device_class,
    namespace,
    owned_name,
    role,
    role_binding,
    rule,
    service_account,
    value,
)

_NAME = "dra-driver-nvidia-gpu-kubelet-plugin"
_METRICS_PORT = 8080


def shared_objects() -> list[Object]:
    """Namespace, account, permissions and policies."""
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
        # For the accounts that may make MPS daemons. A scope may bring one at any time, and what a
        # cluster has once comes with the default installation.
        *own_daemons_policy(f"deployments-{_NAME}", account=_NAME, namespace=NAMESPACE),
    ]


def device_classes(installation: Installation) -> list[Object]:
    """Those of whole GPUs and of MIG devices."""
    resource = installation.options.nvidia.mapped_resource(installation.kubernetes_version)
    return [
        device_class(GPU_CLASS, extended_resource=resource),
        device_class(MIG_CLASS),
    ]


def passthrough_classes(driver: DriverPlan) -> list[Object]:
    """The class of GPUs for virtual machines, where an owner's driver offers them."""
    return [passthrough_class()] if PASSTHROUGH_GATE in gates_on(driver) else []


def claim_webhook(installation: Installation, image: str) -> list[Object]:
    """What refuses claims that the driver could not read, where a user asks for it."""
    nvidia = installation.options.nvidia
    if nvidia.claim_webhook is None:
        return []
    policies = webhook_network_policy() if nvidia.network_policies else []
    return [*policies, *webhook_objects(image, certificate=nvidia.claim_webhook)]


def network_policies() -> list[Object]:
    """What the driver's Pods may talk to."""
    return [api_client_policy(_NAME, metrics_port=_METRICS_PORT)]


def driver_objects(driver: DriverPlan, image: str) -> list[Object]:
    """The DaemonSet of an owner, with an account of its own where it makes MPS daemons."""
    own = owned_name(_NAME, driver.owner)
    access = _mps_access(own) if MPS_GATE in gates_on(driver) else []
    account = access[0]["metadata"]["name"] if access else _NAME
    container = kubelet_plugin(
        "gpus",
        image,
        binary="gpu-kubelet-plugin",
        health_port=51516,
        metrics_port=_METRICS_PORT,
        liveness_period=30,
        env=_env(driver, image),
    )
    pod = with_host_access(driver, plugin_pod(account, image, container))
    return [
        *access,
        daemon_set(driver, name=_NAME, namespace=NAMESPACE, pod=pod, strategy=UPDATES),
    ]


def _env(driver: DriverPlan, image: str) -> list[Object]:
    # The image of the MPS daemons that the driver makes; they run as the namespace's own account,
    # which may do nothing. The vendor gives them the account of the driver.
    return [value("IMAGE_NAME", image), *options_env(driver)]


def _mps_access(account: str) -> list[Object]:
    """An account that may also make Deployments: whoever may do that can run anything here.

    So the Pods of other owners keep the account that may not, and a policy says which Deployments.
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
