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
    assert found.fix == "write device.driver == 'gpu.nvidia.com'"


INSTEAD = "change the selector to what these devices have: write "
HAVE = "memory 81152Mi"
AT_MOST = "compare memory with at most 81152Mi, which is what these devices have: write "


@pytest.mark.parametrize(
    ("comparison", "instead"),
    [
        ("compareTo(quantity('80Gi')) >= 0", "compareTo(quantity('81152Mi')) >= 0"),
        ("compareTo(quantity('1Ti')) >= 0", "compareTo(quantity('81152Mi')) >= 0"),
        ("compareTo(quantity('80Gi')) == 0", "compareTo(quantity('81152Mi')) == 0"),
        ("compareTo(quantity('100Gi')) > 0", "compareTo(quantity('81152Mi')) >= 0"),
        ("compareTo(quantity('100Gi')) == 1", "compareTo(quantity('81152Mi')) >= 0"),
        ("isGreaterThan(quantity('100Gi'))", "compareTo(quantity('81152Mi')) >= 0"),
        ("asInteger() >= 85899345920", "asInteger() >= 85094039552"),
        ("asInteger() > 85899345920", "asInteger() >= 85094039552"),
    ],
)
def test_an_amount_that_no_device_has_is_told_with_what_they_have(comparison, instead):
    memory = f"device.capacity['{GPU}'].memory"
    found = reason_of("p5.48xlarge", GPU, f"{memory}.{comparison}")

    assert found.fix == f"{AT_MOST}{memory}.{instead}"
    part = found.fix.partition("write ")[2]
    assert reason_of("p5.48xlarge", GPU, part).status == "feasible"


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        (
            "!{}.isLessThan(quantity('100Gi'))",
            f"{AT_MOST}!{{}}.isLessThan(quantity('81152Mi'))",
        ),
        (
            "quantity('100Gi').isLessThan({})",
            f"{AT_MOST}{{}}.compareTo(quantity('81152Mi')) >= 0",
        ),
        (
            "quantity('100Gi').compareTo({}) <= 0",
            f"{AT_MOST}quantity('81152Mi').compareTo({{}}) <= 0",
        ),
        ("{} == quantity('80Gi')", f"{AT_MOST}{{}} == quantity('81152Mi')"),
        (
            "{}.isGreaterThan(quantity('81152Mi'))",
            f"{INSTEAD}{{}}.compareTo(quantity('81152Mi')) >= 0",
        ),
        (
            "{}.isLessThan(quantity('40Gi'))",
            f"{INSTEAD}{{}}.compareTo(quantity('81152Mi')) <= 0",
        ),
        (
            "{}.isLessThan(quantity('80'))",
            "quantity('80') is 80 bytes: write {}.isLessThan(quantity('80Gi'))",
        ),
    ],
)
def test_an_amount_is_told_by_a_comparison_that_holds(text, fix):
    memory = f"device.capacity['{GPU}'].memory"
    found = reason_of("p5.48xlarge", GPU, text.format(memory))

    assert found.fix == fix.format(memory)
    part = found.fix.partition("write ")[2]
    assert reason_of("p5.48xlarge", GPU, part).status == "feasible"


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
    assert slip.fix == f"write {ATTRIBUTES}.architecture == 'Hopper'"


def test_values_are_those_of_the_devices_that_other_selectors_leave():
    first = f"{ATTRIBUTES}.type == 'gpu'"
    found = reason_of("p5.48xlarge", GPU, first, f"{ATTRIBUTES}.architecture == 'hoper'")
    assert found.fix == f"write {ATTRIBUTES}.architecture == 'Hopper'"


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
        (GPU, f"{NAME}.endsWith('H100')", f"write {NAME}.contains('H100')"),
        (GPU, f"{NAME}.startsWith('h100')", f"write {NAME}.contains('H100')"),
        (GPU, f"{NAME}.matches('^H100$')", f"write {NAME}.contains('H100')"),
        (GPU, f"{NAME}.contains('H100-80GB')", f"write {NAME}.contains('H100 80GB')"),
        (GPU, f"{NAME} in ['H100', 'x']", f"write {NAME} in ['NVIDIA H100 80GB HBM3', 'x']"),
        (GPU, f"'H100' == {NAME}", f"write 'NVIDIA H100 80GB HBM3' == {NAME}"),
        (GPU, f"{NAME} == 'NVIDIA-H100-80GB'", f"write {NAME} == 'NVIDIA H100 80GB HBM3'"),
        (GPU, f"{ATTRIBUTES}.brand == 'NVIDIA'", f"write {ATTRIBUTES}.brand == 'Nvidia'"),
        (
            GPU,
            f"{NAME}.lowerAscii() == 'h100'",
            f"write {NAME}.lowerAscii() == 'nvidia h100 80gb hbm3'",
        ),
        (
            GPU,
            f"{NAME}.lowerAscii().contains('H100')",
            f"write {NAME}.lowerAscii().contains('h100')",
        ),
        (
            GPU,
            f"{NAME} == 'H100' && {ATTRIBUTES}.driverVersion.major() > 500",
            f"write {NAME} == 'NVIDIA H100 80GB HBM3'",
        ),
    ],
)
def test_a_value_that_is_known_is_told_as_a_part_of_the_expression_that_matches(
    device_class, text, fix
):
    found = reason_of("p5.48xlarge", device_class, text)

    assert (found.code, found.fix) == ("NoDeviceMatches", fix)
    part = fix.partition("write ")[2]
    assert reason_of("p5.48xlarge", device_class, part).status == "feasible"


VERSION = f"{ATTRIBUTES}.cudaComputeCapability"
H100 = f"{NAME} == 'NVIDIA H100 80GB HBM3'"


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        (
            f"{ATTRIBUTES}.architecture == 'Ampere' && {NAME} == 'H100'",
            f"{ATTRIBUTES}.architecture == 'Hopper' && {H100}",
        ),
        (
            f"{NAME}.contains('A100') && {MEMORY}.isGreaterThan(quantity('100Gi'))",
            f"{H100} && {MEMORY}.compareTo(quantity('81152Mi')) >= 0",
        ),
        (f"{NAME} == 'H200'", H100),
        (f"{NAME} == ''", H100),
        (f"{NAME} == 'A' || {NAME} == 'B'", f"{H100}"),
        (f"{NAME}.contains('L40S')", H100),
        (f"{NAME}.matches('A100|L40S')", H100),
        (f"{NAME} in ['Tesla T4']", H100),
        (f"{VERSION}.isGreaterThan(semver('9.0.0'))", f"{VERSION}.compareTo(semver('9.0.0')) >= 0"),
        (
            f"{VERSION}.compareTo(semver('10.0.0')) >= 0",
            f"{VERSION}.compareTo(semver('9.0.0')) >= 0",
        ),
        (f"{VERSION}.major() >= 10", f"{VERSION}.major() == 9"),
    ],
)
def test_values_that_devices_have_are_told_where_they_are_not_like_what_is_written(text, instead):
    found = reason_of("p5.48xlarge", GPU, text)

    assert found.fix == f"{INSTEAD}{instead}"
    assert reason_of("p5.48xlarge", GPU, instead).status == "feasible"


@pytest.mark.parametrize(
    "text",
    [
        f"{NAME} != 'NVIDIA H100 80GB HBM3'",
        f"!{NAME}.contains('H100')",
        f"['H100'].exists(one, {NAME} == one)",
        f"{NAME}.size() == 4",
    ],
)
def test_where_no_expression_is_known_the_values_are_told(text):
    assert reason_of("p5.48xlarge", GPU, text).fix == (
        "change the selector to what these devices have: productName NVIDIA H100 80GB HBM3"
    )


ID = "device.attributes['neuron.aws.com'].deviceId"
GROUP = "device.attributes['resource.aws.com'].devicegroup4_id"


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        (f"{ID} == 99", f"{ID} == 15, or another of the 16 values of deviceId"),
        (f"{ID} > 16", f"{ID} >= 15, or another of the 16 values of deviceId"),
        (
            f"{GROUP} == 'abc'",
            f"{GROUP} == '13713e551cd37c19', or another of the 4 values of devicegroup4_id",
        ),
    ],
)
def test_of_several_values_the_nearest_is_told(text, instead):
    found = reason_of("trn2.48xlarge", NEURON, text)

    assert found.fix == f"{INSTEAD}{instead}"
    part = instead.partition(",")[0]
    assert reason_of("trn2.48xlarge", NEURON, part).status == "feasible"


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        (f"'H100' in {NAME}", f"write {NAME}.contains('H100')"),
        (f"{NAME}.length > 3", f"write {NAME}.size() > 3"),
        (NAME, f"compare it with something: write {H100}"),
        (f"{VERSION} == '9.0'", f"write {VERSION}.compareTo(semver('9.0.0')) == 0"),
        (
            f"{MEMORY}.compareTo(quantity('80GB')) >= 0",
            f"write {MEMORY}.compareTo(quantity('81152Mi')) >= 0, for these devices have {HAVE}",
        ),
    ],
)
def test_what_fails_on_devices_is_told_as_they_have_it(text, fix):
    found = reason_of("p5.48xlarge", GPU, text)

    assert (found.code, found.fix) == ("ExpressionFails", fix)
    part = fix.rpartition("write ")[2].partition(", for")[0]
    assert reason_of("p5.48xlarge", GPU, part).status in ("feasible", "unknown")


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        (
            f"{ATTRIBUTES}.addressingMode == 'hmm'",
            f"addressingMode is None, HMM or ATS: write {ATTRIBUTES}.addressingMode == 'HMM'",
        ),
        (f"{ATTRIBUTES}.addressingMode == 'x-y'", "addressingMode is None, HMM or ATS"),
        (f"{ATTRIBUTES}.addressingMode == 'ATS'", ""),
        (
            f"{ATTRIBUTES}.uuid == 'gpu-1'",
            f"uuid begins with GPU-: write {ATTRIBUTES}.uuid == 'GPU-1'",
        ),
        (f"{ATTRIBUTES}.uuid == 'GPU-1'", ""),
        (
            "device.attributes['resource.kubernetes.io'].numaNode == 2",
            "numaNode of other devices of these nodes is 0 or 1",
        ),
        ("device.attributes['resource.kubernetes.io'].numaNode == 1", ""),
    ],
)
def test_values_that_running_nodes_will_not_have_are_told(text, fix):
    found = reason_of("p5.48xlarge", GPU, text)

    assert (found.status, found.code) == ("unknown", "KnownAtRunTime")
    assert found.fix == fix


@pytest.mark.parametrize(
    ("written", "instead"),
    [("40GB", "40Gi"), ("40gb", "40Gi"), ("1.5 GiB", "1.5Gi"), ("40Gib", "40Gi"), ("9KB", "9Ki")],
)
def test_a_quantity_with_another_unit_is_told_with_that_of_kubernetes(written, instead):
    text = f"{MEMORY}.compareTo(quantity('{written}')) >= 0"
    found = reason_of("p5.48xlarge", GPU, text)

    assert found.code == "ExpressionFails"
    assert found.reason.endswith(f"quantity('{written}') fails, for that is no quantity")
    whole = text.replace(written, instead)
    assert f"quantity('{instead}')" in found.fix
    assert found.fix.endswith(whole)
    assert reason_of("p5.48xlarge", GPU, whole).status == "feasible"


def test_a_device_is_told_by_its_name():
    every = {"name": "gpu", "exactly": {"deviceClassName": GPU, "allocationMode": "All"}}
    root = {"matchAttribute": "resource.kubernetes.io/pcieRoot"}
    plan = cluster_of({"instance_type": "p5.48xlarge"})
    (found,) = check_claims([claim(every, root)], plan)

    assert "the device gpu-1 does not share resource.kubernetes.io/pcieRoot" in found.reason
