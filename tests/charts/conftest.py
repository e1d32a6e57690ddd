"""Installations of device managers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eks_device_charts import ImageSource, device_manifests
from eks_devices import (
    Capacity,
    ClusterPlan,
    DeviceType,
    GpuDriver,
    GpuSharing,
    Mechanism,
    NodegroupSpec,
    plan_cluster,
)

DRA, PLUGIN = Mechanism.DRA, Mechanism.DEVICE_PLUGIN
GPU, NEURON, EFA = DeviceType.GPU, DeviceType.NEURON, DeviceType.EFA
BLOCK = Capacity.block("cr-0123456789abcdef0")
VERSIONS = ("1.34", "1.35", "1.36", "1.37")
IMAGES = ImageSource(region="us-east-2")


def spec(name: str, instance_type: str, **options: Any) -> NodegroupSpec:
    return NodegroupSpec(name=name, instance_type=instance_type, **({"max_size": 2} | options))


TRN2 = spec("trn2", "trn2.48xlarge", capacity=BLOCK)
INF2 = spec("inf2", "inf2.48xlarge")
P5 = spec("p5", "p5.48xlarge")
P5_PLUGINS = spec("p5-plugins", "p5.48xlarge", mechanism=PLUGIN)
P6E = spec("p6e", "p6e-gb200.36xlarge", capacity=BLOCK)
G6E = spec("g6e", "g6e.12xlarge", mechanism=PLUGIN)
SLICED = spec(
    "sliced", "g6e.xlarge", mechanism=PLUGIN, gpu_sharing=GpuSharing.time_slicing(replicas=4)
)
SLICED_DRA = spec(
    "sliced-dra", "g6e.xlarge", gpu_driver=GpuDriver(feature_gates={"TimeSlicingSettings": True})
)
MPS = spec("mps", "g6e.xlarge", gpu_sharing=GpuSharing.mps(replicas=4))
MPS_DRA = spec("mps-dra", "g6e.xlarge", gpu_driver=GpuDriver(feature_gates={"MPSSupport": True}))
PASSTHROUGH = spec(
    "passthrough", "g4dn.metal", gpu_driver=GpuDriver(feature_gates={"PassthroughSupport": True})
)
SCOPED = spec("scoped", "p5.48xlarge", scope="lab")
Kept = dict[DeviceType, tuple[Mechanism, ...]]
EVERY_MANAGER: Kept = {
    NEURON: (DRA, PLUGIN),
    GPU: (DRA, PLUGIN),
    DeviceType.COMPUTE_DOMAIN: (DRA,),
    EFA: (DRA, PLUGIN),
}
# Node groups and what is kept; `keep` alone installs one manager for groups of other apps.
INSTALLATIONS: dict[str, tuple[list[NodegroupSpec], Kept]] = {
    **{
        f"{device}-{mechanism}": ([], {device: (mechanism,)})
        for device, mechanisms in EVERY_MANAGER.items()
        for mechanism in mechanisms
    },
    "every-manager": ([], EVERY_MANAGER),
    "gpu-device-plugin-time-slicing": ([SLICED], {}),
    "gpu-dra-time-slicing": ([SLICED_DRA], {}),
    "gpu-device-plugin-mps": ([MPS], {}),
    "gpu-dra-mps": ([MPS_DRA], {}),
    "gpu-dra-passthrough": ([PASSTHROUGH], {}),
    "fleet": ([TRN2, INF2, P5, P5_PLUGINS, P6E, G6E, SLICED, SLICED_DRA, SCOPED], EVERY_MANAGER),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test for each installation and, where it asks for one, each Kubernetes version."""
    if "installation" in metafunc.fixturenames:
        metafunc.parametrize("installation", INSTALLATIONS)
    if "version" in metafunc.fixturenames:
        metafunc.parametrize("version", VERSIONS)


@pytest.fixture
def planned() -> Callable[..., ClusterPlan]:
    """The plan of an installation by name, or of node groups."""

    def plan(*what: str | NodegroupSpec, version: str = "1.34") -> ClusterPlan:
        groups: list[NodegroupSpec] = [one for one in what if isinstance(one, NodegroupSpec)]
        keep: Kept = {}
        for name in what:
            if isinstance(name, str):
                groups, keep = groups + INSTALLATIONS[name][0], keep | INSTALLATIONS[name][1]
        return plan_cluster(kubernetes_version=version, nodegroups=groups, keep=keep)

    return plan


@pytest.fixture
def manifests(planned) -> Callable[..., list[dict[str, Any]]]:
    """The objects of an installation by name, or of node groups."""

    def objects(
        *what: str | NodegroupSpec, version: str = "1.34", images: ImageSource = IMAGES
    ) -> list[dict[str, Any]]:
        return device_manifests(planned(*what, version=version), images=images)

    return objects


@pytest.fixture
def find(manifests) -> Callable[..., dict[str, Any]]:
    """The only object of a kind, and of a name where several have it."""

    def one(kind: str, *what: Any, name: str = "", **options: Any) -> dict[str, Any]:
        (found,) = (
            item
            for item in manifests(*what, **options)
            if item["kind"] == kind and name in ("", item["metadata"]["name"])
        )
        return dict(found)

    return one
