"""A claim in short, as a plan file tells it."""

import pytest

from eks_devices import ComputeDomain, DeviceRequest, ResourceClaim, ResourceClaimTemplate
from eks_devices.claims.summary import claim_summary


@pytest.mark.parametrize("kind", [ResourceClaim, ResourceClaimTemplate])
def test_both_kinds_of_claims_are_told_alike(kind):
    asked = [DeviceRequest.gpu(memory="10Gi"), DeviceRequest.mig("1g.10gb", count=2)]
    claim = kind(name="a", namespace="b", requests=asked)
    told = claim_summary(claim, claim.to_dict(kubernetes_version="1.37"))

    assert (told["kind"], told["namespace"], told["name"]) == (kind.__name__, "b", "a")
    assert [
        (one["device_class"], one["count"], one["selectors"], one.get("capacity"))
        for one in told["requests"]
    ] == [("gpu.nvidia.com", 1, 0, {"memory": "10Gi"}), ("mig.nvidia.com", 2, 0, None)]
    assert told["requests"][1]["profile"] == "1g.10gb"


@pytest.mark.parametrize(
    ("request_", "narrowed"),
    [
        (DeviceRequest.neuron(4), {}),
        (DeviceRequest.neuron(4).where("true"), {"selectors": 1}),
        (
            DeviceRequest.neuron(4, instance_type="trn2u.48xlarge", driver_version="2.29.0.0"),
            {"instance_type": "trn2u.48xlarge", "driver_version": "2.29.0.0"},
        ),
        (
            DeviceRequest.ultraserver_node(mode=4, logical_neuron_cores=1),
            {"ultraserver_mode": 4, "logical_neuron_cores": 1},
        ),
    ],
)
def test_which_devices_a_request_takes_is_told(request_, narrowed):
    claim = ResourceClaim(name="a", requests=[request_])
    manifest = claim.to_dict(kubernetes_version="1.36", instance_type="trn2u.48xlarge")

    (told,) = claim_summary(claim, manifest)["requests"]

    for key in ("name", "device_class", "count"):
        assert told.pop(key)
    assert told == {"selectors": 0} | narrowed


def test_a_domain_asks_for_no_devices_itself():
    domain = ComputeDomain(name="job", nodes=2)
    told = claim_summary(domain, domain.to_dict(kubernetes_version="1.36"))

    assert (told["kind"], told["requests"], told["nodes"]) == ("ComputeDomain", [], 2)
    assert told["channel_template"] == "job-channel"
