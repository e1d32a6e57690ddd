"""Neuron devices by the type and the driver of their nodes, and what keeps several together.

Expressions are evaluated by Google's CEL engine on the devices that a driver publishes.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from cel_expr_python import cel  # type: ignore[import-untyped]

from eks_devices import (
    AcceleratedInstanceType,
    DeviceRequest,
    DeviceType,
    EksDevicesError,
    MatchAttribute,
    Mechanism,
    NodegroupPlan,
    NodegroupSpec,
    ResourceClaimTemplate,
    Severity,
    plan_nodegroup,
)
from eks_devices.claims.on_nodegroup import claim_findings, claim_manifest
from eks_devices.resource_slices import resource_slice

MAP = cel.Type.Map(cel.Type.STRING, cel.Type.DYN)
DEVICES = cel.NewEnv(variables={"device": MAP})
NEURON, GROUP = "neuron.aws.com", MatchAttribute.DEVICE_GROUP
# Neuron types whose devices may be claimed.
CLAIMED = [
    one.name
    for one in AcceleratedInstanceType.all()
    if one.device_type is DeviceType.NEURON and not one.name.startswith("inf1.")
]


def planned(name: str, **options: Any) -> NodegroupPlan:
    given = {"mechanism": Mechanism.DRA, "max_size": 1, **options}
    spec = NodegroupSpec(name="a", instance_type=name, **given)
    return plan_nodegroup(spec, kubernetes_version="1.34")


def template(*requests: DeviceRequest, match: MatchAttribute | None = None) -> Any:
    return ResourceClaimTemplate(name="c", requests=requests, match=match)


def expressions(request: DeviceRequest, **options: Any) -> list[str]:
    exactly = request.to_dict(count=1, **options)["exactly"]
    return [one["cel"]["expression"] for one in exactly.get("selectors", [])]


def neuron_devices(name: str) -> list[dict[str, Any]]:
    """The devices of a node as expressions see them: attributes by domain."""
    plan = planned(name)
    device = next(one for one in plan.devices if one.device_type is DeviceType.NEURON)
    found = []
    for one in resource_slice(plan, device, node="n")["spec"]["devices"]:
        own = {
            key: next(iter(value.values()))
            for key, value in one["attributes"].items()
            if "/" not in key
        }
        found.append({"driver": NEURON, "attributes": {NEURON: own}})
    return found


def selects(text: str, device: dict[str, Any]) -> bool:
    value = DEVICES.compile(text).eval(data={"device": device})
    assert value.type() == cel.Type.BOOL, value.plain_value()
    return bool(value.plain_value())


def test_the_type_and_the_driver_are_selectors_beside_the_user_s():
    request = DeviceRequest.neuron(
        8, instance_type="trn2.48xlarge", driver_version="2.25.4.0"
    ).where("true")

    assert expressions(request, instance_type="trn2.48xlarge") == [
        (
            "'instanceType' in device.attributes['neuron.aws.com'] && "
            "device.attributes['neuron.aws.com'].instanceType == 'trn2.48xlarge'"
        ),
        (
            "'neuronDriverVersion' in device.attributes['neuron.aws.com'] && "
            "device.attributes['neuron.aws.com'].neuronDriverVersion == '2.25.4.0'"
        ),
        "true",
    ]


@pytest.mark.parametrize("named", CLAIMED)
def test_a_type_selects_the_devices_of_its_nodes_and_no_others(named):
    request = DeviceRequest.neuron(instance_type=named)
    (text,) = expressions(request, instance_type="trn2.48xlarge")

    chosen = {name: {selects(text, one) for one in neuron_devices(name)} for name in CLAIMED}

    assert chosen == {name: {name == named} for name in CLAIMED}


@pytest.mark.parametrize(("version", "chosen"), [("2.25.4.0", True), ("2.25.4.1", False)])
def test_a_driver_selects_the_devices_of_its_nodes_and_no_others(version, chosen):
    request = DeviceRequest.neuron(driver_version=version)
    (text,) = expressions(request, instance_type="trn2.48xlarge")

    assert {selects(text, one) for one in neuron_devices("trn2.48xlarge")} == {chosen}


def test_a_device_without_the_attributes_is_passed_over_and_stops_nothing():
    request = DeviceRequest.neuron(instance_type="trn2.48xlarge", driver_version="2.25.4.0")
    bare = {"driver": NEURON, "attributes": {NEURON: {}}}

    for text in expressions(request, instance_type="trn2.48xlarge"):
        assert not selects(text, bare)


def test_expressions_read_only_what_the_driver_publishes():
    requests = [
        DeviceRequest.neuron(instance_type="trn2.48xlarge", driver_version="2.25.4.0"),
        DeviceRequest.ultraserver_node(instance_type="trn2u.48xlarge", driver_version="2.25.4.0"),
    ]
    (device, *_) = neuron_devices("trn2.48xlarge")

    for request in requests:
        for text in expressions(request):
            read = set(re.findall(r"attributes\['neuron\.aws\.com'\]\.(\w+)", text))
            assert read
            assert read <= device["attributes"][NEURON].keys()


@pytest.mark.parametrize(("name", "efas"), [("trn1.32xlarge", 2), ("trn2.48xlarge", 4)])
def test_a_type_that_a_request_names_is_that_of_the_claim(name, efas):
    claim = template(DeviceRequest.neuron(4, instance_type=name), DeviceRequest.efa(), match=GROUP)
    devices = claim.to_dict(kubernetes_version="1.34")["spec"]["spec"]["devices"]

    assert [one["exactly"]["count"] for one in devices["requests"]] == [4, efas]
    (constraint,) = devices["constraints"]
    assert constraint["matchAttribute"] == "resource.aws.com/devicegroup4_id"


def test_a_group_of_another_type_is_told():
    claim = template(DeviceRequest.neuron(instance_type="trn1.32xlarge"))

    with pytest.raises(EksDevicesError, match="OtherInstanceType"):
        claim_manifest(claim, planned("trn2.48xlarge"))


def test_a_type_may_be_any_of_those_that_a_group_starts():
    plan = planned("inf2.xlarge", alternative_instance_types=["inf2.8xlarge"])
    claim = template(DeviceRequest.neuron(instance_type="inf2.8xlarge"))

    (request,) = claim_manifest(claim, plan)["spec"]["spec"]["devices"]["requests"]

    assert "'inf2.8xlarge'" in request["exactly"]["selectors"][0]["cel"]["expression"]


@pytest.mark.parametrize("mode", [1, 2, 4])
@pytest.mark.parametrize("cores", [1, 2])
def test_a_node_of_an_ultraserver_has_both_configurations_of_the_driver(mode, cores):
    request = DeviceRequest.ultraserver_node(
        mode=mode, logical_neuron_cores=cores, driver_version="2.25.4.0"
    )
    devices = template(request).to_dict(kubernetes_version="1.34", instance_type="trn2u.48xlarge")[
        "spec"
    ]["spec"]["devices"]

    (asked,) = devices["requests"]
    assert asked["exactly"]["count"] == 1
    texts = [one["cel"]["expression"] for one in asked["exactly"]["selectors"]]
    assert [text.rpartition(" == ")[2] for text in texts] == ["'neuron_node'", "'2.25.4.0'"]
    assert [one["opaque"] for one in devices["config"]] == [
        {
            "driver": NEURON,
            "parameters": {
                "apiVersion": "neuron.aws.com/v1",
                "kind": "NeuronConfig",
                "logicalNeuronCore": cores,
            },
        },
        {
            "driver": NEURON,
            "parameters": {
                "apiVersion": "neuron.aws.com/v1",
                "kind": "UltraServerConfig",
                "ultraserverMode": mode,
            },
        },
    ]


@pytest.mark.parametrize("name", [one for one in CLAIMED if one.startswith(("trn1", "inf"))])
@pytest.mark.parametrize("cores", [1, 2])
def test_chips_of_one_size_of_logical_cores_take_no_setting(name, cores):
    claim = template(DeviceRequest.neuron(logical_neuron_cores=cores))

    with pytest.raises(EksDevicesError, match="LogicalCoresNotSupported"):
        claim.to_dict(kubernetes_version="1.34", instance_type=name)


@pytest.mark.parametrize("size", [1, 4, 8, 16])
@pytest.mark.parametrize("name", [one for one in CLAIMED if one.startswith(("trn", "inf"))])
def test_connected_sets_are_for_types_that_publish_them(name, size):
    claim = template(DeviceRequest.neuron(size), match=GROUP)
    grouped = name in ("trn1.32xlarge", "trn1n.32xlarge", "trn2.48xlarge", "trn2u.48xlarge")

    if grouped:
        claim.to_dict(kubernetes_version="1.34", instance_type=name)
    else:
        with pytest.raises(EksDevicesError) as caught:
            claim.to_dict(kubernetes_version="1.34", instance_type=name)
        assert "NoDeviceGroups" in {one.code for one in caught.value.faults}


def test_a_type_without_groups_is_told_of_those_with_them():
    claim = template(DeviceRequest.neuron(1), DeviceRequest.efa(1), match=GROUP)

    with pytest.raises(EksDevicesError) as caught:
        claim.to_dict(kubernetes_version="1.34", instance_type="trn2.3xlarge")

    (fault,) = caught.value.faults
    assert fault.code == "NoDeviceGroups"
    assert fault.allowed == "trn1.32xlarge, trn1n.32xlarge, trn2.48xlarge, trn2u.48xlarge"
    assert fault.fix.startswith("leave the match out")


def test_the_chip_and_the_efa_of_the_smallest_trn2_are_claimed_without_a_match():
    claim = template(DeviceRequest.neuron(1), DeviceRequest.efa())

    devices = claim_manifest(claim, planned("trn2.3xlarge", efa=True))["spec"]["spec"]["devices"]

    assert [one["exactly"]["count"] for one in devices["requests"]] == [1, 1]
    assert "constraints" not in devices


def findings(name: str, *requests: DeviceRequest, match: MatchAttribute | None = None) -> Any:
    claim, plan = template(*requests, match=match), planned(name)
    found = claim_findings(claim, claim_manifest(claim, plan), plan)
    return [one for one in found if one.code != "LongSearch"]


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 15])
def test_devices_that_nothing_keeps_together_are_warned_of(count):
    (found,) = findings("trn2.48xlarge", DeviceRequest.neuron(count))

    assert (found.code, found.severity) == ("NeuronDevicesApart", Severity.WARNING)
    assert found.path == "claims.default/c.requests[0].count"
    assert "1, 4, 8, 16 devices with match=MatchAttribute.DEVICE_GROUP" in found.fix


def test_where_no_groups_are_published_the_device_plugin_is_named():
    (found,) = findings("inf2.48xlarge", DeviceRequest.neuron(2), DeviceRequest.neuron(1, name="b"))

    assert found.code == "NeuronDevicesApart"
    assert "any 3 of 12" in found.message
    assert "device plugin" in found.fix


@pytest.mark.parametrize(
    ("name", "requests", "match"),
    [
        ("trn2.48xlarge", [DeviceRequest.neuron(1)], None),
        ("trn2.48xlarge", [DeviceRequest.neuron(16)], None),
        ("trn2.48xlarge", [DeviceRequest.neuron(8)], GROUP),
        ("trn2.48xlarge", [DeviceRequest.neuron(2), DeviceRequest.efa(2)], "devicegroup4_id"),
        ("trn2.48xlarge", [DeviceRequest.neuron(2).where("true")], None),
        ("trn2.48xlarge", [DeviceRequest.efa(3)], None),
        ("inf2.xlarge", [DeviceRequest.neuron(1)], None),
        ("p5.48xlarge", [DeviceRequest.gpu(2)], None),
    ],
)
def test_devices_that_are_alone_all_or_chosen_are_fine(name, requests, match):
    if isinstance(match, str):
        match = MatchAttribute.of(f"resource.aws.com/{match}")

    assert findings(name, *requests, match=match) == []


def test_an_efa_that_two_devices_share_is_told_for_claims_of_one():
    one = [DeviceRequest.neuron(1), DeviceRequest.efa()]
    (found,) = findings("trn1.32xlarge", *one, match=GROUP)

    assert (found.code, found.severity) == ("EfaSharedByDevices", Severity.INFO)
    assert "16 Neuron devices of trn1.32xlarge have 8 EFAs" in found.message
    assert "takes 8 such claims" in found.message
    assert findings("trn1n.32xlarge", *one, match=GROUP) == []
    assert findings("trn1.32xlarge", one[0], match=GROUP) == []
    four = [DeviceRequest.neuron(4), DeviceRequest.efa()]
    assert findings("trn1.32xlarge", *four, match=GROUP) == []
