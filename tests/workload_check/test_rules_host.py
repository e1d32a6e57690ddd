"""Ways around the managers of devices."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cluster_plans import cluster_of
from tests.rule_pods import (
    ADMIN_NAMESPACE,
    EFA,
    codes,
    container,
    deployment,
    env,
    findings,
    gpu_pod,
    limits,
    listing,
    of_template,
    place,
    pod,
    remarks,
    request,
    template,
)

from eks_devices import Mechanism

PLUGIN = cluster_of({"instance_type": "p5.48xlarge", "mechanism": Mechanism.DEVICE_PLUGIN})
NEURON_ONLY = cluster_of({"instance_type": "trn2.48xlarge"})


def with_volume(path: Any, **options: Any) -> dict[str, Any]:
    return gpu_pod(volumes=[{"name": "host", "hostPath": {"path": path}}], **options)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/dev/nvidia0", "HostDevices"),
        ("/dev/nvidiactl", "HostDevices"),
        ("/dev/nvidia-caps/nvidia-cap1", "HostDevices"),
        ("/dev/neuron3", "HostDevices"),
        ("/dev/dri/renderD128", "HostDevices"),
        ("/dev/vfio", "HostDevices"),
        ("/dev", "HostDevices"),
        ("//dev/./", "HostDevices"),
        ("/dev/infiniband/", "HostRdmaDevices"),
        ("/dev/infiniband/uverbs0", "HostRdmaDevices"),
        ("/run/nvidia/driver", "HostDriver"),
        ("/opt/aws/neuron/lib", "HostDriver"),
    ],
)
def test_a_volume_with_what_is_the_managers_is_a_warning(path: str, code: str) -> None:
    (found,) = remarks(template(), with_volume(path))

    assert (found.finding.code, found.finding.severity) == (code, "warning")
    assert place(found) == path


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/dev/shm",  # noqa: S108  (a path in a manifest)
        "/dev/fuse",
        "/mnt/nvme",
        "/dev/nvme0n1",
        "/var/lib/kubelet/pod-resources",
        "/var/lib/kubelet/device-plugins",
        "/data/dev/nvidia0",
        "dev/nvidia0",
        "/dev/infinibandx",
        "/run/nvidia",
        7,
        None,
    ],
)
def test_other_volumes_are_told_nothing(path: Any) -> None:
    assert codes(template(), with_volume(path)) == []


def test_a_volume_that_is_no_path_of_the_node_is_told_nothing() -> None:
    spec = gpu_pod(volumes=[{"name": "shm", "emptyDir": {"medium": "Memory"}}])

    assert codes(template(), spec) == []


def test_devices_of_nodes_that_have_none_are_told_nothing() -> None:
    spec = pod(tolerations=[], volumes=[{"name": "x", "hostPath": {"path": "/dev/dri"}}])

    assert codes(spec) == []


def manager(image: str, *paths: str, **options: Any) -> dict[str, Any]:
    volumes = [
        {"name": f"v{at}", "hostPath": {"path": one}}
        for at, one in enumerate(["/var/lib/kubelet/device-plugins", *paths])
    ]
    one = container(image=image, securityContext={"privileged": True})
    return deployment(pod(one, volumes=volumes, **options), kind="DaemonSet")


@pytest.mark.parametrize("image", ["nvcr.io/nvidia/k8s-device-plugin:v1", "neuron-device-plugin"])
def test_a_second_manager_of_devices_that_reaches_the_nodes_is_a_warning(image: str) -> None:
    assert codes(manager(image, "/dev/infiniband", "/dev/nvidia0")) == ["DeviceManagerSocket"]
    assert codes(manager(image, tolerations=[])) == []


def test_a_manager_of_other_devices_and_one_that_this_library_installs_are_told_nothing() -> None:
    ours = {"app.kubernetes.io/managed-by": "eks-devices"}

    assert codes(manager("example.invalid/fuse-device-plugin:1")) == []
    assert codes(manager("nvidia/plugin", "/dev/infiniband", labels=ours)) == []


@pytest.mark.parametrize("by_claim", [True, False])
def test_a_privileged_container_beside_devices_is_a_warning(by_claim: bool) -> None:
    resources = listing("gpus") if by_claim else limits(gpu=1)
    claims: dict[str, Any] = {"resourceClaims": [of_template()]} if by_claim else {}
    context = {"securityContext": {"privileged": True}}
    spec = pod(container(resources=resources), container("other", **context), **claims)
    (found,) = remarks(template(), spec, plan=PLUGIN)

    assert found.finding.code == "PrivilegedSeesAllDevices"
    assert found.steps == ("spec", "containers", 1, "securityContext", "privileged")


def test_a_privileged_exporter_with_admin_access_is_told_nothing() -> None:
    spec = gpu_pod()
    spec["spec"]["containers"][0]["securityContext"] = {"privileged": True}

    watching = template(request(allocationMode="All", adminAccess=True))
    assert codes(ADMIN_NAMESPACE, watching, spec) == []
    assert codes(template(request(allocationMode="All")), spec) == ["PrivilegedSeesAllDevices"]


def test_a_privileged_container_that_is_sent_to_devices_it_does_not_ask_for_is_told() -> None:
    spec = pod(container(securityContext={"privileged": True}))
    found = findings(spec)

    assert [(one.code, one.severity) for one in found] == [("PrivilegedOnDeviceNodes", "info")]
    # An agent of each node, and Pods of other nodes.
    assert codes(deployment(spec, kind="DaemonSet")) == []
    assert codes(pod(*spec["spec"]["containers"], tolerations=[])) == []


@pytest.mark.parametrize(
    ("label", "is_told"),
    [("kubernetes.io/os", False), ("node.kubernetes.io/instance-type", True)],
)
def test_a_privileged_container_is_sent_to_devices_by_a_label_of_theirs(
    label: str, is_told: bool
) -> None:
    open_to_all = cluster_of({"instance_type": "p5.48xlarge", "taints": []})
    value = {"kubernetes.io/os": "linux"}.get(label, "p5.48xlarge")
    one = container(securityContext={"privileged": True})
    spec = pod(one, tolerations=[], nodeSelector={label: value})

    assert bool(codes(spec, plan=open_to_all)) is is_told


@pytest.mark.parametrize("value", ["all", "0,1", "GPU-0a"])
def test_gpus_that_the_environment_of_a_sidecar_shows_are_a_warning(value: str) -> None:
    variables = env(NVIDIA_VISIBLE_DEVICES=value)
    spec = pod(
        container(resources=listing("gpus")),
        container("sidecar", env=variables),
        resourceClaims=[of_template()],
    )
    (found,) = remarks(template(), spec)

    assert found.finding.code == "VisibleDevicesBypass"
    assert place(found)["value"] == value


def test_gpus_that_the_environment_shows_beside_a_limit_are_a_warning() -> None:
    spec = pod(container(resources=limits(gpu=1), env=env(NVIDIA_VISIBLE_DEVICES="all")))

    assert codes(spec, plan=PLUGIN) == ["VisibleDevicesBypass"]


def test_a_container_with_a_claim_for_gpus_sees_those_alone() -> None:
    spec = gpu_pod()
    spec["spec"]["containers"][0]["env"] = env(NVIDIA_VISIBLE_DEVICES="all")
    found = findings(template(), spec)

    assert [(one.code, one.severity) for one in found] == [("VisibleDevicesUseless", "info")]


@pytest.mark.parametrize("value", ["void", "none", ""])
def test_gpus_that_the_environment_hides_are_told_where_the_plugin_gives_some(value: str) -> None:
    asking = pod(container(resources=limits(gpu=1), env=env(NVIDIA_VISIBLE_DEVICES=value)))
    claiming = gpu_pod()
    claiming["spec"]["containers"][0]["env"] = env(NVIDIA_VISIBLE_DEVICES=value)

    assert codes(asking, plan=PLUGIN) == ["GpusHidden"]
    assert codes(template(), claiming) == []
    assert codes(pod(container(env=env(NVIDIA_VISIBLE_DEVICES=value)))) == []


def test_all_gpus_without_asking_for_any_are_a_warning_where_there_are_gpus() -> None:
    spec = pod(container(env=env(NVIDIA_VISIBLE_DEVICES="all")))

    assert codes(spec) == ["VisibleDevicesBypass"]
    assert codes(spec, plan=NEURON_ONLY) == []
    # Exporters of metrics run on each node.
    assert codes(deployment(spec, kind="DaemonSet")) == []


def test_a_claim_for_other_devices_is_none_for_gpus() -> None:
    efas = template(request(device_class=EFA), name="efas")
    spec = pod(
        container(
            resources={**listing("efas"), **limits(hugepages="2Mi", memory="1Gi")},
            env=env(NVIDIA_VISIBLE_DEVICES="void"),
        ),
        resourceClaims=[of_template("efas")],
    )

    assert codes(efas, spec) == []
