"""Reasons name the attribute that was meant, and what devices share."""

from random import Random

import pytest
from tests.feasibility_claims import (
    EFA,
    GPU,
    NEURON,
    PCIE_ROOT,
    claim,
    exactly,
    group_of,
    match,
    said,
    verdict,
)
from tests.generated.expressions import for_gpus, for_neuron

from eks_devices.feasibility import check_claims

P5, P4D, TRN2 = "p5.48xlarge", "p4d.24xlarge", "trn2.48xlarge"


def read(name, domain="gpu.nvidia.com"):
    return f"device.attributes['{domain}'].{name}"


@pytest.mark.parametrize(
    ("device_class", "text", "meant"),
    [
        (GPU, read("productname"), "did you mean gpu.nvidia.com/productName?"),
        (GPU, read("productName", "nvidia.com"), "did you mean gpu.nvidia.com/productName?"),
        (GPU, read("numaNode"), "did you mean resource.kubernetes.io/numaNode?"),
        (GPU, read("architectur"), "did you mean gpu.nvidia.com/architecture?"),
        (GPU, read("memory"), "did you mean device.capacity['gpu.nvidia.com'].memory?"),
        (EFA, read("rdmadevice", "dra.net"), "did you mean dra.net/rdmaDevice?"),
        (NEURON, read("instance_type", "neuron.aws.com"), "neuron.aws.com/instanceType?"),
    ],
)
def test_a_misspelt_attribute_is_told_with_the_nearest_one(device_class, text, meant):
    name = {GPU: P5, EFA: P5, NEURON: TRN2}[device_class]
    bare = verdict(name, claim(exactly(device_class, f"{text} == 'x'")))
    domain, own = text.split("'")[1], text.rpartition(".")[2]
    guard = f"'{own}' in device.attributes['{domain}']"
    guarded = verdict(name, claim(exactly(device_class, f"{guard} && {text} == 'x'")))

    assert (bare.code, guarded.code) == ("ExpressionFails", "AttributeNeverPublished")
    assert meant in bare.fix
    assert meant in guarded.fix
    assert "guard" not in bare.fix


def test_nothing_is_meant_by_a_name_that_is_like_no_other():
    found = verdict(P5, claim(exactly(GPU, f"{read('index')} == 0")))

    assert "ever publishes gpu.nvidia.com/index" in found.reason
    assert "did you mean" not in found.fix
    assert "guard" not in found.fix


def test_a_guard_is_advised_where_other_devices_have_the_attribute():
    text = "device.attributes['neuron.aws.com'].topology4_id == 1"

    assert "guard the expression" in verdict("trn2.3xlarge", claim(exactly(NEURON, text))).fix


@pytest.mark.parametrize("name", ["gpu.nvidia.com/pcieRoot", "k8s.io/pcieRoot"])
def test_a_constraint_on_what_is_not_there_is_told_with_the_nearest_attribute(name):
    found = verdict(P5, claim(exactly(GPU), exactly(EFA, count=4), match(name)))

    assert found.code == "ConstraintNeverHolds"
    assert found.fix == f"did you mean {PCIE_ROOT}?"


def test_a_constraint_on_what_only_some_devices_have_asks_nothing():
    found = verdict(P5, claim(exactly(GPU), exactly(EFA), match("gpu.nvidia.com/architecture")))

    assert found.code == "ConstraintNeverHolds"
    assert "did you mean" not in found.fix


def test_an_attribute_that_shares_only_half_its_letters_is_not_meant():
    found = verdict(P5, claim(exactly(GPU, f"{read('model')} == 'x'")))

    assert "did you mean" not in found.fix
    assert found.fix == (
        "select by an attribute that is published: device.attributes['gpu.nvidia.com'] has "
        "architecture, brand, cudaComputeCapability, productName, type, such as "
        f"{read('productName')} == 'NVIDIA H100 80GB HBM3'"
    )


def test_an_attribute_of_another_class_of_the_driver_is_told_with_the_class():
    found = verdict(P5, claim(exactly(GPU, f"{read('profile')} == '1g.10gb'")))

    assert found.code == "ExpressionFails"
    assert found.fix.endswith("deviceClassName: mig.nvidia.com")
    guarded = f"'profile' in {OWN} && {read('profile')} == '1g.10gb'"
    same = verdict(P5, claim(exactly(GPU, guarded)))
    assert (same.code, same.fix) == ("NoDeviceMatches", found.fix)
    back = verdict(P4D, claim(exactly("vfio.gpu.nvidia.com", f"{read('brand')} == 'x'")))
    assert "mig.nvidia.com" not in back.fix


@pytest.mark.parametrize(
    ("device_class", "text", "other"),
    [(GPU, read("rdma", "dra.net"), EFA), (EFA, read("productName"), GPU)],
)
def test_an_attribute_of_another_driver_is_told_with_its_class(device_class, text, other):
    found = verdict(P5, claim(exactly(device_class, f"{text} == true")))

    assert found.fix == (
        f"devices of the class {other} have it: select by it in a request for them"
    )


OWN = f"device.attributes['{GPU}']"
DRIVER = f"device.driver == '{GPU}'"
NAMED = f"{read('productName')} == 'NVIDIA H100 80GB HBM3'"


@pytest.mark.parametrize(
    ("texts", "code", "fix"),
    [
        ([f"{DRIVER} && {read('productname')} == 'x'"], "ExpressionFails", "did you mean gpu.n"),
        ([DRIVER, f"{read('productname')} == 'x'"], "ExpressionFails", "did you mean gpu.nvidia."),
        ([DRIVER, f"{read('profile')} == 'x'"], "ExpressionFails", "guard the expression"),
        (["device.driver == 'nvidia.com'"], "ClassNotOnGroup", f"write device.driver == '{GPU}'"),
        (
            [f"{DRIVER} && {read('productName')} == 'x'"],
            "ClassNotOnGroup",
            f"change the selector to what these devices have: write {NAMED}",
        ),
    ],
)
def test_a_mistake_in_a_class_of_ones_own_is_told_as_that(texts, code, fix):
    own = {
        "kind": "DeviceClass",
        "metadata": {"name": "own"},
        "spec": {"selectors": [{"cel": {"expression": one}} for one in texts]},
    }
    (found,) = check_claims([claim(exactly("own"))], group_of(P5), device_classes=[own])

    assert (found.code, found.device_class, found.selector) == (code, "own", None)
    assert "DeviceClass own" in found.reason
    assert found.fix.startswith(f"in the DeviceClass own, {fix}")


def test_whatever_two_selectors_ask_together_has_an_answer_with_advice():
    rng = Random(5)
    kinds = ((GPU, for_gpus, P5), (NEURON, for_neuron, TRN2))
    seen = set()
    for number in range(400):
        device_class, make, instance_type = kinds[number % 2]
        text = f" {rng.choice(['&&', '||'])} ".join(make(rng, {}) for _ in range(2))

        seen.add(said(instance_type, claim(exactly(device_class, text)))[0])

    assert {"feasible", "infeasible", "error"} <= seen


def test_a_version_beside_what_no_device_has_is_not_taken_for_a_text():
    own = "device.attributes['gpu.nvidia.com']"
    text = f"{own}.type == 'mig' && {own}.cudaComputeCapability == '9.0'"

    assert said(P5, claim(exactly(GPU, text)))[1] == "NoDeviceMatches"


AMOUNT = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('81152Mi')) >= 0"
GROUPS = (
    "did you mean resource.aws.com/devicegroup1_id or resource.aws.com/devicegroup4_id or "
    "resource.aws.com/devicegroup8_id or resource.aws.com/devicegroup16_id? That is "
    f"{read('devicegroup1_id', 'resource.aws.com')} == '0000:c9:00.0'"
)


@pytest.mark.parametrize(
    ("device_class", "text", "fix"),
    [
        (GPU, f"{read('productname')} == 'H100'", f"That is {NAMED}"),
        (GPU, f"{read('memory')} >= '80Gi'", f"That is {AMOUNT}"),
        (GPU, f"{read('memory')}.compareTo(quantity('80Gi')) >= 0", f"That is {AMOUNT}"),
        (
            GPU,
            "device.capacity['gpu.nvidia.com'].mem.compareTo(quantity('80Gi')) >= 0",
            f"did you mean gpu.nvidia.com/memory? That is {AMOUNT}",
        ),
        (
            GPU,
            "device.capacity['nvidia.com'].memory.compareTo(quantity('80Gi')) >= 0",
            f"did you mean gpu.nvidia.com/memory? That is {AMOUNT}",
        ),
        (
            GPU,
            "device.capacity['gpu.nvidia.com'].productName == 'H100'",
            (
                "it is an attribute: did you mean "
                f"device.attributes['gpu.nvidia.com'].productName? That is {NAMED}"
            ),
        ),
        (
            GPU,
            f"{read('numaNode')} == 2",
            (
                f"That is {read('numaNode', 'resource.kubernetes.io')} == 2, "
                "where numaNode of other devices of these nodes is 0 or 1"
            ),
        ),
        (NEURON, f"{read('devicegroup0_id', 'resource.aws.com')} == 'x'", GROUPS),
        (NEURON, f"{read('devicegroup2_id', 'neuron.aws.com')} == 'x'", GROUPS),
        (
            NEURON,
            f"{read('deviceGroup4Id', 'resource.aws.com')} == 'x'",
            (
                "did you mean resource.aws.com/devicegroup4_id? That is "
                f"{read('devicegroup4_id', 'resource.aws.com')} == '13713e551cd37c19'"
            ),
        ),
    ],
)
def test_what_is_meant_is_told_as_an_expression_that_matches(device_class, text, fix):
    name = {GPU: P5, NEURON: TRN2}[device_class]
    found = verdict(name, claim(exactly(device_class, text)))

    assert found.fix.endswith(fix)
    whole = found.fix.partition("That is ")[2].partition(", where")[0]
    assert verdict(name, claim(exactly(device_class, whole))).status in ("feasible", "unknown")
