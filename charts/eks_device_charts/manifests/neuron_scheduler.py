"""Neuron's scheduler extension, and a second scheduler that asks it.

EKS has its own scheduler, which nobody else configures. Pods that name the second one get Neuron
devices that are connected; all others are scheduled as ever.

Source: https://github.com/aws-neuron/neuron-helm-charts
"""

from __future__ import annotations

import json
from typing import Final

from eks_devices import Component
from eks_devices.findings import raise_faults
from eks_devices.names import (
    NEURON_CORE_RESOURCE,
    NEURON_RESOURCE,
    NEURON_SCHEDULER,
)

from .host_paths import mount
from .installation import Installation
from .objects import (
    READ,
    UNPRIVILEGED,
    Object,
    cluster_pod,
    cluster_role,
    cluster_role_binding,
    deployment,
    http_probe,
    metadata,
    restarted_by,
    role,
    role_binding,
    rule,
    service_account,
    value,
)
from .release_rules import scheduler_faults

EXTENSION: Final = "k8s-neuron-scheduler"
"""The vendor's name and port for the Service, as the closed device plugin may know it by them."""
_PORT = 12345
_NAMESPACE = "kube-system"
_FOLDER, _FILE = f"/etc/kubernetes/{NEURON_SCHEDULER}", "scheduler.json"


def scheduler_objects(installation: Installation, _: str) -> list[Object]:
    """What both are made of, where a user asks for them.

    Raises:
        EksDevicesError: `NoRelease` or `SchedulerVersionSkew`, of the image of the scheduler.
    """
    if not installation.options.neuron.scheduler_extension:
        return []
    images, version = installation.images, installation.kubernetes_version
    extension, scheduler = (
        images.component_image(one, kubernetes_version=version)
        for one in (Component.NEURON_SCHEDULER_EXTENSION, Component.KUBE_SCHEDULER)
    )
    raise_faults(scheduler_faults(scheduler, version))
    configuration = json.dumps(_configuration(), indent=2) + "\n"
    return [
        *_extension_access(),
        *_scheduler_access(),
        _config_map(configuration),
        _service(),
        _extension(extension),
        _scheduler(scheduler, configuration),
    ]


def _extension_access() -> list[Object]:
    """The vendor's permissions: it notes on nodes and Pods who has which device, and binds Pods."""
    rules = [
        rule("", ["nodes"], READ),
        rule("", ["nodes/status"], ["get", "patch", "update"]),
        rule("", ["pods"], [*READ, "patch", "update"]),
        rule("", ["bindings", "pods/binding"], ["create"]),
        rule("", ["events"], ["create", "patch"]),
    ]
    return [
        service_account(EXTENSION, _NAMESPACE),
        cluster_role(EXTENSION, rules),
        cluster_role_binding(EXTENSION, EXTENSION, EXTENSION, _NAMESPACE),
    ]


def _scheduler_access() -> list[Object]:
    """Kubernetes' own roles of a scheduler, which fit each minor, and a lease of its own.

    The vendor's account reads every ConfigMap and writes every lease of the cluster.
    """
    name = NEURON_SCHEDULER
    # Making a lease cannot be limited to a name, and is in the role of a scheduler already.
    lease = rule("coordination.k8s.io", ["leases"], ["get", "update"], [name])
    reader = "extension-apiserver-authentication-reader"
    return [
        service_account(name, _NAMESPACE),
        *(
            cluster_role_binding(f"{name}-as-{one}", f"system:{one}", name, _NAMESPACE)
            for one in ("kube-scheduler", "volume-scheduler")
        ),
        role(name, _NAMESPACE, [lease]),
        role_binding(name, name, name, _NAMESPACE),
        # Who asks for its metrics is told by what the API server publishes there.
        role_binding(f"{name}-authentication-reader", reader, name, _NAMESPACE),
    ]


def _configuration() -> Object:
    managed = (NEURON_RESOURCE, NEURON_CORE_RESOURCE)
    extender = {
        # Without the cluster's domain, which need not be the usual one.
        "urlPrefix": f"http://{EXTENSION}.{_NAMESPACE}.svc:{_PORT}",
        "filterVerb": "filter",
        "bindVerb": "bind",
        "enableHTTPS": False,
        # It is sent whole nodes, with what it noted on them.
        "nodeCacheCapable": False,
        # Without its answer a Pod would get devices that are not connected.
        "ignorable": False,
        "managedResources": [{"name": one, "ignoredByScheduler": False} for one in managed],
    }
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {
            "leaderElect": True,
            "resourceName": NEURON_SCHEDULER,
            "resourceNamespace": _NAMESPACE,
        },
        "enableProfiling": False,
        "profiles": [{"schedulerName": NEURON_SCHEDULER}],
        "extenders": [extender],
    }


def _config_map(configuration: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(NEURON_SCHEDULER, _NAMESPACE),
        "data": {_FILE: configuration},
    }


def _service() -> Object:
    ports = [{"name": "http", "port": _PORT, "targetPort": "http", "protocol": "TCP"}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(EXTENSION, _NAMESPACE),
        "spec": {"selector": {"app.kubernetes.io/name": EXTENSION}, "ports": ports},
    }


def _extension(image: str) -> Object:
    """The extension, which the cluster's own scheduler starts.

    The vendor has it started by the scheduler that asks it, and on any node.
    """
    probe = {"tcpSocket": {"port": "http"}}
    container = {
        "name": "neuron-scheduler-extension",
        "image": image,
        "env": [value("PORT", str(_PORT))],
        "ports": [{"name": "http", "containerPort": _PORT}],
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
        # No page of its health is documented.
        "readinessProbe": probe,
        "livenessProbe": probe | {"initialDelaySeconds": 15},
        # Ours: the vendor restricts nothing. Nothing tells whether the closed image runs as another
        # user or without writing files.
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    # Two at once would hand out the same devices.
    return deployment(EXTENSION, _NAMESPACE, cluster_pod(EXTENSION, container), strategy="Recreate")


def _scheduler(image: str, configuration: str) -> Object:
    """The second scheduler; one that takes over waits for the lease of the one before."""
    pod = cluster_pod(NEURON_SCHEDULER, _scheduler_container(image)) | {
        "volumes": [{"name": "configuration", "configMap": {"name": NEURON_SCHEDULER}}]
    }
    annotations = restarted_by("configuration", configuration)
    return deployment(NEURON_SCHEDULER, _NAMESPACE, pod, annotations=annotations)


def _scheduler_container(image: str) -> Object:
    return {
        "name": "kube-scheduler",
        "image": image,
        "command": ["/usr/local/bin/kube-scheduler", f"--config={_FOLDER}/{_FILE}", "-v=2"],
        "ports": [{"name": "https", "containerPort": 10259}],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
        "readinessProbe": http_probe("/readyz", "https", tls=True),
        "livenessProbe": http_probe("/livez", "https", tls=True, initialDelaySeconds=15),
        # It keeps its certificate in memory and writes no file.
        "securityContext": UNPRIVILEGED,
        "volumeMounts": [mount("configuration", _FOLDER, read_only=True)],
    }
