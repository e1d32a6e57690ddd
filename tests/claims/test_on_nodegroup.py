"""What is worth knowing of a claim on the nodes of a group."""

from __future__ import annotations

import pytest

from eks_devices import (
    DeviceRequest,
    MatchAttribute,
    NodegroupSpec,
    ResourceClaimTemplate,
    Severity,
    plan_nodegroup,
)
from eks_devices.claims.on_nodegroup import claim_findings, claim_manifest

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
