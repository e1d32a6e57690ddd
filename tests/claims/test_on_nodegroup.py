"""What is worth knowing of a claim on the nodes of a group."""

from __future__ import annotations

from typing import Any

import pytest
from tests.claim_rows import cluster, make

from eks_devices import (
    AllocationMode,
    Capacity,
    ComputeDomain,
    DeviceRequest,
    MatchAttribute,
    Mechanism,
    NodegroupSpec,
    OperatingSystem,
    ResourceClaim,
    ResourceClaimTemplate,
    Severity,
    plan_nodegroup,
)
from eks_devices.claims.on_nodegroup import claim_findings, claim_manifest
from eks_devices.feasibility import check_claims

GROUP, ROOT = MatchAttribute.DEVICE_GROUP, MatchAttribute.PCIE_ROOT


def findings(instance_type, requests, match=None):
    spec = NodegroupSpec(name="a", instance_type=instance_type, max_size=1)
    claim = ResourceClaimTemplate(name="c", requests=requests, match=match)
    plan = plan_nodegroup(spec, kubernetes_version="1.34")
    return claim_findings(claim, claim_manifest(claim, plan), plan)


@pytest.mark.parametrize(
    ("instance_type", "requests", "match", "devices"),
    [
        ("p5.48xlarge", [DeviceRequest.efa()], None, 32),
        ("p5.48xlarge", [DeviceRequest.efa(10)], None, 10),
        ("trn2.48xlarge", [DeviceRequest.neuron(16)], None, 16),
        ("trn2.48xlarge", [DeviceRequest.neuron(8), DeviceRequest.efa()], GROUP, 16),
    ],
)
def test_a_claim_that_the_scheduler_may_search_for_long_is_told(
    instance_type, requests, match, devices
):
    (found,) = findings(instance_type, requests, match)

    assert (found.code, found.severity) == ("LongSearch", Severity.INFO)
    assert found.path == "claims.default/c.requests"
    assert f"asks for {devices} devices" in found.message
    assert "eks-devices/nodegroup" in found.fix


@pytest.mark.parametrize(
    ("instance_type", "requests", "match"),
    [
        ("p5.48xlarge", [DeviceRequest.gpu(8)], None),
        ("p5.48xlarge", [DeviceRequest.efa(9)], None),
        ("p5.48xlarge", [DeviceRequest.gpu(1), DeviceRequest.efa()], ROOT),
        ("trn2.48xlarge", [DeviceRequest.neuron(4), DeviceRequest.efa()], GROUP),
    ],
)
def test_a_claim_that_is_found_soon_is_fine(instance_type, requests, match):
    assert findings(instance_type, requests, match) == []


def of_claim(kind: Any, version: str, **options: Any) -> list[Any]:
    given: dict[str, Any] = {"instance_type": "g6e.12xlarge", "max_size": 1} | options
    plan = plan_nodegroup(NodegroupSpec(name="a", **given), kubernetes_version=version)
    claim = kind(name="c", requests=[DeviceRequest.gpu()])
    return claim_findings(claim, claim_manifest(claim, plan), plan)


@pytest.mark.parametrize(
    ("version", "release", "severity", "patch"),
    [
        ("1.34", None, Severity.INFO, "1.34.4"),
        ("1.34", "1.34.3-20261023", Severity.WARNING, "1.34.4"),
        ("1.35", None, Severity.INFO, "1.35.1"),
        ("1.35", "1.35.0-20261023", Severity.WARNING, "1.35.1"),
    ],
)
def test_a_claim_that_pods_share_tells_which_nodes_start_the_second_of_them(
    version, release, severity, patch
):
    (found,) = of_claim(ResourceClaim, version, release_version=release)

    assert (found.code, found.severity) == ("ReusedClaimFloor", severity)
    assert found.path == "claims.default/c"
    assert f"nodes of {patch} or later" in found.message
    assert found.fix
    assert found.source


def test_a_release_that_does_not_tell_its_kubelet_is_told_of_too():
    (found,) = of_claim(
        ResourceClaim,
        "1.34",
        mechanism=Mechanism.DRA,
        operating_system=OperatingSystem.BOTTLEROCKET,
        release_version="1.66.0-0a1b2c3d",
    )

    assert (found.code, found.severity) == ("ReusedClaimFloor", Severity.INFO)


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("1.34", "1.34.4-20261023"),
        ("1.34", "1.34.10-20261023"),
        ("1.35", "1.35.1-20261023"),
        ("1.36", None),
        ("1.37", None),
    ],
)
def test_on_newer_nodes_pods_share_claims_without_a_word(version, release):
    assert of_claim(ResourceClaim, version, release_version=release) == []


@pytest.mark.parametrize("version", ["1.34", "1.35"])
def test_claims_of_a_template_are_named_by_one_pod_each(version):
    assert of_claim(ResourceClaimTemplate, version) == []


BLOCK = "cr-0123456789abcdef0"
WHOLE_RACK = Capacity.ultraserver_block(BLOCK, nodes=18)
HALF_RACK = Capacity.ultraserver_block(BLOCK, nodes=9)
UNNAMED = Capacity.ultraserver_block(BLOCK)


@pytest.mark.parametrize(
    ("instance_type", "requests"),
    [
        ("g7e.48xlarge", [DeviceRequest.gpu(2)]),
        ("g7e.48xlarge", [DeviceRequest.gpu(1), DeviceRequest.efa(1)]),
        ("p6e-gb200.36xlarge", [DeviceRequest.gpu(1), DeviceRequest.efa(1)]),
        ("trn2.48xlarge", [DeviceRequest.efa(2)]),
        ("trn1.32xlarge", [DeviceRequest.efa(1), DeviceRequest.efa(1, name="other")]),
    ],
)
def test_a_pcie_root_that_nobody_saw_is_warned_of(instance_type, requests):
    (found,) = root_findings(instance_type, requests)

    assert (found.code, found.severity) == ("PcieRootUnknown", Severity.WARNING)
    assert found.path == "claims.default/c.match"
    assert instance_type in found.message


@pytest.mark.parametrize(
    ("instance_type", "requests", "match"),
    [
        ("g7e.48xlarge", [DeviceRequest.gpu(1)], ROOT),
        ("trn2.48xlarge", [DeviceRequest.efa(1)], ROOT),
        ("g7e.48xlarge", [DeviceRequest.gpu(2)], None),
        ("g7e.48xlarge", [DeviceRequest.gpu(2)], MatchAttribute.of("example.com/board")),
        ("p5.48xlarge", [DeviceRequest.gpu(1), DeviceRequest.efa(4)], ROOT),
    ],
)
def test_a_claim_that_can_be_aligned_or_need_not_be_is_fine(instance_type, requests, match):
    assert root_findings(instance_type, requests, match=match) == []


def root_findings(instance_type, requests, *, match=ROOT):
    capacity = WHOLE_RACK if instance_type.startswith("p6e") else Capacity.on_demand()
    options: dict[str, Any] = {"max_size": 1, "capacity": capacity, "efa": True}
    spec = NodegroupSpec(name="a", instance_type=instance_type, **options)
    plan = plan_nodegroup(spec, kubernetes_version="1.34")
    claim = ResourceClaimTemplate(name="c", requests=requests, match=match)
    return claim_findings(claim, claim_manifest(claim, plan), plan)


def domain_findings(nodes, capacity, max_size):
    spec = NodegroupSpec(
        name="p6e", instance_type="p6e-gb200.36xlarge", max_size=max_size, capacity=capacity
    )
    domain = ComputeDomain(name="d", nodes=nodes)
    plan = plan_nodegroup(spec, kubernetes_version="1.34")
    return claim_findings(domain, claim_manifest(domain, plan), plan)


@pytest.mark.parametrize(
    ("nodes", "capacity", "max_size", "size"),
    [
        (10, HALF_RACK, 18, 9),
        (19, WHOLE_RACK, 36, 18),
        (36, UNNAMED, 36, 18),
    ],
)
def test_a_domain_of_more_nodes_than_an_ultraserver_has_is_told(nodes, capacity, max_size, size):
    (found,) = domain_findings(nodes, capacity, max_size)

    assert (found.code, found.severity) == ("DomainBeyondUltraServer", Severity.WARNING)
    assert found.path == "compute_domains.default/d.nodes"
    assert f"UltraServer of group p6e has {size}" in found.message
    assert f"at most {size} nodes" in found.fix


@pytest.mark.parametrize(
    ("nodes", "capacity", "max_size"),
    [
        (0, HALF_RACK, 9),
        (9, HALF_RACK, 9),
        (18, WHOLE_RACK, 18),
        (18, UNNAMED, 18),
        (0, UNNAMED, 1),
    ],
)
def test_a_domain_within_an_ultraserver_is_fine(nodes, capacity, max_size):
    assert domain_findings(nodes, capacity, max_size) == []


def test_a_domain_can_be_larger_than_its_group_and_than_the_ultraserver():
    found = domain_findings(10, HALF_RACK, 9)

    assert [one.code for one in found] == ["DomainLargerThanNodegroup", "DomainBeyondUltraServer"]


def test_efas_that_pods_share_are_warned_of_and_those_of_a_template_are_not():
    plan = plan_nodegroup(
        NodegroupSpec(name="p5", instance_type="p5.48xlarge", max_size=1), kubernetes_version="1.36"
    )
    requests = [DeviceRequest.gpu(1), DeviceRequest.efa(4)]

    def told(kind):
        claim = kind(name="a", namespace="train", requests=requests)
        found = claim_findings(claim, claim_manifest(claim, plan), plan)
        return [(one.code, one.path) for one in found if one.severity is Severity.WARNING]

    assert told(ResourceClaim) == [("EfaSharedClaim", "claims.train/a.requests[1]")]
    assert told(ResourceClaimTemplate) == []


def test_the_check_fills_open_counts_as_the_group_does():
    plan = cluster("p5.48xlarge", efa=16)
    claim = make(DeviceRequest.gpu(AllocationMode.ALL), DeviceRequest.efa())

    (said,) = check_claims([claim], plan)

    assert (said.status, len(said.devices)) == ("feasible", 24)
