"""ComputeDomains: the manifest, and the limits of the hardware."""

import json

import pytest

from eks_devices.claims import ChannelAllocation, ComputeDomain
from eks_devices.findings import EksDevicesError


def test_the_manifest_of_a_domain():
    domain = ComputeDomain(name="trainer", namespace="train", nodes=18)

    assert domain.to_dict(kubernetes_version="1.34", instance_type="p6e-gb200.36xlarge") == {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": {"name": "trainer", "namespace": "train"},
        "spec": {
            "numNodes": 18,
            "channel": {"resourceClaimTemplate": {"name": "trainer-channel"}},
        },
    }
    assert domain.channel == "trainer-channel"


def test_by_default_a_domain_waits_for_no_number_of_nodes():
    manifest = ComputeDomain(name="trainer").to_dict(kubernetes_version="1.36")

    assert manifest["spec"]["numNodes"] == 0
    assert manifest["metadata"]["namespace"] == "default"


@pytest.mark.parametrize("nodes", [19, 36, 72])
def test_a_domain_may_hold_the_nodes_of_several_ultraservers(nodes):
    domain = ComputeDomain(name="trainer", nodes=nodes)

    for instance_type in (None, "p6e-gb200.36xlarge"):
        manifest = domain.to_dict(kubernetes_version="1.34", instance_type=instance_type)
        assert manifest["spec"]["numNodes"] == nodes


def test_a_template_name_and_all_channels():
    domain = ComputeDomain(
        name="a", channel_template="imex", allocation=ChannelAllocation.ALL, nodes=2
    )

    assert domain.to_dict(kubernetes_version="1.37")["spec"]["channel"] == {
        "resourceClaimTemplate": {"name": "imex"},
        "allocationMode": "All",
    }


def test_a_domain_is_a_value():
    assert ComputeDomain(name="a") == ComputeDomain(name="a", namespace="default")
    assert len({ComputeDomain(name="a"), ComputeDomain(name="a", nodes=0)}) == 1


def test_a_domain_tells_its_manifest_as_json():
    domain = ComputeDomain(name="a", nodes=2)
    cluster = {"kubernetes_version": "1.34", "instance_type": "p6e-gb200.36xlarge"}

    assert json.loads(domain.to_json(**cluster)) == domain.to_dict(**cluster)
    assert domain.to_json(**cluster) == ComputeDomain(name="a", nodes=2).to_json(**cluster)


def test_a_name_that_leaves_room_for_the_channel():
    assert ComputeDomain(name="a" * 245).channel.endswith("-channel")


def test_a_name_without_room_takes_a_template_name():
    assert ComputeDomain(name="a" * 253, channel_template="a").channel == "a"


def test_all_faults_of_a_domain_come_together():
    with pytest.raises(EksDevicesError) as caught:
        ComputeDomain(name="A", namespace="a.b", nodes=-1, channel_template="")

    assert [one.path.rpartition(".")[2] for one in caught.value.faults] == [
        "name",
        "namespace",
        "nodes",
        "channel_template",
    ]
