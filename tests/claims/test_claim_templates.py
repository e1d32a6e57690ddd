"""Claims and templates: their manifests, and that they are values."""

import json
from typing import Any

import kubernetes_validate
import pytest

from eks_devices.claims import (
    DeviceRequest,
    MatchAttribute,
    ResourceClaim,
    ResourceClaimTemplate,
)

VERSIONS = ["1.34", "1.35", "1.36", "1.37"]
PCIE_ROOT, DEVICE_GROUP = MatchAttribute.PCIE_ROOT, MatchAttribute.DEVICE_GROUP


def template(*requests: DeviceRequest, **options: Any) -> ResourceClaimTemplate:
    return ResourceClaimTemplate(name="devices", namespace="train", requests=requests, **options)


def test_the_manifest_of_a_template():
    claim = ResourceClaimTemplate(
        name="neuron-4",
        namespace="train",
        requests=[DeviceRequest.neuron(4), DeviceRequest.efa()],
        match=MatchAttribute.DEVICE_GROUP,
    )

    manifest = claim.to_dict(kubernetes_version="1.34", instance_type="trn2.48xlarge")

    assert manifest == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "neuron-4", "namespace": "train"},
        "spec": {
            "spec": {
                "devices": {
                    "requests": [
                        {
                            "name": "neuron",
                            "exactly": {
                                "deviceClassName": "neuron.aws.com",
                                "allocationMode": "ExactCount",
                                "count": 4,
                            },
                        },
                        {
                            "name": "efa",
                            "exactly": {
                                "deviceClassName": "efa.networking.k8s.aws",
                                "allocationMode": "ExactCount",
                                "count": 4,
                            },
                        },
                    ],
                    "constraints": [
                        {
                            "requests": ["neuron", "efa"],
                            "matchAttribute": "resource.aws.com/devicegroup4_id",
                        }
                    ],
                }
            }
        },
    }


def test_a_claim_has_the_same_spec_without_the_wrapper():
    requests = [DeviceRequest.gpu(2)]
    claim = ResourceClaim(name="shared", requests=requests, labels={"team": "a"})

    manifest = claim.to_dict(kubernetes_version="1.37")

    assert manifest["kind"] == "ResourceClaim"
    assert manifest["metadata"] == {
        "name": "shared",
        "namespace": "default",
        "labels": {"team": "a"},
    }
    assert manifest["spec"] == {"devices": {"requests": [requests[0].to_dict(count=2)]}}


def test_labels_of_a_template_and_of_the_claims_made_from_it():
    claim = template(
        DeviceRequest.gpu(), labels={"a/b": "c"}, claim_labels={"kai.scheduler/queue": "q"}
    )

    manifest = claim.to_dict(kubernetes_version="1.34")

    assert manifest["metadata"]["labels"] == {"a/b": "c"}
    assert manifest["spec"]["metadata"] == {"labels": {"kai.scheduler/queue": "q"}}


def test_configurations_are_listed_for_their_requests():
    claim = template(DeviceRequest.ultraserver_node(mode=4, logical_neuron_cores=1))
    manifest = claim.to_dict(kubernetes_version="1.34", instance_type="trn2u.48xlarge")
    found = manifest["spec"]["spec"]["devices"]

    kinds = [config["opaque"]["parameters"]["kind"] for config in found["config"]]
    assert kinds == ["NeuronConfig", "UltraServerConfig"]
    assert all(config["requests"] == ["ultraserver-node"] for config in found["config"])


def test_a_claim_copies_what_it_is_given():
    requests, labels = [DeviceRequest.gpu()], {"a": "b"}
    claim = ResourceClaim(name="a", requests=requests, labels=labels)
    requests.clear()
    labels.clear()

    assert claim.requests == (DeviceRequest.gpu(),)
    assert claim.labels == {"a": "b"}


def test_a_manifest_shares_nothing_with_the_claim():
    claim = template(DeviceRequest.gpu(), labels={"a": "b"})
    claim.to_dict(kubernetes_version="1.34")["metadata"]["labels"]["a"] = "changed"

    assert claim.to_dict(kubernetes_version="1.34")["metadata"]["labels"] == {"a": "b"}


def test_a_claim_and_a_template_are_different_values():
    requests = (DeviceRequest.gpu(),)
    claim = ResourceClaim(name="a", requests=requests)
    values: set[object] = {claim, ResourceClaimTemplate(name="a", requests=requests)}

    assert len(values) == 2


@pytest.mark.parametrize("kind", [ResourceClaim, ResourceClaimTemplate])
def test_a_claim_tells_its_manifest_as_json(kind):
    requests = [DeviceRequest.neuron(4), DeviceRequest.efa()]
    claim = kind(name="a", requests=requests, match=DEVICE_GROUP, labels={"b": "c", "a": "d"})
    turned = kind(name="a", requests=requests, match=DEVICE_GROUP, labels={"a": "d", "b": "c"})
    cluster = {"kubernetes_version": "1.34", "instance_type": "trn2.48xlarge"}

    assert json.loads(claim.to_json(**cluster)) == claim.to_dict(**cluster)
    assert claim.to_json(**cluster) == turned.to_json(**cluster)
    assert claim.to_json(**cluster).endswith("}\n")


def test_the_schema_check_notices_a_planted_error():
    manifest = template(DeviceRequest.gpu()).to_dict(kubernetes_version="1.34")
    manifest["spec"]["spec"]["devices"]["requests"][0]["exactly"]["counts"] = 1

    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(manifest, "1.34", strict=True)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", [ResourceClaim, ResourceClaimTemplate])
def test_the_richest_manifest_is_valid(version, kind):
    claim = kind(
        name="all.of-it",
        namespace="train",
        requests=[
            DeviceRequest.neuron(8, logical_neuron_cores=2).where("true"),
            DeviceRequest.efa(),
        ],
        match=DEVICE_GROUP,
        labels={"a": "b"},
        **({"claim_labels": {"c": ""}} if kind is ResourceClaimTemplate else {}),
    )

    manifest = claim.to_dict(kubernetes_version=version, instance_type="trn2.48xlarge")

    kubernetes_validate.validate(manifest, version, strict=True)
