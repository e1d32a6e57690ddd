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
    ] == [("gpu.nvidia.com", 1, 0, {"memory": "10Gi"}), ("mig.nvidia.com", 2, 1, None)]


def test_a_domain_asks_for_no_devices_itself():
    domain = ComputeDomain(name="job", nodes=2)
    told = claim_summary(domain, domain.to_dict(kubernetes_version="1.36"))

    assert (told["kind"], told["requests"], told["nodes"]) == ("ComputeDomain", [], 2)
    assert told["channel_template"] == "job-channel"
