"""The Neuron examples: what they print, their nodes have."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from eks_devices import (
    AcceleratedInstanceType,
    Capacity,
    DeviceType,
    Mechanism,
    NodegroupPlan,
    NodegroupSpec,
    plan_nodegroup,
)
from eks_devices.resource_slices import resource_slice

EXAMPLES = Path(__file__).parents[2] / "examples" / "neuron"
NAMES = ("half_node", "ultraserver")
# What the EFA software of Amazon Linux 2023 reserves.
RESERVED_MIB = 5128 * 2
BLOCKS = {
    "trn2.48xlarge": Capacity.block("cr-0123456789abcdef0"),
    "trn2u.48xlarge": Capacity.ultraserver_block("cr-0123456789abcdef0"),
}


def printed(name: str) -> dict[str, Any]:
    """What an example prints, by kind."""
    result = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")], capture_output=True, text=True, check=True
    )
    assert not result.stderr
    items = list(yaml.safe_load_all(result.stdout))
    found = {one["kind"]: one for one in items}
    assert len(found) == len(items)
    return found


@pytest.fixture(scope="module", params=NAMES)
def either(request):
    return printed(request.param)


@pytest.fixture(scope="module")
def half():
    return printed("half_node")


@pytest.fixture(scope="module")
def ultra():
    return printed("ultraserver")


def pods(items: dict[str, Any]) -> Any:
    """The spec of an example's Pods."""
    if "Job" in items:
        return items["Job"]["spec"]["template"]["spec"]
    return items["LeaderWorkerSet"]["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]


def planned(instance_type: str) -> NodegroupPlan:
    capacity = BLOCKS[instance_type]
    return plan_nodegroup(
        NodegroupSpec(name="a", instance_type=instance_type, capacity=capacity, max_size=4),
        kubernetes_version="1.34",
    )


def asked(items: dict[str, Any]) -> dict[str, int]:
    """How many devices of each class a Pod claims."""
    requests = devices(items)["requests"]
    return {one["exactly"]["deviceClassName"]: one["exactly"]["count"] for one in requests}


def devices(items: dict[str, Any]) -> Any:
    return items["ResourceClaimTemplate"]["spec"]["spec"]["devices"]


@pytest.mark.parametrize("version", ["1.34", "1.35"])
def test_every_object_fits_its_schema(either, version):
    for kind, item in either.items():
        if kind != "LeaderWorkerSet":
            kubernetes_validate.validate(item, version, strict=True)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": pods(either)}
    kubernetes_validate.validate(pod, version, strict=True)


def test_pods_and_templates_are_in_the_namespace_that_is_made(either):
    name = either["Namespace"]["metadata"]["name"]

    assert {
        one["metadata"]["namespace"] for kind, one in either.items() if kind != "Namespace"
    } == {name}


def test_every_claim_of_a_pod_is_of_the_template_and_used(either):
    (claim,) = pods(either)["resourceClaims"]
    (container,) = pods(either)["containers"]

    template = either["ResourceClaimTemplate"]["metadata"]["name"]
    assert claim["resourceClaimTemplateName"] == template
    assert container["resources"]["claims"] == [{"name": claim["name"]}]


@pytest.mark.parametrize(
    ("name", "instance_type"), [("half_node", "trn2.48xlarge"), ("ultraserver", "trn2u.48xlarge")]
)
def test_its_nodes_serve_claims_and_let_its_pods_in(name, instance_type):
    plan = planned(instance_type)

    assert {one.mechanism for one in plan.devices} == {Mechanism.DRA}
    tolerated = {one["key"] for one in pods(printed(name))["tolerations"]}
    assert {one.key for one in plan.taints} <= tolerated


def test_half_a_node_is_half_of_everything(half):
    instance = AcceleratedInstanceType.of("trn2.48xlarge")
    together = half["Job"]["spec"]["parallelism"]
    assert together == 2

    assert instance.accelerator is not None
    assert {name: together * count for name, count in asked(half).items()} == {
        "neuron.aws.com": instance.accelerator.count,
        "efa.networking.k8s.aws": instance.max_efa_interfaces,
    }
    (container,) = pods(half)["containers"]
    pages = container["resources"]["limits"]["hugepages-2Mi"]
    assert together * int(pages.removesuffix("Mi")) <= RESERVED_MIB
    memory = int(container["resources"]["requests"]["memory"].removesuffix("Gi")) * 1024
    assert together * memory + RESERVED_MIB < instance.memory_mib


def test_the_node_has_two_groups_that_a_half_takes_whole(half):
    """A constraint on the group leaves each Pod one group of devices and EFAs, and no third."""
    (constraint,) = devices(half)["constraints"]
    assert constraint["requests"] == ["neuron", "efa"]
    plan = planned("trn2.48xlarge")
    values: dict[str, dict[DeviceType, int]] = {}
    for device in plan.devices:
        for one in resource_slice(plan, device, node="a")["spec"]["devices"]:
            value = one["attributes"][constraint["matchAttribute"]]["string"]
            counts = values.setdefault(value, {})
            counts[device.device_type] = counts.get(device.device_type, 0) + 1

    assert [*values.values()] == [{DeviceType.NEURON: 8, DeviceType.EFA: 8}] * 2


def test_a_group_of_workers_is_one_ultraserver(ultra):
    instance = AcceleratedInstanceType.of("trn2u.48xlarge")
    workers = ultra["LeaderWorkerSet"]
    size = workers["spec"]["leaderWorkerTemplate"]["size"]
    (config,) = devices(ultra)["config"]

    assert size == max(instance.ultraserver_sizes) == 4
    assert config["opaque"]["parameters"]["ultraserverMode"] == size
    assert [*workers["metadata"]["annotations"].values()] == [
        "neuron.amazonaws.com/ultraserver-server-id-4"
    ]
    assert asked(ultra) == {"neuron.aws.com": 1, "efa.networking.k8s.aws": 16}
    assert instance.max_efa_interfaces == 16


def test_a_pod_on_a_whole_node_has_its_huge_pages_and_room_for_memory(ultra):
    (container,) = pods(ultra)["containers"]
    resources = container["resources"]

    pages = resources["limits"]["hugepages-2Mi"]
    assert int(pages.removesuffix("Mi")) <= RESERVED_MIB
    memory = int(resources["requests"]["memory"].removesuffix("Gi")) * 1024
    instance = AcceleratedInstanceType.of("trn2u.48xlarge")
    assert RESERVED_MIB + memory < instance.memory_mib
