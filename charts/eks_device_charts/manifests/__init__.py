"""The device managers of a cluster as plain Kubernetes objects, in the order to apply them."""

from __future__ import annotations

from .assembly import device_manifests
from .gpu_operator import gpu_operator_values
from .images import ImageSource

__all__ = ["ImageSource", "device_manifests", "gpu_operator_values"]
