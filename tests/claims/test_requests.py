"""Device requests: what each factory asks for, and that they are values."""

import copy
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from eks_devices.claims import DeviceRequest, MatchAttribute, RequestKind
from eks_devices.claims.configs import request_configs


def exactly(request: DeviceRequest, count: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = request.to_dict(count=count)["exactly"]
    return found


@pytest.mark.parametrize(
    ("request_", "name", "device_class"),
    [
        (DeviceRequest.gpu(), "gpu", "gpu.nvidia.com"),
        (DeviceRequest.neuron(4), "neuron", "neuron.aws.com"),
        (DeviceRequest.efa(2), "efa", "efa.networking.k8s.aws"),
        (DeviceRequest.mig("1g.10gb"), "mig", "mig.nvidia.com"),
        (DeviceRequest.ultraserver_node(), "ultraserver-node", "neuron.aws.com"),
    ],
)
def test_a_request_is_named_by_its_kind_and_asks_for_its_class(request_, name, device_class):
    assert request_.name == name
    assert exactly(request_)["deviceClassName"] == device_class
    assert exactly(request_)["allocationMode"] == "ExactCount"


def test_counts_by_default():
    assert DeviceRequest.gpu().count == 1
    assert DeviceRequest.mig("1g.10gb").count == 1
    assert DeviceRequest.ultraserver_node().count == 1
    assert DeviceRequest.ultraserver_node().mode == 4
    assert DeviceRequest.efa().count is None


def test_the_first_argument_may_be_positional_and_the_name_given():
    assert DeviceRequest.neuron(4) == DeviceRequest.neuron(count=4)
    assert DeviceRequest.mig("1g.10gb", 2, name="slices").to_dict(count=2)["name"] == "slices"


def test_a_plain_request_has_no_selector():
    assert exactly(DeviceRequest.gpu(4), 4) == {
        "deviceClassName": "gpu.nvidia.com",
        "allocationMode": "ExactCount",
        "count": 4,
    }


@pytest.mark.parametrize("type_name", [None, "trn2u.48xlarge"])
def test_neuron_devices_are_told_from_whole_nodes_where_a_node_may_be_one(type_name):
    request = DeviceRequest.neuron(4).to_dict(count=4, instance_type=type_name)

    assert request["exactly"]["selectors"] == [
        {
            "cel": {
                "expression": "!('resourceType' in device.attributes['neuron.aws.com']) || "
                "device.attributes['neuron.aws.com'].resourceType == 'neuron_device'"
            }
        }
    ]


def test_neuron_devices_of_a_type_outside_ultraservers_need_no_selector():
    request = DeviceRequest.neuron(4).to_dict(count=4, instance_type="trn2.48xlarge")

    assert "selectors" not in request["exactly"]


def test_where_adds_a_selector_to_a_copy():
    plain = DeviceRequest.gpu()
    narrow = plain.where("a == 1").where("b == 2")

    assert plain.selectors == ()
    assert exactly(narrow)["selectors"] == [
        {"cel": {"expression": "a == 1"}},
        {"cel": {"expression": "b == 2"}},
    ]


def test_a_mig_request_guards_the_attribute_it_reads():
    request = DeviceRequest.mig("1g.10gb+me").where("true")

    assert [one["cel"]["expression"] for one in exactly(request)["selectors"]] == [
        (
            "'profile' in device.attributes['gpu.nvidia.com'] && "
            "device.attributes['gpu.nvidia.com'].profile == '1g.10gb+me'"
        ),
        "true",
    ]


def test_an_ultraserver_node_is_one_whole_node_with_its_mode():
    request = DeviceRequest.ultraserver_node(mode=2, logical_neuron_cores=1)

    assert exactly(request)["count"] == 1
    assert exactly(request)["selectors"][0]["cel"]["expression"] == (
        "'resourceType' in device.attributes['neuron.aws.com'] && "
        "device.attributes['neuron.aws.com'].resourceType == 'neuron_node'"
    )
    assert [config["opaque"]["parameters"] for config in request_configs(request)] == [
        {"apiVersion": "neuron.aws.com/v1", "kind": "NeuronConfig", "logicalNeuronCore": 1},
        {"apiVersion": "neuron.aws.com/v1", "kind": "UltraServerConfig", "ultraserverMode": 2},
    ]


def test_logical_cores_become_an_opaque_configuration_of_the_request():
    assert request_configs(DeviceRequest.neuron(16, logical_neuron_cores=1, name="all")) == [
        {
            "requests": ["all"],
            "opaque": {
                "driver": "neuron.aws.com",
                "parameters": {
                    "apiVersion": "neuron.aws.com/v1",
                    "kind": "NeuronConfig",
                    "logicalNeuronCore": 1,
                },
            },
        }
    ]
    assert request_configs(DeviceRequest.neuron(16)) == []


def test_texts_of_a_request_are_plain_strings():
    request = DeviceRequest.gpu(name=RequestKind.EFA).where(RequestKind.MIG)

    assert [type(one) for one in (request.name, *request.selectors)] == [str, str]


def test_a_request_copies_the_list_it_is_given():
    selectors = ["true"]
    request = DeviceRequest(kind=RequestKind.GPU, name="gpu", count=1, selectors=selectors)
    selectors.append("false")

    assert request.selectors == ("true",)


def test_requests_are_frozen_hashable_values():
    request = DeviceRequest.gpu(2).where("true")

    assert len({request, DeviceRequest.gpu(2).where("true"), DeviceRequest.gpu(2)}) == 2
    assert copy.deepcopy(request) == request
    assert pickle.loads(pickle.dumps(request)) == request  # noqa: S301  (our own bytes)
    with pytest.raises(FrozenInstanceError):
        request.count = 3  # type: ignore[misc]  # the point of the test


def test_match_attributes():
    assert MatchAttribute.PCIE_ROOT.attribute_for(0) == "resource.kubernetes.io/pcieRoot"
    assert MatchAttribute.DEVICE_GROUP.attribute_for(8) == "resource.aws.com/devicegroup8_id"
    own = MatchAttribute.of("gpu.nvidia.com/parentUUID")
    assert own.attribute_for(4) == "gpu.nvidia.com/parentUUID"
    assert MatchAttribute.of("resource.kubernetes.io/pcieRoot") == MatchAttribute.PCIE_ROOT
    assert own.group_size(4) is None
    assert not own.is_pcie_root


def test_a_device_group_has_the_size_of_its_name_or_of_the_claim():
    assert MatchAttribute.DEVICE_GROUP.group_size(8) == 8
    assert MatchAttribute.of("resource.aws.com/devicegroup4_id").group_size(8) == 4
    assert MatchAttribute.of("resource.aws.com/devicegroup04_id").group_size(8) is None
    assert MatchAttribute.PCIE_ROOT.group_size(8) is None
