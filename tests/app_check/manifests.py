"""Manifests of claims and of Pods that name them."""

from __future__ import annotations

from typing import Any

from eks_devices.workload_check import Document

GPU = "gpu.nvidia.com"
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists"}


def template(
    count: Any = 1, *selectors: str, name: Any = "gpus", device_class: str = GPU
) -> dict[str, Any]:
    ask: dict[str, Any] = {"deviceClassName": device_class, "count": count}
    if selectors:
        ask["selectors"] = [{"cel": {"expression": one}} for one in selectors]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name},
        "spec": {"spec": {"devices": {"requests": [{"name": "one", "exactly": ask}]}}},
    }


def job(*templates: str, name: str = "train", **spec: Any) -> dict[str, Any]:
    claims = [{"name": one, "resourceClaimTemplateName": one} for one in templates]
    container = {
        "name": "main",
        "image": "train",
        "resources": {"claims": [{"name": one} for one in templates]},
    }
    pod = {
        "restartPolicy": "Never",
        "tolerations": [TOLERATION],
        "resourceClaims": claims,
        "containers": [container],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": {"spec": pod | spec}},
    }


def documents(*manifests: dict[str, Any]) -> list[Document]:
    return [Document(origin="Stack/Jobs", content=one) for one in manifests]
