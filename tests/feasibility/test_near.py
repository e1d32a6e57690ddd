"""Reasons name the attribute that was meant, and what devices share."""

import pytest
from tests.feasibility_claims import EFA, GPU, NEURON, PCIE_ROOT, claim, exactly, match, verdict

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

    assert found.fix == "select by an attribute that is published"
