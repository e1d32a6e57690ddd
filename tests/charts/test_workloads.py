"""What the managers' Pods are told: the settings whose absence breaks nodes silently."""

import json
import re

import pytest

from eks_devices import GpuSharing, Mechanism, NodegroupSpec


def pod(item):
    return item["spec"]["template"]["spec"]


def env(container):
    return {one["name"]: one.get("value") for one in container.get("env", ())}


def containers(item):
    return [*pod(item).get("initContainers", ()), *pod(item)["containers"]]


def workloads(items):
    return [one for one in items if one["kind"] in ("DaemonSet", "Deployment")]


def test_a_gpu_plugin_leaves_rdma_devices_alone(manifests, installation):
    """MOFED gives every RDMA device to every GPU Pod, past the manager of EFA."""
    for item in workloads(manifests(installation)):
        for container in containers(item):
            if "k8s-device-plugin:" in container["image"] and "nvidia" in container["name"]:
                assert env(container)["MOFED_ENABLED"] == "false"
                asked = installation == "gpu-device-plugin-options"
                assert env(container).get("GDS_ENABLED") == ("true" if asked else None)


def test_managers_of_efa_alone_see_the_rdma_devices_of_a_node(manifests):
    """EFA fails in a container that sees RDMA devices of another maker."""
    seeing = {
        item["metadata"]["name"]
        for item in workloads(manifests("every-manager"))
        for volume in pod(item).get("volumes", ())
        if volume.get("hostPath", {}).get("path", "").startswith("/dev")
    }

    assert seeing == {"aws-dranet", "efa-aws-efa-k8s-device-plugin"}


def test_no_dra_container_gets_gpus_from_the_runtime(manifests):
    told = {
        container["name"]: env(container).get("NVIDIA_VISIBLE_DEVICES")
        for item in workloads(manifests("every-manager"))
        for container in containers(item)
        if "dra-driver-nvidia" in container["image"]
    }

    assert told == dict.fromkeys(
        ("init-container", "gpus", "compute-domains", "compute-domain"), "void"
    )


def test_the_driver_makes_pods_of_its_own_image(manifests):
    for item in workloads(manifests("every-manager")):
        for container in containers(item):
            assert env(container).get("IMAGE_NAME") in (None, container["image"])


@pytest.mark.parametrize(
    ("installation_name", "kind", "probes"),
    [
        ("neuron-dra", "DaemonSet", {"livenessProbe": (51515, 10, 3)}),
        (
            "gpu-dra",
            "DaemonSet",
            {"startupProbe": (51516, 1, 600), "livenessProbe": (51516, 30, 3)},
        ),
        (
            "compute-domain-dra",
            "DaemonSet",
            {"startupProbe": (51515, 1, 600), "livenessProbe": (51515, 10, 3)},
        ),
    ],
)
def test_a_probe_asks_the_port_that_the_driver_is_told(find, installation_name, kind, probes):
    (container,) = pod(find(kind, installation_name))["containers"]
    asked = {
        name: (probe["grpc"]["port"], probe["periodSeconds"], probe["failureThreshold"])
        for name, probe in container.items()
        if name.endswith("Probe")
    }

    assert asked == probes
    assert {str(port) for port, _, _ in asked.values()} == {env(container)["HEALTHCHECK_PORT"]}


def test_no_update_starts_a_dra_driver_beside_the_old_one(manifests):
    """Two would fight over the kubelet's socket, or over a port of the host."""
    surges = {
        item["metadata"]["name"]: item["spec"].get("updateStrategy", {}).get("rollingUpdate")
        for item in manifests("every-manager")
        if item["kind"] == "DaemonSet"
    }

    gone_first = {"maxUnavailable": "100%", "maxSurge": 0}
    assert surges == {
        "aws-dranet": None,
        "dra-driver-nvidia-gpu-compute-domain-plugin": gone_first,
        "dra-driver-nvidia-gpu-kubelet-plugin": gone_first,
        "efa-aws-efa-k8s-device-plugin": None,
        "neuron-device-plugin": None,
        "neuron-dra-driver-kubelet-plugin": {"maxUnavailable": 1, "maxSurge": 0},
        "nvdp-nvidia-device-plugin": None,
    }


def test_managers_outlive_pressure_and_preemption(manifests):
    classes = {
        (item["kind"], pod(item)["priorityClassName"]) for item in workloads(manifests("fleet"))
    }

    assert classes == {
        ("DaemonSet", "system-node-critical"),
        ("Deployment", "system-cluster-critical"),
    }


def test_every_mount_has_a_volume_and_every_volume_a_mount(manifests):
    for item in workloads(manifests("fleet")):
        mounts = {one["name"] for each in containers(item) for one in each.get("volumeMounts", ())}

        assert mounts == {one["name"] for one in pod(item).get("volumes", ())}


def sliced(name, replicas):
    return NodegroupSpec(
        name=name,
        instance_type="g6e.12xlarge",
        max_size=1,
        mechanism=Mechanism.DEVICE_PLUGIN,
        gpu_sharing=GpuSharing.time_slicing(replicas=replicas),
    )


def test_time_slicing_is_a_file_of_the_owner(manifests):
    items = manifests(sliced("a", 2), sliced("b", 4), sliced("c", 4))
    configs = {
        item["metadata"]["name"]: json.loads(item["data"]["config.yaml"])
        for item in items
        if item["kind"] == "ConfigMap"
    }
    plugins = {item["metadata"]["name"]: item for item in items if item["kind"] == "DaemonSet"}

    assert configs.keys() == plugins.keys()
    assert sorted(
        one["sharing"]["timeSlicing"]["resources"][0]["replicas"] for one in (configs.values())
    ) == [2, 4]
    for name, config in configs.items():
        assert re.fullmatch(r"nvdp-nvidia-device-plugin-[0-9a-f]{8}", name)
        assert config.keys() == {"version", "sharing"}
        assert config["version"] == "v1"
        (resource,) = config["sharing"]["timeSlicing"]["resources"]
        assert resource["name"] == "nvidia.com/gpu"
        assert {"name": "config", "configMap": {"name": name}} in pod(plugins[name])["volumes"]
        (container,) = pod(plugins[name])["containers"]
        assert env(container)["CONFIG_FILE"] == "/config/config.yaml"


def test_another_configuration_makes_new_pods(manifests):
    def digests(*groups):
        return {
            item["spec"]["template"]["metadata"]["annotations"]["eks-devices/config"]
            for item in manifests(*groups)
            if item["kind"] == "DaemonSet"
        }

    assert len(digests(sliced("a", 2), sliced("b", 4))) == 2
    assert digests(sliced("a", 2)) == digests(sliced("c", 2))


def test_dra_is_told_of_time_slicing_by_a_gate(find):
    (container,) = pod(find("DaemonSet", "gpu-dra-time-slicing"))["containers"]
    (plain,) = pod(find("DaemonSet", "gpu-dra"))["containers"]

    assert env(container)["FEATURE_GATES"] == "TimeSlicingSettings=true"
    assert "FEATURE_GATES" not in env(plain)
