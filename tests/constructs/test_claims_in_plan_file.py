"""The claims that the plan file of a stack tells of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.short_names import DRA

from eks_devices import Capacity, DeviceRequest, MatchAttribute

NEURON = [DeviceRequest.neuron(4), DeviceRequest.efa()]


@pytest.fixture
def world(make_served):
    return make_served(version="1.36")


def cluster_of(world: Any) -> dict[str, Any]:
    world.app.synth()
    (file,) = Path(world.app.outdir).glob("*.eks-devices.json")
    (cluster,) = json.loads(file.read_text())["clusters"]
    return dict(cluster)


def claims_of(world: Any) -> list[dict[str, Any]]:
    return list(cluster_of(world)["claims"])


def findings_of(world: Any, code: str) -> list[str]:
    """The paths at which the file tells a finding."""
    found = cluster_of(world)["plan"]["findings"]
    return [one["path"] for one in found if one["code"] == code]


def add_template(owner: Any, name: str, namespace: str = "train") -> None:
    owner.add_resource_claim_template(
        name, namespace=namespace, requests=NEURON, match=MatchAttribute.DEVICE_GROUP
    )


def test_a_claim_is_told_with_the_counts_that_were_filled_in(world):
    add_template(world.add_trn2(), "four")

    told = claims_of(world)
    manifest = told[0].pop("manifest")
    assert manifest["metadata"] == {"name": "four", "namespace": "train"}
    neuron, efa = manifest["spec"]["spec"]["devices"]["requests"]
    assert (neuron["exactly"]["count"], efa["exactly"]["count"]) == (4, 4)
    assert told == [
        {
            "kind": "ResourceClaimTemplate",
            "namespace": "train",
            "name": "four",
            "nodegroups": ["Trn2"],
            "requests": [
                {"name": "neuron", "device_class": "neuron.aws.com", "count": 4, "selectors": 0},
                {
                    "name": "efa",
                    "device_class": "efa.networking.k8s.aws",
                    "count": 4,
                    "selectors": 0,
                },
            ],
            "match": ["resource.aws.com/devicegroup4_id"],
        }
    ]


def test_claims_stand_in_one_order_whichever_group_added_them_first(world):
    first, second = world.add_trn2("A"), world.add_trn2("B")
    add_template(second, "b")
    first.add_resource_claim("a", namespace="train", requests=[DeviceRequest.neuron(1)])
    add_template(first, "z", namespace="serve")

    told = [(one["namespace"], one["name"], one["nodegroups"]) for one in claims_of(world)]
    assert told == [("serve", "z", ["A"]), ("train", "a", ["A"]), ("train", "b", ["B"])]


def test_a_claim_of_a_pool_is_for_all_of_its_groups(world):
    pool = world.cluster.add_nodegroup_pool(
        "Pool", instance_type="trn2.48xlarge", subnet=world.vpc.private_subnets[0], max_size=1
    )
    pool.add(Capacity.block("cr-0123456789abcdef0", key="may"))
    add_template(pool, "four")
    own = pool.add(Capacity.block("cr-0123456789abcdef1", key="june"))
    add_template(own, "one-of-them")

    told = {one["name"]: one["nodegroups"] for one in claims_of(world)}
    assert told == {"four": ["Pool-may", "Pool-june"], "one-of-them": ["Pool-june"]}


def test_a_domain_is_told_with_its_template(world):
    group = world.cluster.add_nodegroup(
        "Gb200",
        instance_type="p6e-gb200.36xlarge",
        capacity=Capacity.ultraserver_block("cr-0123456789abcdef0", nodes=9),
        subnet=world.vpc.private_subnets[0],
        max_size=9,
    )
    group.add_compute_domain("job", namespace="train", nodes=4)

    (told,) = claims_of(world)
    assert (told["kind"], told["nodes"], told["channel_template"]) == (
        "ComputeDomain",
        4,
        "job-channel",
    )


def test_selectors_and_parts_of_devices_are_told(world):
    group = world.cluster.add_nodegroup(
        "G6e",
        instance_type="g6e.12xlarge",
        max_size=1,
        mechanism=DRA,
    )
    asked = DeviceRequest.gpu().where('device.attributes["gpu.nvidia.com"].type == "gpu"')
    group.add_resource_claim("one", namespace="train", requests=[asked])

    (told,) = claims_of(world)
    assert [one["selectors"] for one in told["requests"]] == [1]


def test_claims_of_a_group_that_was_removed_again_are_not_told(world):
    world.add_trn2("Stays")
    add_template(world.add_trn2("Gone"), "four")
    assert world.cluster.node.try_remove_child("Gone")

    assert claims_of(world) == []


def test_what_claims_are_warned_of_stands_in_the_file(world):
    group = world.add_trn2()
    group.add_resource_claim_template("apart", namespace="train", requests=NEURON[:1])

    assert findings_of(world, "NeuronDevicesApart") == ["claims.train/apart.requests[0].count"]
    assert findings_of(world, "NamespaceNotCreated") == ["claims.train/apart.namespace"]


def test_nothing_of_a_claim_is_told_when_its_group_was_removed_again(world):
    world.add_trn2("Stays")
    gone = world.add_trn2("Gone")
    gone.add_resource_claim_template("apart", namespace="train", requests=NEURON[:1])
    assert world.cluster.node.try_remove_child("Gone")

    assert findings_of(world, "NeuronDevicesApart") == []
