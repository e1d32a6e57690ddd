"""What people do with managers by hand: a new driver version, and taking an installation away."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from eks_device_charts import ImageSource, device_manifests
from eks_device_operations.control_plane import wait_for
from eks_device_operations.control_plane.pods import missing_devices
from eks_devices import ClusterPlan, DeviceType, Mechanism, NodegroupPlan
from eks_devices.vocabulary import ManagerKey

DRA, PLUGIN = Mechanism.DRA, Mechanism.DEVICE_PLUGIN
NEW = "example.com/mirror/driver:next"
# The groups of one cluster, which between them have every manager.
GROUPS = {
    "neuron": ("trn2.48xlarge", {}),
    "inf": ("inf2.48xlarge", {}),
    "gpu": ("p5.48xlarge", {}),
    "plugins": ("p5.48xlarge", {"mechanism": PLUGIN}),
    "rack": ("p6e-gb200.36xlarge", {}),
}
# The name of each manager's DaemonSet.
MANAGERS = {
    (DeviceType.NEURON, DRA): "neuron-dra-driver-kubelet-plugin",
    (DeviceType.NEURON, PLUGIN): "neuron-device-plugin",
    (DeviceType.GPU, DRA): "dra-driver-nvidia-gpu-kubelet-plugin",
    (DeviceType.GPU, PLUGIN): "nvdp-nvidia-device-plugin",
    (DeviceType.COMPUTE_DOMAIN, DRA): "dra-driver-nvidia-gpu-compute-domain-plugin",
    (DeviceType.EFA, DRA): "aws-dranet",
    (DeviceType.EFA, PLUGIN): "efa-aws-efa-k8s-device-plugin",
}


@dataclass
class Installed:
    """A cluster with every manager, and the images that were replaced there so far."""

    plan: ClusterPlan
    nodes: dict[str, NodegroupPlan]
    replaced: dict[ManagerKey, str] = field(default_factory=dict)

    def objects(self) -> list[dict[str, Any]]:
        """What is installed, with those images."""
        images = ImageSource(region="us-east-2", overrides=self.replaced)
        return list(device_manifests(self.plan, images=images))


@pytest.fixture(scope="module")
def installed(shared, planned, spec):
    plan = planned(*(spec(name, kind, **options) for name, (kind, options) in GROUPS.items()))
    nodes = {name: group for group in plan.nodegroups for name in shared.join(group, 3)}
    shared.join_other("system")
    installed = Installed(plan, nodes)
    shared.install(*installed.objects())
    return installed


@pytest.mark.parametrize("key", MANAGERS, ids="/".join)
def test_a_new_version_replaces_each_pod_and_no_other(shared, installed, key):
    name = MANAGERS[key]
    managers = shared.managers()
    before = pods(shared.api)
    count = sum("/".join(key) in found for found in managers.values())
    assert count >= 3

    installed.replaced[key] = NEW
    shared.install(*installed.objects())
    wait_for(partial(all_new, shared.api, name, count), f"Pods of {name} replaced")

    # A kubelet complains when a new Pod starts while the old one has the devices.
    assert shared.managers() == managers
    after = pods(shared.api)
    kept = {pod for pod in before if not belongs(pod, key, name)}
    assert kept <= after
    assert len(after) == len(before)
    assert missing_devices(shared.api, installed.nodes) == []


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
