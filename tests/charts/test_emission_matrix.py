"""What each kind of node group installs for NVIDIA's devices: all of it, and nothing else."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from eks_device_charts import device_manifests
from eks_devices import (
    ClaimWebhook,
    ClusterPlan,
    DeviceIdStrategy,
    DeviceListStrategy,
    DeviceType,
    GpuDriver,
    GpuPlugin,
    GpuSharing,
    Mig,
    MigStrategy,
    NodegroupSpec,
    NvidiaInstallation,
    OperatingSystem,
    plan_cluster,
)
from eks_devices.user_data import user_data

from .conftest import (
    AUTHORITY,
    BLOCK,
    DRA,
    GPU,
    IMAGES,
    MPS,
    MPS_DRA,
    PASSTHROUGH,
    PLUGIN,
    SLICED,
    VERSIONS,
    spec,
)


def lines(text: str) -> list[str]:
    """Kinds and names, those of several kinds or names of one line each."""
    found = []
    for line in text.split("\n"):
        kinds, _, names = line.strip().partition(": ")
        found += [f"{kind} {name}" for kind in kinds.split(", ") for name in names.split(", ")]
    return [one for one in found if one.strip()]


# A star is the hash of an owner that has settings.
DRIVER = "dra-driver-nvidia-gpu-kubelet-plugin"
SPACE = ["Namespace nvidia"]
GPU_CLASSES = lines("DeviceClass: gpu.nvidia.com, mig.nvidia.com")
GPU_ACCESS = lines(f"""
    ServiceAccount, ClusterRole, ClusterRoleBinding: {DRIVER}
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding: \
deployments-{DRIVER}, resourceslices-{DRIVER}
""")
GPU_DRIVER = [*SPACE, *GPU_ACCESS, *GPU_CLASSES]
MPS_ACCESS = lines(f"ServiceAccount, ClusterRoleBinding, Role, RoleBinding: {DRIVER}-*")
DOMAINS = lines("""
    Namespace: nvidia
    CustomResourceDefinition: computedomains.resource.nvidia.com
    CustomResourceDefinition: computedomaincliques.resource.nvidia.com
    ServiceAccount: compute-domain-daemon-service-account
    ClusterRole, ClusterRoleBinding, Role, RoleBinding: compute-domain-daemon-role
    ServiceAccount, ClusterRole, ClusterRoleBinding, Role, RoleBinding: \
dra-driver-nvidia-gpu-compute-domain-plugin, dra-driver-nvidia-gpu-controller
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding: \
nodes-dra-driver-nvidia-gpu-compute-domain-plugin, pods-compute-domain-daemon, \
resourceslices-dra-driver-nvidia-gpu-compute-domain-plugin
    DeviceClass: compute-domain-daemon.nvidia.com, compute-domain-default-channel.nvidia.com
    Deployment: dra-driver-nvidia-gpu-controller
    DaemonSet: dra-driver-nvidia-gpu-compute-domain-plugin
""")
DOMAIN_POLICIES = lines("""
    NetworkPolicy: compute-domain-daemon, dra-driver-nvidia-gpu-compute-domain-plugin
    NetworkPolicy: dra-driver-nvidia-gpu-controller
""")
DEVICE_PLUGIN = "nvdp-nvidia-device-plugin"
PLUGIN_ACCESS = [*SPACE, f"ServiceAccount {DEVICE_PLUGIN}"]
PLUGIN_POLICIES = lines(f"""
    NetworkPolicy: {DEVICE_PLUGIN}, {DEVICE_PLUGIN}-gpu-feature-discovery
    NetworkPolicy: {DEVICE_PLUGIN}-mps-control-daemon
""")
WEBHOOK = lines("""
    ServiceAccount, Service, Deployment, PodDisruptionBudget: dra-driver-nvidia-gpu-webhook
    ValidatingWebhookConfiguration: dra-driver-nvidia-gpu-webhook
""")
CERTIFICATES = lines("""
    Issuer: dra-driver-nvidia-gpu-webhook-ca, dra-driver-nvidia-gpu-webhook-issuer
    Certificate: dra-driver-nvidia-gpu-webhook-ca, dra-driver-nvidia-gpu-webhook-cert
""")
IMEX = ("nvidia-imex.service",)
PLUGIN_OFF = {"device-plugins.nvidia.enabled": False}

POLICIES = NvidiaInstallation(network_policies=True)
CERT_MANAGER = NvidiaInstallation(claim_webhook=ClaimWebhook.cert_manager())
SECRET = NvidiaInstallation(claim_webhook=ClaimWebhook.secret(name="tls", ca_bundle=AUTHORITY))
GUARDED = dataclasses.replace(CERT_MANAGER, network_policies=True)


@dataclass(frozen=True, kw_only=True)
class Row:
    """Node groups, and all that follows from them.

    `settings` are those of NVIDIA's services on Bottlerocket, below `settings.kubelet-`. `cut` are
    the partitions into which a service of a node cuts each GPU.
    """

    groups: list[NodegroupSpec]
    objects: list[str]
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    masked: tuple[str, ...] = ()
    cut: str = ""
    version: str = "1.34"
    nvidia: NvidiaInstallation | None = None

    def plan(self) -> ClusterPlan:
        return plan_cluster(
            kubernetes_version=self.version, nodegroups=self.groups, nvidia=self.nvidia
        )


def l40s(**options: Any) -> NodegroupSpec:
    """A group of one kind of GPUs, without EFA."""
    return spec("a", "g6e.12xlarge", **options)


def ultra(**options: Any) -> NodegroupSpec:
    """A group of an NVLink domain across nodes."""
    return spec("a", "p6e-gb200.36xlarge", capacity=BLOCK, efa=False, **options)


def h100(**options: Any) -> NodegroupSpec:
    """A group of GPUs that can be cut, without EFA."""
    return spec("a", "p5.48xlarge", efa=False, **options)


def bottlerocket(**options: Any) -> NodegroupSpec:
    return l40s(operating_system=OperatingSystem.BOTTLEROCKET, **options)


HOST_SERVICE = bottlerocket(mechanism=DRA, gpu_driver=GpuDriver(host_service=True))
SHARES = l40s(gpu_driver=GpuDriver(consumable_shares="memory"))
SHARED = GpuSharing.time_slicing(replicas=4, rename=True, fail_requests_greater_than_one=True)
UNIFORM = Mig.uniform("3g.40gb")
MIXED = Mig.layout("3g.40gb", "2g.20gb", "1g.10gb")
PREPARED = Mig.uniform("3g.40gb", strategy=MigStrategy.MIXED, prepared=True)
ROWS = {
    "dra": Row(
        groups=[l40s(mechanism=DRA)],
        objects=[*GPU_DRIVER, f"DaemonSet {DRIVER}"],
    ),
    "dra with shares": Row(
        groups=[SHARES], version="1.36", objects=[*GPU_DRIVER, f"DaemonSet {DRIVER}-*"]
    ),
    "dra with mps": Row(
        groups=[MPS_DRA], objects=[*GPU_DRIVER, *MPS_ACCESS, f"DaemonSet {DRIVER}-*"]
    ),
    "dra with passthrough": Row(
        groups=[PASSTHROUGH],
        objects=[*GPU_DRIVER, "DeviceClass vfio.gpu.nvidia.com", f"DaemonSet {DRIVER}-*"],
    ),
    "dra, with mps on one of two groups": Row(
        groups=[l40s(mechanism=DRA), MPS_DRA],
        objects=[*GPU_DRIVER, *MPS_ACCESS, *lines(f"DaemonSet: {DRIVER}, {DRIVER}-*")],
    ),
    "p6e by dra": Row(
        groups=[ultra(mechanism=DRA)],
        masked=IMEX,
        objects=[*GPU_DRIVER, *DOMAINS, f"DaemonSet {DRIVER}"],
    ),
    "p6e, gpus by plugin": Row(
        groups=[ultra(mechanism={GPU: PLUGIN})],
        masked=IMEX,
        objects=[*PLUGIN_ACCESS, *DOMAINS, f"DaemonSet {DEVICE_PLUGIN}"],
    ),
    "p6e without compute domains": Row(
        groups=[ultra(mechanism=PLUGIN, compute_domains=False)],
        objects=[*PLUGIN_ACCESS, f"DaemonSet {DEVICE_PLUGIN}"],
    ),
    "plugin": Row(
        groups=[l40s(mechanism=PLUGIN)],
        objects=[*PLUGIN_ACCESS, f"DaemonSet {DEVICE_PLUGIN}"],
    ),
    "plugin with time-slicing": Row(
        groups=[SLICED],
        objects=[*PLUGIN_ACCESS, *lines(f"ConfigMap, DaemonSet: {DEVICE_PLUGIN}-*")],
    ),
    "plugin with mps": Row(
        groups=[MPS],
        objects=[
            *PLUGIN_ACCESS,
            *lines(f"ConfigMap, DaemonSet: {DEVICE_PLUGIN}-*"),
            f"DaemonSet {DEVICE_PLUGIN}-mps-control-daemon-*",
        ],
    ),
    "plugin with feature discovery": Row(
        groups=[l40s(gpu_plugin=GpuPlugin(feature_discovery=True))],
        objects=[
            *PLUGIN_ACCESS,
            f"DaemonSet {DEVICE_PLUGIN}-*",
            f"DaemonSet {DEVICE_PLUGIN}-gpu-feature-discovery-*",
        ],
    ),
    "plugin with partitions as gpus": Row(
        groups=[h100(mechanism=PLUGIN, mig=UNIFORM)],
        cut="3g.40gb,3g.40gb",
        objects=[*PLUGIN_ACCESS, f"DaemonSet {DEVICE_PLUGIN}-*"],
    ),
    "plugin with partitions by profile": Row(
        groups=[h100(mechanism=PLUGIN, mig=MIXED)],
        cut="3g.40gb,2g.20gb,1g.10gb",
        objects=[*PLUGIN_ACCESS, f"DaemonSet {DEVICE_PLUGIN}-*"],
    ),
    "plugin with partitions and feature discovery": Row(
        groups=[h100(mig=UNIFORM, gpu_plugin=GpuPlugin(feature_discovery=True))],
        cut="3g.40gb,3g.40gb",
        objects=[
            *PLUGIN_ACCESS,
            f"DaemonSet {DEVICE_PLUGIN}-*",
            f"DaemonSet {DEVICE_PLUGIN}-gpu-feature-discovery-*",
        ],
    ),
    "plugin on nodes that come cut": Row(
        groups=[h100(mechanism=PLUGIN, mig=PREPARED)],
        objects=[*PLUGIN_ACCESS, f"DaemonSet {DEVICE_PLUGIN}-*"],
    ),
    # The driver publishes the partitions that it finds, and has to be told nothing.
    "dra with partitions": Row(
        groups=[h100(mechanism=DRA, mig=MIXED)],
        cut="3g.40gb,2g.20gb,1g.10gb",
        objects=[*GPU_DRIVER, f"DaemonSet {DRIVER}"],
    ),
    "dra with partitions on request": Row(
        groups=[h100(mig=Mig.dynamic())],
        version="1.36",
        objects=[*GPU_DRIVER, f"DaemonSet {DRIVER}-*"],
    ),
    "somebody else's driver": Row(groups=[l40s(mechanism=DRA, external=[GPU])], objects=[]),
    "somebody else's plugin": Row(groups=[l40s(mechanism=PLUGIN, external=[GPU])], objects=[]),
    "somebody else's driver of p6e": Row(
        groups=[ultra(mechanism=DRA, external=[GPU, DeviceType.COMPUTE_DOMAIN])],
        masked=IMEX,
        objects=[],
    ),
    "bottlerocket": Row(groups=[bottlerocket()], objects=[]),
    "bottlerocket with options of its plugin": Row(
        groups=[
            bottlerocket(
                gpu_sharing=SHARED,
                gpu_plugin=GpuPlugin(
                    device_id_strategy=DeviceIdStrategy.UUID,
                    device_list_strategy=DeviceListStrategy.VOLUME_MOUNTS,
                    pass_device_specs=False,
                ),
            )
        ],
        settings={
            "device-plugins.nvidia.device-id-strategy": "uuid",
            "device-plugins.nvidia.device-list-strategy": "volume-mounts",
            "device-plugins.nvidia.device-sharing-strategy": "time-slicing",
            "device-plugins.nvidia.pass-device-specs": False,
            "device-plugins.nvidia.time-slicing.fail-requests-greater-than-one": True,
            "device-plugins.nvidia.time-slicing.rename-by-default": True,
            "device-plugins.nvidia.time-slicing.replicas": 4,
        },
        objects=[],
    ),
    "bottlerocket with partitions": Row(
        groups=[h100(operating_system=OperatingSystem.BOTTLEROCKET, mig=UNIFORM)],
        settings={
            "device-plugins.nvidia.device-partitioning-strategy": "mig",
            "device-plugins.nvidia.mig.profile": {"h100.80gb": "3g.40gb"},
        },
        objects=[],
    ),
    "bottlerocket, its own driver": Row(
        groups=[HOST_SERVICE],
        settings=PLUGIN_OFF | {"dra-drivers.nvidia.enabled": True},
        objects=GPU_CLASSES,
    ),
    "bottlerocket, its own driver, and what guards ours": Row(
        groups=[HOST_SERVICE],
        nvidia=GUARDED,
        settings=PLUGIN_OFF | {"dra-drivers.nvidia.enabled": True},
        objects=GPU_CLASSES,
    ),
    "bottlerocket, a DaemonSet of the driver": Row(
        groups=[bottlerocket(mechanism=DRA)],
        settings=PLUGIN_OFF,
        objects=[*GPU_DRIVER, f"DaemonSet {DRIVER}"],
    ),
    "bottlerocket, somebody else's driver": Row(
        groups=[bottlerocket(mechanism=DRA, external=[GPU])], settings=PLUGIN_OFF, objects=[]
    ),
    "network policies of dra": Row(
        groups=[l40s(mechanism=DRA)],
        nvidia=POLICIES,
        objects=[*GPU_DRIVER, f"DaemonSet {DRIVER}", f"NetworkPolicy {DRIVER}"],
    ),
    "network policies of p6e": Row(
        groups=[ultra(mechanism={GPU: PLUGIN})],
        nvidia=POLICIES,
        masked=IMEX,
        objects=[
            *PLUGIN_ACCESS,
            *DOMAINS,
            *DOMAIN_POLICIES,
            *PLUGIN_POLICIES,
            f"DaemonSet {DEVICE_PLUGIN}",
        ],
    ),
    "webhook, certificate by cert-manager": Row(
        groups=[l40s(mechanism=DRA)],
        nvidia=CERT_MANAGER,
        objects=[*GPU_DRIVER, f"DaemonSet {DRIVER}", *WEBHOOK, *CERTIFICATES],
    ),
    "webhook, certificate of the user's": Row(
        groups=[l40s(mechanism=DRA)],
        nvidia=SECRET,
        objects=[*GPU_DRIVER, f"DaemonSet {DRIVER}", *WEBHOOK],
    ),
    "webhook and network policies": Row(
        groups=[l40s(mechanism=DRA)],
        nvidia=GUARDED,
        objects=[
            *GPU_DRIVER,
            *lines(f"DaemonSet, NetworkPolicy: {DRIVER}"),
            *WEBHOOK,
            *CERTIFICATES,
            "NetworkPolicy dra-driver-nvidia-gpu-webhook",
        ],
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_a_group_installs_this_and_nothing_else(row):
    items = device_manifests(row.plan(), images=IMAGES)
    found = [f"{one['kind']} {without_hash(one['metadata']['name'])}" for one in items]

    assert sorted(found) == sorted({*row.objects})


def without_hash(name: str) -> str:
    return re.sub(r"-[0-9a-f]{8}$", "-*", name)


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_the_nodes_are_told_this_and_nothing_else(row):
    for group in row.plan().nodegroups:
        prefix, told = "settings.kubelet-", group.bottlerocket_settings.items()
        found = {key.removeprefix(prefix): one for key, one in told if key.startswith(prefix)}

        assert found == row.settings
        assert group.masked_units == row.masked


SERVICE = re.compile(r"^ExecStart=/usr/local/sbin/eks-devices-mig (.*)$", re.MULTILINE)
REQUIRED = "Requires=eks-devices-mig.service"


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_a_service_cuts_the_gpus_of_these_nodes_only(row):
    for group in row.plan().nodegroups:
        text = user_data(group) or ""

        assert SERVICE.findall(text) == ([row.cut] if row.cut else [])
        assert (REQUIRED in text) is bool(row.cut)


WITHOUT = NvidiaInstallation(extended_resource=False)


@pytest.mark.parametrize("group", [l40s(mechanism=DRA), HOST_SERVICE], ids=["ours", "the host's"])
@pytest.mark.parametrize("nvidia", [None, WITHOUT], ids=["by default", "switched off"])
def test_pods_may_ask_for_gpus_of_a_driver_by_number(group, nvidia, version):
    row = Row(groups=[group], objects=[], version=version, nvidia=nvidia)
    items = device_manifests(row.plan(), images=IMAGES)
    classes = {
        one["metadata"]["name"]: one["spec"] for one in items if one["kind"] == "DeviceClass"
    }
    served = version in VERSIONS[VERSIONS.index("1.36") :] and nvidia is None

    assert classes.keys() == {"gpu.nvidia.com", "mig.nvidia.com"}
    assert classes["gpu.nvidia.com"].get("extendedResourceName") == (
        "nvidia.com/gpu" if served else None
    )
    assert "extendedResourceName" not in classes["mig.nvidia.com"]
