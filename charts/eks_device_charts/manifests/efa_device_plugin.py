"""The EFA device plugin: `vpc.amazonaws.com/efa`. It never talks to the API server.

Source: https://github.com/aws/eks-charts (stable/aws-efa-k8s-device-plugin)
"""

from __future__ import annotations

from eks_devices import DriverPlan

from .host_paths import DEVICE_PLUGINS, host_path, mount
from .objects import Object, daemon_set

_NAME = "efa-aws-efa-k8s-device-plugin"
_NAMESPACE = "kube-system"


def driver_objects(driver: DriverPlan, image: str) -> list[Object]:
    """The DaemonSet of an owner."""
    container = {
        "name": "aws-efa-k8s-device-plugin",
        "image": image,
        "resources": {"requests": {"cpu": "10m", "memory": "20Mi"}},
        # It creates the kubelet's socket and reads which EFA sits next to which Neuron device.
        "securityContext": {
            "privileged": True,
            "allowPrivilegeEscalation": True,
            "runAsNonRoot": False,
            "runAsUser": 0,
        },
        "volumeMounts": [
            mount("device-plugins", DEVICE_PLUGINS),
            mount("infiniband", "/dev/infiniband"),
            mount("neuron-tools", "/opt/aws/neuron"),
        ],
    }
    pod = {
        "automountServiceAccountToken": False,
        "hostNetwork": True,
        "containers": [container],
        "volumes": [
            host_path("device-plugins", DEVICE_PLUGINS),
            host_path("infiniband", "/dev/infiniband"),
            host_path("neuron-tools", "/opt/aws/neuron", "DirectoryOrCreate"),
        ],
    }
    return [daemon_set(driver, name=_NAME, namespace=_NAMESPACE, pod=pod)]
