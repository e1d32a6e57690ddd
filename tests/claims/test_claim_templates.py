"""Claims and templates: manifests, counts that are filled, and properties of all of them."""

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
from eks_devices.findings import EksDevicesError

VERSIONS = ["1.34", "1.35", "1.36", "1.37"]
PCIE_ROOT, DEVICE_GROUP = MatchAttribute.PCIE_ROOT, MatchAttribute.DEVICE_GROUP


def template(*requests: DeviceRequest, **options: Any) -> ResourceClaimTemplate:
    return ResourceClaimTemplate(name="devices", namespace="train", requests=requests, **options)


def devices(
    *requests: DeviceRequest, on: str | None, match: MatchAttribute | None = None
) -> dict[str, Any]:
    claim = template(*requests, match=match)
    manifest = claim.to_dict(kubernetes_version="1.34", instance_type=on)
    found: dict[str, Any] = manifest["spec"]["spec"]["devices"]
    return found


def counts(
    *requests: DeviceRequest, on: str | None, match: MatchAttribute | None = None
) -> list[int]:
    found = devices(*requests, on=on, match=match)
    return [request["exactly"]["count"] for request in found["requests"]]


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


@pytest.mark.parametrize(
    ("type_name", "neurons", "efas"),
    [
        ("trn2.48xlarge", 1, 1),
        ("trn2.48xlarge", 4, 4),
        ("trn2u.48xlarge", 8, 8),
        ("trn2.48xlarge", 16, 16),
        ("trn1.32xlarge", 1, 1),
        ("trn1.32xlarge", 4, 2),
        ("trn1.32xlarge", 8, 4),
        ("trn1.32xlarge", 16, 8),
        ("trn1n.32xlarge", 4, 4),
    ],
)
def test_an_open_efa_count_is_the_efas_of_the_device_group(type_name, neurons, efas):
    found = devices(
        DeviceRequest.neuron(neurons), DeviceRequest.efa(), on=type_name, match=DEVICE_GROUP
    )

    assert found["requests"][1]["exactly"]["count"] == efas
    attribute = f"resource.aws.com/devicegroup{neurons}_id"
    assert found["constraints"] == [{"requests": ["neuron", "efa"], "matchAttribute": attribute}]


@pytest.mark.parametrize(
    ("type_name", "gpus", "efas"),
    [
        ("p5.48xlarge", 1, 4),
        ("p5e.48xlarge", 1, 4),
        ("p5.4xlarge", 1, 1),
        ("p5en.48xlarge", 1, 2),
        ("p5en.48xlarge", 2, 4),
        ("p6-b200.48xlarge", 1, 1),
        ("p6-b200.48xlarge", 2, 2),
        ("p6-b300.48xlarge", 1, 2),
        ("p4d.24xlarge", 2, 1),
        ("p4de.24xlarge", 2, 1),
        ("g5.48xlarge", 8, 1),
    ],
)
def test_an_open_efa_count_is_the_fair_share_of_the_pcie_root(type_name, gpus, efas):
    found = counts(DeviceRequest.gpu(gpus), DeviceRequest.efa(), on=type_name, match=PCIE_ROOT)

    assert found == [gpus, efas]


@pytest.mark.parametrize(
    ("type_name", "efas"),
    [
        ("p5en.48xlarge", 16),
        ("p5.48xlarge", 32),
        ("p6e-gb200.36xlarge", 4),
        ("trn2.3xlarge", 1),
        ("trn1.32xlarge", 8),
        ("g6e.48xlarge", 4),
    ],
)
def test_an_open_efa_count_without_a_match_is_every_efa(type_name, efas):
    assert counts(DeviceRequest.efa(), on=type_name) == [efas]


def test_a_whole_trn2_node_just_fits_a_claim():
    requests = DeviceRequest.neuron(16), DeviceRequest.efa()

    assert counts(*requests, on="trn2.48xlarge") == [16, 16]


def test_a_whole_p5_node_needs_two_claims_or_eight():
    with pytest.raises(EksDevicesError) as caught:
        counts(DeviceRequest.gpu(8), DeviceRequest.efa(), on="p5.48xlarge")

    (fault,) = caught.value.faults
    assert fault.code == "ClaimTooLarge"
    assert "40 devices" in fault.got
    assert "two claims" in fault.fix
    assert "8 x (1 GPU + 4 EFA)" in fault.fix


def test_a_whole_p5_node_on_one_pcie_root_is_told_how_to_share_out():
    with pytest.raises(EksDevicesError) as caught:
        counts(DeviceRequest.gpu(8), DeviceRequest.efa(), on="p5.48xlarge", match=PCIE_ROOT)

    (fault,) = caught.value.faults
    assert fault.code == "PcieRootTooSmall"
    assert "8 x (1 GPU + 4 EFA)" in fault.fix


def test_gpus_that_share_one_efa_are_asked_for_in_pairs():
    with pytest.raises(EksDevicesError) as caught:
        counts(DeviceRequest.gpu(1), DeviceRequest.efa(), on="p4d.24xlarge", match=PCIE_ROOT)

    (fault,) = caught.value.faults
    assert fault.code == "EfaShareNotWhole"
    assert "pairs" in fault.fix


def test_a_written_count_is_taken_where_it_can_be_satisfied():
    requests = DeviceRequest.gpu(1), DeviceRequest.efa(4)

    assert counts(*requests, on="p5en.48xlarge", match=PCIE_ROOT) == [1, 4]
    assert counts(*requests, on="g7e.48xlarge", match=PCIE_ROOT) == [1, 4]
    assert counts(*requests, on=None, match=PCIE_ROOT) == [1, 4]


def test_several_neuron_requests_form_one_group():
    requests = DeviceRequest.neuron(4, name="a"), DeviceRequest.neuron(4, name="b")

    found = devices(*requests, on="trn2.48xlarge", match=DEVICE_GROUP)

    assert found["constraints"] == [
        {"requests": ["a", "b"], "matchAttribute": "resource.aws.com/devicegroup8_id"}
    ]


def test_one_request_for_several_devices_is_constrained():
    found = devices(
        DeviceRequest.mig("1g.10gb", 2),
        on="p5.48xlarge",
        match=MatchAttribute.of("gpu.nvidia.com/parentUUID"),
    )

    assert found["constraints"] == [
        {"requests": ["mig"], "matchAttribute": "gpu.nvidia.com/parentUUID"}
    ]


def test_one_device_has_nothing_to_match():
    assert "constraints" not in devices(DeviceRequest.gpu(), on=None, match=PCIE_ROOT)


def test_a_partition_and_its_efa_may_share_a_root():
    requests = DeviceRequest.mig("1g.10gb"), DeviceRequest.efa(1)

    assert counts(*requests, on="p5.48xlarge", match=PCIE_ROOT) == [1, 1]


def test_a_profile_of_gpus_that_nobody_listed_is_taken():
    assert counts(DeviceRequest.mig("1g.18gb"), on="p5en.48xlarge") == [1]


def test_a_fraction_of_a_gpu_is_one_gpu():
    assert counts(DeviceRequest.gpu(), on="g6f.large") == [1]


def test_configurations_are_listed_for_their_requests():
    found = devices(
        DeviceRequest.ultraserver_node(mode=4, logical_neuron_cores=1), on="trn2u.48xlarge"
    )

    kinds = [config["opaque"]["parameters"]["kind"] for config in found["config"]]
    assert kinds == ["NeuronConfig", "UltraServerConfig"]
    assert all(config["requests"] == ["ultraserver-node"] for config in found["config"])


def test_all_faults_of_a_claim_come_together():
    claim = template(DeviceRequest.gpu(9), DeviceRequest.neuron(1), DeviceRequest.efa(40))

    with pytest.raises(EksDevicesError) as caught:
        claim.to_dict(kubernetes_version="1.33", instance_type="p5.48xlarge")

    assert [one.code for one in caught.value.faults] == [
        "UnsupportedKubernetesVersion",
        "NoSuchDevice",
        "TooManyDevices",
        "TooManyDevices",
        "ClaimTooLarge",
    ]


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
    assert json.loads(claim.to_json())["requests"] == [
        {"kind": "gpu", "name": "gpu", "count": 1, "selectors": []}
    ]


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
