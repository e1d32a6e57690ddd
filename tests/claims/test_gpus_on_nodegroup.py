"""Claims that share GPUs, or take parts of them, on groups whose driver does so or not."""

from __future__ import annotations

from typing import Any

import pytest

from eks_devices import (
    AcceleratedInstanceType,
    Capacity,
    ClaimSharing,
    ComputeDomain,
    DeviceRequest,
    DeviceType,
    EksDevicesError,
    Finding,
    GpuDriver,
    Mechanism,
    Mig,
    NodegroupPlan,
    NodegroupSpec,
    OperatingSystem,
    ResourceClaim,
    ResourceClaimTemplate,
    Severity,
    plan_nodegroup,
)
from eks_devices.claims.on_nodegroup import claim_findings, claim_manifest

SLICES, MPS = ClaimSharing.time_slicing(), ClaimSharing.mps()
GPU, SLICED = DeviceRequest.gpu(), DeviceRequest.gpu(sharing=SLICES)
DAEMON = DeviceRequest.gpu(sharing=MPS)
PASSED = DeviceRequest.passthrough_gpu()
PART = DeviceRequest.gpu(memory="4Gi")
METAL = "g4dn.metal"


def group(driver: GpuDriver | None = None, on: str = "g6e.12xlarge", **options: Any) -> Any:
    spec = NodegroupSpec(
        name="g",
        instance_type=on,
        max_size=1,
        mechanism={DeviceType.GPU: Mechanism.DRA},
        gpu_driver=driver,
        **options,
    )
    return plan_nodegroup(spec, kubernetes_version="1.36")


def suited(request: DeviceRequest, driver: GpuDriver | None = None, *, on: str) -> Any:
    """A group whose GPUs are cut where a request is for partitions."""
    mig = Mig.uniform(request.profile) if request.profile else None
    return group(driver, on=on, mig=mig)


def gated(*names: str, **options: Any) -> GpuDriver:
    return GpuDriver(feature_gates=dict.fromkeys(names, True), **options)


def manifest(
    plan: NodegroupPlan, *requests: DeviceRequest, kind: Any = ResourceClaim
) -> dict[str, Any]:
    return claim_manifest(kind(name="c", namespace="n", requests=requests), plan)


def findings(plan: NodegroupPlan, *requests: DeviceRequest, kind: Any) -> list[Finding]:
    claim = kind(name="c", namespace="n", requests=requests)
    return claim_findings(claim, claim_manifest(claim, plan), plan)


def faults(plan: NodegroupPlan, *requests: DeviceRequest) -> tuple[Finding, ...]:
    with pytest.raises(EksDevicesError) as raised:
        manifest(plan, *requests)
    return raised.value.faults


NEEDS = [
    (SLICED, "TimeSlicingSettings", "g6e.12xlarge", ".sharing"),
    (DAEMON, "MPSSupport", "g6e.12xlarge", ".sharing"),
    (DeviceRequest.mig("1g.10gb", sharing=MPS), "MPSSupport", "p5.48xlarge", ".sharing"),
    (PASSED, "PassthroughSupport", METAL, ""),
]


@pytest.mark.parametrize(("request_", "gate", "on", "step"), NEEDS)
def test_what_needs_a_gate_is_refused_without_it(request_, gate, on, step):
    (fault,) = faults(suited(request_, on=on), request_)

    assert (fault.code, fault.path) == ("ClaimNeedsFeatureGate", f"claims.n/c.requests[0]{step}")
    assert (fault.got, fault.allowed) == (f"'{gate}=false'", f"{gate}=true")
    assert f'gpu_driver=GpuDriver(feature_gates={{"{gate}": True}})' in fault.fix


@pytest.mark.parametrize(("request_", "gate", "on"), [need[:3] for need in NEEDS])
def test_with_the_gate_it_is_served(request_, gate, on):
    plan = suited(request_, gated(gate), on=on)

    made = manifest(plan, request_)["spec"]["devices"]["requests"]

    assert [one["exactly"]["deviceClassName"] for one in made] == [request_.kind.device_class]


def test_another_gate_is_not_enough():
    assert [one.code for one in faults(group(gated("MPSSupport")), SLICED)] == [
        "ClaimNeedsFeatureGate"
    ]


def test_whole_gpus_need_no_gate():
    assert manifest(group(), GPU)["kind"] == "ResourceClaim"


def test_faults_of_all_requests_come_together():
    plan = group()
    sliced, daemon = (
        DeviceRequest.gpu(name="a", sharing=SLICES),
        DeviceRequest.gpu(name="b", sharing=MPS),
    )

    assert [(one.code, one.path) for one in faults(plan, sliced, daemon, PART)] == [
        ("ClaimNeedsFeatureGate", "claims.n/c.requests[0].sharing"),
        ("ClaimNeedsFeatureGate", "claims.n/c.requests[1].sharing"),
        ("MemoryNeedsShares", "claims.n/c.requests[2].memory"),
    ]


def test_a_driver_of_somebody_else_is_not_judged():
    plan = group(external=(DeviceType.GPU,))

    for request in (SLICED, DAEMON, PART):
        assert manifest(plan, request)["kind"] == "ResourceClaim"
        assert findings(plan, request, kind=ResourceClaim) == []


def test_the_driver_built_into_bottlerocket_has_no_gates():
    plan = group(
        GpuDriver(host_service=True),
        operating_system=OperatingSystem.BOTTLEROCKET,
    )

    (fault,) = faults(plan, SLICED)

    assert fault.code == "ClaimNeedsFeatureGate"
    assert "leave host_service out" in fault.fix


@pytest.mark.parametrize("shares", ["memory", "unlimited", 4])
def test_a_gate_that_the_group_cannot_have_is_not_advised(shares):
    plan = group(GpuDriver(consumable_shares=shares))

    (fault,) = faults(plan, DAEMON)

    assert "another group" in fault.fix
    assert "ConsumableShares" in fault.fix


def test_a_device_plugin_is_told_of_by_itself():
    plan = plan_nodegroup(
        NodegroupSpec(
            name="g",
            instance_type="g6e.12xlarge",
            max_size=1,
            mechanism=Mechanism.DEVICE_PLUGIN,
        ),
        kubernetes_version="1.36",
    )

    assert [one.code for one in faults(plan, SLICED)] == ["ClaimNeedsDra"]
    assert [one.code for one in faults(plan, PART)] == ["ClaimNeedsDra"]


@pytest.mark.parametrize("shares", ["memory", "unlimited", 4])
def test_a_part_of_the_memory_is_for_groups_with_shares(shares):
    made = manifest(group(GpuDriver(consumable_shares=shares)), PART)

    (request,) = made["spec"]["devices"]["requests"]
    assert request["exactly"]["capacity"] == {"requests": {"memory": "4Gi"}}


def test_a_part_of_the_memory_without_shares_is_refused():
    (fault,) = faults(group(), PART)

    assert (fault.code, fault.path) == ("MemoryNeedsShares", "claims.n/c.requests[0].memory")
    assert 'consumable_shares="memory"' in fault.fix


def shared(shares: int | str, *requests: DeviceRequest) -> list[Finding]:
    plan = group(GpuDriver(consumable_shares=shares))
    return findings(plan, *requests, kind=ResourceClaimTemplate)


@pytest.mark.parametrize(
    ("shares", "request_"), [("memory", PART), ("unlimited", GPU), (4, GPU), (4, PART)]
)
def test_a_claim_whose_gpu_others_may_have_too_is_told(shares, request_):
    (found,) = shared(shares, request_)

    assert (found.code, found.severity) == ("SharedByClaims", Severity.INFO)
    assert found.path == "claims.n/c.requests"
    assert ("take none" in found.message) == (shares != "memory")


def test_a_claim_for_all_the_memory_shares_nothing():
    assert shared("memory", GPU) == []


def test_other_devices_of_such_a_group_are_not_shared():
    plan = group(GpuDriver(consumable_shares="unlimited"), on="p5.48xlarge")

    assert findings(plan, DeviceRequest.efa(1), kind=ResourceClaimTemplate) == []


def test_claims_that_share_a_gpu_must_agree_how():
    plan = group(gated("TimeSlicingSettings", consumable_shares="unlimited"))

    (found,) = findings(plan, SLICED, kind=ResourceClaimTemplate)

    assert found.code == "SharedByClaims"
    assert "in another way" in found.message


def test_a_template_is_shared_by_containers_only():
    plan = group(gated("TimeSlicingSettings"))

    (found,) = findings(plan, SLICED, kind=ResourceClaimTemplate)

    assert (found.code, found.severity) == ("SharedByContainers", Severity.INFO)
    assert "ResourceClaim" in found.fix
    assert findings(plan, SLICED, kind=ResourceClaim) == []
    assert findings(plan, GPU, kind=ResourceClaimTemplate) == []


def test_gpus_that_are_offered_twice_are_told():
    plan = group(gated("PassthroughSupport"), on=METAL)

    (found,) = findings(plan, PASSED, kind=ResourceClaimTemplate)

    assert (found.code, found.severity) == ("GpuOfferedTwice", Severity.WARNING)
    assert findings(plan, GPU, kind=ResourceClaim) == []


def test_a_hypervisor_and_a_missing_gate_are_two_faults():
    assert [one.code for one in faults(group(), PASSED)] == [
        "ClaimNeedsFeatureGate",
        "PassthroughNeedsBareMetal",
    ]


def test_a_compute_domain_needs_none_of_it():
    plan = plan_nodegroup(
        NodegroupSpec(
            name="g",
            instance_type="p6e-gb200.36xlarge",
            max_size=1,
            capacity=Capacity.block("cr-0123456789abcdef0"),
        ),
        kubernetes_version="1.36",
    )

    assert claim_manifest(ComputeDomain(name="d"), plan)["kind"] == "ComputeDomain"


def slice_warnings(name: str, request: DeviceRequest = SLICED, **options: Any) -> list[str]:
    capacity = Capacity.block("cr-0123456789abcdef0") if name.startswith("p6e") else None
    bought = {} if capacity is None else {"capacity": capacity}
    plan = group(gated("TimeSlicingSettings"), on=name, **bought, **options)
    found = findings(plan, request, kind=ResourceClaim)
    return [f"{one.severity} {one.path}" for one in found if one.code == "TimeSliceUnproven"]


WHOLE = [
    one.name
    for one in AcceleratedInstanceType.all()
    if one.accelerator is not None
    and one.accelerator.device_type is DeviceType.GPU
    and one.accelerator.partition == 1
]


@pytest.mark.parametrize("name", WHOLE)
def test_the_time_slice_of_every_whole_gpu_can_be_set(name):
    assert slice_warnings(name) == []


@pytest.mark.parametrize("name", ["g6f.large", "gr6f.4xlarge"])
def test_time_slices_of_a_part_of_a_gpu_are_warned_of(name):
    assert slice_warnings(name) == ["warning claims.n/c.requests[0].sharing"]
    assert slice_warnings(name, GPU) == []


def test_time_slices_by_a_driver_of_somebody_else_are_not_judged():
    plan = group(on="g6f.large", external=(DeviceType.GPU,))

    assert findings(plan, SLICED, kind=ResourceClaim) == []


@pytest.mark.parametrize("kind", [ResourceClaim, ResourceClaimTemplate])
def test_mps_on_a_part_of_a_gpu_is_warned_of(kind):
    for name, unproven in (("g6f.large", True), ("gr6f.4xlarge", True), ("g6.xlarge", False)):
        plan = group(gated("MPSSupport"), on=name)
        found = [
            (one.severity, one.path)
            for one in findings(plan, DAEMON, kind=kind)
            if one.code == "SharingUnproven"
        ]

        assert found == [(Severity.WARNING, "claims.n/c.requests[0].sharing")] * unproven
        assert "SharingUnproven" not in {one.code for one in findings(plan, GPU, kind=kind)}
