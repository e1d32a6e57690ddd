"""The status of a claim as typed values."""

import json
import pickle
from typing import Any

import pytest
from tests.hostile import HostileList, HostileMapping, HostileText

from eks_devices import DeviceCondition, DeviceNetwork, EksDevicesError, device_statuses

ANY: Any = device_statuses
GPU = {"driver": "gpu.nvidia.com", "pool": "node", "device": "gpu-0"}
EFA = {"driver": "dra.net", "pool": "node", "device": "pci-0000-4f-00-0"}
READY = {
    "type": "Ready",
    "status": "True",
    "reason": "Up",
    "message": "",
    "lastTransitionTime": "2026-11-30T10:00:00Z",
    "observedGeneration": 1,
}


def claim(results: Any = (), told: Any = None) -> dict[str, Any]:
    status: dict[str, Any] = {"allocation": {"devices": {"results": [*results]}}}
    if told is not None:
        status["devices"] = told
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "status": status}


@pytest.mark.parametrize(
    "given", [{}, {"status": None}, {"status": {}}, {"status": {"allocation": {}}}, claim()]
)
def test_a_claim_without_devices_has_none(given):
    assert device_statuses(given) == ()


def test_a_device_is_told_with_the_request_that_it_is_for():
    share = "3f9d3d0e-0000-4000-8000-000000000000"
    given = {"shareID": share, "consumedCapacity": {"memory": "10Gi"}, "adminAccess": True}
    (found,) = device_statuses(claim([GPU | given | {"request": "gpus/large"}]))

    assert (found.driver, found.pool, found.device) == ("gpu.nvidia.com", "node", "gpu-0")
    assert (found.request, found.share_id, found.admin_access) == ("gpus/large", share, True)
    assert found.consumed_capacity == {"memory": "10Gi"}
    assert (found.conditions, found.network, found.data) == ((), None, None)


def test_what_a_driver_tells_is_joined_with_what_was_given():
    network = {"interfaceName": "eth1", "ips": ["10.0.0.1/24"], "hardwareAddress": "02:00"}
    told = [EFA | {"conditions": [READY], "networkData": network, "data": {"a": {"b": [1]}}}]
    gpu, efa = device_statuses(claim([GPU | {"request": "g"}, EFA | {"request": "e"}], told))

    assert (gpu.request, gpu.conditions) == ("g", ())
    assert efa.network == DeviceNetwork(
        interface_name="eth1", ips=("10.0.0.1/24",), hardware_address="02:00"
    )
    assert efa.condition("Ready") == DeviceCondition(
        type="Ready",
        status="True",
        reason="Up",
        last_transition_time="2026-11-30T10:00:00Z",
        observed_generation=1,
    )
    assert efa.condition("Other") is None
    assert json.loads(json.dumps(efa.data)) == {"a": {"b": [1]}}


def test_a_device_that_was_given_back_is_still_told():
    (found,) = device_statuses(claim([], [EFA | {"conditions": []}]))

    assert (found.device, found.request) == ("pci-0000-4f-00-0", "")


def test_shares_of_one_device_are_told_apart():
    results = [GPU | {"request": "a", "shareID": "1"}, GPU | {"request": "b", "shareID": "2"}]
    told = [GPU | {"shareID": "2", "conditions": [READY]}]

    first, second = device_statuses(claim(results, told))

    assert (len(first.conditions), len(second.conditions)) == (0, 1)


def test_a_status_can_be_pickled():
    found = device_statuses(claim([GPU | {"request": "a"}], [GPU | {"data": {"a": 1}}]))

    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301  (ours)


def paths(given: Any) -> set[str]:
    with pytest.raises(EksDevicesError) as error:
        ANY(given)
    return {one.path for one in error.value.faults}


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ([], {"claim"}),
        (HostileMapping(), {"claim"}),
        ({"kind": "Pod"}, {"claim.kind"}),
        ({"status": []}, {"claim.status"}),
        ({"status": {"allocation": 1}}, {"claim.status.allocation"}),
        (claim([{}]), {f"claim.status.allocation.devices.results[0].{one}" for one in GPU}),
        (claim([GPU]), {"claim.status.allocation.devices.results[0].request"}),
        (claim(["a"]), {"claim.status.allocation.devices.results[0]"}),
        (
            claim([GPU | {"request": "a", "consumedCapacity": {"memory": 1}}]),
            {"claim.status.allocation.devices.results[0].consumedCapacity.memory"},
        ),
        (claim([], {}), {"claim.status.devices"}),
        (claim([], [EFA | {"conditions": {}}]), {"claim.status.devices[0].conditions"}),
        (
            claim([], [EFA | {"conditions": [{"type": "Ready"}]}]),
            {"claim.status.devices[0].conditions[0].status"},
        ),
        (
            claim([], [EFA | {"conditions": [READY | {"observedGeneration": "1"}]}]),
            {"claim.status.devices[0].conditions[0].observedGeneration"},
        ),
        (
            claim([], [EFA | {"networkData": {"ips": [1]}}]),
            {"claim.status.devices[0].networkData.ips"},
        ),
        (claim([], [EFA | {"data": 1}]), {"claim.status.devices[0].data"}),
        (claim([], HostileList([1])), {"claim"}),
    ],
)
def test_what_no_api_server_writes_is_refused(given, wrong):
    assert paths(given) == wrong


def test_texts_that_cannot_be_shown_do_no_harm():
    (found,) = device_statuses(claim([GPU | {"request": HostileText("a")}]))

    assert found.request == "a"
