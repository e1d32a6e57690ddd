"""What NVIDIA's managers are told in a stack: options of groups, and those a cluster has once."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from tests.annotations import infos, warnings
from tests.short_names import DRA, PLUGIN

from eks_device_constructs import Delivery, DeviceDrivers
from eks_devices import (
    Capacity,
    ClaimSharing,
    ClaimWebhook,
    DeviceRequest,
    DeviceType,
    GpuDriver,
    GpuSharing,
    Mig,
    NvidiaInstallation,
    OperatingSystem,
)

MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"
G6E: dict[str, Any] = {"instance_type": "g6e.12xlarge", "max_size": 1}
P5: dict[str, Any] = {"instance_type": "p5.48xlarge", "max_size": 1}
GB200: dict[str, Any] = {
    "instance_type": "p6e-gb200.36xlarge",
    "capacity": Capacity.ultraserver_block("cr-0123456789abcdef0"),
    "max_size": 9,
}
GATES = NvidiaInstallation(compute_domain_gates={"CrashOnNVLinkFabricErrors": False})


def objects(world, kind: str) -> list[dict[str, Any]]:
    return [
        item
        for resource in world.template().find_resources(MANIFEST).values()
        for item in json.loads(resource["Properties"]["Manifest"])
        if item["kind"] == kind
    ]


def one_subnet(world, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a group with EFA, which stays in one Availability Zone."""
    return options | {"subnet": world.vpc.private_subnets[0]}


def environment(pods: dict[str, Any]) -> dict[str, str]:
    """The variables of every container of the Pods that an object makes."""
    spec = pods["spec"]["template"]["spec"]
    return {
        one["name"]: one.get("value", "")
        for container in spec["containers"]
        for one in container.get("env", [])
    }


def user_data(world) -> str:
    launch = world.only("AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]
    return base64.b64decode(launch["UserData"]).decode()


def told(world) -> list[str]:
    return warnings(world.stack, "NvidiaOptionWithoutEffect")


def test_gates_of_compute_domains_reach_controller_and_plugins_alike(make_served):
    world = make_served(nvidia=GATES)
    world.cluster.add_nodegroup("Gb200", **one_subnet(world, GB200))

    pods = [*objects(world, "Deployment"), *objects(world, "DaemonSet")]
    gates = {
        one["metadata"]["name"]: environment(one).get("FEATURE_GATES")
        for one in pods
        if one["metadata"]["namespace"] == "nvidia"
    }

    assert gates == {
        "dra-driver-nvidia-gpu-controller": "CrashOnNVLinkFabricErrors=false",
        "dra-driver-nvidia-gpu-compute-domain-plugin": "CrashOnNVLinkFabricErrors=false",
        "dra-driver-nvidia-gpu-kubelet-plugin": None,
    }


def test_a_webhook_and_network_policies_are_sent_once(make_served):
    nvidia = NvidiaInstallation(network_policies=True, claim_webhook=ClaimWebhook.cert_manager())
    world = make_served(nvidia=nvidia)
    world.cluster.add_nodegroup("A", mechanism=DRA, **G6E)
    world.cluster.add_nodegroup("B", mechanism=DRA, **one_subnet(world, P5))

    assert len(objects(world, "ValidatingWebhookConfiguration")) == 1
    policies = [one["metadata"]["name"] for one in objects(world, "NetworkPolicy")]
    assert policies
    assert len(policies) == len(set(policies))


def test_nothing_of_it_is_sent_unless_asked_for(make_served):
    world = make_served()
    world.cluster.add_nodegroup("A", mechanism=DRA, **G6E)

    assert objects(world, "ValidatingWebhookConfiguration") == []
    assert objects(world, "NetworkPolicy") == []


def test_a_scope_has_the_options_of_the_default_installation(make_served, faults_of):
    world = make_served(nvidia=GATES)
    options: dict[str, Any] = {
        "cluster": world.cluster,
        "delivery": Delivery.gitops("x"),
        "scope_name": "team",
    }

    assert faults_of(
        DeviceDrivers, world.stack, "Other", nvidia=NvidiaInstallation(), **options
    ) == {("NvidiaInstallationDiffers", "nvidia")}
    assert DeviceDrivers(world.stack, "Same", nvidia=GATES, **options).scope_name == "team"


def test_an_idle_option_is_told_of_once_groups_exist(make_served):
    waiting, idle = make_served(nvidia=GATES), make_served(nvidia=GATES)
    used = make_served(nvidia=GATES)
    idle.cluster.add_nodegroup("G6e", **G6E)
    used.cluster.add_nodegroup("Gb200", **one_subnet(used, GB200))

    assert [len(told(world)) for world in (waiting, idle, used)] == [0, 1, 0]


def test_a_kept_manager_reads_its_options(make_served):
    world = make_served(nvidia=GATES, keep={DeviceType.COMPUTE_DOMAIN: (DRA,)})
    world.cluster.add_nodegroup("G6e", **G6E)

    assert told(world) == []


CUTS = [
    (Mig.uniform("1g.10gb"), DRA),
    (Mig.layout("3g.40gb", "2g.20gb"), PLUGIN),
]


@pytest.mark.parametrize(("mig", "mechanism"), CUTS)
def test_nodes_cut_their_gpus_when_they_start(make_served, mig, mechanism):
    world = make_served()
    world.cluster.add_nodegroup("P5", mig=mig, mechanism=mechanism, **one_subnet(world, P5))

    data = user_data(world)

    assert "nvidia-smi" in data
    for profile in mig.profiles:
        assert profile in data


def test_bottlerocket_is_told_to_cut_in_its_settings(make_served):
    world = make_served()
    system = OperatingSystem.BOTTLEROCKET
    world.cluster.add_nodegroup(
        "P5", mig=Mig.uniform("1g.10gb"), operating_system=system, **one_subnet(world, P5)
    )

    assert "1g.10gb" in user_data(world)


def test_gpus_cut_on_request_are_cut_by_the_driver_alone(make_served):
    world = make_served(version="1.36")
    world.cluster.add_nodegroup("P5", mig=Mig.dynamic(), mechanism=DRA, **one_subnet(world, P5))

    (driver,) = [one for one in objects(world, "DaemonSet") if "gpu" in one["metadata"]["name"]]

    assert "DynamicMIG=true" in environment(driver)["FEATURE_GATES"]
    assert "nvidia-smi" not in user_data(world)


def test_a_group_that_shares_by_mps_has_a_daemon_and_its_groups_alone(make_served):
    world = make_served()
    world.cluster.add_nodegroup("Shared", gpu_sharing=GpuSharing.mps(replicas=4), **G6E)
    world.cluster.add_nodegroup("Plain", mechanism=PLUGIN, **G6E)

    names = [one["metadata"]["name"] for one in objects(world, "DaemonSet")]

    assert len([name for name in names if "mps" in name]) == 1
    assert len(names) == 3


def test_a_driver_with_gates_stands_beside_the_plain_one(make_served):
    world = make_served()
    gated = GpuDriver(feature_gates={"TimeSlicingSettings": True})
    world.cluster.add_nodegroup("Gated", gpu_driver=gated, mechanism=DRA, **G6E)
    world.cluster.add_nodegroup("Plain", mechanism=DRA, **G6E)

    gates = [environment(one).get("FEATURE_GATES") for one in objects(world, "DaemonSet")]

    assert sorted(gates, key=str) == [None, "TimeSlicingSettings=true"]


def astray(world) -> list[str]:
    return infos(world.stack, "ClaimFitsOtherGroups")


SHARED = DeviceRequest.gpu(sharing=ClaimSharing.mps())


def test_a_claim_that_other_groups_cannot_serve_is_told_whatever_the_order(make_served):
    worlds = [make_served(), make_served()]
    gated = {"gpu_driver": GpuDriver(feature_gates={"MPSSupport": True}), "mechanism": DRA}
    for world, first in zip(worlds, (True, False), strict=True):
        if first:
            world.cluster.add_nodegroup("Plain", mechanism=DRA, **G6E)
        group = world.cluster.add_nodegroup("Gated", **gated, **G6E)
        group.add_resource_claim("a", namespace="default", requests=[SHARED])
        if not first:
            world.cluster.add_nodegroup("Plain", mechanism=DRA, **G6E)

        (found,) = astray(world)

        assert "a GPU of Plain," in found
        assert "select eks-devices/nodegroup: Gated" in found


def test_a_claim_that_every_group_serves_or_no_other_one_offers_is_not_told_of(make_served):
    gated = {"gpu_driver": GpuDriver(feature_gates={"MPSSupport": True}), "mechanism": DRA}
    world = make_served()
    group = world.cluster.add_nodegroup("Gated", **gated, **G6E)
    world.cluster.add_nodegroup("Too", **gated, **G6E)
    world.cluster.add_nodegroup("Plugin", mechanism=PLUGIN, **G6E)
    group.add_resource_claim("a", namespace="default", requests=[SHARED])
    group.add_resource_claim("whole", namespace="default", requests=[DeviceRequest.gpu()])
    gone = world.cluster.add_nodegroup("Gone", mechanism=DRA, **G6E)
    assert world.cluster.node.try_remove_child("Gone")

    assert gone.plan.name == "Gone"
    assert astray(world) == []
