"""The ComputeDomain half of the NVIDIA DRA driver: kubelet plugin, classes, daemon account.

Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/releases/tag/v0.5.0
"""

from __future__ import annotations

from collections.abc import Iterator

from eks_devices import DriverPlan
from eks_devices.names import (
    COMPUTE_DOMAIN_CHANNEL_CLASS,
    COMPUTE_DOMAIN_DAEMON_CLASS,
    COMPUTE_DOMAIN_DRIVER,
)

from .admission import own_node_policy, own_pod_policy, own_slices_policy
from .compute_domain_controller import (
    controller_access,
    controller_network_policy,
    gates_env,
)
from .compute_domain_crds import GROUP, compute_domain_crds
from .nvidia_common import NAMESPACE
from .nvidia_kubelet_plugin import UPDATES, kubelet_plugin, plugin_pod
from .nvidia_network_policies import api_client_policy, compute_domain_daemon_policy
from .objects import (
    READ,
    Object,
    cluster_role,
    cluster_role_binding,
    daemon_set,
    device_class,
    namespace,
    role,
    role_binding,
    rule,
    service_account,
    value,
)

_NAME = "dra-driver-nvidia-gpu-compute-domain-plugin"
# The driver makes Pods with this account, so its name is fixed.
_DAEMON_ACCOUNT = "compute-domain-daemon-service-account"
_DAEMON_ROLE = "compute-domain-daemon-role"
_METRICS_PORT = 8081


def shared_objects() -> list[Object]:
    """Namespace, CRDs, accounts, permissions, policies and DeviceClasses."""
    return [
        namespace(NAMESPACE),
        *compute_domain_crds(),
        *_plugin_access(),
        *controller_access(),
        *_daemon_access(),
        *own_slices_policy(
            f"resourceslices-{_NAME}",
            account=_NAME,
            namespace=NAMESPACE,
            driver=COMPUTE_DOMAIN_DRIVER,
        ),
        *own_node_policy(f"nodes-{_NAME}", account=_NAME, namespace=NAMESPACE),
        *own_pod_policy("pods-compute-domain-daemon", account=_DAEMON_ACCOUNT, namespace=NAMESPACE),
        # The driver writes claims of these two classes, so their names are fixed too.
        device_class(COMPUTE_DOMAIN_DAEMON_CLASS),
        device_class(COMPUTE_DOMAIN_CHANNEL_CLASS),
    ]


def _plugin_access() -> list[Object]:
    # The vendor's role serves GPUs as well, and reads all Pods for them.
    rules = [
        rule(GROUP, ["computedomains"], READ),
        rule("resource.k8s.io", ["resourceclaims"], ["get"]),
        rule("resource.k8s.io", ["resourceslices"], [*READ, "create", "update", "delete"]),
        # The plugin labels the node that a domain's channel was prepared on, and with its NVLink
        # partition.
        rule("", ["nodes"], ["get", "update", "patch"]),
    ]
    return [
        service_account(_NAME, NAMESPACE),
        cluster_role(_NAME, rules),
        cluster_role_binding(_NAME, _NAME, _NAME, NAMESPACE),
        role(_NAME, NAMESPACE, [rule(GROUP, ["computedomaincliques"], ["get"])]),
        role_binding(_NAME, _NAME, _NAME, NAMESPACE),
    ]


def _daemon_access() -> list[Object]:
    rules = [
        rule(GROUP, ["computedomains"], READ),
        rule(GROUP, ["computedomains/status"], ["update"]),
    ]
    # The vendor's role opens these in every namespace, where a patch can put any image into any
    # Pod; a daemon labels its own Pod, and its clique is beside it.
    own = [
        rule(GROUP, ["computedomaincliques"], [*READ, "create", "update"]),
        rule("", ["pods"], [*READ, "patch"]),
    ]
    return [
        service_account(_DAEMON_ACCOUNT, NAMESPACE),
        cluster_role(_DAEMON_ROLE, rules),
        cluster_role_binding(_DAEMON_ROLE, _DAEMON_ROLE, _DAEMON_ACCOUNT, NAMESPACE),
        role(_DAEMON_ROLE, NAMESPACE, own),
        role_binding(_DAEMON_ROLE, _DAEMON_ROLE, _DAEMON_ACCOUNT, NAMESPACE),
    ]


def network_policies() -> list[Object]:
    """What the Pods of plugins, controller and daemons may talk to."""
    return [
        api_client_policy(_NAME, metrics_port=_METRICS_PORT),
        controller_network_policy(),
        compute_domain_daemon_policy(),
    ]


def driver_objects(driver: DriverPlan, image: str) -> list[Object]:
    """The DaemonSet of an owner; GPUs have one of their own, so either can be by plugin."""
    container = kubelet_plugin(
        "compute-domains",
        image,
        binary="compute-domain-kubelet-plugin",
        health_port=51515,
        metrics_port=_METRICS_PORT,
        liveness_period=10,
        env=[*_env(driver)],
        read_only_driver=True,
    )
    pod = plugin_pod(_NAME, image, container)
    return [daemon_set(driver, name=_NAME, namespace=NAMESPACE, pod=pod, strategy=UPDATES)]


def _env(driver: DriverPlan) -> Iterator[Object]:
    # Pods of a job find each other by the label; GPU Feature Discovery, which also sets it, would
    # need a Node Feature Discovery.
    yield value("GPU_CLIQUE_LABEL_ENABLED", "true")
    yield from gates_env(driver)
