"""Installations of device managers."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import kubernetes_validate
import pytest
import trustme

from eks_device_charts import ImageSource, device_manifests
from eks_devices import (
    Capacity,
    ClaimWebhook,
    ClusterPlan,
    Component,
    DeviceIdStrategy,
    DeviceListStrategy,
    DeviceType,
    DranetBuild,
    EfaInstallation,
    GpuDriver,
    GpuPlugin,
    GpuSharing,
    Mechanism,
    Mig,
    MigStrategy,
    NeuronInstallation,
    NodegroupSpec,
    NvidiaInstallation,
    plan_cluster,
)

DRA, PLUGIN = Mechanism.DRA, Mechanism.DEVICE_PLUGIN
GPU, NEURON, EFA = DeviceType.GPU, DeviceType.NEURON, DeviceType.EFA
BLOCK = Capacity.block("cr-0123456789abcdef0")
VERSIONS = ("1.34", "1.35", "1.36", "1.37")
# Of the second scheduler no release is known for every version.
IMAGES = ImageSource(
    region="us-east-2", overrides={Component.KUBE_SCHEDULER: "example.com/kube-scheduler:own"}
)
AUTHORITY = b64encode(trustme.CA().cert_pem.bytes()).decode()


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
SHARES = spec("shares", "g6e.xlarge", gpu_driver=GpuDriver(consumable_shares=4))
MIG = spec(
    "mig",
    "p5.48xlarge",
    mechanism=PLUGIN,
    efa=False,
    mig=Mig.uniform("1g.10gb", strategy=MigStrategy.MIXED),
)
DYNAMIC_MIG = spec("dynamic-mig", "p5.48xlarge", efa=False, mig=Mig.dynamic())
OPTIONS = spec(
    "options",
    "g6e.xlarge",
    gpu_plugin=GpuPlugin(
        gdrcopy=True,
        gds=True,
        device_list_strategy=DeviceListStrategy.CDI_CRI,
        device_id_strategy=DeviceIdStrategy.INDEX,
        ignored_xids=[31],
        feature_discovery=True,
    ),
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
    "gpu-dra-shares": ([SHARES], {}),
    "gpu-device-plugin-mig": ([MIG], {}),
    "gpu-dra-dynamic-mig": ([DYNAMIC_MIG], {}),
    "gpu-device-plugin-options": ([OPTIONS], {}),
    "nvidia-guarded": ([], {GPU: (DRA, PLUGIN), DeviceType.COMPUTE_DOMAIN: (DRA,)}),
    "neuron-scheduler": ([], {NEURON: (PLUGIN,)}),
    "neuron-ultraservers": ([], {NEURON: (DRA,)}),
    "efa-dra-upstream": ([], {EFA: (DRA,)}),
    "fleet": ([TRN2, INF2, P5, P5_PLUGINS, P6E, G6E, SLICED, SLICED_DRA, SCOPED], EVERY_MANAGER),
}
# What Kubernetes has only from a version on.
SINCE = {"gpu-dra-shares": "1.36", "gpu-dra-dynamic-mig": "1.36"}


# What a cluster has once, for the installations that have more than the defaults of it.
NVIDIA = {
    "nvidia-guarded": NvidiaInstallation(
        network_policies=True,
        claim_webhook=ClaimWebhook.secret(name="webhook-tls", ca_bundle=AUTHORITY),
        compute_domain_gates={"CrashOnNVLinkFabricErrors": False},
        nodes_per_imex_domain=9,
        extended_resource=False,
    ),
}
EXTENDED = NeuronInstallation(scheduler_extension=True)
OPERATED = NeuronInstallation(ultraserver_operator=True)
# Likewise of Neuron's.
NEURON_OPTIONS = {"neuron-scheduler": EXTENDED, "neuron-ultraservers": OPERATED}
UPSTREAM = EfaInstallation(build=DranetBuild.UPSTREAM)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test for each installation and, where it asks for one, each of its versions."""
    asked = [name for name in ("installation", "version") if name in metafunc.fixturenames]
    if asked == ["installation", "version"]:
        metafunc.parametrize(
            asked, [(one, minor) for one in INSTALLATIONS for minor in versions_of(one)]
        )
    elif asked:
        metafunc.parametrize(asked[0], INSTALLATIONS if asked == ["installation"] else VERSIONS)


def versions_of(installation: str) -> list[str]:
    """The Kubernetes versions that can have an installation."""
    return [minor for minor in VERSIONS if minor >= SINCE.get(installation, "")]


@pytest.fixture(autouse=True, scope="session")
def _read_once() -> Iterator[None]:
    """Read each schema once: kubernetes-validate reads all of a version for every object."""
    utils = kubernetes_validate.utils
    with pytest.MonkeyPatch.context() as patch:
        for name in ("schema_contents", "all_versions"):
            patch.setattr(utils, name, cache(getattr(utils, name)))
        yield


@pytest.fixture
def planned() -> Callable[..., ClusterPlan]:
    """The plan of an installation by name, or of node groups; on the first version that has it."""

    def plan(*what: str | NodegroupSpec, version: str | None = None) -> ClusterPlan:
        groups: list[NodegroupSpec] = [one for one in what if isinstance(one, NodegroupSpec)]
        keep: Kept = {}
        nvidia: NvidiaInstallation | None = None
        neuron: NeuronInstallation | None = None
        for name in what:
            if isinstance(name, str):
                groups, keep = groups + INSTALLATIONS[name][0], keep | INSTALLATIONS[name][1]
                nvidia = NVIDIA.get(name, nvidia)
                neuron = NEURON_OPTIONS.get(name, neuron)
        least = max(
            (versions_of(name)[0] for name in what if isinstance(name, str)), default=VERSIONS[0]
        )
        return plan_cluster(
            kubernetes_version=version or least,
            nodegroups=groups,
            keep=keep,
            nvidia=nvidia,
            neuron=neuron,
            efa=UPSTREAM if "efa-dra-upstream" in what else None,
        )

    return plan


@pytest.fixture
def manifests(planned) -> Callable[..., list[dict[str, Any]]]:
    """The objects of an installation by name, or of node groups."""

    def objects(
        *what: str | NodegroupSpec, version: str | None = None, images: ImageSource = IMAGES
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
