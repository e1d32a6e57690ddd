"""Configurations of the user's own are held against what the drivers of a group read."""

import pytest
from tests.claim_rows import codes, group, make

from eks_devices import DeviceRequest, DeviceType, Mechanism, OpaqueConfig

R = DeviceRequest
API = "resource.nvidia.com/v1beta1"
RIGHT = {"apiVersion": API, "kind": "GpuConfig"}
P5 = group("p5.48xlarge", mechanism=Mechanism.DRA)
OTHERS = group("p5.48xlarge", mechanism=Mechanism.DRA, external=frozenset({DeviceType.GPU}))


def told(parameters, plan=P5, *, driver="gpu.nvidia.com", requests=None):
    config = OpaqueConfig(driver=driver, parameters=parameters)
    return "ConfigRefused" in codes(make(*(requests or [R.gpu(2)]), configs=[config]), plan)


@pytest.mark.parametrize(
    ("parameters", "is_wrong"),
    [
        (RIGHT, False),
        ({**RIGHT, "kind": "GPUConfig"}, True),
        ({**RIGHT, "apiVersion": "gpu.nvidia.com/v1"}, True),
        ({**RIGHT, "sharing": {"strategy": "mps"}}, True),
        ({"kind": "GpuConfig"}, True),
    ],
)
def test_what_the_driver_of_the_group_does_not_read_is_told(parameters, is_wrong):
    assert told(parameters) is is_wrong
    either = R.first_available(R.gpu(2, name="two"), R.gpu(1, name="one"), name="any")
    assert told(parameters, requests=[either]) is is_wrong


def test_drivers_of_others_may_read_anything():
    wrong = {**RIGHT, "kind": "GPUConfig"}
    assert not told(wrong, OTHERS)
    assert not told(wrong, driver="example.com")
