"""Counts that are filled from the instance type, and what claims match by."""

from typing import Any

import pytest

from eks_devices.claims import DeviceRequest, MatchAttribute, ResourceClaimTemplate
from eks_devices.findings import EksDevicesError
from eks_devices.support import device_support
from eks_devices.vocabulary import DeviceType, Mechanism

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


def test_a_profile_of_gpus_that_nobody_read_from_a_node_is_taken():
    assert counts(DeviceRequest.mig("1g.24gb", 32), on="g7e.48xlarge") == [32]


def test_gpus_with_four_compute_slices_hold_fewer_partitions():
    requests = DeviceRequest.mig("2g.48gb", 15), DeviceRequest.mig("1g.24gb", 3, name="small")

    with pytest.raises(EksDevicesError, match="TooManyDevices"):
        counts(*requests, on="g7e.48xlarge")


@pytest.mark.parametrize(
    "requests",
    [
        [DeviceRequest.gpu(7), DeviceRequest.mig("1g.10gb", 7)],
        [DeviceRequest.mig("7g.80gb", 8)],
        [DeviceRequest.mig("3g.40gb", 16)],
        [DeviceRequest.mig("4g.40gb", 8, name="a"), DeviceRequest.mig("3g.40gb", 8, name="b")],
    ],
)
def test_partitions_that_fill_all_gpus_are_taken(requests):
    assert counts(*requests, on="p5.48xlarge") == [one.count for one in requests]


def test_too_many_partitions_are_told_with_what_each_gpu_holds():
    with pytest.raises(EksDevicesError) as caught:
        counts(DeviceRequest.mig("3g.40gb", 17), on="p5.48xlarge")

    (fault,) = caught.value.faults
    assert fault.got == "17"
    assert fault.allowed == "at most 16, 2 on each of 8 GPUs"


def test_a_device_group_given_by_name_has_its_own_size():
    match = MatchAttribute.of("resource.aws.com/devicegroup8_id")
    whole = devices(DeviceRequest.neuron(8), DeviceRequest.efa(), on="trn1.32xlarge", match=match)

    assert [one["exactly"]["count"] for one in whole["requests"]] == [8, 4]
    assert whole["constraints"][0]["matchAttribute"] == "resource.aws.com/devicegroup8_id"
    assert counts(DeviceRequest.neuron(4), on="trn2.48xlarge", match=match) == [4]
    assert counts(DeviceRequest.efa(8), on="trn2.48xlarge", match=match) == [8]


def test_a_device_without_a_dra_driver_is_told_with_the_rule_of_the_support_matrix():
    with pytest.raises(EksDevicesError) as caught:
        counts(DeviceRequest.neuron(1), on="inf1.2xlarge")

    (fault,) = caught.value.faults
    support = device_support(
        device_type=DeviceType.NEURON, mechanism=Mechanism.DRA, instance_type="inf1.2xlarge"
    )
    told = (fault.code, fault.message, fault.fix, fault.source)
    assert told == (support.code, support.message, support.fix, support.source)
    assert "trn2" in fault.allowed
    assert "inf1" not in fault.allowed


def test_a_fraction_of_a_gpu_is_one_gpu():
    assert counts(DeviceRequest.gpu(), on="g6f.large") == [1]


@pytest.mark.parametrize("efa", [DeviceRequest.efa(), DeviceRequest.efa(1)])
def test_no_pcie_root_is_offered_on_a_type_that_is_a_name_without_data(efa):
    with pytest.raises(EksDevicesError) as caught:
        counts(DeviceRequest.gpu(1), efa, on="p6e-gb300.36xlarge", match=PCIE_ROOT)

    assert [one.code for one in caught.value.faults] == ["AnnouncedInstanceType"]


def test_how_many_efas_share_a_pcie_root_is_never_guessed():
    requests = DeviceRequest.gpu(1), DeviceRequest.efa()

    with pytest.raises(EksDevicesError) as caught:
        counts(*requests, on="p6e-gb200.36xlarge", match=PCIE_ROOT)

    assert [one.code for one in caught.value.faults] == ["EfaCountNeeded"]
