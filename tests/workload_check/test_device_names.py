"""Resources are of the devices that this library knows, and of no others of the same vendors."""

from __future__ import annotations

import pytest
from tests.workload_manifests import P5, checked, codes, plan_of, pod

from eks_devices import DeviceType
from eks_devices.workload_check.device_names import device_type_of


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ("nvidia.com/gpu", DeviceType.GPU),
        ("nvidia.com/gpu.shared", DeviceType.GPU),
        ("nvidia.com/mig-1g.10gb", DeviceType.GPU),
        ("nvidia.com/GPU", DeviceType.GPU),
        ("nvidia.com/gup", DeviceType.GPU),
        ("aws.amazon.com/neuroncore", DeviceType.NEURON),
        ("aws.amazon.com/nueron", DeviceType.NEURON),
        ("vpc.amazonaws.com/efa", DeviceType.EFA),
        ("deviceclass.resource.kubernetes.io/neuron.aws.com", DeviceType.NEURON),
        ("deviceclass.resource.kubernetes.io/own", None),
        ("nvidia.com/hostdev", None),
        ("nvidia.com/rdma_shared_device_a", None),
        ("vpc.amazonaws.com/pod-eni", None),
        ("amd.com/gpu", None),
        ("cpu", None),
    ],
)
def test_a_resource_is_of_the_devices_that_its_name_says(
    resource: str, expected: DeviceType | None
) -> None:
    assert device_type_of(resource) is expected


def test_a_resource_of_another_plugin_of_the_same_vendor_is_no_error() -> None:
    report = checked(plan_of(P5), pod(limits={"nvidia.com/hostdev": 1}))
    assert not report.is_wrong
    assert codes(report) == []
