"""GPUs that are cut on request, shared between claims, or given to virtual machines."""

import pytest
from tests.cluster_plans import cluster_of
from tests.feasibility_claims import GPU, claim, exactly, template
from tests.shared_gpu_claims import CASES, CUT, MIG, VFIO, memory, part, shared

from eks_devices import GpuDriver, Mig
from eks_devices.feasibility import check_claims

CAPACITY = "device.capacity['gpu.nvidia.com']"


def verdict_on(spec, *claims, version="1.37"):
    (found,) = check_claims(claims, cluster_of(spec, kubernetes_version=version))
    return found


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("version", ["1.36", "1.37"])
def test_a_case_has_its_answer(name, version):
    spec, claims, expected = CASES[name]

    found = verdict_on(spec, *claims, version=version)

    assert (str(found.status), found.code, found.fits) == expected


def test_partitions_of_a_gpu_come_with_the_numbers_of_their_profiles():
    larger = f"{CAPACITY}.memory.isGreaterThan(quantity('30Gi'))"
    engines = f"{CAPACITY}.copyEngines.isGreaterThan(quantity('0'))"

    names = {one.device for one in verdict_on(CUT, claim(exactly(MIG, larger, count=3))).devices}
    assert names == {"gpu-0-mig-3g40gb-9-0", "gpu-0-mig-3g40gb-9-4", "gpu-1-mig-3g40gb-9-0"}
    assert verdict_on(CUT, claim(exactly(MIG, engines))).code == "KnownAtRunTime"


def test_all_of_partitions_is_never_sure_before_the_patch_that_does_not_crash():
    half = claim(part("3g.40gb", allocationMode="All"))

    assert len(verdict_on(CUT, half).devices) == 16
    found = verdict_on(CUT, half, version="1.36")
    assert (str(found.status), found.code) == ("unknown", "AllOfPartitions")
    every = claim(exactly(MIG, allocationMode="All"))
    assert verdict_on(CUT, every, version="1.36").code == "TooManyDevicesInClaim"


@pytest.mark.parametrize("name", ["p6-b300.48xlarge", "g7e.48xlarge"])
def test_partitions_that_nobody_told_of_are_unknown(name):
    spec = {"instance_type": name, "mig": Mig.dynamic()}

    found = verdict_on(spec, claim(exactly(MIG)))

    assert (str(found.status), found.code) == ("unknown", "NoPublishedData")
    assert verdict_on(spec, claim(exactly(GPU))).status == "feasible"


def test_memory_that_nobody_told_of_is_unknown():
    counted, by_memory = shared(2, "g7e.48xlarge"), shared("memory", "g7e.48xlarge")

    assert verdict_on(counted, template(exactly(GPU))).fits == 16
    assert verdict_on(counted, claim(memory("4Gi"))).code == "KnownAtRunTime"
    assert verdict_on(by_memory, claim(memory("4Gi"))).code == "KnownAtRunTime"
    assert verdict_on(by_memory, template(exactly(GPU))).fits is None
    two = [claim(exactly(GPU, count=8)), claim(exactly(GPU))]
    assert verdict_on(by_memory, *two).code == "NoPublishedData"


def test_shares_without_end_serve_pods_without_end():
    found = verdict_on(shared("unlimited"), template(exactly(GPU)))

    assert (str(found.status), found.fits) == ("feasible", None)


def test_a_gpu_and_one_for_machines_may_be_the_same():
    gates = GpuDriver(feature_gates={"PassthroughSupport": True})
    spec = {"instance_type": "g4dn.metal", "gpu_driver": gates}

    found = verdict_on(spec, claim(exactly(GPU), exactly(VFIO)))

    assert (str(found.status), found.code) == ("unknown", "SameGpuTwice")
    assert verdict_on(spec, claim(exactly(VFIO, count=9))).code == "TooFewDevices"
    model = "device.attributes['gpu.nvidia.com'].productName == 'TU104GL [Tesla T4]'"
    assert verdict_on(spec, claim(exactly(VFIO, model))).code == "KnownAtRunTime"
    lacking = "device.attributes['gpu.nvidia.com'].architecture == 'Turing'"
    assert verdict_on(spec, claim(exactly(VFIO, lacking))).code == "ExpressionFails"
