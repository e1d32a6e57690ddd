"""How a claim says that its GPUs are shared: the driver's parameters, and what is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import kubernetes_validate
import pytest
from tests.hostile import (
    LIST_TOKEN,
    NUMBER_TOKEN,
    TOKEN,
    Hostile,
    HostileMapping,
    HostileText,
    Untouchable,
    endless,
)

from eks_devices import (
    ClaimSharing,
    DeviceRequest,
    EksDevicesError,
    Feature,
    ResourceClaim,
    ResourceClaimTemplate,
    TimeSliceInterval,
)
from eks_devices.claims.configs import request_configs

VERSIONS = ["1.34", "1.35", "1.36", "1.37"]
UUID = "GPU-2fa80000-1234-5678-9abc-0123456789ab"
MIG_UUID = "MIG-2fa80000-1234-5678-9abc-0123456789ab"
HUGE = 10**5000
mps: Any = ClaimSharing.mps
time_slicing: Any = ClaimSharing.time_slicing
gpu: Any = DeviceRequest.gpu
mig: Any = DeviceRequest.mig
Sharing: Any = ClaimSharing


def parameters(request: DeviceRequest) -> dict[str, Any]:
    """What the driver is told about the request, which is the only one it is told it of."""
    (config,) = request_configs(request)
    assert config["requests"] == [request.name]
    assert config["opaque"]["driver"] == "gpu.nvidia.com"
    found: dict[str, Any] = config["opaque"]["parameters"]
    return found


def gpu_config(sharing: dict[str, Any], kind: str = "GpuConfig") -> dict[str, Any]:
    return {"apiVersion": "resource.nvidia.com/v1beta1", "kind": kind, "sharing": sharing}


# The names are those of the driver's Go types, which refuse every other field.
SHARINGS = [
    (
        ClaimSharing.time_slicing(),
        {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "Default"}},
    ),
    (
        ClaimSharing.time_slicing(TimeSliceInterval.SHORT),
        {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "Short"}},
    ),
    (
        ClaimSharing.time_slicing(interval=TimeSliceInterval.MEDIUM),
        {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "Medium"}},
    ),
    (
        ClaimSharing.time_slicing(TimeSliceInterval.LONG),
        {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "Long"}},
    ),
    (ClaimSharing.mps(), {"strategy": "MPS"}),
    (ClaimSharing.mps(per_device_memory={}), {"strategy": "MPS"}),
    (
        ClaimSharing.mps(active_thread_percentage=50, pinned_memory_limit="10Gi"),
        {
            "strategy": "MPS",
            "mpsConfig": {
                "defaultActiveThreadPercentage": 50,
                "defaultPinnedDeviceMemoryLimit": "10Gi",
            },
        },
    ),
    (
        ClaimSharing.mps(per_device_memory={0: "4Gi", UUID: "2e9"}, multi_user=False),
        {
            "strategy": "MPS",
            "mpsConfig": {
                "defaultPerDevicePinnedMemoryLimit": {"0": "4Gi", UUID: "2e9"},
                "multiUser": False,
            },
        },
    ),
]


@pytest.mark.parametrize(("sharing", "expected"), SHARINGS)
def test_the_sharing_of_gpus_as_the_driver_reads_it(sharing, expected):
    assert parameters(DeviceRequest.gpu(2, sharing=sharing)) == gpu_config(expected)


def test_mps_of_partitions_as_the_driver_reads_it():
    sharing = ClaimSharing.mps(pinned_memory_limit="1Gi", per_device_memory={MIG_UUID: "2Gi"})

    assert parameters(DeviceRequest.mig("1g.10gb", 2, sharing=sharing, name="parts")) == gpu_config(
        {
            "strategy": "MPS",
            "mpsConfig": {
                "defaultPinnedDeviceMemoryLimit": "1Gi",
                "defaultPerDevicePinnedMemoryLimit": {MIG_UUID: "2Gi"},
            },
        },
        "MigDeviceConfig",
    )


def test_without_sharing_the_driver_is_told_nothing():
    assert request_configs(DeviceRequest.gpu(2)) == []
    assert request_configs(DeviceRequest.mig("1g.10gb")) == []


def test_each_request_has_the_sharing_of_its_own():
    claim = ResourceClaim(
        name="c",
        requests=[
            DeviceRequest.gpu(name="a", sharing=ClaimSharing.time_slicing()),
            DeviceRequest.gpu(name="b"),
            DeviceRequest.gpu(name="c", sharing=ClaimSharing.mps()),
        ],
    )

    configs = claim.to_dict(kubernetes_version="1.35")["spec"]["devices"]["config"]

    assert [
        (one["requests"], one["opaque"]["parameters"]["sharing"]["strategy"]) for one in configs
    ] == [(["a"], "TimeSlicing"), (["c"], "MPS")]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", [ResourceClaim, ResourceClaimTemplate])
@pytest.mark.parametrize("sharing", [sharing for sharing, _ in SHARINGS])
def test_a_manifest_with_sharing_is_valid(sharing, kind, version):
    claim = kind(name="c", requests=[DeviceRequest.gpu(2, sharing=sharing)])

    manifest = claim.to_dict(kubernetes_version=version, instance_type="p5.48xlarge")

    kubernetes_validate.validate(manifest, version, strict=True)
    assert "capacity" not in str(manifest)


REFUSED = [
    (lambda: time_slicing("Default"), "WrongType sharing.interval"),
    (lambda: time_slicing(None), "WrongType sharing.interval"),
    (lambda: time_slicing(3), "WrongType sharing.interval"),
    (lambda: time_slicing(TOKEN), "TokenNotAllowed sharing.interval"),
    (lambda: mps(active_thread_percentage=0), "OutOfRange sharing.active_thread_percentage"),
    (lambda: mps(active_thread_percentage=101), "OutOfRange sharing.active_thread_percentage"),
    (lambda: mps(active_thread_percentage=-1), "OutOfRange sharing.active_thread_percentage"),
    (lambda: mps(active_thread_percentage=HUGE), "OutOfRange sharing.active_thread_percentage"),
    (lambda: mps(active_thread_percentage=True), "WrongType sharing.active_thread_percentage"),
    (lambda: mps(active_thread_percentage=50.0), "WrongType sharing.active_thread_percentage"),
    (lambda: mps(active_thread_percentage="50"), "WrongType sharing.active_thread_percentage"),
    (
        lambda: mps(active_thread_percentage=NUMBER_TOKEN),
        "TokenNotAllowed sharing.active_thread_percentage",
    ),
    (lambda: mps(pinned_memory_limit="10GB"), "MalformedQuantity sharing.pinned_memory_limit"),
    (lambda: mps(pinned_memory_limit=""), "MalformedQuantity sharing.pinned_memory_limit"),
    (lambda: mps(pinned_memory_limit="1023Ki"), "OutOfRange sharing.pinned_memory_limit"),
    (lambda: mps(pinned_memory_limit="-1Gi"), "OutOfRange sharing.pinned_memory_limit"),
    (lambda: mps(pinned_memory_limit=2**30), "WrongType sharing.pinned_memory_limit"),
    (lambda: mps(pinned_memory_limit=TOKEN), "TokenNotAllowed sharing.pinned_memory_limit"),
    (lambda: mps(per_device_memory=["1Gi"]), "WrongType sharing.per_device_memory"),
    (lambda: mps(per_device_memory="1Gi"), "WrongType sharing.per_device_memory"),
    (lambda: mps(per_device_memory=HostileMapping()), "WrongType sharing.per_device_memory"),
    (lambda: mps(per_device_memory={0: "1Ki"}), "OutOfRange sharing.per_device_memory[0]"),
    (lambda: mps(per_device_memory={0: 1}), "WrongType sharing.per_device_memory[0]"),
    (lambda: mps(per_device_memory={0: TOKEN}), "TokenNotAllowed sharing.per_device_memory[0]"),
    (lambda: mps(per_device_memory={0: endless()}), "WrongType sharing.per_device_memory[0]"),
    (
        lambda: mps(per_device_memory={-1: "1Gi"}),
        "NoSuchDeviceOfRequest sharing.per_device_memory[-1]",
    ),
    (
        lambda: mps(per_device_memory={32: "1Gi"}),
        "NoSuchDeviceOfRequest sharing.per_device_memory[32]",
    ),
    (
        lambda: mps(per_device_memory={"0": "1Gi"}),
        "NoSuchDeviceOfRequest sharing.per_device_memory[0]",
    ),
    (
        lambda: mps(per_device_memory={"GPU-1": "1Gi"}),
        "NoSuchDeviceOfRequest sharing.per_device_memory[GPU-1]",
    ),
    (lambda: mps(per_device_memory={True: "1Gi"}), "WrongType sharing.per_device_memory[True]"),
    (
        lambda: mps(per_device_memory={LIST_TOKEN: "1Gi"}),
        f"TokenNotAllowed sharing.per_device_memory[{LIST_TOKEN}]",
    ),
    (lambda: mps(multi_user="yes"), "WrongType sharing.multi_user"),
    (lambda: mps(multi_user=1), "WrongType sharing.multi_user"),
    (lambda: Sharing(feature=Feature.STATIC_MIG), "WrongType sharing.feature"),
    (lambda: Sharing(feature="mps"), "WrongType sharing.feature"),
    (lambda: Sharing(feature=Hostile()), "WrongType sharing.feature"),
    (lambda: Sharing(feature=Feature.TIME_SLICING), "WrongType sharing.interval"),
    (
        lambda: Sharing(feature=Feature.MPS, interval=TimeSliceInterval.LONG),
        "OptionDoesNotFit sharing.interval",
    ),
    (
        lambda: Sharing(
            feature=Feature.TIME_SLICING, interval=TimeSliceInterval.LONG, multi_user=True
        ),
        "OptionDoesNotFit sharing.multi_user",
    ),
    (
        lambda: Sharing(
            feature=Feature.TIME_SLICING,
            interval=TimeSliceInterval.LONG,
            per_device_memory={0: "1Gi"},
        ),
        "OptionDoesNotFit sharing.per_device_memory",
    ),
    (lambda: gpu(sharing="mps"), "WrongType requests.gpu.sharing"),
    (lambda: gpu(sharing=Feature.MPS), "WrongType requests.gpu.sharing"),
    (lambda: gpu(sharing=ClaimSharing), "WrongType requests.gpu.sharing"),
    (lambda: gpu(sharing=TOKEN), "TokenNotAllowed requests.gpu.sharing"),
    (
        lambda: gpu(2, sharing=mps(per_device_memory={2: "1Gi"})),
        "NoSuchDeviceOfRequest requests.gpu.sharing.per_device_memory[2]",
    ),
    (
        lambda: gpu(1, sharing=mps(per_device_memory={0: "1Gi", UUID: "1Gi"})),
        "NoSuchDeviceOfRequest requests.gpu.sharing.per_device_memory",
    ),
    (
        lambda: gpu(sharing=mps(per_device_memory={MIG_UUID: "1Gi"})),
        f"NoSuchDeviceOfRequest requests.gpu.sharing.per_device_memory[{MIG_UUID}]",
    ),
    (
        lambda: mig("1g.10gb", sharing=mps(per_device_memory={UUID: "1Gi"})),
        f"NoSuchDeviceOfRequest requests.mig.sharing.per_device_memory[{UUID}]",
    ),
    (
        lambda: mig("1g.10gb", sharing=ClaimSharing.time_slicing()),
        "TimeSlicingOfPartitions requests.mig.sharing",
    ),
    (lambda: gpu(0, sharing=mps(per_device_memory={0: "1Gi"})), "OutOfRange requests.gpu.count"),
    (
        lambda: gpu(HUGE, sharing=mps(per_device_memory={MIG_UUID: "1Gi"})),
        f"NoSuchDeviceOfRequest requests.gpu.sharing.per_device_memory[{MIG_UUID}]",
    ),
    (
        lambda: gpu(memory="10Gi", sharing=ClaimSharing.mps()),
        "MpsOfConsumableShares requests.gpu.memory",
    ),
]


@pytest.mark.parametrize(("make", "expected"), REFUSED, ids=[name for _, name in REFUSED])
def test_a_bad_sharing_is_refused_with_an_explanation(make, expected):
    with pytest.raises(EksDevicesError) as raised:
        make()

    (fault,) = raised.value.faults
    assert f"{fault.code} {fault.path}" == expected
    assert fault.got
    assert fault.allowed
    assert fault.fix
    assert fault.message


@pytest.mark.parametrize("kind", ["neuron", "efa", "vfio", "ultraserver-node"])
def test_only_gpus_and_partitions_are_shared(kind):
    options: dict[str, Any] = {"mode": 4} if kind == "ultraserver-node" else {}
    with pytest.raises(EksDevicesError) as raised:
        DeviceRequest(
            kind=next(one for one in type(gpu().kind) if one.value == kind),
            name="r",
            count=1,
            sharing=ClaimSharing.mps(),
            **options,
        )

    assert [one.code for one in raised.value.faults] == ["OptionDoesNotFit"]


def test_all_faults_of_a_sharing_come_together():
    with pytest.raises(EksDevicesError) as raised:
        mps(
            active_thread_percentage=0,
            pinned_memory_limit="1",
            per_device_memory={"x": "y"},
            multi_user=0,
        )

    assert [one.code for one in raised.value.faults] == [
        "OutOfRange",
        "OutOfRange",
        "MalformedQuantity",
        "NoSuchDeviceOfRequest",
        "WrongType",
    ]


@pytest.mark.parametrize("kind", [Hostile, Untouchable, HostileMapping])
@pytest.mark.parametrize(
    "option", ["active_thread_percentage", "pinned_memory_limit", "per_device_memory", "multi_user"]
)
def test_values_that_cannot_be_looked_at_are_refused(kind, option):
    with pytest.raises(EksDevicesError) as raised:
        mps(**{option: kind()})

    assert [(one.code, one.path) for one in raised.value.faults] == [
        ("WrongType", f"sharing.{option}")
    ]


def test_texts_that_cannot_be_shown_are_read_all_the_same():
    sharing = mps(pinned_memory_limit=HostileText("1Gi"), per_device_memory={0: HostileText("2Gi")})

    assert sharing == mps(pinned_memory_limit="1Gi", per_device_memory={0: "2Gi"})
    assert type(sharing.to_dict()["mpsConfig"]["defaultPinnedDeviceMemoryLimit"]) is str


def test_a_sharing_is_a_value():
    limits: dict[int | str, str] = {0: "1Gi"}
    sharing = ClaimSharing.mps(per_device_memory=limits)
    limits[1] = "2Gi"
    request = DeviceRequest.gpu(sharing=sharing)

    assert sharing.per_device_memory == {0: "1Gi"}
    assert request == DeviceRequest.gpu(sharing=ClaimSharing.mps(per_device_memory={0: "1Gi"}))
    assert len({request, DeviceRequest.gpu(), copy.deepcopy(request)}) == 2
    assert pickle.loads(pickle.dumps(request)) == request  # noqa: S301  (our own bytes)


def test_the_parameters_share_nothing_with_the_value():
    sharing = ClaimSharing.mps(per_device_memory={0: "1Gi"})
    sharing.to_dict()["mpsConfig"]["defaultPerDevicePinnedMemoryLimit"]["0"] = "2Gi"

    assert sharing.to_dict()["mpsConfig"]["defaultPerDevicePinnedMemoryLimit"] == {"0": "1Gi"}
