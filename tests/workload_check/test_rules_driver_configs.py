"""Configurations that drivers do not read are told; those that the builders write are read."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cluster_plans import cluster_of
from tests.rule_pods import (
    claim,
    codes,
    container,
    findings,
    listing,
    of_template,
    pod,
    request,
    template,
)

from eks_devices import (
    ClaimSharing,
    DeviceRequest,
    DeviceType,
    GpuDriver,
    IommuBackendPolicy,
    Mechanism,
    ResourceClaim,
    TimeSliceInterval,
)

PLAN = cluster_of({"instance_type": "p5.48xlarge"}, kubernetes_version="1.36")
NVIDIA = "resource.nvidia.com/v1beta1"
SLICING = {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "Long"}}
MPS = {
    "strategy": "MPS",
    "mpsConfig": {
        "defaultActiveThreadPercentage": 50,
        "defaultPinnedDeviceMemoryLimit": "10Gi",
        "defaultPerDevicePinnedMemoryLimit": {"0": "5Gi"},
        "multiUser": True,
    },
}


def gpu(kind: Any = "GpuConfig", api: Any = NVIDIA, **fields: Any) -> dict[str, Any]:
    return config("gpu.nvidia.com", apiVersion=api, kind=kind, **fields)


def neuron(kind: str, **fields: Any) -> dict[str, Any]:
    return config("neuron.aws.com", apiVersion="neuron.aws.com/v1", kind=kind, **fields)


def config(driver: str, **parameters: Any) -> dict[str, Any]:
    return {"opaque": {"driver": driver, "parameters": parameters}}


def changed(sharing: dict[str, Any], field: str, **fields: Any) -> dict[str, Any]:
    return gpu(sharing={**sharing, field: {**sharing[field], **fields}})


RIGHT = {
    "nothing": gpu(),
    "turns": gpu(sharing=SLICING),
    "turns of the driver's own length": gpu(sharing={"strategy": "TimeSlicing"}),
    "MPS": gpu(sharing=MPS),
    "MPS of partitions": gpu("MigDeviceConfig", sharing={"strategy": "MPS"}),
    "a passed-through GPU": gpu("VfioDeviceConfig", iommu={"backendPolicy": "PreferIommuFD"}),
    "a channel": config(
        "compute-domain.nvidia.com",
        apiVersion=NVIDIA,
        kind="ComputeDomainChannelConfig",
        domainID="a",
        allocationMode="Single",
    ),
    "cores": neuron("NeuronConfig", logicalNeuronCore=1),
    "an UltraServer": neuron("UltraServerConfig", ultraserverMode=2),
    "a driver of others": config("example.com", kind="Any", anything=1),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_drivers_read_is_told_nothing(name: str) -> None:
    assert codes(template(request(), config=[RIGHT[name]]), plan=PLAN) == []


WRONG = {
    "a kind in other letters": (gpu("GPUConfig"), "kind", "did you mean GpuConfig?"),
    "no kind": (gpu(None), "kind", "write kind: GpuConfig"),
    "a kind of another driver": (gpu("NeuronConfig"), "kind", "GpuConfig"),
    "an old version": (gpu(api="gpu.nvidia.com/v1alpha1"), "apiVersion", NVIDIA),
    "no version": (gpu(api=None), "apiVersion", f"write apiVersion: {NVIDIA}"),
    "a strategy in small letters": (
        gpu(sharing={"strategy": "timeslicing"}),
        "strategy",
        "did you mean TimeSlicing?",
    ),
    "no strategy": (gpu(sharing={}), "strategy", "write strategy: TimeSlicing"),
    "an interval in small letters": (
        changed(SLICING, "timeSlicingConfig", interval="long"),
        "interval",
        "did you mean Long?",
    ),
    "no interval": (changed(SLICING, "timeSlicingConfig", interval=None), "interval", "Default"),
    "replicas": (changed(SLICING, "timeSlicingConfig", replicas=4), "replicas", "leave it out"),
    "turns with MPS": (
        gpu(sharing={**SLICING, "strategy": "MPS"}),
        "timeSlicingConfig",
        "write strategy: TimeSlicing",
    ),
    "a percentage of 101": (
        changed(MPS, "mpsConfig", defaultActiveThreadPercentage=101),
        "defaultActiveThreadPercentage",
        "write 100",
    ),
    "memory without a unit": (
        changed(MPS, "mpsConfig", defaultPinnedDeviceMemoryLimit="10"),
        "defaultPinnedDeviceMemoryLimit",
        "unit",
    ),
    "a misspelt field": (changed(MPS, "mpsConfig", multiuser=True), "multiuser", "multiUser"),
    "sharing at the top": (gpu(strategy="MPS"), "strategy", "leave it out"),
    "a policy": (gpu("VfioDeviceConfig", iommu={"backendPolicy": "x"}), "backendPolicy", "write"),
    "three cores": (neuron("NeuronConfig", logicalNeuronCore=3), "logicalNeuronCore", "write"),
    "cores in quotes": (
        neuron("NeuronConfig", logicalNeuronCore="1"),
        "logicalNeuronCore",
        "did you mean 1?",
    ),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("make", [template, claim])
def test_what_drivers_do_not_read_is_told_with_its_place(make: Any, name: str) -> None:
    wrong, step, fix = WRONG[name]
    found = list(findings(make(request(), config=[wrong]), plan=PLAN))
    assert {one.code for one in found} == {"ConfigRefused"}
    assert any(one.path.endswith(f".{step}") and fix in one.fix for one in found)


@pytest.mark.parametrize(
    ("name", "driver"),
    [
        ("efa.networking.k8s.aws", "dra.net"),
        ("mig.nvidia.com", "gpu.nvidia.com"),
        ("nvidia.com/gpu", "gpu.nvidia.com"),
        ("example.com", ""),
    ],
)
def test_the_name_of_a_class_is_that_of_no_driver(name: str, driver: str) -> None:
    found = findings(template(request(), config=[config(name, kind="A")]), plan=PLAN)
    told = [(one.severity, one.fix) for one in found if one.code == "ConfigRefused"]
    assert told == ([("warning", f"write driver: {driver}")] if driver else [])


def test_configurations_of_classes_are_looked_at_too() -> None:
    made = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "own"},
        "spec": {"config": [gpu("GPUConfig")]},
    }
    assert "ConfigRefused" in codes(made, plan=PLAN)


def test_a_driver_that_others_install_may_read_anything() -> None:
    group = {
        "instance_type": "p5.48xlarge",
        "external": frozenset({DeviceType.GPU}),
        "mechanism": Mechanism.DRA,
    }
    plan = cluster_of(group, kubernetes_version="1.36")
    assert "ConfigRefused" not in codes(template(request(), config=[gpu("GPUConfig")]), plan=plan)


@pytest.mark.parametrize(
    "asked",
    [
        DeviceRequest.gpu(1, sharing=ClaimSharing.time_slicing(TimeSliceInterval.SHORT)),
        DeviceRequest.gpu(
            1,
            sharing=ClaimSharing.mps(
                active_thread_percentage=20,
                pinned_memory_limit="1Gi",
                per_device_memory={0: "2Gi"},
                multi_user=False,
            ),
        ),
        DeviceRequest.passthrough_gpu(
            1, iommu_backend=IommuBackendPolicy.PREFER_IOMMU_FD, enable_api_device=True
        ),
        DeviceRequest.neuron(1, logical_neuron_cores=2),
        DeviceRequest.ultraserver_node(mode=1, logical_neuron_cores=1),
    ],
    ids=lambda one: str(one.kind),
)
def test_what_the_builders_write_is_read(asked: DeviceRequest) -> None:
    made = ResourceClaim(name="gpus", namespace="default", requests=[asked])
    manifest = made.to_dict(kubernetes_version="1.36")
    assert manifest["spec"]["devices"]["config"]
    assert "ConfigRefused" not in codes(manifest, plan=PLAN)


def shared_by(gates: dict[str, bool], *more: dict[str, Any]) -> Any:
    driver = {"gpu_driver": GpuDriver(feature_gates=gates)} if gates else {}
    return cluster_of({"instance_type": "p5.48xlarge", **driver}, *more, kubernetes_version="1.36")


TURNS, THREADS = {"TimeSlicingSettings": True}, {"MPSSupport": True}
SHARED = {"strategy": "TimeSlicing"}


@pytest.mark.parametrize(
    ("gates", "sharing", "is_right"),
    [
        ({}, SHARED, False),
        ({}, MPS, False),
        (TURNS, SHARED, True),
        (TURNS, MPS, False),
        (THREADS, MPS, True),
        (THREADS, SHARED, False),
        ({}, None, True),
    ],
)
def test_ways_to_share_need_the_gate_of_the_driver(
    gates: Any, sharing: Any, is_right: bool
) -> None:
    manifests = template(request(), config=[gpu(sharing=sharing)]), shared_pod()
    found = [one for one in findings(*manifests, plan=shared_by(gates)) if "Gate" in one.code]
    assert bool(found) is not is_right
    for one in found:
        assert (one.code, one.severity) == ("ClaimNeedsFeatureGate", "error")
        assert "gpu_driver=GpuDriver(feature_gates=" in one.fix


def test_where_another_group_has_the_gate_it_is_a_warning() -> None:
    driver = GpuDriver(feature_gates=TURNS)
    plan = shared_by({}, {"instance_type": "p5.48xlarge", "gpu_driver": driver})
    manifests = template(request(), config=[gpu(sharing=SHARED)]), shared_pod()
    (found,) = [one for one in findings(*manifests, plan=plan) if "Gate" in one.code]
    assert found.severity == "warning"
    assert " on g0," in found.message


def shared_pod() -> dict[str, Any]:
    return pod(
        container("one", resources=listing("gpus")),
        container("two", resources=listing("gpus")),
        resourceClaims=[of_template()],
    )
