"""Matches by attributes that no driver publishes."""

from __future__ import annotations

import pytest

from eks_devices import (
    DeviceRequest,
    DeviceType,
    Finding,
    MatchAttribute,
    NodegroupSpec,
    ResourceClaimTemplate,
    Severity,
    plan_nodegroup,
)
from eks_devices.claims.attributes import attribute_findings
from eks_devices.claims.on_nodegroup import claim_findings, claim_manifest
from eks_devices.resource_slices import resource_slice

TRN2, P5 = "trn2.48xlarge", "p5.48xlarge"
NEURON, GPU, EFA = DeviceRequest.neuron(2), DeviceRequest.gpu(2), DeviceRequest.efa(2)


def planned(instance_type: str):
    spec = NodegroupSpec(name="a", instance_type=instance_type, max_size=1, efa=True)
    return plan_nodegroup(spec, kubernetes_version="1.34")


def warned(instance_type: str, attribute: str, *requests: DeviceRequest) -> list[Finding]:
    match = MatchAttribute.of(attribute)
    claim = ResourceClaimTemplate(name="c", requests=requests, match=match)
    plan = planned(instance_type)
    found = claim_findings(claim, claim_manifest(claim, plan), plan)
    return [one for one in found if one.code == "AttributeNotPublished"]


@pytest.mark.parametrize(
    ("instance_type", "requests", "written", "meant"),
    [
        (TRN2, [NEURON], "resource.aws.com/devicegroup8", "resource.aws.com/devicegroup8_id"),
        (TRN2, [NEURON, EFA], "resource.aws.com/devicegroup4", "resource.aws.com/devicegroup4_id"),
        (TRN2, [NEURON], "neuron.aws.com/topology4", "neuron.aws.com/topology4_id"),
        (P5, [GPU, EFA], "resource.kubernetes.io/pcieroot", "resource.kubernetes.io/pcieRoot"),
        (P5, [GPU], "gpu.nvidia.com/parentUuid", "gpu.nvidia.com/parentUUID"),
        (P5, [EFA], "dra.net/numanode", "dra.net/numaNode"),
    ],
)
def test_a_misspelled_attribute_is_warned_of_with_the_nearest(
    instance_type, requests, written, meant
):
    (found,) = warned(instance_type, written, *requests)

    assert (found.severity, found.path) == (Severity.WARNING, "claims.default/c.match")
    assert written in found.message
    assert meant in found.fix


@pytest.mark.parametrize(
    ("instance_type", "requests", "attribute", "kind"),
    [
        (TRN2, [NEURON], "neuron.aws.com/device_group", "neuron"),
        (TRN2, [NEURON], "gpu.nvidia.com/productName", "neuron"),
        (TRN2, [NEURON, EFA], "neuron.aws.com/topology4_id", "efa"),
        (P5, [GPU, EFA], "gpu.nvidia.com/productName", "efa"),
        (P5, [GPU, EFA], "dra.net/numaNode", "gpu"),
    ],
)
def test_an_attribute_that_some_devices_never_have_is_warned_of(
    instance_type, requests, attribute, kind
):
    (found,) = warned(instance_type, attribute, *requests)

    assert f"devices of the kind {kind}," in found.message


@pytest.mark.parametrize(
    ("instance_type", "requests", "attribute"),
    [
        # Known at run time, or on some types only.
        (TRN2, [NEURON], "neuron.aws.com/networkNodeLayer3"),
        (TRN2, [NEURON], "neuron.aws.com/capacityBlockId"),
        (TRN2, [NEURON], "neuron.aws.com/topology_x"),
        (P5, [GPU], "gpu.nvidia.com/partition4"),
        (P5, [GPU], "resource.kubernetes.io/pciBusID"),
        # Whose drivers are not known.
        (TRN2, [NEURON], "example.com/rack"),
        (P5, [GPU, EFA], "example.com/rack"),
        # Nothing to match.
        (TRN2, [DeviceRequest.neuron(1)], "resource.aws.com/devicegroup8"),
    ],
)
def test_what_may_be_published_is_fine(instance_type, requests, attribute):
    assert warned(instance_type, attribute, *requests) == []


@pytest.mark.parametrize(
    ("instance_type", "device_type", "request_"),
    [
        (TRN2, DeviceType.NEURON, NEURON),
        (TRN2, DeviceType.EFA, EFA),
        (P5, DeviceType.GPU, GPU),
        (P5, DeviceType.EFA, EFA),
    ],
)
def test_no_published_attribute_is_warned_of(instance_type, device_type, request_):
    plan = planned(instance_type)
    (device,) = (one for one in plan.devices if one.device_type is device_type)
    spec = resource_slice(plan, device, node="n")["spec"]
    names = {name for one in spec["devices"] for name in one["attributes"]}

    claim = ResourceClaimTemplate(name="c", requests=[request_])

    assert names
    for name in names:
        attribute = name if "/" in name else f"{spec['driver']}/{name}"
        manifest = {"spec": {"devices": {"constraints": [{"matchAttribute": attribute}]}}}
        assert list(attribute_findings(claim, manifest)) == []
