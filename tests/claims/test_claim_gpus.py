"""Claims for parts of a GPU's memory, and for GPUs of virtual machines."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest
from tests.hostile import NUMBER_TOKEN, TOKEN, Hostile, HostileText

from eks_devices import (
    DeviceRequest,
    EksDevicesError,
    IommuBackendPolicy,
    MatchAttribute,
    ResourceClaim,
    ResourceClaimTemplate,
)
from eks_devices.claims import RequestKind

METAL = "g4dn.metal"
R: Any = DeviceRequest
FD = IommuBackendPolicy.PREFER_IOMMU_FD


def devices(*requests: DeviceRequest, on: str | None = None, version: str = "1.36") -> Any:
    claim = ResourceClaim(name="c", namespace="n", requests=requests)
    manifest = claim.to_dict(kubernetes_version=version, instance_type=on)
    kubernetes_validate.validate(manifest, version, strict=True)
    return manifest["spec"]["devices"]


def codes_of(call: Any) -> list[str]:
    with pytest.raises(EksDevicesError) as raised:
        call()
    for one in raised.value.faults:
        assert one.got
        assert one.allowed
        assert one.fix
    return [f"{one.code} {one.path}" for one in raised.value.faults]


def test_a_part_of_the_memory_is_a_capacity_of_the_request():
    found = devices(DeviceRequest.gpu(memory="10Gi"), on="g6e.xlarge")

    assert found == {
        "requests": [
            {
                "name": "gpu",
                "exactly": {
                    "deviceClassName": "gpu.nvidia.com",
                    "allocationMode": "ExactCount",
                    "count": 1,
                    "capacity": {"requests": {"memory": "10Gi"}},
                },
            }
        ]
    }


@pytest.mark.parametrize("version", ["1.34", "1.35"])
@pytest.mark.parametrize("kind", [ResourceClaim, ResourceClaimTemplate])
def test_a_cluster_that_drops_capacities_gets_none(version, kind):
    claim = kind(name="c", requests=[DeviceRequest.gpu(name="a"), DeviceRequest.gpu(memory="1Gi")])

    with pytest.raises(EksDevicesError) as raised:
        claim.to_dict(kubernetes_version=version)

    (fault,) = raised.value.faults
    assert (fault.code, fault.path) == (
        "CapacityNeedsKubernetes",
        "claims.default/c.requests[1].memory",
    )
    assert fault.allowed == "Kubernetes 1.36, 1.37"


@pytest.mark.parametrize("memory", ["22888Mi", "1M", "24e9", "1.5Gi"])
def test_a_gpu_has_as_much_memory(memory):
    if memory == "1M":
        assert codes_of(lambda: DeviceRequest.gpu(memory=memory)) == [
            "OutOfRange requests.gpu.memory"
        ]
    else:
        devices(DeviceRequest.gpu(memory=memory), on="g6e.xlarge")


def test_more_memory_than_a_gpu_has_is_never_allocated():
    assert codes_of(lambda: devices(DeviceRequest.gpu(2, memory="100Gi"), on="p5.48xlarge")) == [
        "TooMuchMemory claims.n/c.requests[0].memory"
    ]


@pytest.mark.parametrize(
    ("memory", "code"),
    [
        ("10GB", "MalformedQuantity"),
        ("-1Gi", "OutOfRange"),
        ("1Ki", "OutOfRange"),
        (10, "WrongType"),
        (Hostile(), "WrongType"),
        (HostileText("ten"), "MalformedQuantity"),
        (TOKEN, "TokenNotAllowed"),
        (NUMBER_TOKEN, "TokenNotAllowed"),
    ],
)
def test_memory_is_a_quantity(memory, code):
    assert codes_of(lambda: R.gpu(memory=memory)) == [f"{code} requests.gpu.memory"]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("mig", {"profile": "1g.10gb", "memory": "1Gi"}),
        ("vfio", {"memory": "1Gi"}),
        ("efa", {"memory": "1Gi"}),
        ("gpu", {"iommu_backend": FD}),
        ("gpu", {"enable_api_device": False}),
        ("neuron", {"enable_api_device": True}),
    ],
)
def test_an_option_of_another_kind_of_request_is_refused(kind, options):
    found = codes_of(lambda: R(kind=RequestKind(kind), name="r", count=1, **options))

    assert found == [f"OptionDoesNotFit requests.r.{next(reversed(options))}"]


def test_a_gpu_for_a_virtual_machine_is_of_a_class_of_its_own():
    found = devices(DeviceRequest.passthrough_gpu(2), on=METAL, version="1.34")

    assert found == {
        "requests": [
            {
                "name": "vfio",
                "exactly": {
                    "deviceClassName": "vfio.gpu.nvidia.com",
                    "allocationMode": "ExactCount",
                    "count": 2,
                },
            }
        ]
    }


@pytest.mark.parametrize(
    ("options", "iommu"),
    [
        (
            {"iommu_backend": IommuBackendPolicy.LEGACY_ONLY, "enable_api_device": True},
            {"backendPolicy": "LegacyOnly", "enableAPIDevice": True},
        ),
        ({"iommu_backend": FD}, {"backendPolicy": "PreferIommuFD"}),
        ({"enable_api_device": False}, {"enableAPIDevice": False}),
    ],
)
def test_what_is_named_of_the_iommu_is_a_configuration(options, iommu):
    found = devices(DeviceRequest.passthrough_gpu(name="vm", **options), on=METAL)

    assert found["config"] == [
        {
            "requests": ["vm"],
            "opaque": {
                "driver": "gpu.nvidia.com",
                "parameters": {
                    "apiVersion": "resource.nvidia.com/v1beta1",
                    "kind": "VfioDeviceConfig",
                    "iommu": iommu,
                },
            },
        }
    ]


def test_equal_options_of_two_requests_are_one_configuration():
    found = devices(
        DeviceRequest.passthrough_gpu(name="a", enable_api_device=True),
        DeviceRequest.efa(1),
        DeviceRequest.passthrough_gpu(name="b", enable_api_device=True),
        on=METAL,
    )

    assert [one["requests"] for one in found["config"]] == [["a", "b"]]


def test_different_options_of_two_requests_are_refused():
    vfio = R.passthrough_gpu
    for first, second in (({}, {"enable_api_device": False}), ({"iommu_backend": FD}, {})):
        requests = [vfio(name="a", **first), vfio(name="b", **second)]

        assert codes_of(lambda asked=requests: devices(*asked)) == [
            "PassthroughOptionsDiffer claims.n/c.requests[1]"
        ]


@pytest.mark.parametrize("other", [DeviceRequest.gpu(), DeviceRequest.mig("1g.10gb")])
def test_no_other_gpus_are_claimed_beside(other):
    assert codes_of(lambda: devices(other, DeviceRequest.passthrough_gpu())) == [
        "PassthroughBesideOthers claims.n/c.requests[0]"
    ]


def test_a_claim_takes_no_more_than_the_gpus_of_the_node():
    two = (DeviceRequest.passthrough_gpu(5, name="a"), DeviceRequest.passthrough_gpu(4, name="b"))

    assert codes_of(lambda: devices(*two, on=METAL)) == [
        "TooManyDevices claims.n/c.requests[0].count"
    ]
    assert codes_of(lambda: devices(DeviceRequest.passthrough_gpu(), on="trn1.32xlarge")) == [
        "NoSuchDevice claims.n/c.requests[0]"
    ]


def test_a_type_under_a_hypervisor_passes_no_gpu_through():
    claim = ResourceClaim(name="c", requests=[DeviceRequest.passthrough_gpu()])

    with pytest.raises(EksDevicesError) as raised:
        claim.to_dict(kubernetes_version="1.36", instance_type="p5.48xlarge")

    (fault,) = raised.value.faults
    assert fault.code == "PassthroughNeedsBareMetal"
    assert METAL in fault.allowed


def test_a_passed_through_gpu_has_a_pcie_root():
    claim = ResourceClaim(
        name="c",
        requests=[DeviceRequest.passthrough_gpu(2)],
        match=MatchAttribute.PCIE_ROOT,
    )

    manifest = claim.to_dict(kubernetes_version="1.36")

    assert manifest["spec"]["devices"]["constraints"] == [
        {"requests": ["vfio"], "matchAttribute": "resource.kubernetes.io/pcieRoot"}
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"iommu_backend": "LegacyOnly"}, "WrongType requests.vfio.iommu_backend"),
        ({"iommu_backend": TOKEN}, "TokenNotAllowed requests.vfio.iommu_backend"),
        ({"iommu_backend": Hostile()}, "WrongType requests.vfio.iommu_backend"),
        ({"enable_api_device": 1}, "WrongType requests.vfio.enable_api_device"),
        ({"enable_api_device": Hostile()}, "WrongType requests.vfio.enable_api_device"),
        ({"count": 0}, "OutOfRange requests.vfio.count"),
        ({"count": None}, "WrongType requests.vfio.count"),
        ({"name": "Vm"}, "MalformedName requests.Vm.name"),
    ],
)
def test_bad_options_are_refused(options, expected):
    assert codes_of(lambda: R.passthrough_gpu(**options)) == [expected]
