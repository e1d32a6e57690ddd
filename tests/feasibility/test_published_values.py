"""What is listed of the devices of a node is what selectors read there."""

import pytest
from tests.feasibility_claims import EFA, GPU, NEURON, claim, exactly, group_of, verdict

from eks_devices.feasibility.telling.published_values import published_values

CLASSES = {"gpu.nvidia.com": GPU, "neuron.aws.com": NEURON, "dra.net": EFA}
WRITTEN = {
    "string": "{} == '{}'",
    "int": "{} == {}",
    "bool": "{} == {}",
    "version": "{}.compareTo(semver('{}')) == 0",
    "quantity": "{}.compareTo(quantity('{}')) == 0",
}


def values_of(instance_type):
    return published_values(group_of(instance_type).nodegroups[0])


@pytest.mark.parametrize("name", ["p5.48xlarge", "g6e.12xlarge", "trn2.48xlarge", "p4d.24xlarge"])
def test_a_selector_that_asks_for_a_listed_value_finds_a_device(name):
    known = [one for one in values_of(name) if one.values]
    for one in known:
        text = WRITTEN[one.type].format(one.expression, one.values[-1])
        found = verdict(name, claim(exactly(CLASSES[one.driver], text)))
        # Devices that come later in the list may not have what the selector reads.
        assert (str(found.status), found.code) in (("feasible", ""), ("error", "ExpressionFails"))
    assert len(known) > 3


def test_what_only_a_node_knows_has_a_type_and_no_value():
    found = {one.expression: one for one in values_of("p5.48xlarge")}
    driver = found["device.attributes['gpu.nvidia.com'].driverVersion"]

    assert (driver.type, driver.values) == ("version", ())
    assert found["device.capacity['gpu.nvidia.com'].memory"].values == ("81152Mi",)
    assert found["device.attributes['gpu.nvidia.com'].architecture"].values == ("Hopper",)


def test_an_amount_that_nobody_read_is_listed_as_a_capacity():
    found = {one.expression: one.values for one in values_of("g7e.2xlarge")}

    assert found["device.capacity['gpu.nvidia.com'].memory"] == ()
    assert "device.attributes['gpu.nvidia.com'].memory" not in found
