"""The EFA DRA driver: the EKS build of DRANET, limited to EFA devices.

Source: https://github.com/aws/eks-charts (stable/aws-dranet)
"""

from __future__ import annotations

from eks_devices import DriverPlan
from eks_devices.names import EFA_CLASS, EFA_DRIVER

from .admission import own_slices_policy
from .host_paths import DRA_PLUGINS, DRA_REGISTRY, host_path, mount
from .objects import (
    Object,
    cluster_role,
    cluster_role_binding,
    daemon_set,
    device_class,
    from_field,
    has,
    rule,
    service_account,
)

_NAME = "aws-dranet"
_NAMESPACE = "kube-system"
_PORT = 9177
_EFA = "Elastic Fabric Adapter (EFA)"
# Without it the driver would publish the node's own interfaces too, and Pods could take them.
_FILTER = (
    f'"{EFA_DRIVER}/pciDevice" in attributes && '
    f'attributes["{EFA_DRIVER}/pciDevice"].StringValue == "{_EFA}"'
)


def shared_objects() -> list[Object]:
    """Account, permissions, policy and DeviceClass."""
    rules = [
        rule("", ["nodes"], ["get"]),
        rule(
            "resource.k8s.io", ["resourceslices"], ["list", "watch", "create", "update", "delete"]
        ),
        rule("resource.k8s.io", ["resourceclaims", "deviceclasses"], ["get"]),
        rule("resource.k8s.io", ["resourceclaims/status"], ["patch", "update"]),
        rule(
            "resource.k8s.io",
            ["resourceclaims/driver"],
            ["associated-node:patch", "associated-node:update"],
            [EFA_DRIVER],
        ),
    ]
    return [
        service_account(_NAME, _NAMESPACE),
        cluster_role(_NAME, rules),
        cluster_role_binding(_NAME, _NAME, _NAME, _NAMESPACE),
        *own_slices_policy(
            "resourceslices-aws-dranet", account=_NAME, namespace=_NAMESPACE, driver=EFA_DRIVER
        ),
        device_class(EFA_CLASS, has(EFA_DRIVER, pciDevice=_EFA)),
    ]


def driver_objects(driver: DriverPlan, image: str) -> list[Object]:
    """The DaemonSet of an owner."""
    pod = {
        "serviceAccountName": _NAME,
        "hostNetwork": True,
        "containers": [_container(image)],
        "volumes": [
            *(host_path(name, path, "DirectoryOrCreate") for name, path, _ in _HOST_FOLDERS),
            {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "10Mi"}},
        ],
    }
    return [daemon_set(driver, name=_NAME, namespace=_NAMESPACE, pod=pod)]


def _container(image: str) -> Object:
    folders = [mount(name, path, propagation=how) for name, path, how in _HOST_FOLDERS]
    return {
        "name": "dranet",
        "image": image,
        "args": [
            "/dranet",
            "--v=4",
            "--hostname-override=$(NODE_NAME)",
            f"--bind-address=:{_PORT}",
            "--cloud-provider-hint=AWS",
            f"--filter={_FILTER}",
        ],
        "env": [from_field("NODE_NAME", "spec.nodeName")],
        "resources": {
            "requests": {"cpu": "100m", "memory": "50Mi"},
            "limits": {"cpu": "500m", "memory": "256Mi"},
        },
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": _PORT}},
        # Enough for EFA, which has no network device to move; root opens the kubelet's sockets.
        "securityContext": {
            "privileged": False,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "runAsUser": 0,
            "runAsGroup": 0,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [*folders, mount("tmp", "/tmp")],  # noqa: S108  (a path in the container)
    }


# Containers get EFA through the runtime's NRI, not through CDI; `state` survives restarts.
_HOST_FOLDERS = (
    ("plugins", DRA_PLUGINS, None),
    ("registry", DRA_REGISTRY, None),
    ("nri", "/var/run/nri", None),
    ("netns", "/var/run/netns", "HostToContainer"),
    ("infiniband", "/dev/infiniband", "HostToContainer"),
    ("state", "/var/run/dranet", None),
)
