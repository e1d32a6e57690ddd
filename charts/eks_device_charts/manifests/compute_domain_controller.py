"""The controller of ComputeDomains: one in a cluster, away from the accelerators.

Source: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/releases/tag/v0.5.0
"""

from __future__ import annotations

from eks_devices import DriverPlan

from .compute_domain_crds import GROUP
from .nvidia_common import NAMESPACE, NO_GPUS, RESOURCES
from .nvidia_network_policies import api_client_policy
from .objects import (
    READ,
    UNPRIVILEGED,
    Object,
    cluster_pod,
    cluster_role,
    cluster_role_binding,
    deployment,
    from_field,
    role,
    role_binding,
    rule,
    service_account,
    value,
)

_NAME = "dra-driver-nvidia-gpu-controller"
_METRICS_PORT = 8080
_EDIT = (*READ, "create", "update", "delete")


def controller_access() -> list[Object]:
    """Its account and permissions; there is one replica, so it needs no leases."""
    rules = [
        rule(GROUP, ["computedomains"], [*READ, "update"]),
        rule(GROUP, ["computedomains/status"], ["update"]),
        rule("resource.k8s.io", ["resourceclaimtemplates"], [*READ, "create", "update", "delete"]),
        # It takes the label of a domain off nodes that the domain left.
        rule("", ["nodes"], [*READ, "update"]),
    ]
    own = [
        rule("apps", ["daemonsets"], _EDIT),
        rule(GROUP, ["computedomaincliques"], [*READ, "update"]),
        # Those of its daemons; the vendor's role reads every Pod of the cluster.
        rule("", ["pods"], READ),
    ]
    return [
        service_account(_NAME, NAMESPACE),
        cluster_role(_NAME, rules),
        cluster_role_binding(_NAME, _NAME, _NAME, NAMESPACE),
        role(_NAME, NAMESPACE, own),
        role_binding(_NAME, _NAME, _NAME, NAMESPACE),
    ]


def controller_network_policy() -> Object:
    """What its Pod may talk to."""
    return api_client_policy(_NAME, metrics_port=_METRICS_PORT)


def controller_objects(driver: DriverPlan, image: str) -> list[Object]:
    """Its Deployment.

    The vendor prefers control plane nodes, which EKS has none of. An UltraServer's nodes go away
    together, and the controller has to outlive them.
    """
    pod = cluster_pod(_NAME, _container(driver, image))
    # Two controllers at once would both write the status of a domain.
    return [deployment(_NAME, NAMESPACE, pod, strategy="Recreate")]


def gates_env(driver: DriverPlan) -> list[Object]:
    """The gates that controller and plugins of a cluster share."""
    gates = driver.settings.get("feature-gates")
    return [] if gates is None else [value("FEATURE_GATES", str(gates))]


def _limit_env(driver: DriverPlan) -> list[Object]:
    most = driver.settings.get("nodes-per-imex-domain")
    return [] if most is None else [value("MAX_NODES_PER_IMEX_DOMAIN", str(most))]


def _container(driver: DriverPlan, image: str) -> Object:
    return {
        "name": "compute-domain",
        "image": image,
        "command": ["compute-domain-controller", "-v", "4"],
        "env": [
            value("HTTP_ENDPOINT", f":{_METRICS_PORT}"),
            value("METRICS_PATH", "/metrics"),
            value("LOG_VERBOSITY_CD_DAEMON", "4"),
            from_field("POD_NAME", "metadata.name"),
            from_field("NAMESPACE", "metadata.namespace"),
            value("IMAGE_NAME", image),
            NO_GPUS,
            value("LEADER_ELECTION_ENABLED", "false"),
            *gates_env(driver),
            *_limit_env(driver),
        ],
        "resources": RESOURCES,
        # Ours: the vendor restricts nothing.
        "securityContext": UNPRIVILEGED,
    }
