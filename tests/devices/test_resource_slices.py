"""What the drivers publish for a node: literal devices, and what holds for every type."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from eks_devices import (
    AcceleratedInstanceType,
    Capacity,
    DeviceType,
    EksDevicesError,
    Mechanism,
    Mig,
    NodegroupSpec,
    plan_nodegroup,
)
from eks_devices.published import mig_profiles
from eks_devices.resource_slices import resource_slice

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
# What the API takes of one device and of one slice.
MOST_ATTRIBUTES, MOST_DEVICES, LONGEST_VALUE = 32, 128, 64
# https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
H100_STARTS = {"1g.10gb": range(7), "2g.20gb": (0, 2, 4), "3g.40gb": (0, 4)}


def group_of(name, **options):
    capacity = Capacity.block("cr-0123456789abcdef0") if name.startswith("p6e") else None
    given = {"mechanism": Mechanism.DRA} | ({"capacity": capacity} if capacity else {}) | options
    spec = NodegroupSpec(name="a", instance_type=name, max_size=1, **given)
    return plan_nodegroup(spec, kubernetes_version="1.34")


def published(name, device_type, **options):
    group = group_of(name, **options)
    device = next(one for one in group.devices if one.device_type is device_type)
    return resource_slice(group, device, node="n1")


def devices(name, device_type, **options):
    return published(name, device_type, **options)["spec"]["devices"]


def values(found, attribute):
    return [next(iter(one["attributes"][attribute].values())) for one in found]


def test_a_slice_is_its_nodes_whole_pool():
    item = published("p5.48xlarge", DeviceType.GPU)

    assert (item["apiVersion"], item["kind"]) == ("resource.k8s.io/v1", "ResourceSlice")
    assert item["metadata"] == {"name": "n1-gpu.nvidia.com"}
    assert item["spec"]["driver"] == "gpu.nvidia.com"
    assert item["spec"]["nodeName"] == "n1"
    assert item["spec"]["pool"] == {"name": "n1", "generation": 1, "resourceSliceCount": 1}


def test_a_gpu_has_its_model_its_memory_and_its_root():
    found = devices("p5.48xlarge", DeviceType.GPU)

    assert [one["name"] for one in found] == [f"gpu-{index}" for index in range(8)]
    assert found[0]["attributes"] == {
        "type": {"string": "gpu"},
        "uuid": {"string": "GPU-0"},
        "productName": {"string": "NVIDIA H100 80GB HBM3"},
        "brand": {"string": "Nvidia"},
        "architecture": {"string": "Hopper"},
        "cudaComputeCapability": {"version": "9.0.0"},
        "driverVersion": {"version": "580.126.20"},
        "cudaDriverVersion": {"version": "13.0.0"},
        "resource.kubernetes.io/pcieRoot": {"string": "pci0000:44"},
    }
    assert found[0]["capacity"] == {"memory": {"value": "81152Mi"}}


def test_gpus_and_efas_of_a_root_have_the_same_root():
    gpus = devices("p5.48xlarge", DeviceType.GPU)
    efas = devices("p5.48xlarge", DeviceType.EFA)

    root = "resource.kubernetes.io/pcieRoot"
    assert Counter(values(efas, root)) == dict.fromkeys(values(gpus, root), 4)
    assert efas[0]["attributes"]["dra.net/pciDevice"] == {"string": "Elastic Fabric Adapter (EFA)"}
    assert efas[0]["attributes"]["dra.net/rdma"] == {"bool": True}
    assert efas[0]["attributes"]["dra.net/numaNode"] == {"int": 0}
    assert efas[-1]["attributes"]["dra.net/numaNode"] == {"int": 1}


def test_pairs_of_gpus_share_an_efa_on_p4d():
    root = "resource.kubernetes.io/pcieRoot"

    assert Counter(values(devices("p4d.24xlarge", DeviceType.GPU), root)) == {
        "pci0000:10": 2,
        "pci0000:20": 2,
        "pci0000:90": 2,
        "pci0000:a0": 2,
    }
    assert len(devices("p4d.24xlarge", DeviceType.EFA)) == 4


def test_fewer_efas_of_a_group_are_fewer_devices():
    assert len(devices("p5.48xlarge", DeviceType.EFA, efa=16)) == 16


@pytest.mark.parametrize(("name", "efas_of_four"), [("trn2.48xlarge", 4), ("trn1.32xlarge", 2)])
def test_neuron_devices_and_their_efas_are_in_the_same_groups(name, efas_of_four):
    group4 = "resource.aws.com/devicegroup4_id"
    neuron = Counter(values(devices(name, DeviceType.NEURON), group4))
    efas = Counter(values(devices(name, DeviceType.EFA), group4))

    assert set(neuron.values()) == {4}
    assert efas == dict.fromkeys(neuron, efas_of_four)


def test_the_first_neuron_device_of_trn2():
    (first, *_), second_row = devices("trn2.48xlarge", DeviceType.NEURON), 4
    attributes = first["attributes"]

    assert attributes["deviceId"] == {"int": 0}
    assert attributes["instanceType"] == {"string": "trn2.48xlarge"}
    assert attributes["resourceType"] == {"string": "neuron_device"}
    assert attributes["resource.aws.com/devicegroup1_id"] == {"string": "0000:c9:00.0"}
    assert attributes["resource.aws.com/devicegroup4_id"] == {"string": "13713e551cd37c19"}
    assert attributes["resource.aws.com/devicegroup16_id"] == {"string": "821d14afaf11327d"}
    fifth = devices("trn2.48xlarge", DeviceType.NEURON)[second_row]["attributes"]
    places = ("topology_x", "topology_y", "topology4_id", "topology8_id")
    assert [fifth[place]["int"] for place in places] == [1, 0, 1, 0]


@pytest.mark.parametrize("name", ["trn2u.48xlarge", "inf2.48xlarge", "trn2.3xlarge"])
def test_there_is_no_place_in_a_torus_where_the_driver_names_none(name):
    assert "topology_x" not in devices(name, DeviceType.NEURON)[0]["attributes"]


def test_a_node_of_a_compute_domain_has_a_daemon_and_a_channel():
    found = devices("p6e-gb200.36xlarge", DeviceType.COMPUTE_DOMAIN)

    assert [one["name"] for one in found] == ["daemon-0", "channel-0"]
    assert values(found, "type") == ["daemon", "channel"]
    assert values(found, "id") == [0, 0]


def test_devices_that_nobody_told_about_have_what_their_class_reads():
    assert devices("p6e-gb200.36xlarge", DeviceType.GPU) == [
        {"name": f"gpu-{index}", "attributes": {"type": {"string": "gpu"}}} for index in range(4)
    ]
    assert "dra.net/pciDevice" in devices("p6e-gb200.36xlarge", DeviceType.EFA)[0]["attributes"]


def slices_of_every_type():
    for each in AcceleratedInstanceType.all():
        try:
            group = group_of(each.name)
        except EksDevicesError:
            continue
        for device in group.devices:
            if device.mechanism is Mechanism.DRA:
                yield each.name, device, resource_slice(group, device, node="n1")


def test_every_type_has_as_many_devices_as_its_plan_and_within_what_the_api_takes():
    names = set()
    for name, device, item in slices_of_every_type():
        found = item["spec"]["devices"]
        names.add(name)
        expected = 2 if device.device_type is DeviceType.COMPUTE_DOMAIN else device.count
        assert len(found) == expected, name
        assert len({one["name"] for one in found}) == len(found) <= MOST_DEVICES
        for one in found:
            assert LABEL.fullmatch(one["name"])
            assert len(one["attributes"]) + len(one.get("capacity", ())) <= MOST_ATTRIBUTES
            for value in one["attributes"].values():
                ((kind, held),) = value.items()
                assert kind in ("string", "int", "bool", "version")
                assert len(str(held)) <= LONGEST_VALUE

    assert len(names) > 70


def test_gpus_that_are_cut_are_published_as_their_partitions():
    spec = NodegroupSpec(
        name="cut",
        instance_type="p5.48xlarge",
        max_size=1,
        mig=Mig.layout("3g.40gb", "2g.20gb", "1g.10gb"),
    )
    plan = plan_nodegroup(spec, kubernetes_version="1.34")
    (gpus,) = (one for one in plan.devices if one.device_type is DeviceType.GPU)
    devices = resource_slice(plan, gpus, node="node-a")["spec"]["devices"]

    assert len(devices) == 24
    assert len({one["name"] for one in devices}) == 24
    assert all(len(one["name"]) <= 63 for one in devices)
    assert {one["attributes"]["type"]["string"] for one in devices} == {"mig"}
    first = [one for one in devices if one["attributes"]["parentUUID"] == {"string": "gpu-0"}]
    assert [one["attributes"]["profile"]["string"] for one in first] == [
        "3g.40gb",
        "2g.20gb",
        "1g.10gb",
    ]
    # No two partitions of a GPU have a memory slice in common.
    slices = [name for one in first for name in one["capacity"] if name.startswith("memorySlice")]
    assert len(slices) == len(set(slices)) == 7
    root = "resource.kubernetes.io/pcieRoot"
    assert len({one["attributes"][root]["string"] for one in first}) == 1
    assert first[0]["attributes"]["productName"] == {"string": "NVIDIA H100 80GB HBM3"}


@pytest.mark.parametrize(
    "mig",
    [
        Mig.layout("2g.20gb", "1g.10gb", "2g.20gb"),
        Mig.layout("1g.10gb", "1g.10gb", "3g.40gb", prepared=True),
        Mig.layout("1g.10gb", "2g.20gb", "1g.10gb", "3g.40gb", prepared=True),
    ],
    ids=lambda mig: " ".join(mig.profiles),
)
def test_partitions_lie_where_theirs_may_whatever_order_they_are_named_in(mig):
    devices = published("p5.48xlarge", DeviceType.GPU, mig=mig)["spec"]["devices"]
    first = [one for one in devices if one["attributes"]["parentUUID"] == {"string": "gpu-0"}]
    found = [
        (one["attributes"]["profile"]["string"], slices(one), one["name"].rpartition("-")[2])
        for one in first
    ]

    assert sorted(profile for profile, _, _ in found) == sorted(mig.profiles)
    taken = [each for _, lies, _ in found for each in lies]
    assert len(taken) == len(set(taken))
    for profile, lies, start in found:
        assert lies[0] == int(start)
        assert lies[0] in H100_STARTS[profile]


def slices(device):
    names = [name for name in device["capacity"] if name.startswith("memorySlice")]
    return sorted(int(name.removeprefix("memorySlice")) for name in names)


@pytest.mark.parametrize("name", ["g7e.2xlarge", "p6-b300.48xlarge", "p4de.24xlarge"])
def test_partitions_of_gpus_that_nobody_read_have_what_classes_and_claims_read(name):
    able = mig_profiles(name)
    assert able
    spec = NodegroupSpec(name="cut", instance_type=name, max_size=1, mig=Mig.uniform(able[0]))
    plan = plan_nodegroup(spec, kubernetes_version="1.34")
    (gpus,) = (one for one in plan.devices if one.device_type is DeviceType.GPU)
    devices = resource_slice(plan, gpus, node="node-a")["spec"]["devices"]

    assert len({one["name"] for one in devices}) == len(devices) > gpus.count
    for one in devices:
        assert one["attributes"]["type"] == {"string": "mig"}
        assert one["attributes"]["profile"] == {"string": able[0]}
