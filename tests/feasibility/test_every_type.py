"""Whatever is known of a type: as many devices as it has are never said to be too many."""

from typing import Any

import pytest
from tests.feasibility_claims import claim, exactly

from eks_devices import (
    AcceleratedInstanceType,
    Capacity,
    Mechanism,
    NodegroupSpec,
    plan_cluster,
)
from eks_devices.feasibility import Status, check_claims
from eks_devices.names import DEVICE_CLASSES

# The DRA driver of Neuron knows no Inferentia 1.
TYPES = [one.name for one in AcceleratedInstanceType.all() if one.family != "inf1"]
BLOCK = Capacity.block("cr-0123456789abcdef0")


def plan_of(name):
    needs_block = AcceleratedInstanceType.of(name).nvlink_domain
    options: dict[str, Any] = {"capacity": BLOCK} if needs_block else {}
    spec = NodegroupSpec(
        name="g", instance_type=name, max_size=1, mechanism=Mechanism.DRA, **options
    )
    return plan_cluster(kubernetes_version="1.36", nodegroups=[spec])


@pytest.mark.parametrize("name", TYPES)
def test_all_devices_of_a_type_can_be_claimed_by_their_class(name):
    plan = plan_of(name)
    (group,) = plan.nodegroups
    for device in group.devices:
        device_class = DEVICE_CLASSES[device.device_type][0]
        for count in {1, min(device.count, 32)}:
            (found,) = check_claims([claim(exactly(device_class, count=count))], plan)
            assert found.status is Status.FEASIBLE, (device_class, count, found)
