"""The reason why no device matches names what the devices have instead."""

import pytest
from tests.cluster_plans import cluster_of
from tests.feasibility_claims import claim, exactly

from eks_devices.feasibility import check_claims
from eks_devices.feasibility.devices import node_devices
from eks_devices.feasibility.telling.near_values import near_miss

GPU, EFA, NEURON = "gpu.nvidia.com", "efa.networking.k8s.aws", "neuron.aws.com"
ATTRIBUTES = f"device.attributes['{GPU}']"


def reason_of(instance_type, device_class, *selectors):
    plan = cluster_of({"instance_type": instance_type})
    return check_claims([claim(exactly(device_class, *selectors))], plan)[0]


@pytest.mark.parametrize(
    ("instance_type", "selector", "told"),
    [
        (
            "p5.48xlarge",
            f"device.capacity['{GPU}'].memory.compareTo(quantity('80Gi')) >= 0",
            "matches none of the 8 devices of the class gpu.nvidia.com, which have memory 81152Mi",
        ),
        (
            "p5.48xlarge",
            f"{ATTRIBUTES}.productName == 'NVIDIA L40S' && {ATTRIBUTES}.architecture == 'Ada'",
            "which have productName NVIDIA H100 80GB HBM3, architecture Hopper",
        ),
        (
            "p5.48xlarge",
            f"{ATTRIBUTES}.cudaComputeCapability.compareTo(semver('10.0.0')) >= 0",
            "which have cudaComputeCapability 9.0.0",
        ),
        (
            "g6e.xlarge",
            f"{ATTRIBUTES}.type == 'mig'",
            "selector 0 does not match the one device of the class gpu.nvidia.com, which has type",
        ),
    ],
)
def test_what_the_devices_have_is_told(instance_type, selector, told):
    assert told in reason_of(instance_type, GPU, selector).reason


def test_an_attribute_that_no_device_has_is_told_as_lacking():
    found = reason_of("g6e.12xlarge", GPU, f"'profile' in {ATTRIBUTES}")
    assert found.reason.endswith(", which have no profile")


def test_a_selector_that_reads_nothing_is_told_by_its_number():
    found = reason_of("p5.48xlarge", GPU, "1 > 2")
    assert found.reason.endswith("matches none of the 8 devices of the class gpu.nvidia.com")


def test_the_driver_is_told_where_it_is_asked_for():
    found = reason_of("p5.48xlarge", GPU, "device.driver == 'nvidia.com'")
    assert found.reason.endswith("which have driver gpu.nvidia.com")
    assert found.fix == "did you mean gpu.nvidia.com?"


@pytest.mark.parametrize(
    ("amount", "fix"),
    [
        ("80Gi", "compare memory with at most 81152Mi, which is what these devices have"),
        ("1Ti", "compare memory with at most 81152Mi, which is what these devices have"),
    ],
)
def test_an_amount_that_no_device_has_is_told_with_what_they_have(amount, fix):
    selector = f"device.capacity['{GPU}'].memory.compareTo(quantity('{amount}')) >= 0"
    assert reason_of("p5.48xlarge", GPU, selector).fix == fix


@pytest.mark.parametrize(("amount", "times"), [("80Gi", 2), ("158Gi", 2), ("1Ti", 13)])
def test_how_far_an_amount_is_from_devices_is_known(amount, times):
    selector = f"device.capacity['{GPU}'].memory.compareTo(quantity('{amount}')) >= 0"
    devices = node_devices(cluster_of({"instance_type": "p5.48xlarge"}).nodegroups[0]).devices
    found = near_miss(selector, devices)
    assert found is not None
    assert times - 1 < found.times <= times


def test_a_value_that_devices_have_is_no_slip():
    devices = node_devices(cluster_of({"instance_type": "p5.48xlarge"}).nodegroups[0]).devices
    assert near_miss(f"{ATTRIBUTES}.architecture in ['Hopper', 'hoper']", devices) is None
    slip = near_miss(f"{ATTRIBUTES}.architecture == 'hoper'", devices)
    assert slip is not None
    assert slip.times == 1
    assert slip.fix == "did you mean Hopper?"


def test_values_are_those_of_the_devices_that_other_selectors_leave():
    first = f"{ATTRIBUTES}.type == 'gpu'"
    found = reason_of("p5.48xlarge", GPU, first, f"{ATTRIBUTES}.architecture == 'hoper'")
    assert found.fix == "did you mean Hopper?"


@pytest.mark.parametrize("name", ["rdma", "pciSubsystem", "numaNode"])
def test_what_nobody_read_from_efas_beside_neuron_devices_is_unknown(name):
    selector = f"'{name}' in device.attributes['dra.net']"
    assert reason_of("trn2.48xlarge", EFA, selector).status == "unknown"


NAME = f"{ATTRIBUTES}.productName"
MEMORY = f"device.capacity['{GPU}'].memory"
CARD = "device.attributes['dra.net']"


@pytest.mark.parametrize(
    ("device_class", "text", "fix"),
    [
        (
            EFA,
            f"{CARD}.numaNode == '0'",
            f"'0' is a text, and numaNode is a number: write {CARD}.numaNode == 0",
        ),
        (
            EFA,
            f'{CARD}["rdma"] == "true" && true',
            f'"true" is a text, and rdma is true or false: write {CARD}["rdma"] == true',
        ),
        (
            GPU,
            f"{ATTRIBUTES}.architecture == 'Hopper' && {NAME} == 'H100'",
            f"write {NAME} == 'NVIDIA H100 80GB HBM3'",
        ),
        (GPU, f'{NAME}.contains("h100")', f'write {NAME}.contains("H100")'),
        (GPU, f"{NAME}.startsWith('Nvidia')", f"write {NAME}.startsWith('NVIDIA')"),
        (GPU, f"{NAME}.endsWith('hbm3')", f"write {NAME}.endsWith('HBM3')"),
    ],
)
def test_a_value_that_is_known_is_told_as_a_part_of_the_expression_that_matches(
    device_class, text, fix
):
    found = reason_of("p5.48xlarge", device_class, text)

    assert (found.code, found.fix) == ("NoDeviceMatches", fix)
    part = fix.partition("write ")[2]
    assert reason_of("p5.48xlarge", device_class, part).status == "feasible"


@pytest.mark.parametrize(
    "text",
    [
        f"{ATTRIBUTES}.architecture == 'Ampere' && {NAME} == 'H100'",
        f"{NAME} == 'H200'",
        f"{NAME} == ''",
        f"{NAME} != 'NVIDIA H100 80GB HBM3'",
        f"{NAME}.contains('L40S')",
    ],
)
def test_what_would_not_match_either_is_not_told(text):
    assert "write" not in reason_of("p5.48xlarge", GPU, text).fix


def test_bytes_are_told_in_bytes():
    found = reason_of("p5.48xlarge", GPU, f"{MEMORY}.asInteger() >= 85899345920")

    assert found.fix.startswith("compare memory with at most 85094039552 (81152Mi)")
    text = f"{MEMORY}.asInteger() >= 85094039552"
    assert reason_of("p5.48xlarge", GPU, text).status == "feasible"


@pytest.mark.parametrize(
    ("written", "instead"),
    [("40GB", "40Gi"), ("40gb", "40Gi"), ("1.5 GiB", "1.5Gi"), ("40Gib", "40Gi"), ("9KB", "9Ki")],
)
def test_a_quantity_with_another_unit_is_told_with_that_of_kubernetes(written, instead):
    text = f"{MEMORY}.compareTo(quantity('{written}')) >= 0"
    found = reason_of("p5.48xlarge", GPU, text)

    assert found.code == "ExpressionFails"
    assert found.reason.endswith(f"quantity('{written}') fails, for that is no quantity")
    assert found.fix.startswith(f"write quantity('{instead}')")
    for one in found.fix.split("'")[1::2]:
        assert reason_of("p5.48xlarge", GPU, text.replace(written, one)).status == "feasible"


def test_a_device_is_told_by_its_name():
    every = {"name": "gpu", "exactly": {"deviceClassName": GPU, "allocationMode": "All"}}
    root = {"matchAttribute": "resource.kubernetes.io/pcieRoot"}
    plan = cluster_of({"instance_type": "p5.48xlarge"})
    (found,) = check_claims([claim(every, root)], plan)

    assert "the device gpu-1 does not share resource.kubernetes.io/pcieRoot" in found.reason
