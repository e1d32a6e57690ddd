"""Devices as ResourceSlices list them: literal values of real nodes, and what holds for all."""

import pytest

from eks_devices.claims import DeviceRequest, MatchAttribute, ResourceClaim
from eks_devices.instance_types import AcceleratedInstanceType
from eks_devices.network import efa_counts
from eks_devices.published import device_group_sizes, gpu_efa_roots
from eks_devices.published_slices import PublishedDevice, published_devices

PCIE_ROOT = "resource.kubernetes.io/pcieRoot"
NAMES = [one.name for one in AcceleratedInstanceType.all()]


def devices(name: str, driver: str) -> list[PublishedDevice]:
    found = published_devices(AcceleratedInstanceType.of(name))
    assert found is not None
    return [device for device in found if device.driver == driver]


def test_a_gpu_of_a_real_node():
    assert devices("p5.48xlarge", "gpu.nvidia.com")[0] == PublishedDevice(
        driver="gpu.nvidia.com",
        name="gpu-0",
        attributes={
            "architecture": {"string": "Hopper"},
            "brand": {"string": "Nvidia"},
            "cudaComputeCapability": {"version": "9.0.0"},
            "productName": {"string": "NVIDIA H100 80GB HBM3"},
            "resource.kubernetes.io/pcieRoot": {"string": "pci0000:44"},
            "type": {"string": "gpu"},
        },
        capacity={"memory": {"value": "81152Mi"}},
    )


def test_an_efa_of_a_real_node():
    assert devices("p5.48xlarge", "dra.net")[0] == PublishedDevice(
        driver="dra.net",
        name="efa-0",
        attributes={
            "dra.net/numaNode": {"int": 0},
            "dra.net/pciDevice": {"string": "Elastic Fabric Adapter (EFA)"},
            "dra.net/pciSubsystem": {"string": "efa1"},
            "dra.net/pciVendor": {"string": "Amazon.com, Inc."},
            "dra.net/rdma": {"bool": True},
            "resource.kubernetes.io/pcieRoot": {"string": "pci0000:44"},
        },
        capacity={},
    )


def test_an_efa_without_a_numa_node():
    attributes = devices("p5.4xlarge", "dra.net")[0].attributes

    assert "dra.net/numaNode" not in attributes
    assert attributes[PCIE_ROOT] == {"string": "pci0000:24"}


def test_a_type_that_differs_from_its_model():
    memory = [devices(name, "gpu.nvidia.com")[0].capacity for name in ("g5g.xlarge", "g5g.metal")]

    assert memory == [{"memory": {"value": "15Gi"}}, {"memory": {"value": "16Gi"}}]


def test_a_neuron_device_and_the_efa_beside_it_share_their_groups():
    groups = {
        "resource.aws.com/devicegroup1_id": {"string": "0000:c9:00.0"},
        "resource.aws.com/devicegroup4_id": {"string": "13713e551cd37c19"},
        "resource.aws.com/devicegroup8_id": {"string": "3593812b8066a078"},
        "resource.aws.com/devicegroup16_id": {"string": "821d14afaf11327d"},
    }

    neuron, efa = (devices("trn2.48xlarge", driver)[0] for driver in ("neuron.aws.com", "dra.net"))

    assert neuron.attributes == {
        "instanceType": {"string": "trn2.48xlarge"},
        "resourceType": {"string": "neuron_device"},
        "deviceId": {"int": 0},
        **groups,
    }
    assert efa.name == "pci-0000-c9-00-0"
    assert groups.items() <= dict(efa.attributes).items()


def test_neuron_devices_without_a_map_have_no_groups():
    (neuron,) = devices("trn2.3xlarge", "neuron.aws.com")
    (efa,) = devices("trn2.3xlarge", "dra.net")

    assert not any("devicegroup" in key for key in (*neuron.attributes, *efa.attributes))


def test_devices_that_nobody_told_are_unknown():
    assert published_devices(AcceleratedInstanceType.of("p6e-gb200.36xlarge")) is None
    assert published_devices(AcceleratedInstanceType.of("g7.8xlarge")) is None


@pytest.mark.parametrize("name", NAMES)
def test_as_many_devices_as_the_catalogue_says(name):
    instance = AcceleratedInstanceType.of(name)
    found = published_devices(instance)
    if found is None:
        return

    assert instance.accelerator is not None
    efas = [device for device in found if device.driver == "dra.net"]
    assert len(efas) == efa_counts(instance)
    assert len(found) - len(efas) == instance.accelerator.count
    assert len({(device.driver, device.name) for device in found}) == len(found)
    assert len(set(found)) == len(found)


def could_be_allocated(claim: ResourceClaim, name: str) -> bool:
    """Whether one value of the matched attribute has devices enough for every request."""
    asked = claim.to_dict(kubernetes_version="1.34", instance_type=name)["spec"]["devices"]
    (constraint,) = asked["constraints"]
    attribute = constraint["matchAttribute"]
    drivers = {"efa.networking.k8s.aws": "dra.net"}
    by_value: dict[str, list[str]] = {}
    for device in published_devices(AcceleratedInstanceType.of(name)) or ():
        value = device.attributes.get(attribute)
        if value:
            by_value.setdefault(str(value), []).append(device.driver)
    wanted = [
        (drivers.get(one["deviceClassName"], one["deviceClassName"]), one["count"])
        for one in (request["exactly"] for request in asked["requests"])
    ]
    return any(
        all(have.count(driver) >= count for driver, count in wanted) for have in by_value.values()
    )


@pytest.mark.parametrize("name", [name for name in NAMES if gpu_efa_roots(name)])
def test_a_filled_claim_can_be_allocated_on_one_pcie_root(name):
    gpus = (gpu_efa_roots(name) or ((0, 0),))[0][0]
    requests = [DeviceRequest.gpu(gpus), DeviceRequest.efa()]

    claim = ResourceClaim(name="c", requests=requests, match=MatchAttribute.PCIE_ROOT)

    assert could_be_allocated(claim, name)


@pytest.mark.parametrize("name", [name for name in NAMES if device_group_sizes(name)])
@pytest.mark.parametrize("size", [1, 4, 8, 16])
def test_a_filled_claim_can_be_allocated_in_one_device_group(name, size):
    requests = [DeviceRequest.neuron(size), DeviceRequest.efa()]

    claim = ResourceClaim(name="c", requests=requests, match=MatchAttribute.DEVICE_GROUP)

    assert could_be_allocated(claim, name)
