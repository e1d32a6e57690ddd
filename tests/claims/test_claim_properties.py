"""What holds for every claim that can be written, on every type and version."""

import json
from typing import Any

import kubernetes_validate
from hypothesis import given
from hypothesis import strategies as st

from eks_devices.claims import (
    ClaimSharing,
    DeviceRequest,
    IommuBackendPolicy,
    MatchAttribute,
    ResourceClaimTemplate,
    TimeSliceInterval,
)
from eks_devices.findings import EksDevicesError
from eks_devices.instance_types import AcceleratedInstanceType

VERSIONS = ["1.34", "1.35", "1.36", "1.37"]
PCIE_ROOT, DEVICE_GROUP = MatchAttribute.PCIE_ROOT, MatchAttribute.DEVICE_GROUP


def template(requests: list[DeviceRequest], match: MatchAttribute | None) -> ResourceClaimTemplate:
    return ResourceClaimTemplate(name="devices", namespace="train", requests=requests, match=match)


sharings = st.one_of(
    st.builds(ClaimSharing.time_slicing, st.sampled_from(TimeSliceInterval)),
    st.builds(
        ClaimSharing.mps,
        active_thread_percentage=st.none() | st.integers(min_value=1, max_value=100),
        pinned_memory_limit=st.sampled_from([None, "1Mi", "10Gi", "2e9"]),
        per_device_memory=st.sampled_from([None, {}, {0: "1Gi"}]),
        multi_user=st.sampled_from([None, True, False]),
    ),
)
counts_up_to_40 = st.integers(min_value=1, max_value=40)
anything = st.one_of(
    st.builds(DeviceRequest.gpu, counts_up_to_40, sharing=st.none() | sharings),
    st.builds(DeviceRequest.gpu, counts_up_to_40, memory=st.sampled_from(["4Gi", "500Gi"])),
    st.builds(
        DeviceRequest.passthrough_gpu,
        counts_up_to_40,
        iommu_backend=st.none() | st.sampled_from(IommuBackendPolicy),
        enable_api_device=st.sampled_from([None, True, False]),
    ),
    st.builds(
        DeviceRequest.neuron,
        counts_up_to_40,
        logical_neuron_cores=st.sampled_from([None, 1, 2]),
        instance_type=st.sampled_from([None, None, "trn1.32xlarge", "trn2.48xlarge"]),
        driver_version=st.sampled_from([None, "2.25.4.0"]),
    ),
    st.builds(DeviceRequest.efa, st.none() | counts_up_to_40),
    st.builds(
        DeviceRequest.mig, st.sampled_from(["1g.10gb", "7g.80gb", "1g.18gb"]), counts_up_to_40
    ),
    st.builds(DeviceRequest.ultraserver_node, mode=st.sampled_from([1, 2, 4])),
)
matches = st.sampled_from(
    [None, PCIE_ROOT, DEVICE_GROUP, MatchAttribute.of("gpu.nvidia.com/parentUUID")]
)
type_names = st.sampled_from([one.name for one in AcceleratedInstanceType.all()])


@st.composite
def plausible(draw: st.DrawFn) -> tuple[list[DeviceRequest], MatchAttribute | None, str]:
    """An accelerator request of the type's own kind and maybe EFA: most of these render."""
    instance = AcceleratedInstanceType.of(draw(type_names))
    assert instance.accelerator is not None
    count = draw(st.integers(min_value=1, max_value=instance.accelerator.count))
    is_gpu = instance.accelerator.device_type == "gpu"
    first = DeviceRequest.gpu(count) if is_gpu else DeviceRequest.neuron(count)
    efa = [DeviceRequest.efa()] if instance.max_efa_interfaces and draw(st.booleans()) else []
    match = draw(st.sampled_from([None, PCIE_ROOT if is_gpu else DEVICE_GROUP]))
    return [first, *efa], match, instance.name


free = st.tuples(st.lists(anything, min_size=1, max_size=4), matches, st.none() | type_names)


Question = tuple[list[DeviceRequest], MatchAttribute | None, str | None]


def rendered(asked: Question, version: str) -> dict[str, Any] | None:
    """The manifest, or None where the claim is refused with a full explanation."""
    requests, match, on = asked
    try:
        claim = template(requests, match)
        return claim.to_dict(kubernetes_version=version, instance_type=on)
    except EksDevicesError as error:
        for fault in error.faults:
            assert fault.code
            assert fault.path.startswith("claims.train/devices")
            assert fault.got
            assert fault.allowed
            assert fault.fix
        return None


@given(st.one_of(free, plausible()), st.sampled_from(VERSIONS))
def test_a_manifest_holds_at_most_32_devices_and_never_all(asked, version):
    manifest = rendered(asked, version)
    if manifest is None:
        return

    found = manifest["spec"]["spec"]["devices"]
    exact = [request["exactly"] for request in found["requests"]]
    assert sum(one["count"] for one in exact) <= 32
    assert all(one["count"] >= 1 and one["allocationMode"] == "ExactCount" for one in exact)
    passed = [one for one in exact if one["deviceClassName"] == "vfio.gpu.nvidia.com"]
    whole = [one for one in exact if one["deviceClassName"] == "gpu.nvidia.com"]
    assert not (passed and whole)
    names = [request["name"] for request in found["requests"]]
    assert all(constraint["requests"] == names for constraint in found.get("constraints", []))


@given(st.one_of(free, plausible()), st.sampled_from(VERSIONS))
def test_a_manifest_is_deterministic_and_survives_json(asked, version):
    manifest = rendered(asked, version)

    assert manifest == rendered(asked, version)
    assert json.loads(json.dumps(manifest)) == manifest


@given(st.one_of(free, plausible()), st.sampled_from(VERSIONS))
def test_a_manifest_is_valid_on_every_version(asked, version):
    manifest = rendered(asked, version)

    if manifest is not None:
        kubernetes_validate.validate(manifest, version, strict=True)


@given(plausible())
def test_a_manifest_says_the_same_on_every_version(asked):
    assert len({json.dumps(rendered(asked, version)) for version in VERSIONS}) == 1


@given(free)
def test_equal_claims_hash_equal(asked):
    requests, match, _ = asked
    try:
        first, second = (template(requests, match) for _ in range(2))
    except EksDevicesError:
        return

    assert first == second
    assert hash(first) == hash(second)
