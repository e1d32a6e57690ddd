"""A real Kubernetes control plane on loopback, and nodes that are there in words only.

It judges what this library emits: API server, controllers and scheduler are those of a release,
kubelets and machines are played.
"""

from .binaries import Binaries, find_binaries
from .client import Api, ApiError
from .kubelets import Kubelets
from .nodes import group_node, plain_node
from .plane import ControlPlane
from .settle import apply_all, delete_all, settle, wait_for

__all__ = [
    "Api",
    "ApiError",
    "Binaries",
    "ControlPlane",
    "Kubelets",
    "apply_all",
    "delete_all",
    "find_binaries",
    "group_node",
    "plain_node",
    "settle",
    "wait_for",
]
