"""Claims that the scheduler may give devices of groups which do not serve them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.short_names import DRA, GPU

from eks_devices import (
    ClaimSharing,
    DeviceRequest,
    GpuDriver,
    NodegroupPlan,
    NodegroupSpec,
    ResourceClaim,
    ResourceClaimTemplate,
    plan_nodegroup,
)
from eks_devices.claims.elsewhere import elsewhere_findings

GATED = GpuDriver(feature_gates={"MPSSupport": True})
MPS = ClaimSharing.mps()


def group(name: str, **options: Any) -> NodegroupPlan:
    given: dict[str, Any] = {
        "instance_type": "g6e.12xlarge",
        "max_size": 1,
        "mechanism": DRA,
    } | options
    return plan_nodegroup(NodegroupSpec(name=name, **given), kubernetes_version="1.36")


def lost(request: DeviceRequest, own: NodegroupPlan, *others: NodegroupPlan) -> list[str]:
    kinds = (ResourceClaim, ResourceClaimTemplate)
    claims = [kind(name="a", namespace="train", requests=[request]) for kind in kinds]
    found = [[*elsewhere_findings(one, own, [own, *others])] for one in claims]
    assert [str(one) for one in found[0]] == [str(one) for one in found[1]]
    return [one.fix.rpartition("select ")[2] for one in found[0]]


SHARED = DeviceRequest.gpu(sharing=MPS)
OWN = group("own", gpu_driver=GATED)
EXTERNAL: dict[str, Any] = {"external": {GPU}}


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (group("plain"), ["eks-devices/nodegroup: own"]),
        (group("gated", gpu_driver=GATED), []),
        (group("neuron", instance_type="trn1.2xlarge"), []),
        # What drivers of others were told is not known.
        (group("others", **EXTERNAL), []),
    ],
)
def test_groups_whose_driver_lacks_the_gate_are_told(other, expected):
    assert lost(SHARED, OWN, other) == expected


def test_of_a_pool_its_label_is_selected():
    own = group("one", gpu_driver=GATED, pool="both")

    assert lost(SHARED, own, group("plain")) == ["eks-devices/nodegroup-pool: both"]


def test_claims_that_any_driver_serves_or_that_choose_their_nodes_are_not_told_of():
    chosen = SHARED.where("device.driver == 'gpu.nvidia.com'")

    assert lost(DeviceRequest.gpu(), OWN, group("plain")) == []
    assert lost(chosen, OWN, group("plain")) == []
