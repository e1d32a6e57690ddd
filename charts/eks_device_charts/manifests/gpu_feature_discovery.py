"""NVIDIA's GPU feature discovery: what GPUs a node has, as labels.

It hands the labels to the Node Feature Discovery that a cluster runs; none is installed here. Of
its two ways it takes the file: the worker of Node Feature Discovery reads that folder, and its
master takes labels of `nvidia.com`, both by default. The other way, NodeFeature objects, needs
CRDs that are not ours, an account, and permission to write the features of every node.

Source: https://github.com/NVIDIA/k8s-device-plugin/releases/tag/v0.20.0 and
https://kubernetes-sigs.github.io/node-feature-discovery/stable/usage/customization-guide
"""

from __future__ import annotations

from eks_devices import DriverPlan

from .host_paths import host_path, mount
from .nvidia_common import RESOURCES
from .nvidia_plugin_options import NAME, gpu_env, plugin_daemon_set, security_context
from .objects import Object, value

_PART = "gpu-feature-discovery"
DISCOVERY_NAME = f"{NAME}-{_PART}"
"""The name of its Pods, whoever owns them."""
_FEATURES = "/etc/kubernetes/node-feature-discovery/features.d"


def discovery_objects(driver: DriverPlan, image: str) -> list[Object]:
    """The DaemonSet of an owner whose nodes are to have labels; no other owner has one."""
    if not driver.settings.get("feature-discovery"):
        return []
    container = {
        "name": "gpu-feature-discovery-ctr",
        "image": image,
        "command": ["gpu-feature-discovery"],
        "env": [*gpu_env(driver), value("USE_NODE_FEATURE_API", "false")],
        "resources": RESOURCES,
        # The vendor's is privileged, to read the whole PCI configuration of GPUs: whether they are
        # virtual, and what their hypervisor runs. Those labels are missing here, and no other.
        "securityContext": security_context(driver),
        # Not the node's /sys, which the vendor mounts: a container's own says the same.
        "volumeMounts": [mount("features", _FEATURES)],
    }
    folder = host_path("features", _FEATURES, "DirectoryOrCreate")
    return [plugin_daemon_set(driver, container, volumes=[folder], part=_PART)]
