"""What people do with managers by hand: a new driver version, and taking an installation away."""

from __future__ import annotations

from functools import partial

import pytest

from eks_device_charts import ImageSource, device_manifests
from eks_device_operations.control_plane import wait_for
from eks_device_operations.control_plane.pods import missing_devices
from eks_devices import DeviceType, Mechanism

DRA, PLUGIN = Mechanism.DRA, Mechanism.DEVICE_PLUGIN
NEW = "example.com/mirror/driver:next"
# A group whose nodes have the manager, and the name of its DaemonSet.
MANAGERS = {
    (DeviceType.NEURON, DRA): ("trn2.48xlarge", {}, "neuron-dra-driver-kubelet-plugin"),
    (DeviceType.NEURON, PLUGIN): ("inf2.48xlarge", {}, "neuron-device-plugin"),
    (DeviceType.GPU, DRA): ("p5.48xlarge", {}, "dra-driver-nvidia-gpu-kubelet-plugin"),
    (DeviceType.GPU, PLUGIN): (
        "g6e.12xlarge",
        {"mechanism": PLUGIN},
        "nvdp-nvidia-device-plugin",
    ),
    (DeviceType.COMPUTE_DOMAIN, DRA): (
        "p6e-gb200.36xlarge",
        {},
        "dra-driver-nvidia-gpu-compute-domain-plugin",
    ),
    (DeviceType.EFA, DRA): ("p5.48xlarge", {}, "aws-dranet"),
    (DeviceType.EFA, PLUGIN): (
        "p5.48xlarge",
        {"mechanism": PLUGIN},
        "efa-aws-efa-k8s-device-plugin",
    ),
}


@pytest.mark.parametrize("key", MANAGERS, ids="/".join)
def test_a_new_version_replaces_each_pod_and_no_other(world, planned, spec, key):
    instance_type, options, name = MANAGERS[key]
    plan = planned(spec("a", instance_type, **options))
    old = device_manifests(plan, images=ImageSource(region="us-east-2"))
    images = ImageSource(region="us-east-2", overrides={key: NEW})
    world.install(*old)
    nodes = world.join(plan.nodegroups[0], 3)
    world.join_other("system")
    managers = world.managers()
    before = pods(world.api)

    world.install(*device_manifests(plan, images=images))
    wait_for(partial(all_new, world.api, name, len(nodes)), f"Pods of {name} replaced")

    # A kubelet complains when a new Pod starts while the old one has the devices.
    assert world.managers() == managers
    after = pods(world.api)
    kept = {pod for pod in before if not belongs(pod, key, name)}
    assert kept <= after
    assert len(after) == len(before)
    assert missing_devices(world.api, dict.fromkeys(nodes, plan.nodegroups[0])) == []


def belongs(pod, key, name):
    """Whether a Pod is the manager's, or its controller's, which has the same image."""
    domain = key[0] is DeviceType.COMPUTE_DOMAIN and "controller" in pod[1]
    return pod[1].startswith(name) or domain


def pods(api):
    return {
        (one["metadata"]["uid"], one["metadata"]["name"], one["spec"]["containers"][0]["image"])
        for one in api.list("v1", "Pod")
    }


def all_new(api, name, count):
    label = f"app.kubernetes.io/name={name}"
    found = api.list("v1", "Pod", labelSelector=label)
    running = [one for one in found if one["status"]["phase"] == "Running"]
    images = {one["spec"]["containers"][0]["image"] for one in running}
    return len(running) == len(found) == count and images == {NEW}


def test_an_installation_that_goes_takes_pods_and_devices_along(world, planned, manifests, spec):
    plan = planned(
        spec("trn2", "trn2.48xlarge"),
        spec("p5", "p5.48xlarge"),
        spec("g6e", "g6e.12xlarge", mechanism=PLUGIN),
        spec("gb200", "p6e-gb200.36xlarge"),
    )
    system = world.join_other("system")
    nodes = {name: group for group in plan.nodegroups for name in world.join(group, 2)}
    world.install(*manifests(plan))
    assert set(map(tuple, world.managers().values())) != {()}

    world.remove(world.applied)

    assert world.managers() == {name: [] for name in [*nodes, system]}
    assert world.api.list("v1", "Pod") == []
    assert world.api.list("resource.k8s.io/v1", "ResourceSlice") == []
    for name, group in nodes.items():
        node = world.api.find(f"/api/v1/nodes/{name}")
        assert {node["status"]["allocatable"][one] for one in group.extended_resources} <= {"0"}
        assert node["spec"]["taints"] == [taint.to_dict() for taint in group.taints]
        assert group.labels.items() <= node["metadata"]["labels"].items()


def test_one_mechanism_that_goes_leaves_the_other_alone(world, planned, manifests, spec):
    """The last step of moving to DRA: the groups on plugins are drained, and their manager goes."""
    both = planned(spec("new", "p5.48xlarge"), spec("old", "p5.48xlarge", mechanism=PLUGIN))
    new, old = both.nodegroups
    world.install(*manifests(both))
    nodes, leaving = world.join(new, 2), world.join(old, 2)
    by_dra = {name: ["efa/dra", "gpu/dra"] for name in nodes}
    by_plugin = {name: ["efa/device-plugin", "gpu/device-plugin"] for name in leaving}
    assert world.managers() == by_dra | by_plugin
    kept = {pod for pod in pods(world.api) if pod[1].startswith(("aws-dranet", "dra-driver"))}

    for name in leaving:
        world.kubelets.leave(name)
    rest = manifests(planned(spec("new", "p5.48xlarge")))
    world.remove([item for item in world.applied if item not in rest])

    assert world.managers() == by_dra
    assert pods(world.api) == kept
