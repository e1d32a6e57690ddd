"""What the NVIDIA driver publishes for GPUs that are cut on request, shared or for machines."""

from fractions import Fraction

import pytest
from tests.cluster_plans import cluster_of

from eks_devices import DeviceType, GpuDriver, Mig
from eks_devices.quantities import amount_of
from eks_devices.resource_slices import resource_slices

P5, P5E, B200 = "p5.48xlarge", "p5e.48xlarge", "p6-b200.48xlarge"


def slices_of(name, **options):
    plan = cluster_of({"instance_type": name, **options}, kubernetes_version="1.36")
    (group,) = plan.nodegroups
    device = next(one for one in group.devices if one.device_type is DeviceType.GPU)
    return resource_slices(group, device, node="n")


def devices_of(name, **options):
    return [one for item in slices_of(name, **options) for one in item["spec"].get("devices", ())]


def amounts(counters):
    return {name: amount_of(one["value"]) for name, one in counters.items()}


@pytest.mark.parametrize("name", [P5, P5E, B200])
def test_a_pool_that_is_cut_on_request_has_its_counters_and_a_slice_for_each_gpu(name):
    counters, *gpus = found = slices_of(name, mig=Mig.dynamic())

    assert len(found) == 9
    assert {one["spec"]["pool"]["resourceSliceCount"] for one in found} == {9}
    assert len({one["metadata"]["name"] for one in found}) == 9
    assert "devices" not in counters["spec"]
    assert len(counters["spec"]["sharedCounters"]) == len(gpus) == 8
    for one in gpus:
        assert "sharedCounters" not in one["spec"]
        names = [device["name"] for device in one["spec"]["devices"]]
        assert names == sorted(names)
        assert len(names) == 26


@pytest.mark.parametrize("name", [P5, P5E, B200])
def test_a_whole_gpu_consumes_all_counters_and_its_parts_some(name):
    counters, *gpus = slices_of(name, mig=Mig.dynamic())

    for has, item in zip(counters["spec"]["sharedCounters"], gpus, strict=True):
        whole, *parts = item["spec"]["devices"]
        (consumed,) = whole["consumesCounters"]
        assert consumed == {"counterSet": has["name"], "counters": has["counters"]}
        most = amounts(has["counters"])
        assert sum(one.startswith("memory-slice-") for one in most) == 8
        for part in parts:
            (consumed,) = part["consumesCounters"]
            taken = amounts(consumed["counters"])
            assert consumed["counterSet"] == has["name"]
            assert all(Fraction(0) < one <= most[key] for key, one in taken.items())


def test_a_partition_that_does_not_exist_yet_has_no_uuid_and_no_memory_slices():
    found = {one["name"]: one for one in devices_of(P5, mig=Mig.dynamic())}

    one = found["gpu-3-mig-2g20gb-14-4"]
    assert "uuid" not in one["attributes"]
    assert one["attributes"]["profile"] == {"string": "2g.20gb"}
    assert one["attributes"]["type"] == {"string": "mig"}
    assert one["capacity"] == {"memory": {"value": "20096Mi"}, "multiprocessors": {"value": "32"}}
    assert {"memory-slice-4", "memory-slice-5"} < set(one["consumesCounters"][0]["counters"])
    assert found["gpu-3"]["capacity"]["multiprocessors"] == {"value": "132"}


@pytest.mark.parametrize(
    ("shares", "default", "least"),
    [(3, "0", "0"), ("memory", "81152Mi", "1Mi"), ("unlimited", "0", "0")],
)
def test_a_shared_gpu_has_a_policy_for_its_memory(shares, default, least):
    found = devices_of(P5, gpu_driver=GpuDriver(consumable_shares=shares))

    assert len(found) == 8
    for one in found:
        assert one["allowMultipleAllocations"] is True
        policy = one["capacity"]["memory"]["requestPolicy"]
        assert policy["default"] == default
        assert policy["validRange"] == {"min": least, "max": "81152Mi", "step": "1Mi"}
        assert ("shares" in one["capacity"]) is (shares == 3)
    if shares == 3:
        assert found[0]["capacity"]["shares"] == {
            "value": "3",
            "requestPolicy": {"default": "1", "validRange": {"min": "1", "max": "3", "step": "1"}},
        }


def test_partitions_are_shared_as_whole_gpus_are():
    found = devices_of(P5, mig=Mig.uniform("3g.40gb"), gpu_driver=GpuDriver(consumable_shares=2))

    assert len(found) == 16
    assert all(one["allowMultipleAllocations"] for one in found)
    assert found[0]["capacity"]["memory"]["value"] == "40448Mi"


def test_each_gpu_is_published_once_more_for_machines_and_not_shared_there():
    gates = GpuDriver(feature_gates={"PassthroughSupport": True})

    found = devices_of("g4dn.metal", gpu_driver=gates)

    gpus, machines = found[:8], found[8:]
    assert [one["name"] for one in machines] == [f"gpu-vfio-{index}" for index in range(8)]
    root = "resource.kubernetes.io/pcieRoot"
    assert [one["attributes"][root] for one in machines] == [
        one["attributes"][root] for one in gpus
    ]
    assert {one["attributes"]["type"]["string"] for one in machines} == {"vfio"}
