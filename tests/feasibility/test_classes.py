"""The classes that are judged are those that are installed, and their drivers are known."""

import pytest
from tests.cluster_plans import cluster_of

from eks_device_charts import ImageSource, device_manifests
from eks_devices import Capacity, GpuDriver
from eks_devices.feasibility.classes import driver_of, installed_classes


@pytest.fixture(scope="module")
def emitted():
    passthrough = GpuDriver(feature_gates={"PassthroughSupport": True})
    plan = cluster_of(
        {"instance_type": "g4dn.metal", "gpu_driver": passthrough},
        {"instance_type": "trn2.48xlarge", "efa": True},
        {"instance_type": "p6e-gb200.36xlarge", "capacity": Capacity.block("cr-0123456789abcdef0")},
    )
    return {
        one["metadata"]["name"]: tuple(
            selector["cel"]["expression"] for selector in one["spec"]["selectors"]
        )
        for one in device_manifests(plan, images=ImageSource(region="us-east-1"))
        if one["kind"] == "DeviceClass"
    }


def test_expressions_are_those_of_the_manifests(emitted):
    assert emitted
    assert emitted == {name: installed_classes()[name] for name in emitted}


def test_every_class_has_a_driver(emitted):
    for name in installed_classes():
        assert f"device.driver == '{driver_of(name)}'" in installed_classes()[name][0]
    assert driver_of("example.com") is None
    assert len(emitted) == len(installed_classes())
