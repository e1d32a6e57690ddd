"""Known bugs and limits of NVIDIA's managers, each as what keeps an installation from them.

tests/contract/nvidia_bugs.toml says which bug each test is for.
"""

from __future__ import annotations

from typing import Any

import pytest

from eks_devices import GpuDriver, OperatingSystem, plan_cluster

from .conftest import BLOCK, DRA, G6E, GPU, MPS_DRA, P5, P6E, PASSTHROUGH, SLICED, TRN2, spec

BOTTLEROCKET = OperatingSystem.BOTTLEROCKET
ON_BOTTLEROCKET = spec("br", "g6e.12xlarge", mechanism=DRA, operating_system=BOTTLEROCKET)
BY_HOST = spec(
    "host",
    "g6e.12xlarge",
    mechanism=DRA,
    operating_system=BOTTLEROCKET,
    gpu_driver=GpuDriver(host_service=True),
)
MIXED = spec("mixed", "p6e-gb200.36xlarge", capacity=BLOCK, mechanism={GPU: G6E.mechanism})
DRIVERS = ("gpu-dra", "compute-domain-dra")


def pod(item: dict[str, Any]) -> dict[str, Any]:
    return dict(item["spec"]["template"]["spec"])


def env(container: dict[str, Any]) -> dict[str, str | None]:
    return {one["name"]: one.get("value") for one in container["env"]}


@pytest.mark.parametrize(
    "groups",
    [
        [P5],
        [BY_HOST],
        [ON_BOTTLEROCKET],
        [P6E],
        [MIXED],
        [MPS_DRA, PASSTHROUGH, P5],
        [G6E, SLICED],
        [TRN2, P5, P6E, BY_HOST, ON_BOTTLEROCKET, MPS_DRA],
    ],
)
def test_the_classes_that_claims_name_are_installed_with_the_driver_once(
    manifests, groups, version
):
    found = [
        one["metadata"]["name"]
        for one in manifests(*groups, version=version)
        if one["kind"] == "DeviceClass"
    ]
    plan = plan_cluster(kubernetes_version=version, nodegroups=groups)
    named = {name for group in plan.nodegroups for name in group.device_classes}

    assert named <= {*found}
    assert len(found) == len({*found})
    by_dra = {one for one in plan.drivers if one.mechanism is DRA}
    assert bool(found) == bool(by_dra)


@pytest.mark.parametrize("what", [*DRIVERS, ON_BOTTLEROCKET], ids=[*DRIVERS, "bottlerocket"])
def test_the_driver_is_looked_for_where_the_images_of_nodes_have_it(find, what):
    found = pod(find("DaemonSet", what))
    (container,) = found["containers"]
    host = {one["name"]: one["hostPath"]["path"] for one in found["volumes"]}
    mounts = {one["mountPath"]: host[one["name"]] for one in container["volumeMounts"]}

    assert env(container)["NVIDIA_DRIVER_ROOT"] == "/"
    assert mounts["/driver-root"] == "/"


@pytest.mark.parametrize("what", DRIVERS)
def test_no_slice_is_published_before_the_driver_of_the_node_answers(find, what):
    """The script of the image waits until nvidia-smi is there and ends without a fault."""
    found = pod(find("DaemonSet", what))
    (waits,) = found["initContainers"]
    (root,) = (one["name"] for one in found["volumes"] if one["hostPath"]["path"] == "/")

    assert waits["command"] == ["bash", "/usr/bin/kubelet-plugin-prestart.sh"]
    assert env(waits)["NVIDIA_DRIVER_ROOT"] == "/"
    assert [one["mountPath"] for one in waits["volumeMounts"] if one["name"] == root] == [
        "/driver-root-parent"
    ]


def test_a_fabric_that_is_not_complete_need_not_end_the_driver(find):
    told = "CrashOnNVLinkFabricErrors=false"
    plugin = "dra-driver-nvidia-gpu-compute-domain-plugin"

    (container,) = pod(find("DaemonSet", "nvidia-guarded", name=plugin))["containers"]
    (plain,) = pod(find("DaemonSet", "compute-domain-dra"))["containers"]

    assert env(container)["FEATURE_GATES"] == told
    assert "FEATURE_GATES" not in env(plain)


# What the charts of NVIDIA's DRA driver (0.5.0) and device plugin (0.20.0) select their Pods by,
# under the names of releases that the EKS guide uses, in its namespace.
OF_CHARTS = {
    "dra-driver-nvidia-gpu-kubelet-plugin": {
        "dra-driver-nvidia-gpu-component": "kubelet-plugin",
    },
    "dra-driver-nvidia-gpu-controller": {"dra-driver-nvidia-gpu-component": "controller"},
    "nvdp-nvidia-device-plugin": {
        "app.kubernetes.io/name": "nvidia-device-plugin",
        "app.kubernetes.io/instance": "nvdp",
    },
}


def test_a_release_of_the_vendor_s_chart_is_never_changed_into_ours_in_silence(manifests):
    """The API server refuses another selector, and Helm takes no object that is not its own."""
    items = manifests("nvidia-guarded")
    selectors = {
        one["metadata"]["name"]: one["spec"]["selector"]["matchLabels"]
        for one in items
        if one["kind"] in ("DaemonSet", "Deployment")
    }

    for name, theirs in OF_CHARTS.items():
        assert selectors[name] != theirs
    for one in items:
        metadata = one["metadata"]
        assert metadata.get("labels", {}).get("app.kubernetes.io/managed-by") != "Helm"
        assert not any(key.startswith("meta.helm.sh/") for key in metadata.get("annotations", {}))


def test_kinds_of_compute_domains_are_applied_with_every_deployment(manifests, version):
    """Helm applies those of its charts once and never again."""
    kept = {one["metadata"]["name"] for one in manifests("compute-domain-dra", version=version)
            if one["kind"] == "CustomResourceDefinition"}  # fmt: skip

    assert kept == {
        "computedomains.resource.nvidia.com",
        "computedomaincliques.resource.nvidia.com",
    }
    assert not any(
        one["kind"] == "CustomResourceDefinition" for one in manifests("gpu-dra", version=version)
    )


def test_mps_daemons_are_the_driver_s_own_and_may_do_nothing(find):
    """Named no account, the driver gives them the namespace's, not its own that may make them."""
    (container,) = pod(find("DaemonSet", "gpu-dra-mps"))["containers"]

    assert env(container)["IMAGE_NAME"] == container["image"]
    assert "SERVICE_ACCOUNT_NAME" not in env(container)
