"""The classes that are judged are those that are installed, and their drivers are known."""

import pytest
from tests.cluster_plans import cluster_of
from tests.feasibility_claims import claim, exactly

from eks_device_charts import ImageSource, device_manifests
from eks_devices import Capacity, GpuDriver
from eks_devices.feasibility import check_claims
from eks_devices.feasibility.classes import (
    driver_of,
    extended_resource_names,
    installed_classes,
)


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


def test_every_installed_class_is_judged_by_its_own_expression(emitted):
    assert emitted == {name: installed_classes()[name] for name in emitted}
    assert set(emitted) == set(installed_classes())


def test_every_class_has_a_driver(emitted):
    for name, (expression,) in emitted.items():
        assert f"device.driver == '{driver_of(name)}'" in expression
    assert driver_of("example.com") is None


def device_class(name, **spec):
    return {"kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def test_pods_name_classes_by_their_extended_resource_from_1_36():
    hopper = device_class("hopper", extendedResourceName="example.com/gpu", config=[])
    classes = [hopper, device_class("other", extendedResourceName="example.com/gpu")]

    assert extended_resource_names(classes, kubernetes_version="1.36") == {
        "example.com/gpu": "hopper",
        "deviceclass.resource.kubernetes.io/hopper": "hopper",
        "deviceclass.resource.kubernetes.io/other": "other",
    }
    assert extended_resource_names(classes, kubernetes_version="1.35") == {}


def test_a_class_with_a_name_that_is_too_long_has_none_of_its_own():
    assert not extended_resource_names([device_class("x" * 64)], kubernetes_version="1.37")
    assert not extended_resource_names([], kubernetes_version="1.37")


def test_what_a_class_says_beside_its_selectors_changes_nothing():
    plan = cluster_of({"instance_type": "p5.48xlarge"})
    own = {"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}
    config = [{"opaque": {"driver": "gpu.nvidia.com", "parameters": {"kind": "GpuConfig"}}}]
    hopper = device_class("a", selectors=[own], extendedResourceName="example.com/a", config=config)

    (found,) = check_claims([claim(exactly("a", count=8))], plan, device_classes=[hopper])

    assert found.status == "feasible"
