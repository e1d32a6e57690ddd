"""Claims for Neuron devices beside the capacity and the AMI of their group."""

from __future__ import annotations

from typing import Any

import pytest

from eks_devices import (
    Capacity,
    DeviceRequest,
    Finding,
    NodegroupSpec,
    ResourceClaim,
    ResourceClaimTemplate,
    Severity,
    plan_nodegroup,
)
from eks_devices.claims.on_nodegroup import claim_findings, claim_manifest

RESERVATION = "cr-0123456789abcdef0"
GROUP_ARN = "arn:aws:resource-groups:us-east-1:111122223333:group/a"
RELEASE, VERSION = "1.34.9-20260714", "2.29.0.0"


def found(code: str, request: DeviceRequest, *, kind: Any = None, **options: Any) -> list[Finding]:
    given: dict[str, Any] = {"name": "a", "instance_type": "trn2u.48xlarge", "max_size": 4}
    plan = plan_nodegroup(NodegroupSpec(**given | options), kubernetes_version="1.34")
    claim = (kind or ResourceClaimTemplate)(name="c", requests=[DeviceRequest.efa(1), request])
    told = claim_findings(claim, claim_manifest(claim, plan), plan)
    return [one for one in told if one.code == code]


def apart(mode: int, **options: Any) -> list[Finding]:
    request = DeviceRequest.ultraserver_node(mode=mode)
    return found("UltraServerNotGuaranteed", request, **options)


@pytest.mark.parametrize("mode", [2, 4])
@pytest.mark.parametrize(
    "capacity",
    [
        Capacity.on_demand(),
        Capacity.reservation(RESERVATION),
        Capacity.reservation_group(GROUP_ARN),
        Capacity.block(RESERVATION),
    ],
    ids=["on-demand", "reservation", "reservation-group", "block"],
)
def test_nodes_that_need_not_share_an_ultraserver_are_warned_of(mode, capacity):
    (warned,) = apart(mode, capacity=capacity)

    assert (warned.severity, warned.path) == (
        Severity.WARNING,
        "claims.default/c.requests[1].mode",
    )
    assert f"{mode} nodes of one UltraServer" in warned.message
    assert "Capacity.ultraserver_block" in warned.fix


@pytest.mark.parametrize("mode", [1, 2, 4])
@pytest.mark.parametrize("nodes", [None, 4])
def test_nodes_of_an_ultraserver_are_fine(mode, nodes):
    assert apart(mode, capacity=Capacity.ultraserver_block(RESERVATION, nodes=nodes)) == []


def test_a_node_that_works_alone_may_be_anywhere():
    assert apart(1, capacity=Capacity.on_demand()) == []


@pytest.mark.parametrize("kind", [ResourceClaim, ResourceClaimTemplate])
@pytest.mark.parametrize(
    "request_",
    [
        DeviceRequest.neuron(driver_version=VERSION),
        DeviceRequest.ultraserver_node(mode=1, driver_version=VERSION),
    ],
)
def test_a_driver_that_an_update_may_replace_is_told(kind, request_):
    (told,) = found("DriverVersionNotPinned", request_, kind=kind)

    assert (told.severity, told.path) == (
        Severity.INFO,
        "claims.default/c.requests[1].driver_version",
    )
    assert VERSION in told.message
    assert "release_version" in told.fix


@pytest.mark.parametrize(
    ("version", "options"),
    [
        (VERSION, {"release_version": RELEASE}),
        (VERSION, {"ami_id": "ami-0123456789abcdef0"}),
        (None, {}),
    ],
    ids=["release", "own-image", "any-driver"],
)
def test_a_driver_that_stays_or_may_be_any_is_fine(version, options):
    request = DeviceRequest.neuron(driver_version=version)

    assert found("DriverVersionNotPinned", request, **options) == []
