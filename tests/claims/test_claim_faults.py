"""What faults of claims say, and that all of them come together."""

import pytest

from eks_devices.claims import DeviceRequest, MatchAttribute, ResourceClaim, ResourceClaimTemplate
from eks_devices.findings import EksDevicesError


def test_a_name_that_ends_in_a_newline_is_refused():
    with pytest.raises(EksDevicesError, match="MalformedName"):
        DeviceRequest.gpu(name="a\n")


def test_a_version_fault_names_what_is_allowed_and_why():
    claim = ResourceClaimTemplate(name="devices", requests=[DeviceRequest.gpu()])

    with pytest.raises(EksDevicesError) as caught:
        claim.to_dict(kubernetes_version="1.33")

    (fault,) = caught.value.faults
    assert "1.34, 1.35, 1.36, 1.37" in fault.allowed
    assert "1.33" not in fault.allowed
    assert "resource.k8s.io" in fault.message
    assert "beta" in fault.message


def test_a_value_whose_repr_fails_is_refused_like_others():
    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(EksDevicesError) as caught:
        DeviceRequest.gpu(Hostile())  # type: ignore[arg-type]  # the point of the test

    assert caught.value.faults[0].got == "<Hostile>"


def test_faults_of_a_claim_come_together():
    with pytest.raises(EksDevicesError) as caught:
        ResourceClaim(name="", namespace="A", requests=[], labels={"-": "b"})

    assert [one.code for one in caught.value.faults] == [
        "MalformedName",
        "MalformedName",
        "MalformedLabelKey",
        "NoRequests",
    ]


def test_faults_of_a_request_come_together():
    with pytest.raises(EksDevicesError) as caught:
        DeviceRequest.mig("x", 0, name="A")

    assert [one.code for one in caught.value.faults] == [
        "MalformedName",
        "OutOfRange",
        "MalformedMigProfile",
    ]


def test_faults_of_a_claim_on_a_cluster_and_type_come_together():
    requests = [DeviceRequest.gpu(9), DeviceRequest.neuron(1), DeviceRequest.efa(40)]
    claim = ResourceClaimTemplate(name="devices", requests=requests)

    with pytest.raises(EksDevicesError) as caught:
        claim.to_dict(kubernetes_version="1.33", instance_type="p5.48xlarge")

    assert [one.code for one in caught.value.faults] == [
        "DraBelow134",
        "NoSuchDevice",
        "TooManyDevices",
        "TooManyDevices",
        "ClaimTooLarge",
    ]


@pytest.mark.parametrize(
    ("requests", "match", "path", "right"),
    [
        ([DeviceRequest.neuron(4)], "PCIE_ROOT", "requests[0]", "MatchAttribute.DEVICE_GROUP"),
        (
            [DeviceRequest.efa(4), DeviceRequest.neuron(4)],
            "PCIE_ROOT",
            "requests[1]",
            "MatchAttribute.DEVICE_GROUP",
        ),
        ([DeviceRequest.gpu()], "DEVICE_GROUP", "requests[0]", "MatchAttribute.PCIE_ROOT"),
        (
            [DeviceRequest.mig("1g.10gb"), DeviceRequest.efa()],
            "DEVICE_GROUP",
            "requests[0]",
            "MatchAttribute.PCIE_ROOT",
        ),
        ([DeviceRequest.passthrough_gpu()], "DEVICE_GROUP", "requests[0]", "PCIE_ROOT"),
        ([DeviceRequest.ultraserver_node()], "DEVICE_GROUP", "requests[0]", "leave the match out"),
        ([DeviceRequest.ultraserver_node()], "PCIE_ROOT", "requests[0]", "leave the match out"),
    ],
)
def test_devices_that_a_match_is_not_for_are_told_theirs_and_nothing_else(
    requests, match, path, right
):
    with pytest.raises(EksDevicesError) as caught:
        ResourceClaimTemplate(name="c", requests=requests, match=getattr(MatchAttribute, match))

    (fault,) = caught.value.faults
    assert (fault.code, fault.path) == ("MatchDoesNotFit", f"claims.default/c.{path}")
    assert right in fault.fix
