"""The EFA DRA driver: DRANET, in the EKS build or upstream's, limited to EFA devices.

Both have the same names, so that another build is an update in place.

Source: https://github.com/aws/eks-charts (stable/aws-dranet) and
https://github.com/kubernetes-sigs/dranet
"""

from __future__ import annotations

from eks_devices import DranetBuild, DriverPlan
from eks_devices.efa_installation import build_of
from eks_devices.names import EFA_CLASS, EFA_DRIVER

from .admission import own_slices_policy
from .host_paths import DRA_PLUGINS, DRA_REGISTRY, host_path, mount
from .installation import Installation
from .objects import (
    Object,
    cluster_role,
    cluster_role_binding,
    daemon_set,
    device_class,
    from_field,
    http_probe,
    rule,
    service_account,
)

_NAME = "aws-dranet"
_NAMESPACE = "kube-system"
_PORT = 9177
_HEALTH = http_probe("/healthz", _PORT)
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
        device_class(EFA_CLASS),
    ]


def event_objects(installation: Installation, _: str) -> list[Object]:
    """The permission to write events, which upstream's build has needed since 1.4.

    Source: https://github.com/kubernetes-sigs/dranet/blob/v1.4.0/install.yaml
    """
    if installation.options.efa.build is not DranetBuild.UPSTREAM:
        return []
    name = f"{_NAME}-events"
    return [
        cluster_role(name, [rule("", ["events"], ["create", "patch", "update"])]),
        cluster_role_binding(name, name, _NAME, _NAMESPACE),
    ]


def driver_objects(driver: DriverPlan, image: str) -> list[Object]:
    """The DaemonSet of an owner."""
    pod = {
        "serviceAccountName": _NAME,
        "hostNetwork": True,
        "containers": [_container(image) | _startup(driver)],
        "volumes": [
            *(host_path(name, path, "DirectoryOrCreate") for name, path, _ in _HOST_FOLDERS),
            {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "10Mi"}},
        ],
    }
    return [daemon_set(driver, name=_NAME, namespace=_NAMESPACE, pod=pod)]


def _startup(driver: DriverPlan) -> Object:
    """The time that upstream's build has for its start, which waits for the kubelet and AWS."""
    if build_of(driver.settings) is not DranetBuild.UPSTREAM:
        return {}
    return {"startupProbe": _HEALTH | {"failureThreshold": 12, "periodSeconds": 5}}


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
        "readinessProbe": dict(_HEALTH),
        # Enough for EFA, which has no network device to move; root opens the kubelet's sockets.
        # Of upstream's 1.4 too: what it does at its start, in a claim and in the runtime's hooks
        # for a device without network interface is what 1.2 does, of which the EKS build is made.
        # Neither could move RDMA links, which a host shares with its Pods unless it is told not to.
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
